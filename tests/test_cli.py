"""The command line from end to end: the manual's commands work, and errors are one sentence."""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from motion_matching.commands import arguments, loading, output
from motion_matching.engine.building.demo_clips import load_demo_clips
from motion_matching.engine.bvh import bvh
from motion_matching.engine.control.trajectory import SimulationObject
from motion_matching.engine.database import database as databases
from motion_matching.engine.facts.idles import find_idles
from motion_matching.engine.files import presets
from motion_matching.engine.motion import contacts, simulation_bone
from motion_matching.engine.performance import performance, scripts
from motion_matching.engine.performance.settings import PerformerSettings
from motion_matching.engine.takes import takes
from tests.command_line import run, run_line, run_with_errors
from tests.conftest import CHECKOUT
from tests.demo import FEW, generate_clips
from tests.run_files import make_once

# Three swinging bones: no legs, no feet.
TENTACLE = """HIERARCHY
ROOT Base
{
  OFFSET 0 0 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  JOINT Middle
  {
    OFFSET 0 60 0
    CHANNELS 3 Zrotation Xrotation Yrotation
    JOINT Tip
    {
      OFFSET 0 60 0
      CHANNELS 3 Zrotation Xrotation Yrotation
      End Site
      {
        OFFSET 0 60 0
      }
    }
  }
}
MOTION
Frames: 90
Frame Time: 0.0333333
"""


@pytest.fixture(scope="module")
def demo() -> Path:
    """A folder with generated clips and the database of few of them, made by the commands; tests
    only read it.
    """

    def make(folder: Path) -> None:
        assert run("demo-clips", folder / "clips") == 0
        (folder / "few").mkdir()
        for name in FEW:
            shutil.copy(folder / "clips" / f"{name}.bvh", folder / "few")
        assert run("build", folder / "few", "-o", folder / "walk.npz", "--mirror") == 0

    return make_once("demo_commands", make)


@pytest.fixture(scope="module")
def walk(demo: Path) -> Path:
    return demo / "walk.npz"


@pytest.fixture
def one_clip(demo: Path, tmp_path: Path) -> Path:
    """A folder with one clip of the demo."""
    folder = tmp_path / "one clip"
    folder.mkdir()
    shutil.copy(demo / "clips" / "walk_curves.bvh", folder)
    return folder


def read_sentence(capsys: pytest.CaptureFixture[str]) -> str:
    """Return the printed error: one sentence on one line, and nothing else."""
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1, printed.err
    text = printed.err.removeprefix("motion_matching: ").rstrip("\n")
    assert text.endswith(".")
    assert not re.search(r"[.!?]\s+[A-Z]|\.\.$|Error", text), text
    return text


def list_files(folder: Path) -> dict[str, bytes | None]:
    """Return all files of a folder, with the content of small ones."""
    small = 1_000_000
    return {
        str(path.relative_to(folder)): path.read_bytes()
        if path.is_file() and path.stat().st_size < small
        else None
        for path in sorted(folder.rglob("*"))
    }


def load_world_positions(file: Path) -> tuple[tuple[str, ...], np.ndarray]:
    """Return the bone names and world positions (F, B, 3) in metres of a BVH file in centimetres."""
    clip = bvh.load(file, scale=0.01)
    return clip.skeleton.names, clip.compute_world()[1]


# ---------------------------------------------------------------- the commands of the manual


IN_BLENDER = """
import json
import sys
import numpy as np
import motion_matching
from motion_matching import registration
from motion_matching.engine.bvh import bvh

database, bvh_file, blend_file = sys.argv[1:]
motion_matching.register()
take = registration._run_command  # what `blender --command motion_matching …` calls, with all that follows the name
assert take(["take", database, "--seconds", "4", "--bvh", bvh_file, "-o", blend_file, "--quiet"]) == 0
print("after the quiet take")
assert take(["inspect", database]) == 0
assert take([]) == 2
assert take(["--help"]) == 0

bpy.ops.wm.open_mainfile(filepath=blend_file)
scene = bpy.context.scene
clip = bvh.load(bvh_file, scale=0.01)
_, heads = clip.compute_world()
assert (scene.frame_start, scene.frame_end) == (1, clip.frame_count)
assert abs(scene.render.fps / scene.render.fps_base - clip.fps) < 1e-4
[armature] = [obj for obj in scene.objects if obj.type == "ARMATURE"]
[body] = [obj for obj in scene.objects if obj.parent is armature]
assert body.type == "MESH"
assert armature.animation_data.action.name == armature.name == "figure_eight walk"
assert [bone.name for bone in armature.data.bones][1:] == list(clip.skeleton.names)
for frame in (1, clip.frame_count // 2, clip.frame_count):
    scene.frame_set(frame)
    found = np.array([armature.matrix_world @ armature.pose.bones[name].head for name in clip.skeleton.names])
    np.testing.assert_allclose(found, heads[frame - 1], atol=1e-3)
"""


