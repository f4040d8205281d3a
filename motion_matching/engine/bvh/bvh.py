"""Load motion capture from BVH text, and save clips as BVH.

Files have various axes and units (mostly Y up, facing Z, centimetres). Both are converted here,
once: with C the rotation from the file's axes to Blender's, an offset o becomes C o, a local
rotation q becomes C q C⁻¹ and a local position p becomes C p. Rest rotations stay the identity, and
the rest pose is the file's, seen in Blender's axes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from ..errors import MotionDataError, SettingsError
from ..files.file_paths import replacing
from ..files.written import format_fixed, round_numbers
from ..maths.rotations import euler, quat
from ..motion.clip import Clip, check_size
from ..names import to_readable
from ..skeleton.bone_names import make_unique_names
from ..skeleton.skeleton import Skeleton
from .bvh_positions import (
    check_lengths,
    compute_local_positions,
    find_added,
    find_bare_joints,
    find_carriers,
    find_rest_positions,
    sample_frames,
)
from .bvh_text import AXES, Joint, read, read_joints

# metres per unit: the common ones, and all that occur
_USUAL_UNITS = {"centimetres": 0.01, "metres": 1.0, "millimetres": 0.001}
_CMU_UNIT = {"units of the CMU library": 0.0254 / 0.45}  # in conversions of it
_RARE_UNITS = {"decimetres": 0.1, "inches": 0.0254, "feet": 0.3048} | _CMU_UNIT
_REACH = 2.3  # metres from an adult's toe over the hips to the far hand
_PLAUSIBLE_REACH = (1.2, 3.6)

_STILL = 1e-6  # metres that a bone may be off its rest position without needing position channels
_ROWS_PER_WRITE = 256
_DECIMALS = 6  # of centimetres and degrees: finer than the float32 of poses


def load(
    path: str | Path,
    *,
    up: str = "Y",
    forward: str = "Z",
    scale: float | None = None,
    root: str | None = None,
) -> Clip:
    """Read a BVH file into a clip with the file's name without its ending.

    `up` and `forward` are the signed axes of the file ('Y', '-Z') that become Blender's +Z and -Y.
    `scale` is in metres per unit of the file; None detects it from the longest chain of bones (see
    `_detect_scale`).

    Rest positions are the OFFSETs; position channels replace them, component by component, or are
    added to them, as `bvh_positions` finds. Of several roots, `root` is read, or the largest
    performer. Joints of equal name get '.001', '.002' and so on. The clip's `warnings` list all
    assumptions, such as a truncated last line. Raises MotionDataError for a file that cannot be
    used and SettingsError for impossible axes or scales.
    """
    path = Path(path)
    axes = compute_blender_axes(up, forward)
    _check_scale(scale)
    joints, parents, values, fps, notes = read(path, root)
    check_size(path.name, len(values), len(joints), "cut it into shorter files")
    rotations = _compute_local_rotations(joints, axes, values)
    sample = sample_frames(len(values))
    added = find_added(joints, parents, axes, values[sample], rotations[sample])
    positions = compute_local_positions(joints, axes, values, added)
    check_lengths(str(path), parents, positions)
    if scale is None:
        scale = _detect_scale(parents, positions, notes)
    rest = find_rest_positions(joints, parents, axes, positions)
    skeleton = _build_skeleton(joints, parents, rest, scale * axes.T, notes)
    positions *= np.float32(scale)
    rotations = quat.unroll(rotations).astype(np.float32)
    warnings = tuple(f"'{path.name}' {note}" for note in notes)
    return Clip(to_readable(path.stem), skeleton, positions, rotations, fps, warnings)


def load_skeleton(
    path: str | Path,
    *,
    up: str = "Y",
    forward: str = "Z",
    scale: float | None = None,
    root: str | None = None,
) -> Skeleton:
    """Read the skeleton of a BVH file without its motion; a scale is detected from its OFFSETs.

    The motion is read where it holds the lengths of bones. Errors are those of `load`.
    """
    axes = compute_blender_axes(up, forward)
    _check_scale(scale)
    joints, parents = read_joints(Path(path), root)
    if find_bare_joints(joints, parents).any():
        return load(path, up=up, forward=forward, scale=scale, root=root).skeleton
    offsets = np.array([joint.offset for joint in joints])
    check_lengths(str(path), parents, offsets[None])
    if scale is None:
        scale = _detect_scale(parents, offsets[None], [])
    return _build_skeleton(joints, parents, offsets, scale * axes.T, [])


def _build_skeleton(
    joints: list[Joint],
    parents: np.ndarray,
    rest: np.ndarray,
    to_blender: np.ndarray,
    notes: list[str],
) -> Skeleton:
    return Skeleton(
        make_unique_names([joint.name for joint in joints], notes),
        parents,
        (rest @ to_blender).astype(np.float32),
        np.tile(quat.IDENTITY, (len(joints), 1)).astype(np.float32),
        tuple(
            (bone, tuple((np.array(site) @ to_blender).tolist()))
            for bone, joint in enumerate(joints)
            for site in joint.end_sites
        ),
    )


def save(
    clip: Clip,
    path: str | Path,
    *,
    up: str = "Y",
    forward: str = "Z",
    scale: float = 0.01,
    order: str = "ZXY",
) -> None:
    """Write a clip as BVH; `up`, `forward` and `scale` as in `load`, rotation channels in `order`.

    Roots, and bones that ever leave their rest position, get six channels, the others three. Joints
    come depth first. BVH has no rest rotations: local rotations are written in full over the rest
    positions, which gives the same motion in the world. Whitespace and braces in names become '_'.
    Angles do not jump by full turns. The file is written completely or not at all. Raises
    MotionDataError if it cannot be written and SettingsError for options that make no sense.
    """
    path = Path(path)
    axes = compute_blender_axes(up, forward)
    _check_scale(scale)
    if sorted(order.upper()) != list(AXES):
        raise SettingsError(
            f"The order of rotations must hold X, Y and Z once each, such as ZXY, not '{order}'"
        )
    usable = np.isfinite(clip.positions).all() and np.isfinite(clip.rotations).all()
    if not (clip.frame_count and usable):
        raise MotionDataError(
            f"Cannot write '{path}': clip '{clip.name}' is empty or holds values that are not "
            "numbers; make it again"
        )
    skeleton = clip.skeleton
    bones, depths = _sort_depth_first(skeleton)
    moved = np.abs(clip.positions - skeleton.rest_positions).max(axis=(0, 2)) > _STILL
    six = (moved | (skeleton.parents < 0))[bones]
    angles = _to_euler_degrees(clip.rotations[:, bones].astype(np.float64), axes, order)
    rows = np.concatenate([clip.positions[:, bones] @ axes / scale, angles], axis=-1)
    used_channels = np.stack([six] * 3 + [np.ones_like(six)] * 3, axis=-1).ravel()
    rows = rows.reshape(clip.frame_count, -1)[:, used_channels]
    header = "\n".join(_format_hierarchy(skeleton, bones, depths, six, axes / scale, order.upper()))
    with replacing(path, MotionDataError) as temporary, open(temporary, "wb") as file:
        for part in _format_motion(header, rows, clip.fps):
            file.write(part.encode("utf-8"))


def sanitize_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names that bones get in a file written by `save`."""
    return make_unique_names([re.sub(r"[\s{}]+", "_", name) for name in names])


