"""Motion of one character brought onto the skeleton of another; threads may run it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ...engine.motion.clip import Clip
from ...engine.progress import ReportProgress, ignore_progress
from ...engine.retargeting.bodies import BoneNames, RetargetBody, group_by_skeleton
from ...engine.retargeting.pairs.bone_mapping import BoneMapping
from ...engine.retargeting.result.report import measure_retargeted
from ...engine.retargeting.result.result_check import ResultCheck
from ...engine.retargeting.settings import RetargetSettings
from .sources import SourceMotion
from .targets import Target


@dataclass(frozen=True)
class RetargetRequest:
    """Options of retargeting, with bones by role where they are given by hand."""

    settings: RetargetSettings = field(default_factory=RetargetSettings)
    source_bones: BoneNames = field(default_factory=dict)
    target_bones: BoneNames = field(default_factory=dict)


@dataclass(frozen=True)
class Retargeted:
    """Motion with its clip on the target's skeleton, and how that one's bones are mapped.

    The mapping belongs to the first source, if they have different skeletons; the target's roles
    are the same for all. `onto` is the target's body, and `bodies` are the sources' of each clip.
    `measures` are per clip, if requested, and `checks` compare written clips with their sources.
    """

    target: Target
    mapping: BoneMapping
    onto: RetargetBody
    bodies: list[RetargetBody] = field(default_factory=list)
    pairs: list[tuple[SourceMotion, Clip]] = field(default_factory=list)
    measures: list[dict[str, Any]] = field(default_factory=list)
    checks: list[ResultCheck] = field(default_factory=list)

    @property
    def hips(self) -> str:
        """Return the bone that carries the target's body."""
        return self.target.skeleton.names[self.mapping.target.chains["hips"][0]]

    @property
    def mapped_bones(self) -> set[str]:
        """Return the bones of the target that have counterparts."""
        return {name for pair in self.mapping.pairs if pair.source for name in pair.target}


def find_mapping(
    motions: Sequence[SourceMotion], target: Target, request: RetargetRequest
) -> BoneMapping:
    """Pair the bones of motion on one skeleton with the target's.

    Raises RigError, which names the character and the bone or role, if hips or legs are missing.
    """
    return _get_source(motions, request).pair_bones(target.get_body(request.target_bones))


def retarget(
    motions: Sequence[SourceMotion],
    target: Target,
    request: RetargetRequest,
    report: ReportProgress = ignore_progress,
    *,
    with_measures: bool = False,
) -> Retargeted:
    """Bring motion onto a target. Raises RigError as `find_mapping` does."""
    groups = group_by_skeleton(motions, lambda motion: motion.clip.skeleton)
    sources = [_get_source(group, request) for group in groups]
    onto = target.get_body(request.target_bones)
    result = Retargeted(target, sources[0].pair_bones(onto), onto)
    for group, source in zip(groups, sources, strict=True):
        retargeter = source.make_retargeter(onto, request.settings)
        for motion in group:
            report(f"Retargeting {motion.clip.name}", len(result.pairs) / len(motions))
            clip = retargeter.retarget(motion.clip)
            result.pairs.append((motion, clip))
            result.bodies.append(source)
            if with_measures:
                bodies = source.anatomy, onto.anatomy
                result.measures.append(measure_retargeted(motion.clip, clip, *bodies))
    return result


def _get_source(motions: Sequence[SourceMotion], request: RetargetRequest) -> RetargetBody:
    """Return the body of motion on one skeleton."""
    clips = [motion.clip for motion in motions]
    who = f"The source '{clips[0].name}'"
    return RetargetBody(clips[0].skeleton, clips, request.source_bones, who)
