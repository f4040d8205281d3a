"""Reading and writing BVH, against scipy's rotations and forward kinematics with matrices."""

from __future__ import annotations

import itertools
import os
import re
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from motion_matching.engine.bvh import bvh
from motion_matching.engine.errors import MotionDataError, SettingsError
from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.motion.clip import Clip
from motion_matching.engine.skeleton.skeleton import Skeleton
from tests.strategies import make_generators

ORDERS = ["".join(order) for order in itertools.permutations("XYZ")]
SIGNED_AXES = ["X", "Y", "Z", "-X", "-Y", "-Z"]
UP_AND_FORWARD = [(u, f) for u in SIGNED_AXES for f in SIGNED_AXES if u[-1] != f[-1]]
POSITIONS = ["Xposition", "Yposition", "Zposition"]

# name, parent, OFFSET, channels: a body in centimetres with channels of every kind
BODY = [
    ("Hips", -1, (1.0, 95.0, -2.0), [*POSITIONS, "Zrotation", "Xrotation", "Yrotation"]),
    ("Spine", 0, (0.0, 25.0, 1.0), ["Yrotation", "Zrotation", "Xrotation"]),
    (
        "Head",
        1,
        (0.0, 35.0, 0.0),
        ["Xrotation", "Xposition", "Zrotation", "Zposition", "Yrotation"],
    ),
    ("Arm", 1, (20.0, 20.0, 0.0), ["Zrotation", "Yrotation"]),
    ("Hand", 3, (55.0, 0.0, 0.0), []),
    ("Leg", 0, (9.0, -5.0, 0.0), ["Zrotation", "Yrotation", "Zrotation"]),
    (
        "Foot",
        5,
        (0.0, -85.0, 0.0),
        ["Yposition", "Xrotation", "Yrotation", "Zrotation", "Xposition", "Zposition"],
    ),
]


def format_hierarchy(joints=BODY) -> str:
    def lines(joint: int, depth: int):
        name, parent, offset, channels = joints[joint]
        tabs = "\t" * depth
        yield f"{tabs}{'JOINT' if parent >= 0 else 'ROOT'} {name}\n{tabs}{{"
        yield f"{tabs}\tOFFSET {' '.join(map(repr, offset))}"
        yield f"{tabs}\tCHANNELS {len(channels)} {' '.join(channels)}"
        children = [i for i, other in enumerate(joints) if other[1] == joint]
        for child in children:
            yield from lines(child, depth + 1)
        if not children:
            yield f"{tabs}\tEnd Site\n{tabs}\t{{\n{tabs}\t\tOFFSET 1.0 2.0 3.0\n{tabs}\t}}"
        yield f"{tabs}}}"

    return (
        "HIERARCHY\n"
        + "\n".join("\n".join(lines(i, 0)) for i, joint in enumerate(joints) if joint[1] < 0)
        + "\n"
    )


def format_motion(values, frame_time="0.0333333", frames=None, number="{:.6f}") -> str:
    rows = "\n".join(" ".join(number.format(value) for value in row) for row in values)
    return (
        f"MOTION\nFrames: {len(values) if frames is None else frames}\nFrame Time: "
        f"{frame_time}\n{rows}\n"
    )


def count_channels(joints=BODY) -> int:
    return sum(len(joint[3]) for joint in joints)


def make_samples(rng, frames=5, joints=BODY) -> np.ndarray:
    """Make rotations in all directions and positions near the offsets, rounded as in a file."""
    columns = []
    for _, _, offset, channels in joints:
        for channel in channels:
            if channel.endswith("position"):
                columns.append(offset["XYZ".index(channel[0])] + rng.normal(0, 3, frames))
            else:
                columns.append(rng.uniform(-200, 200, frames))
    return np.round(np.array(columns).T, 6)


def compute_world(values, joints=BODY) -> tuple[np.ndarray, np.ndarray]:
    """Compute world matrices (F, B, 3, 3) and positions (F, B, 3) in the file's axes, without the
    reader.
    """
    frames = len(values)
    matrices, positions = np.zeros((frames, len(joints), 3, 3)), np.zeros((frames, len(joints), 3))
    column = 0
    for i, (_, parent, offset, channels) in enumerate(joints):
        turn, place = Rotation.identity(frames), np.tile(np.array(offset, float), (frames, 1))
        for channel in channels:
            if channel.endswith("position"):
                place[:, "XYZ".index(channel[0])] = values[:, column]
            else:
                turn = turn * Rotation.from_euler(channel[0], values[:, column], degrees=True)
            column += 1
        if parent < 0:
            matrices[:, i], positions[:, i] = turn.as_matrix(), place
        else:
            matrices[:, i] = matrices[:, parent] @ turn.as_matrix()
            positions[:, i] = (
                positions[:, parent] + (matrices[:, parent] @ place[..., None])[..., 0]
            )
    return matrices, positions


def load_text(folder: Path, text: str | bytes, **options) -> Clip:
    path = folder / "clip.bvh"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return bvh.load(path, **options)


def measure_largest_angle(a, b) -> float:
    """Measure it in degrees."""
    return float(np.degrees(quat.angle_between(a.astype(np.float64), b.astype(np.float64)).max()))


def assert_same_motion(a: Clip, b: Clip, bones=slice(None)) -> None:
    (rotations, positions), (others, places) = a.compute_world(), b.compute_world()
    np.testing.assert_allclose(places, positions[:, bones], atol=1e-5)
    assert measure_largest_angle(others, rotations[:, bones]) < 1e-4