@pytest.mark.slow
def test_the_readme_commands_make_mocap_a_report_and_an_action(
    demo: Path,
    walk: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    run_in_blender: Callable[..., str],
) -> None:
    take, report = tmp_path / "take.bvh", tmp_path / "take.json"
    assert run("take", walk, "--seconds", 4, "--bvh", take, "--report", report) == 0
    assert run("inspect", walk) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    assert f"Written: {take}, {report}." in printed.out
    assert "left_toe LeftToe" in printed.out

    def refuse_constant(word: str) -> None:
        raise AssertionError(f"{word} is no JSON")

    measured = json.loads(report.read_text(), parse_constant=refuse_constant)
    assert measured["take"]["seconds"] == pytest.approx(4.0, abs=0.05)
    assert set(measured["sources"]) <= set(measured["take"])
    assert measured["settings"]["search_interval"] == PerformerSettings().search.search_interval

    # inside Blender, in another process: the same bytes, and an action with the same motion
    again, blend = tmp_path / "again.bvh", tmp_path / "take.blend"
    out = run_in_blender(IN_BLENDER, walk, again, blend)
    assert out.startswith("after the quiet take\n"), "a quiet take is not quiet"
    assert again.read_bytes() == take.read_bytes()
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".")]


@pytest.mark.slow
def test_a_takes_bvh_has_the_units_and_axes_of_its_sources(
    demo: Path, walk: Path, tmp_path: Path
) -> None:
    take, source = tmp_path / "take.bvh", next((demo / "clips").glob("*.bvh"))
    assert run("take", walk, "--script", "square", "--seconds", 3, "--bvh", take, "--quiet") == 0
    (names, places), (source_names, source_places) = (
        load_world_positions(take),
        load_world_positions(source),
    )
    assert names == source_names
    lines, source_lines = (
        file.read_text().partition("MOTION")[0].splitlines() for file in (take, source)
    )
    assert lines == source_lines  # hierarchy, offsets in centimetres, channels
    # read as Y up, feet are on the ground and the head has the sources' height
    head, lowest = names.index("Head"), places[..., 2].min(axis=1)
    assert np.abs(lowest).max() < 0.1
    assert places[:, head, 2] == pytest.approx(np.median(source_places[:, head, 2]), abs=0.1)
    # Y is the second number of a frame: the root's height in centimetres
    frames = np.loadtxt(take.read_text().partition("Frame Time:")[2].splitlines()[1:])
    assert len(frames) == 90
    assert 60 < frames[:, 1].min() < frames[:, 1].max() < 130


