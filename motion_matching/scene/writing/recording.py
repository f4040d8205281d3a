"""Recording onto an armature: an action that grows while recording, and the take it becomes.

Keys cost more the more there are. So the growing action holds only the last stretch, and the take
is written in bulk when the recording ends, with the performance that it comes from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import bpy
import numpy as np

from ...engine.errors import MotionMatchingError, RigError
from ...engine.files.json_files import (
    EntryError,
    expect_list,
    expect_number,
    expect_object,
    expect_whole_number,
)
from ...engine.performance.performance import HIGHEST_RATE, LONGEST_TAKE
from ..blender import id_properties, removal
from ..blender.animation import actions, playback
from ..blender.animation.curves import build_bone_path, is_custom_property
from ..blender.evaluation.channels import has_motion
from ..blender.handle import Handle, find_posable, fit_name
from ..blender.transforms.transforms import ROTATIONS
from ..direct import stored_shots
from . import splicing
from .channel_writer import CarrierMove, Track
from .saved_pose import SAVED_POSE, SavedPose

MODES = ("new", "append", "overwrite")
PARTS = "motion_matching_takes"  # custom property of a take's action: what was recorded into it
GROWING = "motion_matching_growing"  # custom property of an action that shows a recording
_TEXT = ".performance.json"  # in the name of a text of a take
_TEXT_BYTES = len(_TEXT) + len(".001")  # Blender cuts a name off to number it


class RestTicks(NamedTuple):
    """Channels (T, C) of the ticks after a recording, and how all keys of the take after them move.

    They lead from the end of the recording to what the take plays there, and back to its place
    within `lead_back` seconds unless 0.
    """

    rows: np.ndarray
    moves: Sequence[CarrierMove]
    lead_back: float = 0.0


@dataclass(frozen=True)
class RecordedTicks:
    """Channels (T, C) at frames (T,), their tracks, and the performance they come from.

    `performance` is JSON; its ticks from `lead_in` on are these, at `fps`. Poses reset the scale of
    the bones `scaled`. With a `collection`, only its bones were driven.
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
    """The action that shows a recording, assigned to an armature; both are known by name.

    One that `shares` also plays what the armature's own action has for other bones. Raises RigError
    if the armature was deleted.
    """

    def __init__(
        self, armature: Handle, name: str, tracks: Sequence[Track], shares: bool = False
    ) -> None:
        self._armature = armature
        self._tracks = tracks
        obj = find_posable(armature)
        self._before = playback.PlaybackState.from_object(obj) if shares else None
        with actions.create_action(name, obj, with_own=shares) as action:
            _remove_recorded_channels(action, tracks)
            first = len(actions.get_channelbag(action).fcurves)
            ends = first + np.cumsum([0, *(len(track.free) for track in tracks)])
            self._parts = list(zip(ends[:-1].tolist(), tracks, strict=True))
            for track in tracks:  # all curves in their order, whichever grows first
                _write_track(action, track, np.zeros(0), np.zeros((len(track.rest), 0)))
        action[GROWING] = True
        self._action = Handle.from_block(action, "actions")

    def extend(self, numbers: Sequence[int], frames: np.ndarray, rows: np.ndarray) -> int:
        """Extend some tracks, by index, to channels (F, C) at frames (F,) that begin as they do.

        Returns how many keys were touched. Optional tracks that stay at rest are left out.
        """
        action = self._find_action()
        parts = [self._parts[number] for number in numbers]
        moving = [(first, track) for first, track in parts if not track.may_skip(rows)]
        touched = splicing.grow_curves(action, moving, frames, rows)
        # the keys play now, so that the next pose that is written stays
        action.update_tag()
        bpy.context.view_layer.update()
        return touched

    def clear(self) -> None:
        """Remove all keys of the recording, to begin the next stretch."""
        splicing.clear_keys(self._find_action(), {track.path for track in self._tracks})

    def remove(self) -> None:
        """Remove the action from the file, if it is still there, but rescue keys of the user's.

        They go into the action that is played beside it; without one, this action stays with them.
        """
        if action := self._action.find():
            if not self._rescue_user_keys(action):
                bpy.data.actions.remove(action)
            obj = self._armature.find()
            if self._before and obj:
                self._before.resume(obj)
            bpy.context.view_layer.update()

    def _rescue_user_keys(self, action: bpy.types.Action) -> bool:
        """Rescue keys of properties that are not recorded; return whether the action stays."""
        paths = _find_replaced_paths(self._tracks)
        if all(curve.data_path in paths for curve in actions.get_channelbag(action).fcurves):
            return False
        before = self._before.find_action() if self._before else None
        if self._before and before and before.library is None:
            bag = actions.get_channelbag(before, self._before.find_slot(before))
            if bag:
                splicing.copy_other_keys(action, bag, paths)
                return False
        splicing.remove_channels(action, paths)
        action.name = f"{action.name} Keys"
        del action[GROWING]
        return True

    def _find_action(self) -> bpy.types.Action:
        action = self._action.find()
        obj = find_posable(self._armature)
        if action is None or obj.animation_data is None or obj.animation_data.action != action:
            raise RigError(
                f"the action being recorded was unassigned from armature '{self._armature.name}'; "
                "record again."
            )
        return action


