"""What leads a character instead of a device: its words, what it needs, and the input it becomes.

Panels list these while the extension registers, so what an input needs is loaded on use.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import bpy

from ... import engine, live, scene
from ...engine.errors import SettingsError
from .. import takes

if TYPE_CHECKING:
    from ...engine.control.performer import Placement
    from ...engine.ground.ground import Ground
    from ...engine.performance.performance import Performance
    from ...engine.performance.settings import PerformerSettings, Steering
    from ...live.inputs.base import Input
    from ...live.inputs.leaders.path import PathInput


class Leading(NamedTuple):
    """What an input is made for; `get_target` returns where a target is at each tick, else now."""

    play: Any
    gait: str
    settings: PerformerSettings
    fps: float
    ground: Ground
    get_target: Callable[[], Placement | None] | None = None


def create_path(play: Any, gait: str, steering: Steering) -> PathInput:
    """Return the input along the curve of `play`. Raises errors of the path."""
    path = scene.staging.placements.read_curve_path(play.curve)
    speed = (steering.run if gait == "run" else steering.walk).forward
    lead = live.inputs.leaders.path.PathInput
    share = float(gait == "run")
    return lead(path.points, speed, factors=path.radii, cyclic=path.cyclic, gait=share)


def _read_recording(
    take: bpy.types.Action, weights: tuple[float, ...] | None, fps: float
) -> tuple[Performance, float, int]:
    """Return a recording's performance with later recordings, `fps`, and its lead-in ticks."""
    first, *others = takes.take_actions.read_parts(take)
    later = [part for part in others if part.collection == first.collection]
    rate = scene.blender.animation.actions.get_scene_fps(bpy.context.scene)
    lead_in = first.count_lead_in(fps)
    parts = []
    for part in later:
        tick = lead_in + round((part.frame - first.frame) * fps / rate)
        left_out = max(lead_in - tick, 0)  # it begins where the first one does
        leads = part.count_lead_in(fps) + left_out
        performed = _drop_foreign_weights(part.performance, weights)
        if leads < performed.seconds * fps:
            parts.append((tick + left_out, performed, leads))
    whole = _drop_foreign_weights(first.performance, weights).resample(fps)
    return engine.performance.performance.overlay(whole, parts), fps, lead_in


def _drop_foreign_weights(performed: Performance, weights: tuple[float, ...] | None) -> Performance:
    """Return a performance without weights of other features than those with these `weights`."""

    def keeps(name: str, value: Any) -> bool:
        is_foreign = weights and isinstance(value, list) and len(value) != len(weights)
        return name != "weights" or not is_foreign

    return takes.take_actions.filter_settings(performed, keeps)


def _create_to_target(led: Leading) -> Input:
    target = scene.blender.handle.Handle.from_block(led.play.target, "objects")
    read_target = partial(scene.staging.placements.read_object_placement, target)
    lead = live.inputs.leaders.target.TargetInput
    gait = float(led.gait == "run")
    where = led.get_target or read_target
    return lead(where, led.settings.steering, gait=gait, turns=True, ground=led.ground)


def _create_repeat(led: Leading) -> Input:
    read = _read_recording(led.play.take, led.settings.search.weights, led.fps)
    return live.inputs.leaders.replay.ReplayInput(*read)


def _create_to_clicks(led: Leading) -> Input:
    lead = live.inputs.leaders.target.PointInput
    gait = float(led.gait == "run")
    return lead(led.settings.steering, gait=gait, ground=led.ground)


class LeaderKind(NamedTuple):
    """A choice under *Steer By*, and under *Perform* if it `may_bake`.

    One that needs an object has a property of its name in Play, and says that it is `missing`;
    `word` stands before the object's name in that of a take. `keys` is said before the keys.
    """

    label: str
    help: str
    create: Callable[[Leading], Input]
    missing: str = ""
    word: str = ""
    keys: str = ""
    has_gait: bool = True
    may_bake: bool = True


# by name; Blender files store the place, so further ones come last
LEADERS: MappingProxyType[str, LeaderKind] = MappingProxyType(
    {
        "curve": LeaderKind(
            "Curve",
            "Follow a curve object, once, or repeatedly if it is closed",
            lambda led: create_path(led.play, led.gait, led.settings.steering),
            missing="There is no curve to follow; choose a curve object",
            word="Along",
        ),
        "target": LeaderKind(
            "Target",
            "Go to an object, which may move, and take its facing",
            _create_to_target,
            missing="There is no object to go to; choose one",
            word="To",
        ),
        "take": LeaderKind(
            "Recording",
            "Repeat the steering of a recording, with its settings and changes",
            _create_repeat,
            missing="There is no recording to repeat; choose a recorded action",
            word="Repeat of",
            has_gait=False,
        ),
        "click": LeaderKind(
            "Click to Go",
            "Go where you click on the ground in the 3D Viewport",
            _create_to_clicks,
            keys="Click on the ground to go there,  ",
            may_bake=False,
        ),
    }
)


def check_steering(play: Any) -> None:
    """Raise SettingsError if what steers live misses its object."""
    check_leader(play, play.steer, "in the panel Perform, or steer by keys and gamepad")


def check_leader(play: Any, name: str, advice: str) -> None:
    """Raise SettingsError if what leads misses its object; `advice` says where to choose it."""
    kind = LEADERS.get(name)
    if kind and kind.missing and getattr(play, name) is None:
        raise SettingsError(f"{kind.missing} {advice}.")


def describe_leader(play: Any, name: str, gait: str) -> str:
    """Return the name of what is performed; empty if the input names it."""
    kind = LEADERS[name]
    if not kind.missing:
        return ""
    ending = f" {gait.title()}" if kind.has_gait else ""
    return f"{kind.word} {getattr(play, name).name}{ending}"
