"""Settings of what frames are compared by."""

from __future__ import annotations

from typing import Any

import bpy

from ... import app
from ...app.property_access import armature_of, settings_of
from ...engine.database.features.kinds import KINDS as FEATURE_KINDS
from ...engine.database.features.kinds import find_kind
from ...engine.skeleton.bone_names import ROLES
from ..base.property_updates import apply_weights, invalidate_status
from ..base.typed_properties import (
    Items,
    choice,
    collection,
    integer,
    number,
    settings_group,
    suggest,
    text,
    updates,
)

# seconds
AHEAD = "0.3333333333, 0.6666666667, 1"
BEHIND = "-0.3333333333, -0.6666666667, -1"
KINDS: Any = tuple((k.name, k.label, k.help, k.icon, k.number) for k in FEATURE_KINDS)
_AXES = (  # files know them by their order
    ("xyz", "All", "All three directions"),
    ("xy", "Ground", "Along the ground, without the height"),
    ("x", "Side", "Only to the side of the character"),
    ("y", "Ahead", "Only ahead of the character, or back"),
    ("z", "Height", "Only up and down; for bones"),
    ("xz", "Side and Height", "To the side, and up and down; for bones"),
    ("yz", "Ahead and Height", "Ahead or back, and up and down; for bones"),
)
_NORMALIZATIONS = (
    ("feature", "By Feature", "Divide all numbers of a feature by their average deviation"),
    ("dimension", "By Number", "Divide each number by its own deviation"),
    ("none", "Not at All", "Compare metres, metres per second and directions as they are"),
)
_DIFFERENCES = (
    (
        "squared",
        "Squared Difference",
        "Add up squares: one large difference outweighs many small ones",
    ),
    (
        "absolute",
        "Absolute Difference",
        "Add up weighted lengths of the differences; searches take longer",
    ),
)
_GOES_ON = "Continue as the clip ended, so that a clip cut in full stride does not seem to stop"
_ENDS = (("extrapolate", "Goes On", _GOES_ON), ("hold", "Stays", "Stay at the last frame"))
_WEIGHT: Any = {"min": 0.0, "max": 1000.0, "soft_max": 5.0, "precision": 2}
_MULTIPLIER: Any = {"min": 0.0, "max": 10.0, "soft_min": 0.2, "soft_max": 3.0, "precision": 2}


def _clear_preset(self: Any, context: bpy.types.Context) -> None:
    settings_of(self.id_data).features.preset = ""
    invalidate_status(self, context)


def _change_weight(self: MotionMatchingFeature, context: bpy.types.Context) -> None:
    settings_of(self.id_data).features.preset = ""
    apply_weights(self, context)


def _change_kind(self: MotionMatchingFeature, context: bpy.types.Context) -> None:
    """Give a feature of another kind the bone or the times that it needs."""
    kind = find_kind(self.kind)
    if kind.is_path:
        if not self.times or self.axes not in kind.axes:
            self.bone = ""
            self.times = self.times or AHEAD
            self.axes = kind.axes[0]
    elif not self.bone or (self.bone == "hips" and "hips" not in kind.usual_bones):
        usual = "hips" if "hips" in kind.usual_bones else kind.usual_bones[0]
        self.bone = usual
        self.times = ""
        self.axes = kind.axes[0]
    _clear_preset(self, context)


def _suggest_bones(self: MotionMatchingFeature, context: bpy.types.Context, text: str) -> list[str]:
    """Return the roles, and the bones of the armature, that contain a text."""
    obj = app.character.characters.get_active_armature(context)
    names = [*ROLES, *(armature_of(obj).bones.keys() if obj else ())]
    return [name for name in names if text.lower() in name.lower()]


@settings_group
@updates(_clear_preset)
class MotionMatchingFeature(bpy.types.PropertyGroup):
    """A feature that frames are compared by, and its weight"""

    kind: str = choice("bone_position", "Kind", "Quantity to compare", KINDS, update=_change_kind)
    bone: str = text(
        "", "Bone", "Role such as left_foot, or the name of a bone", **suggest(_suggest_bones)
    )
    times: str = text(
        "",
        "Times",
        "Seconds from now, separated by commas; further ahead: turns begin earlier, negative: "
        "looks back",
    )
    bone_times: str = text(
        "",
        "Times",
        "Times at which to compare the bone, in seconds from now, separated by commas; negative: "
        "looks back, empty: now",
    )
    axes: str = choice("xyz", "Axes", "Directions to compare, relative to the character", _AXES)
    time: float = number(
        0.0,
        "Fades Within",
        "Halflife of the spring, or time of the cubic; longer: velocities count more, 0: as set in "
        "Controller",
        min=0.0,
        max=10.0,
        soft_max=1.0,
        subtype="TIME_ABSOLUTE",
        unit="TIME_ABSOLUTE",
        precision=2,
        step=1,
    )
    weight: float = number(
        1.0,
        "Weight",
        "Weight in the choice of the next frame; higher: matched more closely, at the cost of all "
        "others",
        update=_change_weight,
        **_WEIGHT,
    )


def get_title(feature: MotionMatchingFeature) -> str:
    """Return the title of a feature in the list."""
    kind = find_kind(feature.kind)
    if kind.is_path:
        return f"{kind.label} {_shorten_times(feature.times)}"
    title = format_kind(feature.kind, feature.bone)
    if kind.has_times and feature.bone_times:
        return f"{title} {_shorten_times(feature.bone_times)}"
    return title


def format_kind(kind: str, bone: str) -> str:
    """Return a kind of feature in words, after its bone if it has one: 'Left Foot Position'."""
    return f"{bone.replace('_', ' ').title()} {find_kind(kind).label}".strip()


def _shorten_times(times: str) -> str:
    """Round times to two decimals. What is not a number is left as it is."""
    try:
        return " ".join(f"{round(float(time), 2):g}" for time in times.split(","))
    except ValueError:
        return times


@settings_group
@updates(_clear_preset)
class MotionMatchingFeatures(bpy.types.PropertyGroup):
    """Features to compare frames by"""

    # a method of bpy's, which it hides
    items: Items[MotionMatchingFeature] = collection(  # type: ignore[assignment]
        MotionMatchingFeature, "Features", "Features to compare frames by"
    )
    index: int = integer(0, "Active Feature", "Feature whose details are shown", update=None)
    normalization: str = choice(
        "feature", "Normalize", "How to make features comparable", _NORMALIZATIONS
    )
    difference: str = choice(
        "squared", "Compare By", "How to add up the differences of features to a cost", _DIFFERENCES
    )
    beyond_range: str = choice(
        "extrapolate", "Extrapolation", "How to continue a path after the end of its clip", _ENDS
    )
    responsiveness: float = number(
        1.0,
        "Responsiveness",
        "Multiplies the weights of the path; higher: turns and stops sooner, poses fit less well",
        update=apply_weights,
        **_MULTIPLIER,
    )
    continuity: float = number(
        1.0,
        "Continuity",
        "Multiplies the weights of the pose; higher: moves more smoothly, responds later",
        update=apply_weights,
        **_MULTIPLIER,
    )
    past: float = number(
        1.0,
        "Past",
        "Multiplies the weights of features that look only back; higher: prefers motion with a "
        "similar past",
        update=apply_weights,
        **_MULTIPLIER,
    )
    preset: str = text("", "Preset", "Preset of these features", update=None)
