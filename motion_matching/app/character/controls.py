"""Find the controls of a character, which takes are written to if a rig moves its bones."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import bpy

from ...engine.body.toe_ends import remove_toe_ends
from ...engine.control.rollout import Take
from ...engine.errors import RigError
from ...engine.progress import map_steps
from ...engine.skeleton.skeleton import Skeleton
from ...scene.controls.bake_controls import ControlSettings, WriteAction, solve_bake_steps
from ...scene.controls.control_rig import ControlRig
from ...scene.controls.finding.find_controls import (
    find_control_rig,
    find_stretching_bones,
    list_followers,
    match_control_rig,
    set_ik_stretch_off,
)
from ...scene.controls.live.control_writer import ControlWriter, measure_live_rate
from ...scene.controls.live.proxy_writer import ProxyWriter
from ...scene.staging.marker_writer import MarkerWriter
from ...scene.writing.channel_writer import ChannelWriter
from ..mapping.source_skeletons import get_identity
from ..property_access import settings_of, to_plain_value
from ..runtime import runtime
from ..steps import Steps
from .characters import get_bone_choice

LEAST_RATE = 24.0  # Hz at which a rig shows motion smoothly


def find_rig(obj: bpy.types.Object) -> ControlRig | None:
    """Return the controls of an armature; None if keys on its bones move it.

    A known rig is described by a preset. Of others, controls are found by trying: that takes a
    second or two, once. Raises RigError if controls that a known rig needs are missing.
    """
    if get_bone_choice(obj) == "all":
        return None
    known: dict[Any, ControlRig | None] = runtime.known["control rigs"]
    key = _make_key(obj)
    if key not in known:
        known[key] = find_control_rig(obj)
        refresh(obj)
    return known[key]


class ControlState(NamedTuple):
    """The state of a rig for the panel: its label, findings, and bones whose IK may stretch."""

    label: str
    found: tuple[str, ...]
    stretching: tuple[str, ...]


def get_state(obj: bpy.types.Object) -> ControlState | None:
    """Return the last known state of an armature's controls; None if it has no known ones."""
    return runtime.known["control states"].get(obj.session_uid)


def refresh(obj: bpy.types.Object) -> None:
    """Find the state of an armature's controls for the panel, from presets or by trying."""
    shown = runtime.known["control states"]
    shown.pop(obj.session_uid, None)
    try:
        known = runtime.known["control rigs"].get(_make_key(obj)) or match_control_rig(obj)
    except RigError:  # which the bake says
        return
    if known and get_bone_choice(obj) != "all":
        stretching = tuple(find_stretching_bones(obj))
        shown[obj.session_uid] = ControlState(known.label, known.found, stretching)


def switch_stretch_off(obj: bpy.types.Object) -> list[str]:
    """Set IK Stretch of an armature's IK chains to zero, and return the bones that had some."""
    names = set_ik_stretch_off(obj)
    refresh(obj)
    return names


def _make_key(obj: bpy.types.Object) -> tuple[Any, ...]:
    return *get_identity(obj), list_followers(obj)


def get_control_settings(obj: bpy.types.Object) -> ControlSettings:
    """Return how takes are written to the controls of an armature."""
    group = settings_of(obj).retarget
    distance = to_plain_value(settings_of(obj).fewer_keys)
    settings = ControlSettings(legs=group.legs, arms=group.arms)
    return replace(settings, fewer_keys=True, distance=distance) if distance else settings


def solve_take_steps(
    obj: bpy.types.Object, rig: ControlRig, take: Take, frame: int
) -> Steps[WriteAction]:
    """Solve a take that begins at a frame for an armature's controls, and return what writes it.

    Raises RigError if they cannot be keyed.
    """
    clip = remove_toe_ends(take.to_clip())
    settings = get_control_settings(obj)
    stage = "Finding Fewer Keys" if settings.fewer_keys else "Solving Controls"
    steps = solve_bake_steps(obj, rig, clip, settings, frame)
    return map_steps(steps, lambda part: (stage, part or 0.0))


def create_writer(obj: bpy.types.Object, rig: ControlRig, skeleton: Skeleton) -> ControlWriter:
    """Return what shows poses of a database's skeleton on the controls of an armature, or a proxy.

    Raises RigError if they cannot be keyed, or if one bone collection alone is to be driven.
    """
    play = settings_of(obj).play
    settings = get_control_settings(obj)
    if play.collection:
        raise describe_partial(obj, rig)
    writer = ControlWriter(obj, rig, skeleton, settings)
    if play.drive == "controls":
        return writer
    rate = measure_live_rate(writer, skeleton) if play.drive == "auto" else 0.0
    return writer if rate >= LEAST_RATE else ProxyWriter(writer, skeleton, rate)


def describe_partial(obj: bpy.types.Object, rig: ControlRig) -> RigError:
    """Return the error that some of a control rig's bones cannot be keyed alone."""
    return RigError(
        f"'{obj.name}' is moved by controls ({rig.label}), so a single bone collection cannot be "
        "performed or baked; choose all bones, and edit its controls."
    )


def describe_driven(writer: ChannelWriter | MarkerWriter) -> str:
    """Return what of a control rig a session drives, and why; nothing if its bones are driven."""
    if isinstance(writer, ProxyWriter):
        if not writer.rig_rate:
            return f"Proxy of {writer.label}, as set in Controls"
        rate = writer.rig_rate  # not rounded up to what is needed, nor down to nothing
        rate_text = f"{int(rate)}" if rate >= 1.0 else f"{rate:.1g}"
        return f"Proxy: the rig evaluates at {rate_text} Hz, {LEAST_RATE:.0f} needed"
    if not isinstance(writer, ControlWriter):
        return ""
    return f"Controls of {writer.label}" + (f", {writer.rate:.0f} Hz" if writer.rate else "")
