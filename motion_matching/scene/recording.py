"""Recording onto an armature: an action that grows while it is recorded, and the take that it becomes.

Adding keys costs more the more there are, so the growing action holds the last stretch only and the take is written in
bulk, from the ticks themselves, when the recording ends. A take keeps the performance that it was recorded from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np

from ..engine.errors import MotionMatchingError, RigError
from . import actions, splicing
from .channels import STILL, bone_path, changes
from .handle import Handle, posable
from .pose import Track

MODES = ("new", "append", "overwrite")
PARTS = "motion_matching_takes"  # custom property of a take's action: what was recorded into it
GROWING = "motion_matching_growing"  # custom property of an action that shows a recording


@dataclass(frozen=True)
class RecordedTicks:
    """Channels (T, C) at frames (T,), what they are, and the performance (JSON) whose ticks from `lead_in` on they are.

    `fps` is the rate of the ticks; the bones `scaled` had a scale that the poses undo. Where only the bones of a
    `collection` were driven, the armature's own animation goes on in what has no tracks.
    """

    name: str
    tracks: Sequence[Track]
    scaled: Sequence[str]
    frames: np.ndarray
    rows: np.ndarray
    fps: float
    lead_in: int
    performance: str
    collection: str = ""


class GrowingAction:
    """The action that shows a recording, assigned to an armature; known by name, as the armature is.

    One that `shares` plays beside it what the armature's own action has for others. RigError where the armature is gone.
    """

    def __init__(
        self, armature: Handle, name: str, tracks: Sequence[Track], shares: bool = False
    ) -> None:
        self._armature, self._tracks = armature, tracks
        sizes = [len(track.free) for track in tracks]
        obj = posable(armature)
        self._before = actions.Playing.of(obj) if shares else None
        with actions.new_action(name, obj, with_own=shares) as action:
            _make_room(action, tracks)
            first = len(actions.channelbag(action).fcurves)
            self._places = (first + np.concatenate([[0], np.cumsum(sizes)])[: len(sizes)]).tolist()
            nothing = np.zeros(0)
            for track in tracks:  # all curves in their order, whichever grows first
                actions.write_channel(
                    action,
                    track.path,
                    nothing,
                    np.zeros((len(track.rest), 0)),
                    track.group,
                    track.free,
                )
        action[GROWING] = True
        self._action = Handle.of(action, "actions")

    def extend(self, numbers: Sequence[int], frames: np.ndarray, rows: np.ndarray) -> int:
        """Bring some tracks, by number, up to channels (F, C) at frames (F,) that begin as they do.

        Returns how many keys were touched. What may be left out, as it stays at rest, is.
        """
        action = self._found()
        curves, touched = splicing.GrowingCurves(action), 0
        for number in numbers:
            track = self._tracks[number]
            values = rows[:, track.start : track.start + len(track.rest)].T
            if _is_at_rest(track, values):
                continue
            place = self._places[number]
            touched += curves.grow(place, track.path, frames, values, track.group, track.free)
        # the keys are played now, so that the pose that is written next stays
        action.update_tag()
        bpy.context.view_layer.update()
        return touched

    def clear(self) -> None:
        """Take out all keys of the recording, to begin the next stretch."""
        splicing.clear_keys(self._found(), {track.path for track in self._tracks})

    def remove(self) -> None:
        """Take the action out of the file, if it is still there, but for keys that the user has set beside the recording.

        They go into the action that is played beside it; where there is none, this one stays with them.
        """
        if action := self._action.find():
            if not self._carried_over(action):
                bpy.data.actions.remove(action)
            obj = self._armature.find()
            if self._before and obj:
                self._before.resume(obj)
            bpy.context.view_layer.update()

    def _carried_over(self, action: bpy.types.Action) -> bool:
        """Rescue keys of properties that are not recorded; whether the action had to stay for that."""
        paths = _replaced(self._tracks)
        if all(curve.data_path in paths for curve in actions.channelbag(action).fcurves):
            return False
        before = self._before.action.find() if self._before and self._before.action else None
        bag = (
            actions.channelbag(before, self._before.slot)
            if self._before and before and before.library is None
            else None
        )
        if bag:
            splicing.carry_over(action, bag, paths)
            return False
        splicing.remove_channels(action, paths)
        action.name = f"{action.name} Keys"
        del action[GROWING]
        return True

    def _found(self) -> bpy.types.Action:
        action, obj = self._action.find(), posable(self._armature)
        if action is None or obj.animation_data is None or obj.animation_data.action != action:
            raise RigError(
                f"the action that armature '{self._armature.name}' is being recorded into was taken off; "
                "record again."
            )
        return action


def is_take(action: bpy.types.Action) -> bool:
    """Whether an action was recorded, so that more may be recorded into it."""
    return PARTS in action.keys()  # noqa: SIM118  # bpy's types know no `in`


def count_of_parts(action: bpy.types.Action) -> int:
    """How often an action was recorded into."""
    return len(_parts(action))


def base_of(playing: Handle | None, mode: str) -> Handle | None:
    """The take to record into by a mode of MODES: the action that is played, or None for a new one.

    RigError where that is no take.
    """
    action = playing.find() if playing and mode != "new" else None
    if action is None:
        return None
    if not is_take(action):
        raise RigError(
            f"action '{action.name}' was not recorded here and is left alone; record a new take."
        )
    return playing


def write_take(
    obj: bpy.types.Object, ticks: RecordedTicks, base: Handle | None = None
) -> bpy.types.Action:
    """Write ticks into a new action of the object, or over the keys of a take, which is assigned again.

    As with a bake, what stays gets a single key, and what stays at rest none. A new action of a recording of a
    collection has all else from the one that is played. Nothing is left behind on an error.
    """
    into = base.find() if base else None
    if into is None:
        with actions.new_action(ticks.name, obj, with_own=bool(ticks.collection)) as action:
            _make_room(action, ticks.tracks)
            _write_all(action, ticks)
    else:
        action, extent = into, tuple(into.frame_range)
        actions.assign(obj, action)
        for track in ticks.tracks:
            values = ticks.rows[:, track.start : track.start + len(track.rest)].T
            if not (_is_at_rest(track, values) and not splicing.has_channel(action, track.path)):
                splicing.splice_channel(
                    action,
                    track.path,
                    ticks.frames,
                    values,
                    track.group,
                    track.free,
                    track.rest,
                    extent,
                )
    keep_performance(
        action,
        ticks.performance,
        float(ticks.frames[0]),
        len(ticks.frames),
        ticks.fps,
        ticks.lead_in,
        ticks.collection,
    )
    bpy.context.view_layer.update()  # it plays now, so that a pose that is written next stays
    return action


def recorded_parts(action: bpy.types.Action) -> list[dict[str, Any]]:
    """What was recorded into a take, in that order: `frame`, `ticks`, `fps`, `lead_in`, `performance` as JSON text, and
    `collection`, the bone collection that alone was driven, if it was one.

    MotionMatchingError where there is none, or such a text was deleted.
    """
    parts = _parts(action)
    if not parts:
        raise MotionMatchingError(
            f"The action '{action.name}' was neither recorded nor baked here; choose a take or a "
            "steered path."
        )
    if not all("performance" in part for part in parts):
        raise MotionMatchingError(
            f"The take '{action.name}' does not know what was performed, as its text was deleted; "
            "bake or record another."
        )
    return [{**part, "performance": part["performance"].as_string()} for part in parts]


def knows_performance(action: bpy.types.Action) -> bool:
    """Whether an action is a take of which `recorded_parts` can be told."""
    parts = _parts(action)
    return bool(parts) and all("performance" in part for part in parts)


def _make_room(action: bpy.types.Action, tracks: Sequence[Track]) -> None:
    """Take out of a copied action what is recorded, in whatever rotation mode, and that it was recorded itself."""
    splicing.remove_channels(action, _replaced(tracks))
    if is_take(action):
        del action[PARTS]


def _replaced(tracks: Sequence[Track]) -> set[str]:
    """The paths of all that a recording replaces: its tracks, in whatever rotation mode, and the scale of its bones."""
    paths = {track.path for track in tracks}
    for path in list(paths):
        owner = (
            path.rpartition("location")[0]
            if path.endswith("location")
            else path.rpartition("rotation")[0]
        )
        paths.update(
            f"{owner}{name}"
            for name in ("rotation_quaternion", "rotation_euler", "rotation_axis_angle")
        )
        if owner:
            paths.add(f"{owner}scale")
    return paths


def _write_all(action: bpy.types.Action, ticks: RecordedTicks) -> None:
    for track in ticks.tracks:
        values = ticks.rows[:, track.start : track.start + len(track.rest)].T
        if _is_at_rest(track, values):
            continue
        count = len(ticks.frames) if changes(values) else 1
        actions.write_channel(
            action, track.path, ticks.frames[:count], values[:, :count], track.group, track.free
        )
    for bone in ticks.scaled:
        actions.write_channel(
            action, f"{bone_path(bone)}.scale", ticks.frames[:1], np.ones((3, 1)), bone
        )


def _is_at_rest(track: Track, values: np.ndarray) -> bool:
    """Whether a track may be left out of a take with these values (C, T)."""
    return track.optional and float(np.abs(values.T - np.array(track.rest)).max()) <= STILL


def keep_performance(
    action: bpy.types.Action,
    performance: str,
    frame: float,
    ticks: int,
    fps: float,
    lead_in: int = 0,
    collection: str = "",
) -> None:
    """Note which performance, as JSON, a take was made of, and which bone collection alone plays it, if it is one.

    The text lies in the file beside it, where it can be read.
    """
    text = bpy.data.texts.new(f"{action.name}.performance.json")
    text.from_string(performance)
    part = {
        "frame": frame,
        "ticks": ticks,
        "fps": fps,
        "lead_in": lead_in,
        "performance": text,
        "collection": collection,
    }
    action[PARTS] = [*_parts(action), part]


def remove_take(obj: bpy.types.Object, action: bpy.types.Action) -> None:
    """Delete a take, the strips of it on the object's NLA with tracks that then are empty, and the texts it alone has."""
    texts = [part["performance"] for part in _parts(action) if "performance" in part]
    actions.remove_strips(obj, action)
    bpy.data.actions.remove(action)
    for text in texts:
        if text.users - text.use_fake_user == 0:
            bpy.data.texts.remove(text)


def _parts(action: bpy.types.Action) -> list[dict[str, Any]]:
    """What a take keeps of each recording into it, without a `performance` whose text was deleted."""
    parts = [part if isinstance(part, dict) else part.to_dict() for part in action.get(PARTS, ())]
    return [{name: value for name, value in part.items() if value is not None} for part in parts]