# ----------------------------------------------------------------------------------- axes and units


def compute_blender_axes(up: str, forward: str) -> np.ndarray:
    """Return the rotation C (3, 3) that takes the file's `up` to +Z and its `forward` to -Y."""
    z = _parse_axis(up, "up")
    ahead = _parse_axis(forward, "forward")
    if z @ ahead != 0:
        raise SettingsError(
            f"The up axis '{up}' and the forward axis '{forward}' must be perpendicular; change one"
        )
    return np.stack([np.cross(z, ahead), -ahead, z])


def _parse_axis(name: str, role: str) -> np.ndarray:
    match = re.fullmatch(r"([+-]?)([XYZ])", name.strip().upper())
    if match is None:
        raise SettingsError(f"The {role} axis must be X, Y, Z, -X, -Y or -Z, not '{name}'")
    return np.eye(3)[AXES.index(match[2])] * (-1 if match[1] == "-" else 1)


def _check_scale(scale: float | None) -> None:
    if scale is not None and not (np.isfinite(scale) and scale > 0):
        raise SettingsError(
            f"The scale must be a positive number of metres per unit of the file, not {scale}"
        )


def _detect_scale(parents: np.ndarray, positions: np.ndarray, notes: list[str]) -> float:
    """Return the metres per unit that make the character as large as a person.

    A rest pose may run all bones along one axis, so its height says little. The longest chain of
    bones between two joints leads from a toe to the far hand and is about 2.3 m long for an adult.
    Centimetres, metres or millimetres are chosen if they make it 1.2 to 3.6 m; otherwise the
    nearest of all known units, with a warning. Sliding bones, and those from a root on the floor to
    the hips, are not part of a chain.
    """
    sample = positions[sample_frames(len(positions))]
    frames = np.linalg.norm(sample.astype(np.float64), axis=-1)
    rigid = np.ptp(frames, axis=0) < 0.1 * frames.max(axis=0)
    lengths = np.where(rigid, np.median(frames, axis=0), 0.0)
    lengths[parents < 0] = 0.0
    body = np.where(find_carriers(parents), 0.0, lengths)
    reach = _measure_longest_chain(parents, body) or _measure_longest_chain(parents, lengths)
    if reach == 0.0:
        notes.append(
            "has no bones with a length, so centimetres are assumed; set the scale if that is wrong"
        )
        return _USUAL_UNITS["centimetres"]
    for unit in _USUAL_UNITS.values():
        if _PLAUSIBLE_REACH[0] <= reach * unit <= _PLAUSIBLE_REACH[1]:
            return unit
    units = _USUAL_UNITS | _RARE_UNITS
    name, unit = min(units.items(), key=lambda item: abs(np.log(reach * item[1] / _REACH)))
    notes.append(
        f"has an unusual size; its unit is assumed to be {name} ({unit:.4g} m); set the scale if "
        "that is wrong"
    )
    return unit