# ------------------------------------------------------------------------------------------- motion


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for the files of all examples of properties."""
    return tmp_path_factory.mktemp("bvh")


@given(st.sampled_from(ORDERS), make_generators())
def test_rotations_match_scipy_for_every_channel_order(folder, order, rng):
    angles = rng.uniform(-180, 180, (20, 3)).round(6)
    joints = [("Root", -1, (0.0, 1.0, 0.0), [f"{axis}rotation" for axis in order])]
    clip = load_text(
        folder, format_hierarchy(joints) + format_motion(angles), up="Z", forward="-Y", scale=1.0
    )
    expected = Rotation.from_euler(order, angles, degrees=True).as_quat()[:, [3, 0, 1, 2]]
    assert measure_largest_angle(clip.rotations[:, 0], expected) < 1e-4


@given(make_generators())
def test_world_motion_matches_the_file_for_all_kinds_of_channels(folder, rng):
    values = make_samples(rng)
    clip = load_text(folder, format_hierarchy() + format_motion(values), scale=0.01)
    matrices, positions = compute_world(values)
    rotations, places = clip.compute_world()
    to_blender = np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0]])
    np.testing.assert_allclose(places, 0.01 * positions @ to_blender.T, atol=1e-5)
    np.testing.assert_allclose(
        quat.to_matrix(rotations), to_blender @ matrices @ to_blender.T, atol=1e-5
    )


def test_a_character_stands_up_and_faces_minus_y(tmp_path):
    joints = [("Hips", -1, (0.0, 100.0, 0.0), []), ("Toe", 0, (0.0, -95.0, 20.0), ["Xrotation"])]
    clip = load_text(tmp_path, format_hierarchy(joints) + format_motion([[0.0]]), scale=0.01)
    np.testing.assert_allclose(
        clip.skeleton.rest_positions, [[0, 0, 1.0], [0, -0.2, -0.95]], atol=1e-6
    )
    np.testing.assert_array_equal(clip.skeleton.rest_rotations, np.tile(quat.IDENTITY, (2, 1)))
    assert clip.skeleton.end_sites == ((1, pytest.approx((0.01, -0.03, 0.02))),)


@given(st.sampled_from(UP_AND_FORWARD), make_generators())
@settings(max_examples=50)
def test_up_and_forward_axes_only_turn_the_motion(folder, axes, rng):
    text = format_hierarchy() + format_motion(make_samples(rng))
    up, forward = axes
    reference, clip = load_text(folder, text), load_text(folder, text, up=up, forward=forward)
    points, turned = (
        reference.compute_world()[1].reshape(-1, 3),
        clip.compute_world()[1].reshape(-1, 3),
    )
    turn, _, _, _ = np.linalg.lstsq(points, turned, rcond=None)
    np.testing.assert_allclose(turn.T @ turn, np.eye(3), atol=1e-5)
    assert np.linalg.det(turn) == pytest.approx(1)
    np.testing.assert_allclose(points @ turn, turned, atol=1e-5)
    # the file's axes, as the reference (Y up, Z forward) shows them in Blender
    seen = {"X": [1, 0, 0], "Y": [0, 0, 1], "Z": [0, -1, 0]}
    signs = {axis: -1 if axis[0] == "-" else 1 for axis in (up, forward)}
    np.testing.assert_allclose(signs[up] * np.array(seen[up[-1]]) @ turn, [0, 0, 1], atol=1e-5)
    np.testing.assert_allclose(
        signs[forward] * np.array(seen[forward[-1]]) @ turn, [0, -1, 0], atol=1e-5
    )


@pytest.mark.parametrize(
    ("up", "forward"), [("Y", "-Y"), ("Y", "Y"), ("W", "Z"), ("Y", ""), ("--Y", "Z")]
)
def test_invalid_axes_are_refused(tmp_path, up, forward):
    with pytest.raises(SettingsError, match="axis"):
        load_text(
            tmp_path,
            format_hierarchy() + format_motion(make_samples(np.random.default_rng(0))),
            up=up,
            forward=forward,
        )


@pytest.mark.parametrize("scale", [0.0, -0.01, np.nan, np.inf])
def test_invalid_scales_are_refused(tmp_path, scale):
    with pytest.raises(SettingsError, match="scale"):
        load_text(
            tmp_path,
            format_hierarchy() + format_motion(make_samples(np.random.default_rng(0))),
            scale=scale,
        )


def test_rotations_stay_on_one_hemisphere_and_arrays_are_float32(tmp_path):
    joints = [("Root", -1, (0.0, 0.0, 0.0), ["Yrotation"])]
    angles = (np.arange(100) * 37.0 + 180) % 360 - 180  # wraps as files do
    clip = load_text(tmp_path, format_hierarchy(joints) + format_motion(angles[:, None]), scale=1.0)
    assert np.all(np.sum(clip.rotations[1:] * clip.rotations[:-1], axis=-1) > 0)
    for array in (
        clip.rotations,
        clip.positions,
        clip.skeleton.rest_positions,
        clip.skeleton.rest_rotations,
    ):
        assert array.dtype == np.float32
        assert array.flags.c_contiguous


# --------------------------------------------------------------------------------- layout and notation


def make_text(seed=4) -> str:
    return format_hierarchy() + format_motion(make_samples(np.random.default_rng(seed)))


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("\n", "\r"),
        lambda text: text.replace(" ", "\t"),
        lambda text: text.replace(" ", "  \t ").replace("\n", "  \n\n"),
        lambda text: text.replace("\n{", " {").replace("\t", ""),
        lambda text: re.sub(r"\n\t*\{", " {", text),
        lambda text: (
            text.replace("End Site", "END SITE")
            .replace("JOINT", "Joint")
            .replace("OFFSET", "Offset")
        ),
        lambda text: text.replace("rotation", "ROTATION").replace("MOTION", "Motion "),
        lambda text: text.replace("Frames:", "Frames :\t").replace("Frame Time:", "frame  time:"),
        lambda text: "\ufeff" + text,
        lambda text: text.rstrip("\n"),
        lambda text: text + "\n \n\t\n",
        lambda text: re.sub(r"-?\d+\.\d{6}", lambda number: f"{float(number[0]):.9e}", text),
        lambda text: re.sub(r"-?\d+\.\d{6}", lambda number: f"{float(number[0]):+.14f}", text),
    ],
)
def test_layout_and_notation_do_not_matter(tmp_path, change):
    text = make_text()
    reference, clip = load_text(tmp_path, text), load_text(tmp_path, change(text))
    assert clip.skeleton.names == reference.skeleton.names
    assert clip.skeleton.end_sites == reference.skeleton.end_sites
    assert clip.warnings == ()
    np.testing.assert_allclose(clip.positions, reference.positions, atol=1e-6)
    np.testing.assert_allclose(clip.rotations, reference.rotations, atol=1e-6)


@pytest.mark.parametrize("rare", [0.0, 0.2, 1.0])
def test_numbers_are_read_as_python_reads_them(tmp_path, rare):
    rng = np.random.default_rng(5)
    common = ["{:.6f}", "{:.0f}", "{:.2f}", "{:+.3f}", "{:.12f}"]
    unusual = ["{:.3e}", "{!r}", "{:.7E}", "{:.25f}"]
    words = [
        (unusual[rng.integers(4)] if rng.random() < rare else common[rng.integers(5)]).format(
            float(value)
        )
        for value in rng.normal(0, 50, 3000)
    ]
    words += [".5", "-.25", "7.", "-0", "0", "+3"]
    joints = [("Root", -1, (0.0, 0.0, 0.0), POSITIONS)]
    rows = "\n".join(" ".join(words[i : i + 3]) for i in range(0, len(words), 3))
    clip = load_text(
        tmp_path,
        format_hierarchy(joints) + format_motion([], frames=1002) + rows,
        up="Z",
        forward="-Y",
        scale=1.0,
    )
    np.testing.assert_array_equal(
        clip.positions.ravel(), np.array([float(word) for word in words], dtype=np.float32)
    )


def test_a_joint_may_have_several_end_sites_or_none(tmp_path):
    text = make_text().replace("\tEnd Site", "\tEnd Site\n{ OFFSET 4 5 6 }\nEnd Site", 1)
    sites = load_text(tmp_path, text, scale=1.0, up="Z", forward="-Y").skeleton.end_sites
    assert sites[:2] == ((2, (4.0, 5.0, 6.0)), (2, (1.0, 2.0, 3.0)))
    bare = re.sub(r"End Site\s*\{[^}]*\}", "", make_text())
    assert load_text(tmp_path, bare).skeleton.end_sites == ()


@pytest.mark.parametrize(
    ("encoding", "name"),
    [("utf-8", "Hüfte"), ("latin-1", "Hüfte"), ("utf-8", "腰"), ("utf-8", "mixamorig:Left Leg")],
)
def test_names_are_read_unchanged(tmp_path, encoding, name):
    clip = load_text(tmp_path, make_text().replace("Hips", name).encode(encoding))
    assert clip.skeleton.names == (name, "Spine", "Head", "Arm", "Hand", "Leg", "Foot")
    assert clip.name == "clip"


def test_duplicate_names_are_numbered_with_a_warning(tmp_path):
    clip = load_text(tmp_path, make_text().replace("Hand", "Arm").replace("Leg", "Arm"))
    assert clip.skeleton.names == ("Hips", "Spine", "Head", "Arm", "Arm.001", "Arm.002", "Foot")
    assert len(clip.warnings) == 2
    assert "more than one joint named 'Arm'" in clip.warnings[0]


@pytest.mark.parametrize("first", [True, False])
def test_the_largest_of_several_roots_is_read(tmp_path, first):
    body, prop = (
        BODY,
        [("Sword", -1, (50.0, 0.0, 0.0), POSITIONS), ("Tip", 0, (0.0, 90.0, 0.0), [])],
    )
    before, after = (body, prop) if first else (prop, body)
    joints = before + [(n, p + len(before) if p >= 0 else -1, o, c) for n, p, o, c in after]
    values = make_samples(np.random.default_rng(6), joints=joints)
    clip = load_text(tmp_path, format_hierarchy(joints) + format_motion(values))
    assert "several roots" in clip.warnings[0]
    assert "Sword" in clip.warnings[0]
    own = values[:, : count_channels()] if first else values[:, 3:]
    alone = load_text(tmp_path, format_hierarchy(body) + format_motion(own))
    assert clip.skeleton.names == alone.skeleton.names
    np.testing.assert_array_equal(clip.skeleton.parents, alone.skeleton.parents)
    np.testing.assert_array_equal(clip.positions, alone.positions)
    np.testing.assert_array_equal(clip.rotations, alone.rotations)


# --------------------------------------------------------------------------------- frames and rates


@pytest.mark.parametrize(
    ("frame_time", "fps"),
    [
        ("0.0333333", 30), ("0.033333", 30), ("0.0333", 30), ("0.033", 30), (".03333333507180214", 30),
        ("0.008333", 120), ("0.0083", 120), ("8.33333e-03", 120), ("0.016667", 60), ("0.0167", 60), ("0.0166", 60),
        ("0.0416667", 24), ("0.0417", 24), ("0.041708", 24000 / 1001), ("0.0333667", 30000 / 1001), ("0.04", 25),
        ("0.010000", 100), ("0.005", 200), ("0.004167", 240), ("0.0111111", 90), ("0.027", 1 / 0.027), ("1", 1),
    ],
)  # fmt: skip
def test_frame_times_are_rounded_to_common_frame_rates(tmp_path, frame_time, fps):
    clip = load_text(
        tmp_path,
        format_hierarchy() + format_motion(make_samples(np.random.default_rng(7)), frame_time),
    )
    assert clip.fps == pytest.approx(fps, rel=1e-12)
    assert clip.warnings == ()


@pytest.mark.parametrize(
    "line",
    ["Frame Time: 0\n", "Frame Time: 0.000000\n", "Frame Time: -1\n", "Frame Time: nan\n", ""],
)
def test_a_missing_frame_time_means_30_fps_with_a_warning(tmp_path, line):
    clip = load_text(tmp_path, make_text().replace("Frame Time: 0.0333333\n", line))
    assert clip.fps == 30
    assert clip.frame_count == 5
    assert len(clip.warnings) == 1
    assert "30 frames per second" in clip.warnings[0]


@pytest.mark.parametrize("announced", [3, 8, 0, -1])
def test_frames_are_counted_whatever_number_is_announced(tmp_path, announced):
    clip = load_text(
        tmp_path,
        format_hierarchy()
        + format_motion(make_samples(np.random.default_rng(8)), frames=announced),
    )
    assert clip.frame_count == 5
    assert clip.warnings == (
        f"'clip.bvh' announces {announced} frames but holds 5, which are used",
    )


def test_a_missing_frame_count_gives_a_warning(tmp_path):
    clip = load_text(tmp_path, make_text().replace("Frames: 5\n", ""))
    assert clip.frame_count == 5
    assert len(clip.warnings) == 1


@pytest.mark.parametrize("cut", [5, 40, 100])
def test_an_incomplete_last_line_is_dropped_with_a_warning(tmp_path, cut):
    text = make_text()
    whole, clip = (
        load_text(tmp_path, text),
        load_text(tmp_path, text[:-cut].rstrip() if cut > 5 else text[:-20]),
    )
    assert clip.frame_count == 4
    np.testing.assert_array_equal(clip.rotations, whole.rotations[:4])
    assert any("breaks off in line" in warning for warning in clip.warnings)


# -------------------------------------------------------------------------------------------- units


@pytest.mark.parametrize("unit", [0.01, 1.0, 0.001, 0.0254, 0.1])
@pytest.mark.parametrize("size", [0.85, 1.0, 1.15])
def test_the_unit_is_guessed_from_the_size_of_the_body(tmp_path, unit, size):
    factor = size * 0.01 / unit
    joints = [
        (
            n,
            p,
            tuple(factor * v for v in o),
            [c for c in channels if c.endswith("rotation")] or ["Xrotation"],
        )
        for n, p, o, channels in BODY
    ]
    clip = load_text(
        tmp_path, format_hierarchy(joints) + format_motion(np.zeros((2, count_channels(joints))))
    )
    np.testing.assert_allclose(clip.skeleton.rest_positions[6], [0, 0, -0.85 * size], atol=1e-5)
    assert bool(clip.warnings) == (unit in (0.0254, 0.1))


def test_the_unit_is_right_for_a_floor_root_and_a_one_axis_rest_pose(tmp_path):
    rng = np.random.default_rng(9)
    joints = [
        ("Floor", -1, (0.0, 0.0, 0.0), []),
        *[
            (
                n,
                p + 1,
                (float(np.linalg.norm(o)), 0.0, 0.0),
                [*POSITIONS, "Xrotation"] if n == "Hips" else ["Xrotation"],
            )
            for n, p, o, _ in BODY
        ],
    ]
    values = rng.normal(0, 20, (30, count_channels(joints)))
    values[:, 0] += np.linspace(0, 5000, 30)  # walks 50 m
    clip = load_text(tmp_path, format_hierarchy(joints) + format_motion(values))
    assert clip.skeleton.rest_positions[7, 0] == pytest.approx(0.85)
    assert clip.warnings == ()


def test_bones_without_length_leave_the_unit_to_the_user(tmp_path):
    text = format_hierarchy([("Root", -1, (0.0, 0.0, 0.0), POSITIONS)]) + format_motion(
        [[1.0, 2.0, 3.0]]
    )
    clip = load_text(tmp_path, text)
    np.testing.assert_allclose(clip.positions[0, 0], [0.01, -0.03, 0.02])
    assert "set the scale" in clip.warnings[0]
    np.testing.assert_allclose(load_text(tmp_path, text, scale=2.0).positions[0, 0], [2, -6, 4])


# -------------------------------------------------------------------------------------- malformed input

SMALL = """HIERARCHY
ROOT Hips
{
    OFFSET 0 90 0
    CHANNELS 3 Zrotation Xrotation Yrotation
    JOINT Leg
    {
        OFFSET 0 -90 0
        CHANNELS 1 Xrotation
        End Site
        {
            OFFSET 0 0 10
        }
    }
}
MOTION
Frames: 2
Frame Time: 0.04
1 2 3 4
5 6 7 8
"""

MALFORMED = {
    "not a BVH file": (SMALL, "Dear reader,\nthis is text.\n", "not a BVH file"),
    "empty": (SMALL, "", "is empty"),
    "blank": (SMALL, " \r\n\n ", "is empty"),
    "no root": ("ROOT Hips", "JOINT Hips", r"line 2 has 'JOINT' where ROOT or MOTION was expected"),
    "no name": ("JOINT Leg", "JOINT", r"line 6 .* where the name of a joint was expected"),
    "no bracket": ("Leg\n    {", "Leg", r"line 7 has 'OFFSET' where '\{' was expected"),
    "unclosed": (
        "    }\n}\nMOTION",
        "    }\nMOTION",
        r"line 15 has 'MOTION' where '\}' after joint 'Hips' was expec",
    ),
    "too many brackets": (
        "}\nMOTION",
        "}\n}\nMOTION",
        r"line 16 has '\}' where ROOT or MOTION was expected",
    ),
    "no OFFSET": (
        "    OFFSET 0 90 0\n",
        "",
        r"line 14 .* the OFFSET of joint 'Hips' \(line 2\) was expected",
    ),
    "short OFFSET": (
        "OFFSET 0 90 0",
        "OFFSET 0 90",
        r"line 5 has 'CHANNELS' where a number was expected",
    ),
    "OFFSET no number": (
        "OFFSET 0 90 0",
        "OFFSET 0 9o 0",
        r"line 4 has '9o' where a number was expected",
    ),
    "OFFSET nan": (
        "OFFSET 0 90 0",
        "OFFSET 0 nan 0",
        r"line 4 has 'nan' where a number was expected",
    ),
    "no channel count": (
        "CHANNELS 1 Xr",
        "CHANNELS Xr",
        r"line 9 has 'Xrotation' where the number of channels",
    ),
    "too few channels": (
        "CHANNELS 1 Xr",
        "CHANNELS 2 Xr",
        r"line 10 has 'End' where another channel",
    ),
    "unknown channel": (
        "CHANNELS 1 Xrotation",
        "CHANNELS 1 Wrotation",
        r"line 9 has 'Wrotation' where another chan",
    ),
    "position twice": (
        "3 Zrotation Xrotation Yrotation",
        "2 Xposition Xposition",
        r"line 5 has 'Xposition' where anot",
    ),
    "too many channels": (
        "CHANNELS 1 Xr",
        "CHANNELS 1 Yrotation Xr",
        r"line 9 has 'Xrotation' where OFFSET, CHANN",
    ),
    "end site without OFFSET": (
        "            OFFSET 0 0 10\n",
        "",
        r"line 12 has '\}' where OFFSET was expected",
    ),
    "unknown word": (
        "        OFFSET 0 -90",
        "        SCALE 1\n        OFFSET 0 -90",
        r"line 8 has 'SCALE' where OFFS",
    ),
    "nothing moves": (
        SMALL,
        re.sub("CHANNELS .*", "CHANNELS 0", SMALL),
        "none of its joints has channels",
    ),
    "no joints": (
        SMALL,
        "HIERARCHY\nMOTION\nFrames: 1\n",
        r"line 2 has 'MOTION' where ROOT was expected",
    ),
    "ends in the hierarchy": (
        SMALL[SMALL.index("    }\n}") :],
        "",
        r"line 14 where MOTION was expected",
    ),
    "frames no number": (
        "Frames: 2",
        "Frames: two",
        r"line 17 has 'two' where a number was expected",
    ),
    "frame time no number": ("0.04", "0,04", r"line 18 has '0,04' where a number was expected"),
    "no frames": ("1 2 3 4\n5 6 7 8\n", "", "no frames after line 18"),
    "a value short": (
        "1 2 3 4",
        "1 2 3",
        r"line 19 has 3 values where one for each of the 4 channels was expected",
    ),
    "a value more": ("5 6 7 8", "5 6 7 8 9", r"line 20 has 5 values"),
    "the only frame cut": ("1 2 3 4\n5 6 7 8\n", "1 2 3", r"line 19 has 3 values"),
    "a word": (
        "5 6 7 8",
        "5 6 7 x",
        r"line 20 has 'x' for Xrotation of joint 'Leg' where a number was expected",
    ),
    "a comma": ("5 6 7 8", "5 6,5 7 8", r"line 20 has '6,5' for Xrotation of joint 'Hips'"),
    "two points": ("5 6 7 8", "5 6 7.1.2 8", r"line 20 has '7.1.2' for Yrotation of joint 'Hips'"),
    "two numbers in one": (
        "1 2 3 4",
        "1 2-3 3 4",
        r"line 19 has '2-3' for Xrotation of joint 'Hips'",
    ),
    "a control character": ("5 6 7 8", "5 6 7\x018", r"line 20 holds more than numbers"),
    "a lone sign": ("1 2 3 4", "1 - 3 4", r"line 19 has '-' for Xrotation"),
    "Windows nan": (
        "1 2 3 4",
        "1 2 3 -1.#IND",
        r"line 19 has '-1.#IND' for Xrotation of joint 'Leg'",
    ),
    "nan": ("5 6 7 8", "5 nan 7 8", r"Xrotation of joint 'Hips' is nan in frame 2 \(line 20\)"),
    "inf": ("5 6 7 8", "5 6 7 -inf", r"Xrotation of joint 'Leg' is -inf in frame 2 \(line 20\)"),
    "beyond every size": (
        "5 6 7 8",
        "5 6 1e300 8",
        r"Yrotation of joint 'Hips' is 1e\+300 in frame 2 \(line 20\)",
    ),
}


@pytest.mark.parametrize(("old", "new", "expected"), MALFORMED.values(), ids=MALFORMED)
def test_malformed_files_are_refused_with_line_and_expected_token(tmp_path, old, new, expected):
    assert load_text(tmp_path, SMALL).frame_count == 2
    assert SMALL.count(old) == 1
    with pytest.raises(MotionDataError, match=expected) as caught:
        load_text(tmp_path, SMALL.replace(old, new))
    message = str(caught.value)
    assert "clip.bvh" in message
    assert "\n" not in message


@pytest.mark.parametrize(
    "data",
    [
        bytes(range(256)) * 20,
        b"\x00" * 50,
        SMALL.encode("utf-16"),
        np.random.default_rng(1).bytes(5000),
        b"HIERARCHY" + bytes(range(256)),
        SMALL.encode()[:-4] + b"\x00\xff 8\n",
        b"PK\x03\x04" + b"\x00" * 100,
    ],
)
def test_binary_data_is_refused_in_one_sentence(tmp_path, data):
    with pytest.raises(MotionDataError, match=r"clip\.bvh") as caught:
        load_text(tmp_path, data)
    assert "\n" not in str(caught.value)


def test_a_file_cut_anywhere_loads_or_is_refused(tmp_path):
    def try_load(text: str) -> int | str:
        try:
            return load_text(tmp_path, text).frame_count
        except MotionDataError as error:
            return str(error)

    for length in range(len(SMALL)):
        result = try_load(SMALL[:length])
        assert result in (1, 2) or "clip.bvh" in result


def test_missing_files_and_folders_are_refused(tmp_path):
    for path in (tmp_path / "none.bvh", tmp_path):
        with pytest.raises(MotionDataError, match="Cannot open"):
            bvh.load(path)


# ------------------------------------------------------------------------------------------- saving


def make_clip(rng, frames=40, moving=(0, 3), fps=60.0) -> Clip:
    """Make a branched body with bones breadth first; some joints slide, some are in gimbal lock."""
    parents = np.array([-1, 0, 0, 1, 2, 3, 3, 4])
    names = ("hips", "spine", "thigh", "neck", "shin", "head", "arm", "foot")
    rest = rng.normal(0, 0.3, (8, 3)).astype(np.float32)
    positions = np.tile(rest, (frames, 1, 1))
    for bone in moving:
        positions[:, bone] += np.cumsum(rng.normal(0, 0.01, (frames, 3)), axis=0)
    rotations = (
        Rotation.random(frames * 8, random_state=rng.integers(2**31))
        .as_quat()[:, [3, 0, 1, 2]]
        .reshape(frames, 8, 4)
    )
    quarter = Rotation.from_euler("XYZ", rng.choice([-90, 0, 90, 180], (frames, 3)), degrees=True)
    rotations[:, 4] = quarter.as_quat()[:, [3, 0, 1, 2]]
    skeleton = Skeleton(
        names,
        parents,
        rest,
        np.tile(quat.IDENTITY, (8, 1)).astype(np.float32),
        ((5, (0.0, 0.0, 0.2)), (6, (0.3, 0.0, 0.0)), (6, (0.3, 0.1, 0.0)), (7, (0.0, -0.1, 0.0))),
    )
    return Clip(
        "walk",
        skeleton,
        positions.astype(np.float32),
        quat.unroll(rotations).astype(np.float32),
        fps,
    )


WAYS = {
    "order": st.sampled_from(ORDERS),
    "axes": st.sampled_from(UP_AND_FORWARD),
    "scale": st.sampled_from([0.01, 1.0, 0.0254]),
}
RATES = st.sampled_from([24.0, 24000 / 1001, 30.0, 60.0, 120.0, 37.3])


BONES = st.sets(st.integers(0, 7))


@given(make_generators(), BONES, BONES, RATES, st.fixed_dictionaries(WAYS))
def test_clips_survive_saving_and_loading(folder, rng, moving, off_their_rest, fps, ways):
    clip = make_clip(rng, 20, moving, fps)
    clip.positions[:, list(off_their_rest)] += np.float32(0.1)
    (up, forward), scale = ways["axes"], ways["scale"]
    path = folder / "walk.bvh"
    bvh.save(clip, path, up=up, forward=forward, scale=scale, order=ways["order"])
    read = bvh.load(path, up=up, forward=forward, scale=scale)
    assert read.name == "walk"
    assert read.fps == (fps if fps in (24.0, 30.0, 60.0, 120.0) else pytest.approx(fps, rel=1e-6))
    assert read.warnings == ()
    bones = [clip.skeleton.index(name) for name in read.skeleton.names]
    assert_same_motion(clip, read, bones)
    np.testing.assert_allclose(
        read.skeleton.rest_positions, clip.skeleton.rest_positions[bones], atol=1e-6
    )
    sites = {
        (read.skeleton.names[bone], tuple(np.round(site, 4) + 0.0))
        for bone, site in read.skeleton.end_sites
    }
    assert sites == {(clip.skeleton.names[bone], site) for bone, site in clip.skeleton.end_sites}


def test_joints_are_written_depth_first_with_channels_as_needed(tmp_path):
    bvh.save(make_clip(np.random.default_rng(11)), tmp_path / "walk.bvh")
    text = (tmp_path / "walk.bvh").read_text()
    joints = re.findall(r"(?:ROOT|JOINT) (\w+)\s*\{\s*OFFSET.*\s*CHANNELS (\d) (.*)", text)
    assert [name for name, _, _ in joints] == [
        "hips",
        "spine",
        "neck",
        "head",
        "arm",
        "thigh",
        "shin",
        "foot",
    ]
    assert [name for name, count, _ in joints if count == "6"] == ["hips", "neck"]
    assert {rest for _, count, rest in joints if count == "3"} == {"Zrotation Xrotation Yrotation"}
    assert text.count("{") == text.count("}")


def test_rest_rotations_do_not_change_the_motion_in_the_world(tmp_path):
    clip = make_clip(np.random.default_rng(13))
    turned = Rotation.random(8, random_state=1).as_quat()[:, [3, 0, 1, 2]].astype(np.float32)
    rest = Skeleton(
        clip.skeleton.names, clip.skeleton.parents, clip.skeleton.rest_positions, turned
    )
    bvh.save(Clip("walk", rest, clip.positions, clip.rotations, 30.0), tmp_path / "walk.bvh")
    read = bvh.load(tmp_path / "walk.bvh", scale=0.01)
    assert_same_motion(clip, read, [clip.skeleton.index(name) for name in read.skeleton.names])
    # chains without an end site get one, as readers expect
    assert {read.skeleton.names[bone] for bone, _ in read.skeleton.end_sites} == {
        "head",
        "arm",
        "foot",
    }


def test_angles_are_written_without_jumps_of_full_turns(tmp_path):
    frames = 200
    angles = np.radians(np.arange(frames) * 7.0)
    skeleton = Skeleton(
        ("root",),
        np.array([-1]),
        np.zeros((1, 3), np.float32),
        quat.IDENTITY[None].astype(np.float32),
    )
    clip = Clip(
        "spin",
        skeleton,
        np.zeros((frames, 1, 3), np.float32),
        quat.from_yaw(angles)[:, None].astype(np.float32),
        30.0,
    )
    bvh.save(clip, tmp_path / "spin.bvh")
    rows = np.loadtxt((tmp_path / "spin.bvh").read_text().splitlines()[-frames:])
    np.testing.assert_allclose(rows[:, 5], np.degrees(angles), atol=1e-4)  # Yrotation comes last
    np.testing.assert_allclose(rows[:, :5], 0, atol=1e-4)


def test_no_number_of_a_file_is_a_negative_zero(tmp_path):
    clip = make_clip(np.random.default_rng(14))
    tiny = np.full_like(clip.positions, -1e-12)
    still = np.broadcast_to(quat.IDENTITY, clip.rotations.shape).astype(np.float32)
    still = quat.mul(still, quat.from_yaw(np.full(still.shape[:2], -1e-12))).astype(np.float32)
    rest = Skeleton(clip.skeleton.names, clip.skeleton.parents, tiny[0], still[0])
    bvh.save(Clip("still", rest, tiny, still, 30.0), tmp_path / "still.bvh")
    text = (tmp_path / "still.bvh").read_text()
    assert "-0.000000" not in text
    assert "OFFSET 0.000000" in text


def test_names_that_a_file_cannot_hold_are_replaced_by_unique_ones(tmp_path):
    clip = make_clip(np.random.default_rng(15))
    names = ("hip bone", "hip_bone", "a{b}", "Hüfte", "腰", "x.L", "mixamorig:y", "z")
    bvh.save(
        Clip("a", clip.skeleton.with_names(names), clip.positions, clip.rotations, 30.0),
        tmp_path / "a.bvh",
    )
    assert set(bvh.load(tmp_path / "a.bvh").skeleton.names) == {
        "hip_bone",
        "hip_bone.001",
        "a_b_",
        "Hüfte",
        "腰",
        "x.L",
        "mixamorig:y",
        "z",
    }


def test_several_roots_are_written(tmp_path):
    clip = make_clip(np.random.default_rng(16))
    parents = clip.skeleton.parents.copy()
    parents[2] = -1
    skeleton = Skeleton(
        clip.skeleton.names, parents, clip.skeleton.rest_positions, clip.skeleton.rest_rotations
    )
    bvh.save(Clip("two", skeleton, clip.positions, clip.rotations, 30.0), tmp_path / "two.bvh")
    assert re.findall(r"ROOT (\w+)", (tmp_path / "two.bvh").read_text()) == ["hips", "thigh"]
    assert bvh.load(tmp_path / "two.bvh").skeleton.names == ("hips", "spine", "neck", "head", "arm")


@pytest.mark.parametrize("order", ["XY", "XYX", "ABC", ""])
def test_invalid_orders_are_refused(tmp_path, order):
    with pytest.raises(SettingsError, match="order"):
        bvh.save(make_clip(np.random.default_rng(0)), tmp_path / "a.bvh", order=order)


# ----------------------------------------------------------------------------- failed saves


def expect_refusal(clip: Clip, path: Path, reason: str) -> None:
    with pytest.raises(MotionDataError, match=reason) as caught:
        bvh.save(clip, path)
    assert str(path) in str(caught.value)


def test_a_target_that_cannot_be_written_is_refused(tmp_path):
    clip = make_clip(np.random.default_rng(17))
    expect_refusal(clip, tmp_path / "none" / "a.bvh", "choose a folder")
    (tmp_path / "file").write_text("mine")
    expect_refusal(clip, tmp_path / "file" / "a.bvh", "choose a folder")
    (tmp_path / "folder.bvh").mkdir()
    expect_refusal(clip, tmp_path / "folder.bvh", "is a folder")
    assert {path.name for path in tmp_path.iterdir()} == {"file", "folder.bvh"}


@pytest.mark.skipif(os.name == "nt", reason="permissions of folders are POSIX's")
def test_a_read_only_folder_is_refused():
    clip = make_clip(np.random.default_rng(17))
    root = os.geteuid() == 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "a.bvh").write_text("mine")
        folder.chmod(0o555)
        if root:
            os.seteuid(65534)  # permissions do not bind root
        try:
            expect_refusal(clip, folder / "a.bvh", "choose a folder")
        finally:
            if root:
                os.seteuid(0)
            folder.chmod(0o700)
        assert (folder / "a.bvh").read_text() == "mine"
        assert len(list(folder.iterdir())) == 1


@pytest.mark.skipif(os.name == "nt", reason="limits of file sizes are POSIX's")
def test_a_full_disk_keeps_the_old_file(tmp_path):
    import resource

    clip = make_clip(np.random.default_rng(18), frames=500)
    (tmp_path / "a.bvh").write_text("mine")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, limits[1]))
    try:
        expect_refusal(clip, tmp_path / "a.bvh", "free some space")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert (tmp_path / "a.bvh").read_text() == "mine"
    assert len(list(tmp_path.iterdir())) == 1
    bvh.save(clip, tmp_path / "a.bvh")
    assert bvh.load(tmp_path / "a.bvh", scale=0.01).frame_count == 500


def test_a_clip_with_nan_or_without_frames_is_not_written(tmp_path):
    clip = make_clip(np.random.default_rng(19))
    clip.rotations[3, 2, 1] = np.nan
    expect_refusal(clip, tmp_path / "a.bvh", "walk")
    expect_refusal(clip.crop(0, 0), tmp_path / "a.bvh", "walk")
    assert list(tmp_path.iterdir()) == []


# -------------------------------------------------------------------------------------- real motion


@pytest.mark.parametrize(
    "pattern",
    [
        "lafan1/push1_subject2.bvh",
        "bandai-namco/dataset-2_run_normal_003.bvh",
        "bandai-namco/dataset-1_walk_normal_001.bvh",
    ],
)
def test_real_files_survive_saving(tmp_path, mocap, pattern):
    clip = bvh.load(mocap / pattern)
    assert clip.fps == 30
    assert clip.warnings == ()
    bvh.save(clip, tmp_path / "again.bvh")
    read = bvh.load(tmp_path / "again.bvh")
    assert read.skeleton.names == clip.skeleton.names
    np.testing.assert_array_equal(read.skeleton.parents, clip.skeleton.parents)
    np.testing.assert_allclose(
        read.skeleton.rest_positions, clip.skeleton.rest_positions, atol=1e-6
    )
    # LAFAN1's take lies up to 5 m from the origin, where float32 is no finer
    assert_same_motion(clip, read)


@pytest.mark.parametrize(
    ("pattern", "head"), [("lafan1/*.bvh", "Head"), ("bandai-namco/*_walk*.bvh", "Head")]
)
def test_real_clips_have_the_height_of_people(mocap, pattern, head):
    for path in sorted(mocap.glob(pattern))[:20]:
        clip = bvh.load(path)
        heights = clip.compute_world()[1][..., clip.skeleton.index(head), 2]
        assert 1.3 < np.median(heights) < 1.8
        assert clip.compute_world()[1][..., 2].min() > -0.1


def test_values_of_a_real_file_match_numpy(mocap):
    path = mocap / "lafan1/push1_subject2.bvh"
    lines = path.read_text().splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("Frame Time")) + 1
    rows = np.loadtxt(lines[first : first + 200])
    clip = bvh.load(path, up="Z", forward="-Y", scale=1.0)
    np.testing.assert_array_equal(clip.positions[:200, 0], rows[:, :3].astype(np.float32))
    expected = Rotation.from_euler("ZYX", rows[:, 3:6], degrees=True).as_quat()[:, [3, 0, 1, 2]]
    assert measure_largest_angle(clip.rotations[:200, 0], expected) < 1e-4


# ----------------------------------------------------------------------------- files made to do harm


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("CHANNELS 6", f"CHANNELS {'9' * 5000}", "the number of channels"),
        ("Frame Time: 0.0333333", "Frame Time: 33.3333", "if milliseconds are written for seconds"),
        ("Frame Time: 0.0333333", "Frame Time: 1e300", "if milliseconds are written for seconds"),
    ],
)
def test_numbers_that_cannot_be_meant_are_explained(tmp_path, old, new, said):
    text = make_text()
    assert old in text
    with pytest.raises(MotionDataError, match=said):
        load_text(tmp_path, text.replace(old, new, 1))


def test_more_poses_than_fit_into_memory_are_refused_at_once(tmp_path):
    """A file of one megabyte whose joints without channels would take terabytes."""
    joints = "JOINT a {\nOFFSET 0 1 0\n" * 9000 + "}" * 9000
    head = f"HIERARCHY\nROOT r {{\nOFFSET 0 0 0\nCHANNELS 1 Xrotation\n{joints}}}\n"
    with pytest.raises(MotionDataError, match="too many for the memory"):
        load_text(tmp_path, f"{head}MOTION\nFrames: 9000\nFrame Time: 0.03\n" + "1\n" * 9000)


def test_thousands_of_joints_of_one_name_are_read_at_once(tmp_path):
    start = time.process_time()
    joints = "JOINT a {\nOFFSET 0 1 0\n}\n" * 10_000
    head = f"HIERARCHY\nROOT r {{\nOFFSET 0 0 0\nCHANNELS 1 Xrotation\n{joints}}}\n"
    clip = load_text(tmp_path, f"{head}MOTION\nFrames: 1\nFrame Time: 0.03\n1\n")
    assert clip.skeleton.names[-1] == "a.9999"
    assert time.process_time() - start < 10


def test_a_file_larger_than_the_memory_is_refused_before_it_is_read(tmp_path):
    path = tmp_path / "large.bvh"
    path.write_text("HIERARCHY\n")
    os.truncate(path, 3 * 1024**3)  # without taking space on the disk
    with pytest.raises(MotionDataError, match="larger than 2 GB"):
        bvh.load(path)
