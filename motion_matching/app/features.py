"""From the list of features of a character to a schema with weights, and from presets back."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..engine import presets
from ..engine.database.features import load_schema, schema_from_dict
from ..engine.errors import SettingsError
from . import items
from .values import to_plain_value

if TYPE_CHECKING:
    from ..engine.database.features import Feature, Schema


def build_schema(features: Any) -> Schema:
    """Return the features as they are set, or the shipped default where there are none.

    SettingsError for times that are no numbers.
    """
    if not features.items:
        return load_schema("default")
    return schema_from_dict(get_features_data(features), "The list of features")


def get_features_data(features: Any) -> dict[str, Any]:
    """Return the features as JSON data of a preset."""
    entries = []
    for item in features.items:
        entry: dict[str, Any] = {"kind": item.kind, "weight": to_plain_value(item.weight)}
        entry |= (
            {"times": _parse_times(item.times)}
            if item.kind.startswith("trajectory")
            else {"bone": item.bone}
        )
        entries.append(entry | {"axes": item.axes})
    return {
        "normalization": features.normalization,
        "beyond_range": features.beyond_range,
        "features": entries,
    }


def set_features(features: Any, data: Any, preset: str) -> None:
    """Apply a preset's JSON data. SettingsError, with nothing changed, where it is wrong."""
    schema = schema_from_dict(data, f"The preset '{preset}'")
    features.items.clear()
    inherited = len(
        features.items
    )  # a library override keeps the items of the linked file: they get other values
    for index, feature in enumerate(schema.features):
        item = (
            features.items[index] if index < inherited else items.add(features.items, feature.label)
        )
        item.kind, item.bone, item.weight, item.axes = (
            feature.kind,
            feature.bone,
            feature.weight,
            feature.axes,
        )
        item.times = ", ".join(f"{time:.10g}" for time in feature.times)
    for index in range(len(schema.features), inherited):
        features.items[index].weight = 0.0
    features.normalization, features.beyond_range = schema.normalization, schema.beyond_range
    features.index, features.preset = 0, preset


def set_default_features(features: Any) -> None:
    """List the shipped features, which are used where none are listed."""
    set_features(features, presets.load("features", "default"), "default")


def _parse_times(text: str) -> list[float]:
    try:
        return [float(word) for word in text.replace(";", ",").split(",") if word.strip()]
    except ValueError:
        raise SettingsError(
            f"The times '{text}' of a feature are no numbers; write seconds as in 0.33, 0.67, 1."
        ) from None


def compute_weights(features: Any, schema: Schema) -> tuple[float, ...]:
    """Return the weight of each feature of a database, multiplied by the two sliders.

    Features that are not listed any more keep the weight that the database was built with.
    """
    listed: dict[Feature, list[float]] = {}
    for f in reversed(build_schema(features).features):
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
    """Return whether a database compares frames by the features as they are set, whatever their
    weights and order.
    """
    return build_schema(features).to_comparison_data() == schema.to_comparison_data()