def _measure_longest_chain(parents: np.ndarray, lengths: np.ndarray) -> float:
    """Return the length of the longest chain between two joints, from `lengths` (B,) of bones."""
    below = np.zeros(len(parents))  # the longest chain down from a joint so far
    longest = 0.0
    for bone in range(len(parents) - 1, -1, -1):
        longest = max(longest, below[bone])
        parent = parents[bone]
        if parent >= 0:
            length = below[bone] + lengths[bone]
            longest = max(longest, below[parent] + length)
            below[parent] = max(below[parent], length)
    return float(longest)


# -------------------------------------------------------------------------- channels to local poses


def _compute_local_rotations(
    joints: list[Joint], axes: np.ndarray, values: np.ndarray
) -> np.ndarray:
    """Return rotations (F, B, 4), float64, in Blender's axes.

    Channels multiply in the file's order, each about an axis that the earlier ones have turned.
    Converting the axes of each channel converts the product: C a b C⁻¹ = (C a C⁻¹)(C b C⁻¹).
    """
    rotations = np.empty((len(values), len(joints), 4))
    rotations[:] = quat.IDENTITY
    groups: dict[tuple[int, ...], dict[int, list[int]]] = {}
    for bone, joint in enumerate(joints):
        channels = joint.get_columns("rotation")
        order = tuple(axis for axis, _ in channels)
        groups.setdefault(order, {})[bone] = [column for _, column in channels]
    for order, columns_of_bones in groups.items():
        bones = list(columns_of_bones)
        columns = np.array(list(columns_of_bones.values())).T
        # axes are only permuted and negated
        targets = [int(np.argmax(np.abs(axes[:, axis]))) for axis in order]
        angles = [
            (axes[target, axis] * np.pi / 180) * values[:, of_axis]
            for axis, target, of_axis in zip(order, targets, columns, strict=True)
        ]
        composed = euler.compose(angles, "".join(AXES[target] for target in targets))
        for component, value in enumerate(composed):
            rotations[:, bones, component] = value
    return rotations


