"""Bring all sources onto the character's skeleton.

Sources with its bones and rest pose are read as they are. Motion of any other skeleton is
retargeted, all sources of one skeleton together.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from ..errors import RigError
from ..ground.ground import FLAT, Ground, ScaledGround
from ..motion import conforming
from ..motion.clip import Clip
from ..retargeting.bodies import BoneNames, RetargetBody, group_by_skeleton
from ..retargeting.pairs.bone_mapping import BoneMapping
from ..retargeting.settings import RetargetSettings
from ..skeleton.skeleton import Skeleton
from .numbers import NUMBERS
from .reel import BuildNote, ReelPart

_ALGORITHM = 1  # version of retargeting: databases of another version are built again


@dataclass(frozen=True)
class Character:
    """The common skeleton of all sources, and the settings of retargeting to it.

    Bones by role chosen by hand are in `roles` for its own skeleton, and in `source_roles` for
    skeletons of sources by `compute_signature`.
    """

    skeleton: Skeleton
    roles: BoneNames = field(default_factory=dict)
    source_roles: Mapping[str, BoneNames] = field(default_factory=dict)
    settings: RetargetSettings = field(default_factory=RetargetSettings)

    def get_content(self) -> dict[str, Any]:
        """Return the parts of it that decide a database, as JSON data."""
        sources = {key: dict(roles) for key, roles in self.source_roles.items() if roles}
        return {
            "algorithm": _ALGORITHM,
            "character": _digest_rest(self.skeleton),
            "roles": dict(self.roles),
            "source_roles": sources,
            "settings": asdict(replace(self.settings, offsets=dict(self.settings.offsets))),
        }


def compute_signature(skeleton: Skeleton) -> str:
    """Return a short digest of the names and the hierarchy of bones, independent of their order."""
    return _digest(f"{name} {above}" for name, above in sorted(skeleton.get_hierarchy()))


def _digest_rest(skeleton: Skeleton) -> str:
    rest = skeleton.rest_positions, skeleton.rest_rotations
    rounded = (np.round(np.asarray(part, np.float64), 5) + 0.0 for part in rest)
    values = (part.tobytes().hex() for part in rounded)
    return _digest((*skeleton.names, str(skeleton.parents.tolist()), *values))


def _digest(texts: Iterable[str]) -> str:
    return hashlib.blake2b("\n".join(texts).encode(), digest_size=8).hexdigest()


class SharedParts(NamedTuple):
    """Parts on one skeleton, and notes on omitted parts, retargeted parts, and odd bodies."""

    parts: list[ReelPart]
    skipped: list[BuildNote]
    mapped: list[BuildNote]
    faults: list[BuildNote]


def share_skeleton(
    parts: Sequence[ReelPart],
    character: Character | None,
    skip_broken: bool = False,
    *,
    knows_roles: bool = False,
) -> SharedParts:
    """Bring all parts onto one skeleton, in their order.

    It is the character's; without one, the skeleton of an armature's actions, if there are any, and
    the most common of several. Its body is not checked if the user `knows_roles` of it. Raises
    RigError if a part cannot be retargeted, unless `skip_broken`.
    """
    model, alike = _find_model(parts, character)
    sliding = conforming.find_sliding_bones(model)
    clips: dict[int, Clip] = {}
    floors: dict[int, Ground | None] = {id(part): part.floor for part in parts}
    misfits: list[ReelPart] = []
    for part in parts:
        try:
            clips[id(part)] = _fit_clip(part.clip, model, sliding)
        except RigError:
            misfits.append(part)
    alike = alike or list(clips.values())
    fitted = [part for part in parts if id(part) in clips]
    character = character or Character(model.skeleton)
    onto = RetargetBody(character.skeleton, alike, character.roles)
    skipped: list[BuildNote] = []
    mapped: list[BuildNote] = []
    faults = [] if knows_roles or character.roles else _describe_faults(onto, fitted)
    for group in group_by_skeleton(misfits, lambda part: part.clip.skeleton):
        try:
            retargeted, text, body, travel = _retarget(group, character, onto)
        except RigError as error:
            if not skip_broken:
                raise
            text = str(error).rstrip(".")
            skipped += [BuildNote(one.source.name, text, "skeleton") for one in _drop_copies(group)]
            continue
        clips |= {id(part): clip for part, clip in zip(group, retargeted, strict=True)}
        floors |= {id(part): scale_floor(part.floor, travel) for part in group}
        mapped += [BuildNote(one.source.name, text, "mapped") for one in _drop_copies(group)]
        faults += _describe_faults(body, group)
    fitting = [
        replace(part, clip=clips[id(part)], floor=floors[id(part)])
        for part in parts
        if id(part) in clips
    ]
    if not fitting:
        raise RigError(f"'{skipped[0].source}' cannot be used: {skipped[0].text}.")
    return SharedParts(fitting, skipped, mapped, faults)


def _drop_copies(parts: Sequence[ReelPart]) -> list[ReelPart]:
    """Return the parts that users know as sources."""
    return [part for part in parts if not part.is_copy]


def _describe_faults(body: RetargetBody, parts: Sequence[ReelPart]) -> list[BuildNote]:
    """Return notes on bones that do not form a body, as retargeting reports of the first part."""
    if not parts:
        return []
    name = parts[0].source.name
    try:
        texts = body.plan.describe(f"The source '{name}'")
    except RigError:  # only its legs are known, and these are checked elsewhere
        return []
    return [BuildNote(name, text, "body") for text in texts]


def _find_model(parts: Sequence[ReelPart], character: Character | None) -> tuple[Clip, list[Clip]]:
    """Return a clip on the skeleton to share, and all clips that have its bones."""
    if character:
        skeleton = character.skeleton
        rest = skeleton.rest_positions[None], skeleton.rest_rotations[None]
        return Clip("the character", skeleton, *rest, 1.0), []
    parts = [part for part in parts if not part.is_copy]
    own = [part for part in parts if not part.source.built_in] or parts
    of_armature = [part for part in own if part.source.is_of_armature] or own
    # a source that was split counts once
    by_source = {
        part.source.file or part.source.key or id(part): _get_hierarchy(part)
        for part in of_armature
    }
    most = Counter(by_source.values()).most_common(1)[0][0]
    alike = [part.clip for part in of_armature if _get_hierarchy(part) == most]
    lengths = np.stack([_measure_lengths(clip, alike[0].skeleton.names) for clip in alike])
    different = [
        np.any(_differ(lengths, own), axis=1).sum() for own in lengths[: NUMBERS.length_clips]
    ]
    model = alike[int(np.argmin(different))]
    same = ~np.any(_differ(lengths, lengths[int(np.argmin(different))]), axis=1)
    return model, [clip for clip, is_same in zip(alike, same, strict=True) if is_same]


def _get_hierarchy(part: ReelPart) -> frozenset[tuple[str, str]]:
    return part.clip.skeleton.get_hierarchy()


def _measure_lengths(clip: Clip, names: tuple[str, ...]) -> np.ndarray:
    """Return how far (B,) bones are from their parents, in the order of `names`; roots are 0."""
    order = [clip.skeleton.index(name) for name in names]
    lengths = np.linalg.norm(clip.positions[0], axis=-1)
    lengths[conforming.find_sliding_bones(clip)] = 0.0
    return lengths[order]


def _differ(lengths: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Return which bones have another length than expected; 0 stands for any."""
    known = (lengths > 0.0) & (expected > 0.0)
    away = np.abs(lengths - expected)
    return known & (away > NUMBERS.length_tolerance * np.maximum(expected, NUMBERS.shortest_bone))


