"""From the list of features of a character to a schema with weights, and from presets back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ...engine.database.features.features import Feature, Schema, load_schema, schema_from_dict
from ...engine.database.features.kinds import find_kind
from ...engine.errors import SettingsError
from ...engine.files import json_files, presets
from .. import property_access
from ..property_access import to_plain_value

_GENERAL = ("normalization", "beyond_range", "difference")  # what holds for all features


def build_schema(features: Any) -> Schema:
    """Return the features, the shipped default if none are listed. SettingsError for wrong ones."""
    if not features.items:
        return load_schema("default")
    return schema_from_dict(get_features_data(features), "The list of features")


def get_features_data(features: Any) -> dict[str, Any]:
    """Return the features as JSON data of a preset."""
    entries = []
    for item in features.items:
        entry: dict[str, Any] = {"kind": item.kind, "weight": to_plain_value(item.weight)}
        kind = find_kind(item.kind)
        if kind.is_path:
            entry["times"] = _parse_times(item.times)
        else:
            entry["bone"] = item.bone
            if kind.has_times and (times := _parse_times(item.bone_times)):
                entry["times"] = times
        if kind.longest_fade and item.time:
            entry["time"] = to_plain_value(item.time)
        entries.append(entry | {"axes": item.axes})
    general = {name: getattr(features, name) for name in _GENERAL}
    return {**general, "features": entries}


def set_features(features: Any, data: Any, preset: str) -> None:
    """Apply a preset's JSON data. SettingsError if it is wrong; nothing is changed then."""
    schema = schema_from_dict(data, f"The preset '{preset}'")
    with json_files.name_file(f"preset '{preset}'"):
        for feature in schema.features:
            if feature.bone:
                json_files.expect_name(feature.bone, f"the bone of a {feature.kind}")
    features.items.clear()
    inherited = len(features.items)  # a library override keeps linked items: they get new values
    for index, feature in enumerate(schema.features):
        is_new = index >= inherited
        item = (
            property_access.add(features.items, feature.label) if is_new else features.items[index]
        )
        item.kind = feature.kind
        item.bone = feature.bone
        item.weight = feature.weight
        item.axes = feature.axes
        item.time = feature.time
        times = ", ".join(f"{time:.10g}" for time in feature.times)
        item.times, item.bone_times = ("", times) if feature.bone else (times, "")
    for index in range(len(schema.features), inherited):
        features.items[index].weight = 0.0
    for name in _GENERAL:
        setattr(features, name, getattr(schema, name))
    features.index = 0
    features.preset = preset


def set_default_features(features: Any) -> None:
    """List the shipped features, which are used where none are listed."""
    set_features(features, presets.load("features", "default"), "default")


def _parse_times(text: str) -> list[float]:
    try:
        return [float(word) for word in text.replace(";", ",").split(",") if word.strip()]
    except ValueError:
        message = f"The times '{text}' of a feature are not numbers"
        raise SettingsError(f"{message}; write seconds as in 0.33, 0.67, 1.") from None


def _build_schema_like(features: Any, schema: Schema) -> Schema:
    """Return the features listed, with what a build adds for the legs and clips of a database."""
    listed = build_schema(features).with_all_legs(schema.legs)
    return listed.with_heights() if schema.has_heights else listed


def compute_weights(features: Any, schema: Schema) -> tuple[float, ...]:
    """Return the weight of each feature of a database, multiplied by the slider of its group.

    Features that are not listed any more keep the weight that the database was built with.
    """
    listed: dict[Feature, list[float]] = {}
    for f in reversed(_build_schema_like(features, schema).features):
        listed.setdefault(replace(f, weight=1.0), []).append(f.weight)
    sliders = {
        "path": features.responsiveness,
        "pose": features.continuity,
        "past": features.past,
    }
    weights = []
    for f in schema.features:
        left = listed.get(replace(f, weight=1.0))
        weights.append((left.pop() if left else f.weight) * sliders[f.group])
    return tuple(weights)


def has_past(features: Any) -> bool:
    """Return whether any of the features looks back, so that its slider has an effect."""
    return any(
        "-" in (item.times if kind.is_path else item.bone_times if kind.has_times else "")
        for item, kind in ((item, find_kind(item.kind)) for item in features.items)
    )


def is_built_with(features: Any, schema: Schema) -> bool:
    """Return whether a database has these features, whatever their weights and order."""
    listed = _build_schema_like(features, schema)
    return listed.to_comparison_data() == schema.to_comparison_data()