def is_take(action: bpy.types.Action) -> bool:
    """Return whether an action was recorded, so that more may be recorded into it."""
    return count_parts(action) > 0


def count_parts(action: bpy.types.Action) -> int:
    """Return how often an action was recorded into."""
    return len(_read_parts(action))


def find_base_take(playing: Handle | None, mode: str) -> Handle | None:
    """Return the take to record into by a mode of MODES, or None; raise RigError for others."""
    action = playing.find() if playing and mode != "new" else None
    if action is None:
        return None
    if not is_take(action):
        raise RigError(f"action '{action.name}' was not recorded here; record a new take.")
    return playing


def write_take(
    obj: bpy.types.Object,
    ticks: RecordedTicks,
    base: Handle | None = None,
    rest: RestTicks | None = None,
) -> bpy.types.Action:
    """Write ticks into a new action of the object, or over the keys of a take, and assign it.

    In a take, the ticks of the `rest` follow at the same pace, and what comes after them moves.

    What stays gets a single key, and what stays at rest none. If a collection was recorded, a new
    action has everything else from the played one. Nothing is left behind on an error.
    """
    take = base.find() if base else None
    if take is None:
        with actions.create_action(ticks.name, obj, with_own=bool(ticks.collection)) as action:
            _remove_recorded_channels(action, ticks.tracks)
            _write_all(action, ticks)
    else:
        action = take
        extent = tuple(take.frame_range)
        actions.assign(obj, action)
        rows = ticks.rows
        frames = ticks.frames
        if rest:
            step = (frames[-1] - frames[0]) / max(len(frames) - 1, 1)
            rows = np.concatenate([rows, rest.rows])
            frames = frames[0] + step * np.arange(len(rows))
        for track in ticks.tracks:
            if splicing.has_channel(action, track.path) or not track.may_skip(rows):
                splicing.splice_channel(action, track, frames, track.get_values(rows), extent)
        for move in rest.moves if rest else ():
            splicing.move_keys(action, move, float(frames[-1]))
    first = float(ticks.frames[0])
    count = len(ticks.frames)
    origin = ticks.fps, ticks.lead_in, ticks.collection
    lead_back = rest.lead_back if rest else 0.0
    store_performance(action, ticks.performance, first, count, *origin, lead_back)
    # the keys play now, so that the next pose that is written stays
    bpy.context.view_layer.update()
    return action


def read_recorded_parts(action: bpy.types.Action) -> list[dict[str, Any]]:
    """Return what was recorded into a take, in order: parts as `store_performance` makes them.

    Raises MotionMatchingError if there is none, or if the text of a performance was deleted.
    """
    parts = _read_parts(action)
    if not parts:
        raise MotionMatchingError(
            f"The action '{action.name}' was neither recorded nor baked here; choose a take or a "
            "steered path."
        )
    if not has_performance(action):
        raise MotionMatchingError(
            f"The take '{action.name}' has lost its performance, because its text was deleted; "
            "bake or record another."
        )
    return [part | {"performance": part["performance"].as_string()} for part in parts]


def has_performance(action: bpy.types.Action) -> bool:
    """Return whether an action is a take that `read_recorded_parts` can read."""
    parts = _read_parts(action)
    return bool(parts) and all("performance" in part for part in parts)


def _remove_recorded_channels(action: bpy.types.Action, tracks: Sequence[Track]) -> None:
    """Remove what is recorded from a copied action, and the mark that it was recorded itself."""
    splicing.remove_channels(action, _find_replaced_paths(tracks))
    if id_properties.has(action, PARTS):
        del action[PARTS]


def _find_replaced_paths(tracks: Sequence[Track]) -> set[str]:
    """Return the paths that a recording replaces: tracks in any rotation mode, and bones' scale."""
    paths = {track.path for track in tracks}
    for path in [path for path in paths if not is_custom_property(path)]:
        owner = path.rpartition("location" if path.endswith("location") else "rotation")[0]
        paths.update(f"{owner}{name}" for name in ROTATIONS)
        if owner:
            paths.add(f"{owner}scale")
    return paths


