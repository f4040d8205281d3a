"""The same motion on other skeletons: bones that exporters insert, move, rename or write otherwise.

Each function returns a clip whose bones move as those of the given one, which rests without turns
as the built-in clips do. What a body does in it is known exactly: it is what the given clip does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from motion_matching.engine.bvh import bvh
from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.motion.clip import Clip
from motion_matching.engine.skeleton.skeleton import Skeleton

SIDES = ("Left", "Right")
FINGERS = ("Thumb", "Index", "Middle", "Ring", "Pinky")
CURL = (40.0, 60.0, 45.0)  # degrees by which the three bones of a closed finger bend
_ALONG, _ACROSS = (0.06, 0.10, 0.105, 0.10, 0.09), (0.05, 0.03, 0.01, -0.01, -0.03)
_STILL = 1e-5  # metres: a bone that moves less in its parent rests there
_LENGTHS = (0.04, 0.025, 0.02, 0.01)  # metres of the bones of a finger, and of its tip


@dataclass(frozen=True)
class Joint:
    """A bone below `parent` that lies at `place` (3,) in the rest pose.

    `rotations` (F, 4) are those in the world, and `moves` tells whether it leaves its place in its
    parent. `site` (3,) is its end site.
    """

    parent: str
    place: np.ndarray
    rotations: np.ndarray
    moves: bool = False
    site: tuple[float, float, float] | None = None


Joints = dict[str, Joint]


def list_joints(clip: Clip) -> Joints:
    """Return the joints of a clip by name."""
    skeleton = clip.skeleton
    worlds, places = clip.compute_world()[0].astype(np.float64), skeleton.compute_rest_world()[1]
    sites = dict(skeleton.end_sites)
    above = ["" if parent < 0 else skeleton.names[parent] for parent in skeleton.parents]
    moved = np.abs(clip.positions - skeleton.rest_positions).max(axis=(0, 2)) > _STILL
    moved |= skeleton.parents < 0
    return {
        name: Joint(
            above[b], places[b].astype(np.float64), worlds[:, b], bool(moved[b]), sites.get(b)
        )
        for b, name in enumerate(skeleton.names)
    }


def build_clip(clip: Clip, joints: Joints, paths: Mapping[str, np.ndarray]) -> Clip:
    """Build a clip from joints; `paths` (F, 3) are those in the world of joints that move."""
    names = _sort_depth_first(joints)
    parents = np.array([names.index(joints[n].parent) if joints[n].parent else -1 for n in names])
    places = np.array([joints[name].place for name in names])
    offsets = places - np.where(parents[:, None] >= 0, places[parents], 0.0)
    worlds = np.stack([joints[name].rotations for name in names], axis=1)
    local = quat.ik(worlds, np.zeros((*worlds.shape[:2], 3)), parents)[0]
    positions = np.broadcast_to(offsets, (*worlds.shape[:2], 3)).copy()
    for bone, name in enumerate(names):
        if joints[name].moves:
            parent = int(parents[bone])
            heads = quat.fk(local, positions, parents)[1]
            origin = heads[:, parent] if parent >= 0 else 0.0
            turn = worlds[:, parent] if parent >= 0 else np.tile(quat.IDENTITY, (len(worlds), 1))
            positions[:, bone] = quat.inv_mul_vec(turn, paths[name] - origin)
    still = np.tile(quat.IDENTITY, (len(names), 1)).astype(np.float32)
    sites = tuple((b, s) for b, n in enumerate(names) if (s := joints[n].site) is not None)
    skeleton = Skeleton(tuple(names), parents, offsets.astype(np.float32), still, sites)
    rotations = quat.unroll(quat.normalize(local)).astype(np.float32)
    return replace(
        clip, skeleton=skeleton, positions=positions.astype(np.float32), rotations=rotations
    )


def _sort_depth_first(joints: Joints) -> list[str]:
    def follow(parent: str) -> list[str]:
        below = [name for name, joint in joints.items() if joint.parent == parent]
        return [one for name in below for one in (name, *follow(name))]

    return follow("")


def find_path(clip: Clip, name: str) -> np.ndarray:
    """Return the path (F, 3) of a bone in the world."""
    return clip.compute_world()[1][:, clip.skeleton.index(name)].astype(np.float64)


def _find_root_paths(clip: Clip) -> dict[str, np.ndarray]:
    return {name: find_path(clip, name) for name, joint in list_joints(clip).items() if joint.moves}


def rename(clip: Clip, names: Mapping[str, str]) -> Clip:
    """Rename bones: `names` holds the new ones by the old ones."""
    renamed = tuple(names.get(name, name) for name in clip.skeleton.names)
    return replace(clip, skeleton=clip.skeleton.with_names(renamed))


def rename_sides(clip: Clip, names: Mapping[str, str], sides: Sequence[str]) -> Clip:
    """Rename bones whose old names begin with a side, and hold {} for the side in the new ones."""
    return rename(
        clip,
        {
            side + old: new.format(word)
            for side, word in zip(SIDES, sides, strict=True)
            for old, new in names.items()
        },
    )


def insert_joint(clip: Clip, child: str, name: str, *, at_child: bool = False) -> Clip:
    """Insert a joint that never turns above a bone: at its place, or at that of its parent."""
    joints = list_joints(clip)
    below, parent = joints[child], joints[joints[child].parent]
    place = below.place if at_child else parent.place
    joints[name] = Joint(below.parent, place, parent.rotations)
    joints[child] = replace(below, parent=name)
    return build_clip(clip, joints, _find_root_paths(clip))


def insert_hip_joints(clip: Clip, names: Sequence[str], *, at_thigh: bool = False) -> Clip:
    """Insert joints above both thighs: where the thighs are, or where the hips are."""
    for side, name in zip(SIDES, names, strict=True):
        clip = insert_joint(clip, f"{side}UpLeg", name, at_child=at_thigh)
    return clip


def put_centre_above(
    clip: Clip, centre: str, pelvis: str, spine: str = "Spine", *, swing: float = 0.0
) -> Clip:
    """Let a centre carry the spine, and a pelvis at its place that carries the legs.

    The centre turns against both by some degrees, once a second; no bone but the spine is moved by
    that, a centimetre or two.
    """
    joints = list_joints(clip)
    hips = joints.pop("Hips")
    angle = np.radians(swing) * np.sin(2.0 * np.pi * np.arange(clip.frame_count) / clip.fps)
    turns = quat.from_scaled_angle_axis(angle[:, None] * np.array([0.5, 0.3, 0.8]))
    moved: Joints = {centre: replace(hips, rotations=quat.mul(hips.rotations, turns))}
    moved[pelvis] = replace(hips, parent=centre, moves=False)
    for name, joint in joints.items():
        parent = joint.parent
        if parent == "Hips":
            parent = pelvis if name.endswith("UpLeg") else centre
        parent = spine if parent == "Spine" else parent
        moved[spine if name == "Spine" else name] = replace(joint, parent=parent)
    return build_clip(clip, moved, {centre: find_path(clip, "Hips")})


def put_on_ground_root(clip: Clip, name: str) -> Clip:
    """Put a root that never moves, on the ground in the middle, above all bones."""
    joints = list_joints(clip)
    still = np.tile(quat.IDENTITY, (clip.frame_count, 1))
    under = {n: replace(j, parent=j.parent or name) for n, j in joints.items()}
    root = Joint("", np.zeros(3), still, moves=True)
    paths = _find_root_paths(clip) | {name: np.zeros((clip.frame_count, 3))}
    return build_clip(clip, {name: root, **under}, paths)


def add_fingers(
    clip: Clip,
    names: str = "{side}Hand{finger}{bone}",
    *,
    bones: int = 3,
    fingers: Mapping[str, str] | None = None,
    curl: Sequence[float] = CURL,
) -> Clip:
    """Add fingers that are bent by `curl` degrees; a fourth bone is a tip that never turns.

    `names` holds {side} or {letter}, {finger} and {bone}; `fingers` are the words for some of
    `FINGERS`, each with a pattern of its own if it holds {bone}.
    """
    joints = list_joints(clip)
    words = fingers or {finger: finger for finger in FINGERS}
    for side, sign in zip(SIDES, (1.0, -1.0), strict=True):
        hand = joints[f"{side}Hand"]
        joints[f"{side}Hand"] = replace(hand, site=None)
        for number, finger in enumerate(FINGERS):
            if finger not in words:
                continue
            parent, turn = f"{side}Hand", hand.rotations
            place = np.add(hand.place, [sign * _ALONG[number], -_ACROSS[number], 0.0])
            for bone in range(bones):
                angle = np.radians(curl[bone] if bone < len(curl) else 0.0) * sign
                bend = quat.from_angle_axis(np.array(angle), np.array([0.0, 1.0, 0.0]))
                turn = quat.mul(turn, bend)
                pattern = words[finger] if "{bone}" in words[finger] else names
                name = pattern.format(
                    side=side, letter=side[0].lower(), finger=words[finger], bone=bone + 1
                )
                length = _LENGTHS[min(bone, 3)]
                site = (sign * length, 0.0, 0.0) if bone == bones - 1 else None
                joints[name] = Joint(parent, place, turn, site=site)
                parent, place = name, np.add(place, [sign * length, 0.0, 0.0])
    return build_clip(clip, joints, _find_root_paths(clip))


# a named thumb beside fingers that have numbers alone, as 'finger2-1.l'
NUMBERED_FINGERS = {"Thumb": "{letter}thumb{bone}"} | {
    finger: f"finger{number}-{{bone}}.{{letter}}"
    for number, finger in enumerate(FINGERS, 1)
    if number > 1
}


def lay_rest_along_x(clip: Clip, others: Mapping[str, Sequence[float]] | None = None) -> Clip:
    """Let all bones rest along X, as files of many capture systems do; the motion stays.

    `others` holds the ways (3,) along which some bones rest instead.
    """
    skeleton = clip.skeleton
    rest = skeleton.rest_positions.astype(np.float64)
    sites = {bone: np.array(site) for bone, site in skeleton.end_sites}
    ways = [
        rest[children[0]] if (children := skeleton.get_children(bone)) else sites.get(bone)
        for bone in range(skeleton.bone_count)
    ]
    aims = [(others or {}).get(name, (1.0, 0.0, 0.0)) for name in skeleton.names]
    turns = np.array(
        [
            quat.IDENTITY
            if way is None
            else quat.between(*(quat.normalize_vectors(np.array(v)) for v in (aim, way)))
            for aim, way in zip(aims, ways, strict=True)
        ]
    )
    offsets = rest.copy()
    below = skeleton.parents >= 0
    offsets[below] = quat.inv_mul_vec(turns[skeleton.parents[below]], rest[below])
    worlds, places = (part.astype(np.float64) for part in clip.compute_world())
    local, moved = quat.ik(quat.mul(worlds, turns), places, skeleton.parents)
    ends = tuple(
        (b, tuple(quat.inv_mul_vec(turns[b], s).tolist())) for b, s in sorted(sites.items())
    )
    laid = replace(skeleton, rest_positions=offsets.astype(np.float32), end_sites=ends)
    rotations = quat.unroll(quat.normalize(local)).astype(np.float32)
    return replace(clip, skeleton=laid, positions=moved.astype(np.float32), rotations=rotations)


def write_six_channels(clip: Clip, path: Path, kind: str) -> None:
    """Write BVH with position channels on all joints.

    They repeat the OFFSET ('absolute'), count from it ('zero') or replace one that is zero
    ('offsets zero').
    """
    bvh.save(clip, path)
    head, motion = path.read_text().split("MOTION")
    offsets: list[list[str]] = []
    lines, at_end = [], False
    for line in head.splitlines():
        word = line.split()[:1]
        at_end = word == ["End"] or (at_end and word != ["}"])
        if word == ["OFFSET"] and not at_end:
            offsets.append(line.split()[1:])
            if kind == "offsets zero" and len(offsets) > 1:
                line = line.split("OFFSET")[0] + "OFFSET 0 0 0"
        lines.append(line.replace("CHANNELS 3 ", "CHANNELS 6 Xposition Yposition Zposition "))
    rows = motion.strip().splitlines()
    added = [["0", "0", "0"] if kind == "zero" else offset for offset in offsets[1:]]
    for number, row in enumerate(rows[2:], 2):
        values = row.split()
        turns = [values[start : start + 3] for start in range(6, len(values), 3)]
        parts = [part for pair in zip(added, turns, strict=True) for part in pair]
        rows[number] = " ".join([*values[:6], *(value for part in parts for value in part)])
    path.write_text("\n".join([*lines, "MOTION", *rows, ""]))
