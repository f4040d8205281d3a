"""Compare actions that were made by retargeting with their sources, as Blender plays them."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial

import bpy
import numpy as np

from ...engine.errors import ResultError
from ...engine.motion.clip import Clip, join_clips, resample
from ...engine.progress import run_to_end
from ...engine.retargeting.bodies import RetargetBody
from ...engine.retargeting.result.result_check import ResultCheck, check_result
from ...engine.retargeting.result.result_measure import SeenBody
from ..blender.animation import actions
from ..blender.evaluation.evaluation import EvaluationCopy, EvaluationCopyGone
from ..blender.handle import Handle, find_read_action, find_read_armature
from ..blender.transforms.transforms import invert
from ..reading.sampling import SampledArmature, sample_steps
from ..rig.root_target import move_clip
from .sources import find_origin
from .targets import Target
from .transfer import Retargeted, RetargetRequest

_PIECE = 8  # frames of a control rig that are evaluated between two pauses
_MOST_EVALUATED = 120  # frames of a control rig's action, evenly spread: each takes milliseconds
_REMEDY = "check the bones found for both"

Read = Callable[[], Clip]
Judge = Callable[[], ResultCheck]


@dataclass(frozen=True)
class ResultReader:
    """Compares what was written of retargeted motion with the motion that it came from.

    `bones` is as for `read_target`; bones may `stray` some metres for fewer keys.
    """

    retargeted: Retargeted
    request: RetargetRequest
    bones: str | None = None
    stray: float = 0.0
    _seen: dict[int, SeenBody] = field(default_factory=dict, repr=False)

    def check(self, obj: bpy.types.Object, made: Sequence[bpy.types.Action]) -> list[ResultCheck]:
        """Return what became of all clips, whose actions are given."""
        return [
            run_to_end(self.read_steps(obj, action, index))() for index, action in enumerate(made)
        ]

    def read_steps(
        self, obj: bpy.types.Object, action: bpy.types.Action, index: int
    ) -> Generator[None, None, Judge]:
        """Read the action of a clip in small pieces, between which Blender may go on.

        Returns what compares it, which needs no Blender and may run in a thread.
        """
        target = self.retargeted.target
        fps = actions.get_scene_fps(bpy.context.scene)
        back = invert(find_origin(obj, int(action.frame_range[0])))
        clip = self.retargeted.pairs[index][0].clip
        source = resample(clip, fps)
        if target.rig:
            frames = _spread(source.frame_count)
            read = yield from _evaluate_steps(obj, action, target, frames, fps)
        else:
            frames = np.arange(source.frame_count)
            read = yield from _sample_steps(obj, action, len(frames), self.bones)

        def judge() -> ResultCheck:
            shown = replace(
                source, positions=source.positions[frames], rotations=source.rotations[frames]
            )
            ours, theirs = map(self._look_at, (self.retargeted.bodies[index], self.retargeted.onto))
            found = check_result(
                ours,
                theirs,
                shown,
                move_clip(read(), back),
                self.request.settings,
                stray=self.stray,
                stretches=target.rig is not None,
            )
            return found.count_frames(frames)

        return judge

    def _look_at(self, body: RetargetBody) -> SeenBody:
        """Return how a body is seen, which is found once for all of its clips."""
        key = id(body)
        if key not in self._seen:
            self._seen[key] = SeenBody.from_clips(body.skeleton, body.roles, body.clips)
        return self._seen[key]


def check_all_right(checks: Sequence[ResultCheck], remedy: str) -> None:
    """Raise ResultError, which names the clip that is most wrong, if one is."""
    wrong = sorted((c for c in checks if c.is_wrong), key=lambda check: -check.excess)
    if not wrong:
        return
    others = f", and so did {len(wrong) - 1} of {len(checks) - 1} others" if wrong[1:] else ""
    raise ResultError(
        f"{wrong[0].describe()}{others}; {_REMEDY}, or {remedy}.",
        [check.to_dict() for check in checks],
    )


def _sample_steps(
    obj: bpy.types.Object, action: bpy.types.Action, count: int, bones: str | None
) -> Generator[None, None, Read]:
    """Read all frames of an action: from its curves where these alone move the bones."""
    first = int(action.frame_range[0])
    frames = first, first + max(count - 1, 0)
    join = yield from sample_steps(obj, action, bones=bones, frames=frames)
    return lambda: join().clip


def _spread(count: int) -> np.ndarray:
    """Return frames from the first to the last, evenly spread if there are many."""
    most = min(count, _MOST_EVALUATED)
    return np.unique(np.linspace(0, count - 1, most).astype(int)) if most else np.arange(0)


def _evaluate_steps(
    obj: bpy.types.Object, action: bpy.types.Action, target: Target, frames: np.ndarray, fps: float
) -> Generator[None, None, Read]:
    """Let Blender evaluate the deform bones of a control rig at some frames of an action."""
    owner = Handle.from_block(obj, "objects")
    played = Handle.from_block(action, "actions")
    at = (int(action.frame_range[0]) + frames).tolist()
    sampled = SampledArmature(obj.name, target.skeleton, fps)
    parts = None
    while parts is None:
        with suppress(EvaluationCopyGone):  # read all again: undo may have changed anything
            parts = yield from _evaluate_pieces(owner, played, sampled, at)
    return partial(join_clips, parts)


def _evaluate_pieces(
    owner: Handle, played: Handle, sampled: SampledArmature, frames: list[int]
) -> Generator[None, None, list[Clip]]:
    obj = find_read_armature(owner)
    action = find_read_action(played)
    parts = []
    with EvaluationCopy(obj) as copy:
        copy.play(action, actions.find_slot(action, obj))
        for start in range(0, max(len(frames), 1), _PIECE):
            parts.append(sampled.evaluate(copy, frames[start : start + _PIECE], played.name))
            yield
    return parts