def _write_all(action: bpy.types.Action, ticks: RecordedTicks) -> None:
    for track in ticks.tracks:
        if not track.may_skip(ticks.rows):
            values = track.get_values(ticks.rows)
            count = len(ticks.frames) if has_motion(values) else 1
            _write_track(action, track, ticks.frames[:count], values[:, :count])
    for bone in ticks.scaled:
        path = f"{build_bone_path(bone)}.scale"
        actions.write_channel(action, path, ticks.frames[:1], np.ones((3, 1)), bone)


def _write_track(
    action: bpy.types.Action, track: Track, frames: np.ndarray, values: np.ndarray
) -> None:
    actions.write_channel(action, track.path, frames, values, track.group, track.free)


def store_performance(
    action: bpy.types.Action,
    performance: str,
    frame: float,
    ticks: int,
    fps: float,
    lead_in: int = 0,
    collection: str = "",
    lead_back: float = 0.0,
) -> None:
    """Store which performance, as JSON, a take was made of, as a part with a text of the file."""
    text = bpy.data.texts.new(fit_name(action.name, _TEXT_BYTES) + _TEXT)
    text.from_string(performance)
    part: dict[str, Any] = {"frame": frame, "ticks": ticks, "fps": fps, "lead_in": lead_in}
    part |= {"performance": text, "collection": collection, "lead_back": lead_back}
    action[PARTS] = [*_read_parts(action), part]


def remove_take(obj: bpy.types.Object, action: bpy.types.Action) -> bool:
    """Delete a take, its strips on the object's NLA, and texts that only it uses.

    Returns whether it is gone: an action that is no take stays, and so does one that something else
    than the object uses.
    """
    is_made_here = is_take(action) or stored_shots.is_directed(action)
    if not is_made_here or removal.is_needed(action, besides=(obj,)):
        return False
    texts = [part.get("performance") for part in _read_parts(action)]
    texts.append(stored_shots.find_text(action))
    actions.remove_strips(obj, action)
    bpy.data.actions.remove(action)
    for text in filter(None, texts):
        is_ours = any(end in text.name for end in (_TEXT, stored_shots.TEXT))
        if is_ours and text.users - text.use_fake_user == 0:
            bpy.data.texts.remove(text)
    return True


def restore_abandoned_poses() -> None:
    """Restore armatures that an undo step or a copy left in a session's pose; takes play on."""
    for obj in bpy.data.objects:
        if obj.type != "ARMATURE" or obj.library or not id_properties.has(obj, SAVED_POSE):
            continue
        try:
            saved = SavedPose.from_property(obj)
        except EntryError:  # nothing that a session saved
            del obj[SAVED_POSE]
            continue
        action = actions.get_assigned(obj)
        if action is not None and id_properties.has(action, GROWING):
            if removal.is_needed(action, besides=(obj,)):  # it has become the user's
                obj.animation_data.action = None
            else:
                bpy.data.actions.remove(action)
            action = actions.get_assigned(obj)
        saved.restore(obj, action is not None and is_take(action))


def _read_parts(action: bpy.types.Action) -> list[dict[str, Any]]:
    """Return what a take stores of each recording; `performance` is left out if deleted.

    What anybody else has written there is no part, and the action no take.
    """
    if not id_properties.has(action, PARTS):  # which is looked up in every action of a file
        return []
    try:
        parts = expect_list(id_properties.read(action, PARTS), "the property of a take")
        return [_check_part(expect_object(part, "a part of a take")) for part in parts]
    except EntryError:
        return []


def _check_part(part: Mapping[str, Any]) -> dict[str, Any]:
    """Return a part as `store_performance` makes it. EntryError for anything else."""
    text = part.get("performance")
    collection = part.get("collection", "")
    checked = {
        "frame": expect_number(part.get("frame"), "a frame", -actions.MAX_FRAME, actions.MAX_FRAME),
        "ticks": expect_whole_number(part.get("ticks"), "a number of ticks", 1),
        "fps": expect_number(part.get("fps"), "a rate", 1, HIGHEST_RATE),
        "lead_in": expect_whole_number(part.get("lead_in"), "a lead-in", 0),
        "collection": collection,
        "lead_back": expect_number(part.get("lead_back", 0.0), "a time", 0.0, LONGEST_TAKE),
    }
    if not isinstance(collection, str) or not isinstance(text, bpy.types.Text | None):
        raise EntryError("a part of a take has no text")
    return checked if text is None else checked | {"performance": text}
