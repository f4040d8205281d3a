"""From the list of features of a character to a schema with weights, and from presets back."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..engine.errors import SettingsError
from . import items
from .properties_features import is_trajectory
from .property_options import plain

if TYPE_CHECKING:
    from ..engine.matching.features import Feature, Schema


def schema_of(features: Any) -> Schema:
    """The features as they are set; the shipped default where there are none. SettingsError for times that are none."""
    from ..engine.matching.features import load_schema, schema_from_dict

    if not features.items:
        return load_schema("default")
    return schema_from_dict(features_data(features), "The list of features")


def features_data(features: Any) -> dict[str, Any]:
    """The features as JSON data of a preset."""
    entries = []
    for item in features.items:
        entry: dict[str, Any] = {"kind": item.kind, "weight": plain(item.weight)}
        entry |= {"times": _times(item.times)} if is_trajectory(item) else {"bone": item.bone}
        entries.append(entry | {"axes": item.axes})
    return {
        "normalization": features.normalization,
        "beyond_range": features.beyond_range,
        "features": entries,
    }


def set_features(features: Any, data: Any, preset: str) -> None:
    """Take over a preset's JSON data. SettingsError, with nothing changed, where it is wrong."""
    from ..engine.matching.features import schema_from_dict

    schema = schema_from_dict(data, f"The preset '{preset}'")
    features.items.clear()
    inherited = len(
        features.items
    )  # a library override keeps the items of the linked file: they get other values
    for place, feature in enumerate(schema.features):
        item = (
            features.items[place]
            if place < inherited
            else items.added(features.items, feature.label)
        )
        item.kind, item.bone, item.weight, item.axes = (
            feature.kind,
            feature.bone,
            feature.weight,
            feature.axes,
        )
        item.times = ", ".join(f"{time:.10g}" for time in feature.times)
    for place in range(len(schema.features), inherited):
        features.items[place].weight = 0.0
    features.normalization, features.beyond_range = schema.normalization, schema.beyond_range
    features.index, features.preset = 0, preset


def list_default(features: Any) -> None:
    """List the shipped features, which are used where none are listed."""
    from ..engine import presets

    set_features(features, presets.load("features", "default"), "default")


def _times(text: str) -> list[float]:
    try:
        return [float(word) for word in text.replace(";", ",").split(",") if word.strip()]
    except ValueError:
        raise SettingsError(
            f"The times '{text}' of a feature are no numbers; write seconds as in 0.33, 0.67, 1."
        ) from None


def weights_of(features: Any, schema: Schema) -> tuple[float, ...]:
    """A weight for each feature of a database, with the two sliders that multiply them; those that are not listed any more
    keep the weight that it was built with."""
    listed: dict[Feature, list[float]] = {}
    for f in reversed(schema_of(features).features):
        listed.setdefault(replace(f, weight=1.0), []).append(f.weight)
    weights = [
        left.pop() if (left := listed.get(replace(f, weight=1.0))) else f.weight
        for f in schema.features
    ]
    factors = [
        features.responsiveness if f.kind.startswith("trajectory") else features.continuity
        for f in schema.features
    ]
    return tuple(weight * factor for weight, factor in zip(weights, factors, strict=True))


def is_built_with(features: Any, schema: Schema) -> bool:
    """Whether a database compares frames by the features as they are set, whatever their weights and their order."""
    return compared_by(schema_of(features)) == compared_by(schema)


def compared_by(schema: Schema) -> dict[str, Any]:
    """What frames are compared by, as JSON data without weights and order."""
    compared = [[f.kind, f.bone, f.times, f.axes] for f in schema.features]
    return schema.to_dict() | {"features": sorted(compared)}