@pytest.mark.parametrize(
    ("recordings", "clips", "options"), [("bandai-namco", 171, ["--mirror"]), ("lafan1", 1, [])]
)
def test_real_mocap_needs_no_options(
    recordings: str,
    clips: int,
    options: list[str],
    mocap: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    database, take = tmp_path / "walk.npz", tmp_path / "take.bvh"
    assert run("build", mocap / recordings, "-o", database, *options) == 0
    assert f"of {clips} clip" in capsys.readouterr().out
    assert run("take", database, "--seconds", 3, "--bvh", take, "--quiet") == 0
    (names, places), (source_names, _) = (
        load_world_positions(take),
        load_world_positions(next((mocap / recordings).glob("*.bvh"))),
    )
    assert names == source_names
    assert np.median(places[..., 2].max(axis=1)) == pytest.approx(
        1.6, abs=0.25
    )  # the highest joint of a standing person


def test_a_source_list_chooses_frames_speed_mirror_and_tags(
    demo: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(demo / "clips" / "walk_curves.bvh", tmp_path)
    sources = [
        {
            "file": "walk_curves.bvh",
            "start": 30,
            "stop": 230,
            "mirror": True,
            "tags": [{"name": "curve"}],
        },
        {"file": "walk_curves.bvh", "stop": 100, "speed": 2.0},
    ]
    (tmp_path / "sources.json").write_text(json.dumps(sources))
    assert run("build", tmp_path / "sources.json", "-o", tmp_path / "walk.npz", "--speed", 1.0) == 0
    database = databases.load(tmp_path / "walk.npz")
    assert [(r.clip, r.mirrored, r.first_source_frame) for r in database.ranges] == [
        ("walk_curves", False, 30),
        ("walk_curves", False, 0),
        ("walk_curves", True, 30),
    ]
    assert (database.stops - database.starts).tolist() == [200, 50, 200]
    assert database.make_tag_mask({"curve"}).tolist() == [True] * 200 + [False] * 50 + [True] * 200
    assert "450 frames (15 s at 30 fps) of 2 clips, mirrored too" in capsys.readouterr().out


def test_build_options_reach_the_database(one_clip: Path, tmp_path: Path) -> None:
    file = tmp_path / "walk.npz"
    (tmp_path / "rig.json").write_text('{"spine": "Spine"}')
    assert (
        run_line(
            "build {} -o {} --quiet --fps 20 --speed 1.1 --features notebook --rig {} "
            "--simulation-bone notebook --contacts notebook --scale 0.005",
            one_clip,
            file,
            tmp_path / "rig.json",
        )
        == 0
    )
    database = databases.load(file)
    original = bvh.load(next(one_clip.iterdir()))
    assert database.fps == 20
    assert database.seconds == pytest.approx(original.frame_count / original.fps / 1.1, abs=0.1)
    assert database.schema.dimensions == 33
    assert database.role_names["spine"] == "Spine"
    assert database.settings["simulation_bone"]["heading"] == "angle"
    assert database.settings["contacts"]["method"] == "displacement"
    np.testing.assert_allclose(
        database.skeleton.rest_positions[2:], 0.5 * original.skeleton.rest_positions[1:], atol=1e-5
    )


def test_built_in_standing_is_added_to_clips_that_never_stand(tmp_path: Path) -> None:
    clip = next(clip for clip in generate_clips() if clip.name == "walk_curves")
    bvh.save(clip.crop(60, clip.frame_count - 90), tmp_path / "walk.bvh")
    stands = []
    for options in ([], ["--add-standing"]):
        file = tmp_path / f"{len(options)}.npz"
        assert run("build", tmp_path / "walk.bvh", "-o", file, "--quiet", *options) == 0
        stands.append(not databases.load(file).derive(find_idles).holds)
    assert stands == [False, True]


def test_build_says_what_it_mends_and_keeps_it_on_request(
    one_clip: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    [file] = one_clip.iterdir()
    clip = bvh.load(file)
    rest = clip.skeleton.rest_positions[None], clip.skeleton.rest_rotations[None]
    positions = np.concatenate([np.float32(rest[0]), clip.positions])
    rotations = np.concatenate([np.float32(rest[1]), clip.rotations])
    positions[:, 0, 2] -= np.float32(0.5)  # not by the height of the hips: some count from there
    below = replace(clip, positions=positions, rotations=rotations)
    bvh.save(below, tmp_path / "below.bvh")
    assert run("build", tmp_path / "below.bvh", "-o", tmp_path / "mended.npz") == 0
    told = capsys.readouterr().out
    assert "Frame 0 of 'below' is unlike the others" in told
    assert "The feet of 'below' stand" in told
    assert "below zero" in told
    assert databases.load(tmp_path / "mended.npz").frame_count == clip.frame_count

    keep = "--keep-frames", "--keep-floor"
    assert run("build", tmp_path / "below.bvh", "-o", tmp_path / "kept.npz", *keep) == 0
    told = capsys.readouterr().out
    assert "it was kept as it is, and would be left out otherwise." in told
    assert "it was kept as it is, and would be moved onto the ground otherwise." in told
    assert "so it was" not in told
    kept = databases.load(tmp_path / "kept.npz")
    assert kept.frame_count == clip.frame_count + 1

    databases.save(replace(kept, settings={**kept.settings, "examined": False}), tmp_path / "b.npz")
    assert run("inspect", tmp_path / "b.npz") == 0
    told = capsys.readouterr().out
    assert "Frame 0 of 'below' is unlike the others" in told
    assert "build again to leave it out" in told
    assert "below zero; build again" in told


def test_axes_may_be_negative(one_clip: Path, tmp_path: Path) -> None:
    """A minus in front of an axis does not make it an option."""
    tracks = []
    for number, axes in enumerate(
        ["--forward -Z", "--forward=-Z", "--forward -z --up y", "--forward X --up -Z"]
    ):
        file = tmp_path / f"{number}.npz"
        assert run("build", one_clip, "-o", file, *axes.split()) == 0
        tracks.append(databases.load(file).track)
    for track in tracks[1:3]:
        np.testing.assert_array_equal(track, tracks[0])
    assert not np.allclose(tracks[3], tracks[0])


def test_an_unknown_bone_suggests_a_similar_name(
    one_clip: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "rig.json").write_text('{"hips": "Hip"}')
    assert run("build", one_clip, "-o", tmp_path / "walk.npz", "--rig", tmp_path / "rig.json") == 1
    assert capsys.readouterr().err.endswith("did you mean 'Hips'?\n")


def test_short_clips_are_named_and_the_rest_is_built(
    one_clip: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    clip = bvh.load(one_clip / "walk_curves.bvh")
    bvh.save(clip.crop(0, 20), one_clip / "too_short.bvh")
    assert run("build", one_clip, "-o", tmp_path / "walk.npz") == 0
    assert re.search("Left out too_short: .*20 frames", capsys.readouterr().out)
    assert databases.load(tmp_path / "walk.npz").frame_count == clip.frame_count


# ---------------------------------------------------------------- repeating takes


@pytest.mark.slow
def test_a_performance_repeats_its_take_unless_settings_change(walk: Path, tmp_path: Path) -> None:
    first, again, other, calmer = (
        tmp_path / f"{name}.bvh" for name in ("first", "again", "other", "calmer")
    )
    kept = tmp_path / "kept.json"
    assert (
        run_line(
            "take {} --script random --seed 5 --seconds 6 --set velocity_halflife=0.2 --bvh "
            "{} --save-performance {} --quiet",
            walk,
            first,
            kept,
        )
        == 0
    )
    assert run("take", walk, "--script", kept, "--bvh", again, "--quiet") == 0
    assert again.read_bytes() == first.read_bytes()
    assert (
        run_line(
            "take {} --script {} --set weights=1,1,1,1,1,3,3,1,1 --bvh {} --quiet",
            walk,
            kept,
            other,
        )
        == 0
    )
    assert (
        run_line(
            "take {} --script {} --set velocity_halflife=0.5 --bvh {} --quiet", walk, kept, calmer
        )
        == 0
    )
    assert len({file.read_bytes() for file in (first, other, calmer)}) == 3
    assert performance.load(kept).settings["velocity_halflife"] == 0.2


@pytest.mark.slow
def test_contacts_are_saved_edited_and_baked_again(walk: Path, tmp_path: Path) -> None:
    take = ("take", walk, "--script", "flips", "--seconds", 5, "--quiet")
    assert (
        run(
            *take,
            "--bvh",
            tmp_path / "a.bvh",
            "--save-contacts",
            tmp_path / "contacts.json",
            "-o",
            tmp_path / "a.blend",
            "--report",
            tmp_path / "report.json",
        )
        == 0
    )
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["take"]["foot_slide_mann"] < report["live"]["foot_slide_mann"]
    # unchanged contacts, in either form, give the same bake
    for saved in ("contacts.json", "a.blend"):
        assert run(*take, "--bvh", tmp_path / "b.bvh", "--contacts", tmp_path / saved) == 0
        assert (tmp_path / "a.bvh").read_bytes() == (tmp_path / "b.bvh").read_bytes()
    edited = json.loads((tmp_path / "contacts.json").read_text())
    edited["ranges"] = []
    (tmp_path / "edited.json").write_text(json.dumps(edited))
    assert run(*take, "--bvh", tmp_path / "c.bvh", "--contacts", tmp_path / "edited.json") == 0
    assert (tmp_path / "a.bvh").read_bytes() != (tmp_path / "c.bvh").read_bytes()


@pytest.mark.slow
def test_foot_modes_change_how_far_feet_slide(walk: Path, tmp_path: Path) -> None:
    slides = []
    for feet in ("baked", "live", "off"):
        assert (
            run_line(
                "take {} --script flips --seconds 8 --feet {} --quiet --report {}",
                walk,
                feet,
                tmp_path / f"{feet}.json",
            )
            == 0
        )
        measured = json.loads((tmp_path / f"{feet}.json").read_text())["take"]
        slides.append(measured["foot_slide_contacts"])
    assert slides == sorted(slides)
    assert measured["leg_correction_max"] == 0.0


@pytest.mark.slow
def test_speeds_can_be_given_as_one_or_three(walk: Path, tmp_path: Path) -> None:
    speeds = []
    for number, given in enumerate(("walk=0.9", "walk=[0.9, 0.8, 0.7]", "run=2")):
        report = tmp_path / f"{number}.json"
        assert run("take", walk, "--seconds", 1, "--set", given, "--report", report, "--quiet") == 0
        speeds.append(json.loads(report.read_text())["settings"])
    data = takes.make_default_settings(databases.load(walk))
    factor = 0.9 / data.steering.walk.forward
    assert speeds[0]["walk"] == pytest.approx(
        {
            "forward": 0.9,
            "side": factor * data.steering.walk.side,
            "back": factor * data.steering.walk.back,
        }
    )
    assert speeds[1]["walk"] == {"forward": 0.9, "side": 0.8, "back": 0.7}
    assert speeds[2]["run"]["forward"] == 2.0


@pytest.mark.slow
@pytest.mark.parametrize("gait", ["walk", "run"])
def test_full_synchronization_puts_both_at_the_simulation_object(
    walk: Path, tmp_path: Path, gait: str
) -> None:
    kept = tmp_path / "kept.json"
    assert (
        run_line(
            "take {} --script flips --gait {} --seconds 7 --sync 1 --save-performance {} --quiet",
            walk,
            gait,
            kept,
        )
        == 0
    )
    wanted = performance.load(kept)
    assert wanted.settings["synchronization"] == 1
    database = databases.load(walk)
    settings = takes.make_default_settings(database).with_changes(wanted.settings)
    take = takes.perform(database, settings, wanted)
    code = SimulationObject(settings.steering)
    code.reset(*wanted.position, wanted.facing)
    path = []
    for intent in wanted.intents:
        code.steer(intent, 1 / wanted.fps)
        code.step(1 / wanted.fps)
        path.append((code.x, code.y))
    np.testing.assert_array_equal(take.character[:, :2], take.simulation[:, :2])
    np.testing.assert_allclose(take.character[:, 2], take.simulation[:, 2], atol=1e-12)
    np.testing.assert_allclose(take.character[:, :2], path, atol=1e-9)


# ------------------------------------------------------------ errors in one sentence


def make_empty_folder(folder: Path) -> list[object]:
    (folder / "clips").mkdir()
    return [folder / "clips"]


def make_text_named_bvh(folder: Path) -> list[object]:
    (folder / "notes.bvh").write_text("Remember to record some walking.\n")
    return [folder / "notes.bvh"]


def make_short_clips(folder: Path) -> list[object]:
    for file in (folder / "one clip").iterdir():
        bvh.save(bvh.load(file).crop(0, 25), file)
    return [folder / "one clip"]


def make_mixed_skeletons(folder: Path) -> list[object]:
    return [folder / "one clip", *make_clips_without_feet(folder)]


def make_clips_without_feet(folder: Path) -> list[object]:
    rows = "".join(f"0 0 0 0 0 {i % 30} {i % 40} 0 0 {i % 20} 0 0\n" for i in range(90))
    (folder / "tentacle.bvh").write_text(TENTACLE + rows)
    return [folder / "tentacle.bvh"]


def make_clip_with_nan(folder: Path) -> list[object]:
    [file] = (folder / "one clip").iterdir()
    lines = file.read_text().splitlines()
    lines[-50] = lines[-50].replace(lines[-50].split()[7], "nan", 1)
    file.write_text("\n".join(lines) + "\n")
    return [file]


def name_missing_file(folder: Path) -> list[object]:
    return [folder / "nothing.bvh"]


def make_empty_list(folder: Path) -> list[object]:
    (folder / "sources.json").write_text('[{"file": "gone.bvh"}]')
    return [folder / "sources.json"]


@pytest.mark.parametrize(
    ("prepare", "culprit", "advice"),
    [
        (make_empty_folder, "clips", "give a folder with motion capture"),
        (make_text_named_bvh, "notes.bvh", "should be HIERARCHY"),
        (make_short_clips, "short", "longer"),
        (make_mixed_skeletons, "'tentacle'", "name hips, thighs, shins and feet"),
        (make_clips_without_feet, "legs", "name hips, thighs, shins and feet"),
        (make_clip_with_nan, "walk_curves.bvh", "repair or delete that line"),
        (name_missing_file, "nothing.bvh", "give a .bvh file"),
        (make_empty_list, "gone.bvh", "relative to the list"),
    ],
)
def test_unusable_sources_are_reported(
    prepare: Callable[[Path], list[object]],
    culprit: str,
    advice: str,
    one_clip: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    sources = prepare(tmp_path)
    before = list_files(tmp_path)
    assert run("build", *sources, "-o", tmp_path / "walk.npz") == 1
    text = read_sentence(capsys)
    assert culprit in text
    assert advice in text
    assert list_files(tmp_path) == before


@pytest.mark.parametrize(
    ("options", "culprit", "advice"),
    [
        (["--fps", "-1"], "--fps is -1", "give a number"),
        (["--fps", "nan"], "--fps is nan", "give a number"),
        (["--speed", "0"], "--speed is 0", "give a number"),
        (["--scale", "-1"], "scale", "must be a positive number"),
        (["--up", "sideways"], "'sideways'", "must be X, Y, Z"),
        (["--forward", "Y"], "'Y'", "change one"),
        (["--features", "best"], "'best'", "use one of"),
        (["--rig", "{folder}/rig.json"], "rig.json", "check its name"),
        (["-o", "{folder}/missing/walk.npz"], "missing", "make it first"),
        (["-o", "{folder}"], "is a folder", "give the name"),
        (["-o", "{folder}/one clip/walk_curves.bvh"], "walk_curves.bvh", "rename it"),
        (["-o", "{folder}/locked.npz"], "locked.npz is read-only", "allow writing"),
    ],
)
def test_invalid_build_options_are_reported(
    options: list[str],
    culprit: str,
    advice: str,
    one_clip: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "locked.npz").write_text("kept")
    (tmp_path / "locked.npz").chmod(0o444)
    before = list_files(tmp_path)
    given = [option.format(folder=tmp_path) for option in options]
    assert run("build", one_clip, "-o", tmp_path / "walk.npz", *given) == 1
    text = read_sentence(capsys)
    assert culprit in text
    assert advice in text
    assert list_files(tmp_path) == before


@pytest.mark.parametrize(
    ("options", "culprit", "advice"),
    [
        (["--seconds", "0"], "--seconds is 0", "give a number"),
        (["--seconds", "-3"], "--seconds is -3", "give a number"),
        (["--seconds", "nan"], "--seconds is nan", "give a number"),
        (["--seconds", "inf"], "--seconds is inf", "give a number"),
        (["--seed", "-1"], "--seed is -1", "give a whole number"),
        (["--sync", "1.5"], "--sync is 1.5", "from 0 to 1"),
        (["--script", "moonwalk"], "'moonwalk'", "use one of figure_eight"),
        (["--script", "{folder}/gone.json"], "gone.json", "check its name"),
        (["--script", "{folder}/other.json"], "other.json", "give one that"),
        (["--script", "{folder}/kept.json", "--seconds", "3"], "--seconds", "leave it out"),
        (["--script", "{folder}/broken.json"], "broken.json", "for each feature"),
        (["--set", "grace=1"], "'grace'", "known ones are"),
        (["--set", "stop_factor"], "stop_factor", "write it as in"),
        (["--set", "stop_factor=fast"], "stop_factor=fast", "write it as in"),
        (["--set", "stop_factor=nan"], "stop_factor=nan", "write it as in"),
        (["--set", "stop_factor=1,2"], "stop_factor", "give one"),
        (["--set", "stop_factor=-1"], "'stop_factor'", "give a number from 0"),
        (["--set", "velocity_halflife=1e308"], "'velocity_halflife'", "give a number from 0"),
        (["--seconds", "0.1"], "figure_eight", "make it longer"),
        (["--set", "walk=0"], "walk", "needs one speed above zero"),
        (["--set", "weights=1,2"], "9 features but 2 weights", "give one for each"),
        (["--set", "weights=1,1,1,1,1,1,1,1,-1"], "weights", "must be numbers of zero or more"),
        (["--set", "end_guard=1000"], "end guard", "lower"),
        (["--contacts", "{folder}/none.json"], "none.json", "--save-contacts"),
        (["--contacts", "{folder}/kept.json"], "kept.json", "--save-contacts"),
        (
            ["--contacts", "{folder}/kept.json", "--feet", "live"],
            "--feet live",
            "leave one of them out",
        ),
        (
            ["--contacts", "{folder}/kept.json", "--save-contacts", "{folder}/kept.json"],
            "kept.json",
            "another name",
        ),
        (["--bvh", "{folder}/missing/take.bvh"], "missing", "make it first"),
        (["--bvh", "{folder}/take.blend"], "take.blend", "rename it"),
        (["--bvh", "{folder}/locked.bvh"], "locked.bvh is read-only", "allow writing"),
        (
            ["--report", "{folder}/kept.json", "--script", "{folder}/kept.json"],
            "kept.json",
            "choose another name",
        ),
        (
            ["--obstacles", "{folder}/kept.json", "--save-performance", "{folder}/kept.json"],
            "which --obstacles reads",
            "choose another name",
        ),
        (
            ["--report", "{folder}/new.json", "--save-contacts", "{folder}/new.json"],
            "which --save-contacts names too",
            "choose another name",
        ),
    ],
)
def test_invalid_take_options_are_reported(
    options: list[str],
    culprit: str,
    advice: str,
    walk: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "locked.bvh").write_text("kept")
    (tmp_path / "locked.bvh").chmod(0o444)
    (tmp_path / "other.json").write_text('{"name": "something else"}')
    wanted = scripts.build_script(
        "square", 1.0, 30.0, PerformerSettings().steering.walk, PerformerSettings().steering.run
    )
    performance.save(wanted, tmp_path / "kept.json")
    broken = json.loads((tmp_path / "kept.json").read_text()) | {"settings": {"weights": 5}}
    (tmp_path / "broken.json").write_text(json.dumps(broken))
    before = list_files(tmp_path)
    given = [option.format(folder=tmp_path) for option in options]
    assert run("take", walk, "--bvh", tmp_path / "take.bvh", *given) == 1
    text = read_sentence(capsys)
    assert culprit in text
    assert advice in text
    assert list_files(tmp_path) == before


def name_missing_database(file: Path) -> Path:
    return file.with_name("gone.npz")


def truncate_database(file: Path) -> Path:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    return file


def save_other_arrays(file: Path) -> Path:
    np.savez(file, heights=np.zeros(3))
    return file


def make_folder(file: Path) -> Path:
    return file.parent


@pytest.mark.parametrize(
    ("prepare", "advice"),
    [
        (name_missing_database, "make it first"),
        (truncate_database, "make it again"),
        (save_other_arrays, "make it again"),
        (make_folder, "make one from it"),
    ],
)
@pytest.mark.parametrize("command", ["take", "inspect"])
def test_unusable_databases_are_reported(
    command: str,
    prepare: Callable[[Path], Path],
    advice: str,
    walk: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    database = prepare(Path(shutil.copy(walk, tmp_path)))
    before = list_files(tmp_path)
    extra = ["--bvh", tmp_path / "take.bvh"] if command == "take" else []
    assert run(command, database, *extra) == 1
    text = read_sentence(capsys)
    assert str(database) in text
    assert advice in text
    assert list_files(tmp_path) == before


FULL_DISK = """
import resource
import sys
from motion_matching.cli import main
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), resource.RLIM_INFINITY))
sys.exit(main(sys.argv[2:]))
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows has no limit to the size of files")
@pytest.mark.parametrize(
    ("command", "target", "limit"),
    [
        ("build", "-o {folder}/walk.npz", 100_000),
        ("take", "--bvh {folder}/take.bvh", 10_000),
        ("take", "--save-performance {folder}/kept.json", 100),
        ("take", "-o {folder}/take.blend", 60_000),
        ("demo-clips", "{folder}", 10_000),
    ],
)
def test_a_full_disk_leaves_nothing_half_written(
    command: str, target: str, limit: int, one_clip: Path, walk: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "full"
    folder.mkdir()
    inputs: list[object] = {
        "build": [one_clip],
        "take": [walk, "--seconds", 1, "--quiet"],
        "demo-clips": [],
    }[command]
    options = [part.format(folder=folder) for part in target.split()]
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(limit), command, *map(str, inputs), *options],
        cwd=CHECKOUT,
        capture_output=True,
        encoding="utf-8",
        timeout=200,
    )
    assert (done.returncode, done.stdout) == (1, ""), done.stderr
    assert done.stderr.count("\n") == 1
    assert re.search(
        r"full.*cannot be written \(.*\); free some space or choose another place\.\n$", done.stderr
    )
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["dance"],
        ["build"],
        ["take"],
        ["inspect", "a", "b"],
        ["take", "a", "--fast"],
        ["take", "a", "--seconds", "long"],
        ["take", "a", "--gait", "crawl"],
    ],
)
def test_a_wrong_command_line_ends_with_2_and_the_usage(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("usage: motion_matching")


# ---------------------------------------------------------------- cancelling, progress, quiet


@pytest.mark.parametrize(
    "stage", ["Reading", "Computing features", "Saving", "Performing", "Measuring", "Writing clips"]
)
def test_ctrl_c_ends_a_command_at_any_stage(
    stage: str,
    one_clip: Path,
    walk: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def press(self: object, now: str, part: float | None = None) -> None:
        if now == stage:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(output.Output, "show_progress", press)
    folder = tmp_path / "written"
    folder.mkdir()
    command: list[object] = ["build", one_clip, "-o", folder / "walk.npz"]
    if stage in ("Performing", "Measuring"):
        command = ["take", walk, "--seconds", 1, "--report", folder / "take.json"]
    elif stage == "Writing clips":
        command = ["demo-clips", folder]
    assert run(*command) == 130
    assert "nothing is half-written" in read_sentence(capsys)
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("what", ["walk.npz", "take.bvh"])
def test_ctrl_c_during_writing_keeps_the_old_file(
    what: str,
    one_clip: Path,
    walk: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = tmp_path / "written"
    folder.mkdir()
    (folder / what).write_text("the old one")
    monkeypatch.setattr(
        os, "fsync", lambda handle: signal.raise_signal(signal.SIGINT)
    )  # completely written, but not moved yet
    command = (
        ["build", one_clip, "-o"] if what == "walk.npz" else ["take", walk, "--seconds", 1, "--bvh"]
    )
    assert run(*command, folder / what) == 130
    read_sentence(capsys)
    assert list_files(folder) == {what: b"the old one"}


ENDED = """
import os, runpy, signal
os.fsync = lambda handle: signal.raise_signal(signal.SIGTERM)
runpy.run_module("motion_matching", run_name="__main__")
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows ends a process without asking it")
def test_a_terminated_command_cleans_up(one_clip: Path, tmp_path: Path) -> None:
    folder = tmp_path / "written"
    folder.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", ENDED, "build", str(one_clip), "-o", str(folder / "walk.npz")],
        cwd=CHECKOUT,
        capture_output=True,
        encoding="utf-8",
        timeout=200,
    )
    assert (done.returncode, done.stdout, done.stderr) == (128 + signal.SIGTERM, "", "")
    assert list(folder.iterdir()) == []


def test_ctrl_c_waits_until_blender_is_loaded() -> None:
    done = []

    def load() -> None:
        with loading.protect_blender_import():
            signal.raise_signal(signal.SIGINT)
            done.append("the rest of the block")

    with pytest.raises(KeyboardInterrupt):
        load()
    assert done
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_shows_only_on_a_terminal_and_is_erased(
    one_clip: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    command = ["build", one_clip, "-o", tmp_path / "walk.npz"]
    threads = threading.active_count()
    assert run(*command) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    assert "walk.npz: " in printed.out
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert run(*command) == 0
    assert re.search(r"\rReading +0% \|.* left", sys.stderr.getvalue())
    *_, last, rest = sys.stderr.getvalue().split("\r")
    assert (last.strip(), rest) == ("", "")
    assert threading.active_count() == threads
    assert capsys.readouterr().out == printed.out
    for words, missing in (["--quiet"], {}), ([], {"tqdm": None}):
        with monkeypatch.context() as changed:
            changed.setattr(sys, "stderr", Terminal())
            for name, module in missing.items():
                changed.setitem(sys.modules, name, module)
            assert run(*command, *words) == 0
            assert sys.stderr.getvalue() == ""
        assert capsys.readouterr().out == ("" if words else printed.out)


@pytest.mark.slow
def test_quiet_commands_print_nothing_but_errors(
    walk: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("take", walk, "--seconds", 1, "--report", tmp_path / "take.json", "--quiet") == 0
    assert run("inspect", walk, "--quiet") == 0
    assert run("demo-clips", tmp_path / "clips", "--quiet") == 0
    printed = capsys.readouterr()
    assert printed.out == printed.err == ""
    assert run("inspect", tmp_path / "gone.npz", "--quiet") == 1
    assert "gone.npz" in read_sentence(capsys)


def test_a_take_plays_with_a_preset_and_changes_of_it(walk: Path, tmp_path: Path, capsys) -> None:
    report = tmp_path / "take.json"
    options = ["--settings", "notebook", "--set", "end_guard=0.5", "--seconds", 2]
    assert run("take", walk, "--report", report, *options) == 0
    settings = json.loads(report.read_text())["settings"]
    assert (settings["skip_ahead"], settings["wait"], settings["foot_lock"]) == (True, False, False)
    assert settings["end_guard"] == 0.5
    wrong = tmp_path / "wrong.json"
    wrong.write_text("{}")
    capsys.readouterr()
    assert run("take", walk, "--settings", wrong) == 1
    assert "has no 'settings'" in read_sentence(capsys)


@pytest.mark.slow
def test_a_take_beside_another_is_the_same_performance_with_something_else(
    walk: Path, tmp_path: Path, capsys
) -> None:
    together, alone = tmp_path / "both.json", tmp_path / "alone.json"
    steering = ["--script", "random", "--seconds", 3]
    options = ["--beside", "notebook", "--beside", "end_guard=0.5"]
    assert run("take", walk, "--report", together, *steering, *options) == 0
    table = capsys.readouterr().out
    assert "notebook, end_guard=0.5" in table
    assert "Foot Slide  cm/s" in table
    options = ["--settings", "notebook", "--set", "end_guard=0.5"]
    assert run("take", walk, "--report", alone, *steering, *options) == 0
    both, other = (json.loads(path.read_text()) for path in (together, alone))
    assert both["beside"]["take"] == other["take"]
    assert both["take"] != other["take"]
    assert run("take", walk, *steering, "--beside", "field") == 0
    capsys.readouterr()
    for wrong, sentence in (
        (["--beside", "nonsense"], "no controllers preset 'nonsense'"),
        (["--beside", "nonsense=1"], "nonsense"),
        (["--beside", "field", "--beside", "matching"], "more than one method"),
        (["--beside", tmp_path / "gone.npz"], "gone.npz"),
    ):
        assert run("take", walk, *steering, *wrong) == 1
        assert sentence in read_sentence(capsys)


@pytest.mark.slow
def test_a_pruned_database_is_small_and_plays(walk: Path, tmp_path: Path, capsys) -> None:
    small, tags, report = (tmp_path / name for name in ("s.npz", "t.json", "r.json"))
    written = ["-o", small, "--save-tags", tags, "--report", report]
    assert run("prune", walk, "--keep", 0.4, "--seconds", 2, *written) == 0
    said = capsys.readouterr().out
    assert "frames stay: 4" in said
    assert "pruned" in said
    assert small.stat().st_size < 0.6 * walk.stat().st_size
    data = json.loads(report.read_text())
    assert set(data) == {"kept", "used", "covered", "farthest", "whole", "pruned"}
    assert {tag["name"] for ranges in json.loads(tags.read_text()).values() for tag in ranges} == {
        "no_use"
    }
    assert run("take", small, "--seconds", 2, "--report", tmp_path / "take.json") == 0
    capsys.readouterr()
    for wrong in (["--keep", 1.5], ["--keep", 0], ["--seconds", 0], ["--seed", -1]):
        assert run("prune", walk, *wrong) == 1
        assert wrong[0] in read_sentence(capsys)


def test_settings_accept_words_and_booleans(walk: Path, tmp_path: Path) -> None:
    report = tmp_path / "take.json"
    options = [
        "--set",
        "displacement=adjust",
        "--set",
        "clamp=true",
        "--set",
        "foot_lock=False",
        "--seconds",
        2,
    ]
    assert run("take", walk, "--report", report, *options) == 0
    settings = json.loads(report.read_text())["settings"]
    assert (settings["displacement"], settings["clamp"], settings["foot_lock"]) == (
        "adjust",
        True,
        False,
    )


# ---------------------------------------------------------------- help and manual


def test_help_needs_no_numpy_and_names_every_command() -> None:
    script = (
        "import sys; sys.modules['numpy'] = None; sys.argv = ['motion_matching', '--help']; "
        "import runpy; runpy.run_module('motion_matching', run_name='__main__')"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=CHECKOUT,
        capture_output=True,
        encoding="utf-8",
        timeout=200,
    )
    assert done.returncode == 0, done.stderr
    for command in ("build", "take", "inspect", "demo-clips"):
        assert re.search(rf"^    {command} +\w", done.stdout, re.MULTILINE)


def test_the_help_lists_all_choices(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("take", "--help") == 0
    text = " ".join(capsys.readouterr().out.split())
    for name in (*scripts.NAMES, *(f"{setting} " for setting in PerformerSettings().to_dict())):
        assert name in text
    assert run("build", "--help") == 0
    text = capsys.readouterr().out
    assert f"--simulation-bone {{{','.join(simulation_bone.PRESETS)},root}}" in text
    assert f"--contacts {{{','.join(contacts.PRESETS)}}}" in text


def read_manual() -> str:
    """Return all pages of the manual, joined."""
    return "\n".join(
        page.read_text(encoding="utf-8") for page in sorted((CHECKOUT / "docs").glob("*.md"))
    )


def test_the_manual_covers_every_command_option_preset_and_setting() -> None:
    pages = read_manual()
    [commands] = (
        action for action in arguments.build_parser()._actions if action.dest == "command"
    )
    for name in commands.choices:
        assert callable(import_module(f"motion_matching.commands.{name.replace('-', '_')}").run)
    words = [f"## `{name} " for name in commands.choices]
    words += [
        f"`{option}"
        for command in commands.choices.values()
        for action in command._actions
        for option in action.option_strings
        if option.startswith("--") and option not in ("--help", "--output")
    ]
    words += [
        f"`{name}`"
        for name in (
            *scripts.NAMES,
            *presets.list_names("features"),
            *PerformerSettings().to_dict(),
        )
    ]
    assert [word for word in words if word not in pages] == []


def test_commands_in_the_manual_parse() -> None:
    shown = re.findall(r"^ *[\w./]+ -m motion_matching (.*)", read_manual(), re.MULTILINE)
    assert len(shown) >= 2
    for line in shown:
        arguments.build_parser().parse_args(shlex.split(line))


@pytest.mark.parametrize(
    "line", ["build {} -o out.npz", "take {}", "inspect {}", "build clips -o {}", "demo-clips {}"]
)
def test_an_empty_name_of_a_file_is_none(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As of a shell's variable that is not set: it does not mean all of the current folder."""
    (tmp_path / "walk.bvh").write_text("HIERARCHY")
    monkeypatch.chdir(tmp_path)
    assert run_line(line, "") == 2
    assert "no file or folder is named" in capsys.readouterr().err
    assert os.listdir(tmp_path) == ["walk.bvh"]


def test_devices_are_no_motion(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "list.json").write_text('[{"file": "/dev/zero"}]')
    for words in (
        ("take", "/dev/zero"),
        ("build", tmp_path / "list.json", "-o", tmp_path / "a.npz"),
    ):
        code, said = run_with_errors(*words)
        assert (code, said.count("\n")) == (1, 1)
        assert "/dev/zero" in said


@pytest.mark.slow
def test_demo_clips_replace_no_other_files_of_their_names(tmp_path: Path) -> None:
    clips = tmp_path / "clips"
    assert run("demo-clips", clips, "--quiet") == 0
    made = list_files(clips)
    assert run("demo-clips", clips, "--quiet") == 0, "these are its own"
    assert list_files(clips) == made
    edited = next(iter(made))
    (clips / edited).write_text("motion capture of mine")
    made = list_files(clips)
    code, said = run_with_errors("demo-clips", clips)
    assert (code, said.count("\n")) == (1, 1)
    assert "is there already" in said
    assert list_files(clips) == made


def test_demo_clips_of_a_seed_that_is_not_shipped_are_refused(tmp_path: Path) -> None:
    code, said = run_with_errors("demo-clips", tmp_path / "clips", "--seed", 1)
    assert (code, said.count("\n")) == (1, 1)
    assert "are those of seed 0" in said
    assert not (tmp_path / "clips").exists()


def test_the_demo_clips_are_those_that_are_shipped(demo: Path) -> None:
    assert sorted(file.stem for file in (demo / "clips").iterdir()) == sorted(
        clip.name for clip in load_demo_clips()
    )


def test_sources_of_another_skeleton_are_retargeted_and_told(
    one_clip: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A second performer with other names of bones joins the first one's database."""
    [file] = one_clip.iterdir()
    text = file.read_text().replace("JOINT ", "JOINT Other").replace("ROOT ", "ROOT Other")
    (tmp_path / "other.bvh").write_text(text)
    assert run("build", one_clip, tmp_path / "other.bvh", "-o", tmp_path / "both.npz") == 0
    said = capsys.readouterr().out
    assert "Retargeted 1 source of other skeletons: 20 of 20 parts of the body." in said
    assert "of 2 clips" in said