def retarget_clips(clips: Sequence[Clip], character: Character) -> tuple[list[Clip], BoneMapping]:
    """Return clips of one skeleton as the character's motion, and the mapping of bones.

    Raises RigError if bones cannot be mapped.
    """
    onto = RetargetBody(character.skeleton, (), character.roles)
    source = _get_body(clips, character)
    retargeter = source.make_retargeter(onto, character.settings)
    return retargeter.retarget_all(clips), source.pair_bones(onto)


def _get_body(clips: Sequence[Clip], character: Character) -> RetargetBody:
    """Return the body of clips of one skeleton, with bones chosen by hand."""
    skeleton = clips[0].skeleton
    return RetargetBody(skeleton, clips, character.source_roles.get(compute_signature(skeleton)))


def scale_floor(floor: Ground | None, travel: np.ndarray) -> Ground | None:
    """Return a floor scaled to motion that covers (3,) for each metre along X, Y and Z."""
    if floor is None or floor is FLAT:
        return floor
    return ScaledGround(floor, float(travel[0]), float(travel[2]))


def measure_travel(clip: Clip, character: Character) -> np.ndarray:
    """Return the distance (3,) of the character for each metre of a clip. Raises as retargeting."""
    onto = RetargetBody(character.skeleton, (), character.roles)
    return _get_body([clip], character).make_retargeter(onto, character.settings).plan.travel


def _retarget(
    group: Sequence[ReelPart], character: Character, onto: RetargetBody
) -> tuple[list[Clip], str, RetargetBody, np.ndarray]:
    """Return a group's clips as the character's, the bones mapped, their body, and travel (3,)."""
    source = _get_body([part.clip for part in group], character)
    try:
        retargeter = source.make_retargeter(onto, character.settings)
        result = retargeter.retarget_all(source.clips)
        mapping = source.pair_bones(onto)
    except RigError as error:
        raise RigError(f"'{group[0].source.name}' cannot be retargeted: {error}") from None
    mapped = f"{mapping.mapped_count} of {mapping.total}"
    return result, mapped, source, retargeter.plan.travel


def _fit_clip(clip: Clip, model: Clip, sliding: np.ndarray) -> Clip:
    """Return a clip on the skeleton of a model, whose `sliding` bones (B,) are not compared.

    Raises RigError if names, parents, rest poses, or lengths of bones without animated translation
    differ.
    """
    if clip.skeleton.get_hierarchy() != model.skeleton.get_hierarchy():
        raise RigError("The bones are not the same.")
    names = model.skeleton.names
    clip = conforming.reorder(clip, names)
    wrong = _differ(*(_measure_lengths(each, names) for each in (clip, model)))
    if wrong.any():
        raise RigError(f"The bone '{names[int(np.argmax(wrong))]}' is of another length.")
    sliding = sliding | conforming.find_sliding_bones(clip)
    return conforming.conform(clip, model.skeleton, sliding)