# ------------------------------------------------------------------------------------------- saving


def _to_euler_degrees(rotations: np.ndarray, axes: np.ndarray, order: str) -> np.ndarray:
    """Return angles (F, B, 3) in the file's axes and `order`, continuous in time."""
    halves = euler.split(rotations[..., 0], np.moveaxis(rotations[..., 1:] @ axes, -1, 0), order)
    angles = np.moveaxis(halves.compute_angles(), 0, -1)
    angles -= 2 * np.pi * np.round(angles[:1] / (2 * np.pi))
    return np.degrees(np.unwrap(angles, axis=0))


def _sort_depth_first(skeleton: Skeleton) -> tuple[np.ndarray, list[int]]:
    """Return the bones in the order in which a file nests them, and their depths."""
    bones: list[int] = []
    depths: list[int] = []
    waiting = [(int(root), 0) for root in np.flatnonzero(skeleton.parents < 0)[::-1]]
    while waiting:
        bone, depth = waiting.pop()
        bones.append(bone)
        depths.append(depth)
        waiting += [(child, depth + 1) for child in reversed(skeleton.get_children(bone))]
    return np.array(bones), depths


def _format_hierarchy(
    skeleton: Skeleton,
    bones: np.ndarray,
    depths: list[int],
    six: np.ndarray,
    to_file: np.ndarray,
    order: str,
) -> Iterator[str]:
    names = sanitize_names(skeleton.names)
    three = " ".join(f"{axis}rotation" for axis in order)
    yield "HIERARCHY"
    for index, (bone, depth) in enumerate(zip(bones.tolist(), depths, strict=True)):
        tabs = "\t" * depth
        yield f"{tabs}{'JOINT' if depth else 'ROOT'} {names[bone]}"
        yield f"{tabs}{{"
        yield f"{tabs}\t{_format_offset(skeleton.rest_positions[bone] @ to_file)}"
        channels = f"6 Xposition Yposition Zposition {three}" if six[index] else f"3 {three}"
        yield f"{tabs}\tCHANNELS {channels}"
        next_depth = depths[index + 1] if index + 1 < len(depths) else 0
        sites = [site for owner, site in skeleton.end_sites if owner == bone]
        if not sites and next_depth <= depth:
            sites = [(0.0, 0.0, 0.0)]  # readers expect an end site at every end
        for site in sites:
            offset = _format_offset(np.array(site) @ to_file)
            yield f"{tabs}\tEnd Site\n{tabs}\t{{\n{tabs}\t\t{offset}\n{tabs}\t}}"
        for closed in range(depth, next_depth - 1, -1):
            yield "\t" * closed + "}"


def _format_offset(vector: np.ndarray) -> str:
    return "OFFSET " + " ".join(format_fixed(value, _DECIMALS) for value in vector)


def _format_motion(header: str, rows: np.ndarray, fps: float) -> Iterator[str]:
    yield f"{header}\nMOTION\nFrames: {len(rows)}\nFrame Time: {1 / fps:.10f}\n"
    row = " ".join([f"%.{_DECIMALS}f"] * rows.shape[1]) + "\n"
    for start in range(0, len(rows), _ROWS_PER_WRITE):
        block = round_numbers(rows[start : start + _ROWS_PER_WRITE], _DECIMALS)
        yield (row * len(block)) % tuple(block.ravel().tolist())
