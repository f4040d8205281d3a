"""Settings of what frames are compared by."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.props import CollectionProperty, EnumProperty, FloatProperty, IntProperty, StringProperty

from . import status
from .property_options import MANY, OVERRIDE, suggesting


def _tuned(self: Any, context: bpy.types.Context) -> None:
    """The features are no longer the preset's."""
    self.id_data.motion_matching.features.preset = ""
    status.forget()


AHEAD, BEHIND = "0.3333333333, 0.6666666667, 1", "-0.3333333333, -0.6666666667, -1"  # seconds


def _turned(self: Any, context: bpy.types.Context) -> None:
    """A feature of another kind needs a bone or times."""
    if is_trajectory(self) and not self.times:
        self.bone, self.times, self.axes = "", AHEAD, "xy"
    elif not is_trajectory(self) and not self.bone:
        self.bone, self.times, self.axes = "hips", "", "xyz"
    _tuned(self, context)


def _bones(self: Any, context: bpy.types.Context, text: str) -> list[str]:
    """Roles, and the bones of the armature."""
    from .properties_sources import ROLES
    from .request import armature_of

    obj = armature_of(context)
    names = [*ROLES, *(obj.data.bones.keys() if obj else ())]
    return [name for name in names if text.lower() in name.lower()]


KINDS: Any = [
    ("bone_position", "Position", "Where a bone is, seen from the character", "BONE_DATA", 0),
    ("bone_velocity", "Velocity", "How fast a bone moves, and where to", "FORCE_WIND", 1),
    ("trajectory_position", "Path", "Where the character will be, or was", "CURVE_PATH", 2),
    (
        "trajectory_direction",
        "Facing",
        "Where the character will face, or did",
        "ORIENTATION_GIMBAL",
        3,
    ),
    ("trajectory_velocity", "Speed", "How fast the character will move, or did", "DRIVER", 4),
]
ICONS: Any = {kind: icon for kind, _, _, icon, _ in KINDS}
_NAMES = {kind: name for kind, name, *_ in KINDS}


class MotionMatchingFeature(bpy.types.PropertyGroup):
    """Something that frames are compared by, and how much it counts"""

    kind: EnumProperty(
        name="Kind",
        default="bone_position",
        items=KINDS,
        update=_turned,
        description="What is compared",
        **OVERRIDE,
    )
    bone: StringProperty(
        name="Bone",
        update=_tuned,
        description="Role such as left_foot, or the name of a bone",
        **suggesting(_bones),
        **OVERRIDE,
    )
    times: StringProperty(
        name="Times",
        update=_tuned,
        **OVERRIDE,
        description="Seconds from now, separated by commas; further ahead turns in earlier, negative ones look back",
    )
    axes: EnumProperty(
        name="Axes",
        default="xyz",
        update=_tuned,
        description="What of the place is compared",
        **OVERRIDE,
        items=[
            ("xyz", "All", "All three directions"),
            ("xy", "Ground", "The ground alone, not the height"),
        ],
    )
    weight: FloatProperty(
        name="Weight",
        default=1.0,
        min=0.0,
        soft_max=5.0,
        max=1000.0,
        precision=2,
        **OVERRIDE,
        update=_tuned,
        description="How much this counts in the choice of the next frame; higher matches it more closely, at "
        "the cost of all others",
    )


def is_trajectory(feature: Any) -> bool:
    """Whether a feature tells of the path. No method of its class: Blender 4.2 then crashes at its end."""
    return bool(feature.kind.startswith("trajectory"))


def title_of(feature: Any) -> str:
    """A feature as it is called in the list."""
    kind = _NAMES[feature.kind]
    if is_trajectory(feature):
        return f"{kind} {_short(feature.times)}"
    return f"{feature.bone.replace('_', ' ').title()} {kind}"


def _short(times: str) -> str:
    """Times with two decimals, as they are written where they are no numbers."""
    try:
        return " ".join(f"{round(float(time), 2):g}" for time in times.split(","))
    except ValueError:
        return times


class MotionMatchingFeatures(bpy.types.PropertyGroup):
    """What frames are compared by"""

    items: CollectionProperty(
        name="Features",
        type=MotionMatchingFeature,
        description="What frames are compared by",
        **MANY,
    )
    index: IntProperty(
        name="Active Feature", description="Feature whose details are shown", **OVERRIDE
    )
    normalization: EnumProperty(
        name="Normalize",
        default="feature",
        update=_tuned,
        description="How features are made comparable",
        **OVERRIDE,
        items=[
            ("feature", "By Feature", "All numbers of a feature by their averaged deviation"),
            ("dimension", "By Number", "Every number by its own deviation"),
        ],
    )
    beyond_range: EnumProperty(
        name="Beyond End",
        default="extrapolate",
        update=_tuned,
        **OVERRIDE,
        description="Where a path leads that ends with its clip",
        items=[
            (
                "extrapolate",
                "Goes On",
                "As the clip ended, so one cut off in full stride is still one that goes on",
            ),
            ("hold", "Stays", "At the last frame"),
        ],
    )
    responsiveness: FloatProperty(
        name="Responsiveness",
        default=1.0,
        min=0.0,
        max=10.0,
        soft_min=0.2,
        soft_max=3.0,
        precision=2,
        **OVERRIDE,
        description="Multiplies the weights of the path; higher: turns and stops sooner, poses fit less well",
    )
    continuity: FloatProperty(
        name="Continuity",
        default=1.0,
        min=0.0,
        max=10.0,
        soft_min=0.2,
        soft_max=3.0,
        precision=2,
        **OVERRIDE,
        description="Multiplies the weights of the pose; higher: moves more smoothly, answers later",
    )
    preset: StringProperty(
        name="Preset", description="Preset that these features come from", **OVERRIDE
    )


CLASSES = (MotionMatchingFeature, MotionMatchingFeatures)
