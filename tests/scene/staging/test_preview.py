"""Pictures and films of takes have the requested size and show both paths and the whole character,
with or without EGL.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import bpy
import numpy as np
import pytest
from bpy_extras.object_utils import world_to_camera_view

from motion_matching import cli
from motion_matching.engine.database import database as databases
from motion_matching.engine.takes import takes
from motion_matching.scene.staging import preview, render
from tests.blender import reset_blender
from tests.demo import load_few

CHECKOUT = Path(__file__).resolve().parents[3]

HEAD = """
import os
import pickle
import resource
import signal
import sys
from pathlib import Path
from motion_matching.engine.errors import MotionMatchingError
from motion_matching.scene.staging import preview, render

take, target = pickle.loads(Path(sys.argv[1]).read_bytes()), Path(sys.argv[2])
"""

FAILS = (
    HEAD
    + """
fault = sys.argv[3]
if fault == "full disk":
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, resource.RLIM_INFINITY))
try:
    preview.save_preview(take, target, (320, 240), engines=("NO_SUCH_ENGINE",) if fault == "no engine" else (render.CYCLES,))
except MotionMatchingError as error:
    text = str(error)
    assert str(target) in text and "\\n" not in text, text
else:
    raise AssertionError("this cannot be made")
"""
)


def pickle_take(database: databases.Database, seconds: float, folder: Path) -> Path:
    settings = takes.make_default_settings(database)
    wanted = takes.prepare_performance(
        database, settings, "square", gait="walk", seconds=seconds, seed=0
    )
    file = folder / "take.pickle"
    file.write_bytes(pickle.dumps(takes.perform(database, settings, wanted)))
    return file


def assert_inside(obj, margin=0.0):
    scene = bpy.context.scene
    obj = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    for vertex in obj.data.vertices:
        x, y, depth = world_to_camera_view(scene, scene.camera, obj.matrix_world @ vertex.co)
        assert 0 <= x <= 1, (obj.name, x, y, depth)
        assert margin <= y <= 1, (obj.name, x, y, depth)
        assert depth > 0, (obj.name, x, y, depth)


def measure_share(image, colour, colourful=0.3):
    # the share of pixels with the colour's hue and at least this saturation
    def compute_hue(rgb):
        r, g, b = np.moveaxis(np.asarray(rgb, dtype=float), -1, 0)
        return np.arctan2(np.sqrt(3) * (g - b), 2 * r - g - b), np.max(rgb, -1) - np.min(rgb, -1)

    shown = np.array(image.pixels).reshape(-1, 4)[:, :3]
    found, strength = compute_hue(shown)
    [wanted], _ = compute_hue(np.array([colour]) ** (1 / 2.2))
    return np.mean(
        (np.abs(np.angle(np.exp(1j * (found - wanted)))) < 0.15) & (strength > colourful)
    )


@pytest.fixture(scope="module")
def take_file(demo_database: databases.Database, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A take of five seconds, with a turn."""
    return pickle_take(demo_database, 5.0, tmp_path_factory.mktemp("take"))


@pytest.fixture(scope="module")
def short_take_file(
    demo_database: databases.Database, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A take of two seconds."""
    return pickle_take(demo_database, 2.0, tmp_path_factory.mktemp("take"))


@pytest.fixture(scope="module")
def brief_take_file(
    demo_database: databases.Database, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A take of a second, whose paths are too short to be seen."""
    return pickle_take(demo_database, 1.0, tmp_path_factory.mktemp("take"))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for results, with one for temporary files beside it."""
    for name in ("made", "temporary"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    return tmp_path / "made"


def holds_only(folder: Path, *names: str) -> bool:
    return (
        sorted(os.listdir(folder)) == sorted(names)
        and os.listdir(folder.parent / "temporary") == []
    )


def check_picture(take, target):
    take = pickle.loads(take.read_bytes())

    progress = []
    engine = preview.save_preview(take, target, (320, 240), progress.append)
    assert engine in (render.WORKBENCH, render.CYCLES)
    assert progress[-1] == 1.0
    ghosts = [obj for obj in bpy.data.objects if obj.name.startswith("Frame ")]
    assert 3 <= len(ghosts) <= preview.MOST_GHOSTS
    bpy.context.view_layer.update()
    for ghost in ghosts:
        assert_inside(ghost)
    for name in ("Desired path", "Actual path"):
        assert_inside(bpy.data.objects[name], margin=preview.FOOT)
    [body] = [obj for obj in bpy.data.objects if obj.name == f"{take.name} body"]
    assert body.hide_render
    image = bpy.data.images.load(str(target))
    assert tuple(image.size) == (320, 240)
    assert measure_share(image, preview.DESIRED) > 0.002
    assert measure_share(image, preview.ACTUAL) > 0.002
    print(engine)


@pytest.mark.slow
def test_a_picture_shows_both_paths_and_all_of_the_character(take_file: Path, folder: Path) -> None:
    for name in ("take.png", "a # and 100%.PNG"):  # Blender replaces # with the frame number
        reset_blender()
        check_picture(take_file, folder / name)
    assert holds_only(folder, "take.png", "a # and 100%.PNG")


@pytest.mark.slow
def test_a_film_follows_the_character(short_take_file: Path, folder: Path) -> None:
    take = pickle.loads(short_take_file.read_bytes())
    target = folder / "take.mp4"

    progress = []
    preview.save_preview(take, target, (640, 360), progress.append)
    assert len(progress) == take.frame_count
    assert progress == sorted(progress)
    assert progress[-1] == 1.0
    film = bpy.data.movieclips.load(str(target))
    assert tuple(film.size) == (640, 360)
    assert film.frame_duration == take.frame_count
    assert abs(film.fps - take.fps) < 0.01, film.fps
    image = bpy.data.images.load(str(target))
    assert measure_share(image, preview.DESIRED) > 0.002
    assert measure_share(image, preview.ACTUAL, 0.15) > 0.0005
    body = bpy.data.objects[f"{take.name} body"]
    dots = [obj for obj in bpy.data.objects if obj.name.endswith("s ahead")]
    for frame in range(0, take.frame_count, 7):
        bpy.context.scene.frame_set(1 + frame)
        assert_inside(body)
        places = np.array(
            [
                dot.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world.translation
                for dot in dots
            ]
        )
        ticks = [
            min(frame + round(seconds * take.fps), take.frame_count) for seconds in preview.AHEAD
        ]
        expected = [
            take.character[frame, :2] + take.desired_velocity[frame:tick].sum(axis=0) / take.fps
            for tick in ticks
        ]
        np.testing.assert_allclose(places[:, :2], expected, atol=1e-4)
    assert holds_only(folder, "take.mp4")


def check_picture_without_egl(monkeypatch, take, target):
    take = pickle.loads(take.read_bytes())

    monkeypatch.setenv(
        "__EGL_VENDOR_LIBRARY_DIRS", str(target.parent / "nowhere")
    )  # crashes Workbench's process
    engine = preview.save_preview(take, target, (96, 64))
    assert engine == render.CYCLES or sys.platform != "linux", engine
    monkeypatch.setattr(render, "FIRST_FRAME_WITHIN", 0.01)  # as if it had hung
    assert preview.save_preview(take, target, (96, 64)) == render.CYCLES
    target.unlink()
    for engines in (("NO_SUCH_ENGINE", render.CYCLES), (render.CYCLES,)):
        assert preview.save_preview(take, target, (320, 240), engines=engines) == render.CYCLES
    image = bpy.data.images.load(str(target))
    assert measure_share(image, preview.DESIRED) > 0.002
    assert measure_share(image, preview.ACTUAL) > 0.002


def check_film_without_egl(take, target):
    take = pickle.loads(take.read_bytes())

    assert preview.save_preview(take, target, (96, 64), engines=(render.CYCLES,)) == render.CYCLES
    assert bpy.data.movieclips.load(str(target)).frame_duration == take.frame_count


@pytest.mark.slow
def test_without_graphics_cycles_renders(
    take_file: Path,
    brief_take_file: Path,
    folder: Path,
    monkeypatch,
) -> None:
    check_picture_without_egl(monkeypatch, take_file, folder / "take.png")
    reset_blender()
    check_film_without_egl(brief_take_file, folder / "take.mp4")
    assert holds_only(folder, "take.mp4", "take.png")


def test_ghosts_stand_apart_and_show_every_direction(take_file: Path, folder: Path) -> None:
    take = pickle.loads(take_file.read_bytes())

    def measure_distances(character, frames):
        places = character[frames, :2]
        return np.linalg.norm(places[:, None] - places, axis=-1)[~np.eye(len(frames), dtype=bool)]

    ahead = np.zeros((300, 3))
    ahead[:, 1] = -np.linspace(0, 6, 300)
    frames = preview.choose_ghost_frames(ahead, 1.0)
    assert frames[-1] == 299
    assert len(frames) == 6
    assert measure_distances(ahead, frames).min() >= 1.0
    there_and_back = np.concatenate([ahead, ahead[::-1] + np.array([0, 0, np.pi])])
    frames = preview.choose_ghost_frames(there_and_back, 1.0)
    assert 9 <= len(frames) <= 13
    assert measure_distances(there_and_back, frames).min() > 0.3
    assert np.sum(frames < 300) >= 4
    assert np.sum(frames >= 300) >= 4
    long = np.concatenate([60 * ahead, 60 * ahead + [5, 0, 0]])
    assert 10 <= len(preview.choose_ghost_frames(long, 1.0)) <= preview.MOST_GHOSTS
    assert preview.choose_ghost_frames(np.zeros((50, 3)), 1.0).tolist() == [49]
    way = preview.compute_desired_path(take)
    assert way.shape == (take.frame_count + 1, 2)
    np.testing.assert_allclose(np.diff(way, axis=0) * take.fps, take.desired_velocity, atol=1e-9)
    np.testing.assert_allclose(way[0], take.character[0, :2])


@pytest.mark.slow
def test_two_takes_stand_side_by_side_in_one_picture(
    take_file: Path, short_take_file: Path, folder: Path
) -> None:
    take, other = (pickle.loads(file.read_bytes()) for file in (take_file, short_take_file))
    beside = preview.BesideTake(other, ("long", "short"))
    preview.save_preview(take, folder / "both.png", (320, 240), beside=beside)
    bpy.context.view_layer.update()
    ways = []
    for number in ("", ".001"):
        for name in ("Desired path", "Actual path"):
            obj = bpy.data.objects[f"{name}{number}"]
            assert_inside(obj, margin=preview.FOOT)
            ways.append(np.array([v.co[:2] for v in obj.data.vertices]))
    first, second = np.concatenate(ways[:2]), np.concatenate(ways[2:])
    apart = np.maximum(second.min(0) - first.max(0), first.min(0) - second.max(0)).max()
    assert apart > 0.5, "neither crosses the other"
    np.testing.assert_allclose(np.ptp(first, axis=0), np.ptp(second, axis=0), atol=0.2)
    texts = {obj.data.body for obj in bpy.data.objects if obj.type == "FONT"}
    assert {"long", "short"} <= texts
    tints = {tuple(np.round(m.diffuse_color[:3], 2)) for m in bpy.data.materials}
    assert len(tints) > 6


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["png", "mp4"])
def test_failed_renders_are_reported_and_keep_the_old_file(
    run_in_blender: Callable[..., str], brief_take_file: Path, folder: Path, ending: str
) -> None:
    target = folder / f"take.{ending}"
    target.write_text("an older one")
    run_in_blender(FAILS, brief_take_file, target, "no engine")
    run_in_blender(FAILS, brief_take_file, target, "full disk")
    target.chmod(0o444)
    run_in_blender(FAILS, brief_take_file, target, "read-only")
    assert target.read_text() == "an older one"
    assert holds_only(folder, target.name)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--preview", "{folder}/take.gif"], ("take.gif", ".png or .mp4", "rename it")),
        (["--preview", "{folder}/none/take.png"], ("none", "does not exist")),
        (["--preview", "{folder}/old.png"], ("old.png", "read-only")),
        (["--preview", "{folder}/in_the_way.png"], ("in_the_way.png", "is a folder")),
        (
            ["--preview", "{folder}/take.png", "--preview-size", "large"],
            ("--preview-size is large", "1280x720"),
        ),
        (["--preview", "{folder}/take.png", "--preview-size", "1280x9"], ("64 to 4096",)),
        (["--preview", "{folder}/take.mp4", "--preview-size", "641x360"], ("641x360", "even")),
        (["--preview-size", "640x360"], ("--preview-size", "--preview;")),
    ],
)
def test_invalid_options_are_reported_in_a_sentence(
    folder: Path, capsys: pytest.CaptureFixture[str], options: list[str], words: tuple[str, ...]
) -> None:
    (folder / "in_the_way.png").mkdir()
    (folder / "old.png").write_text("old")
    (folder / "old.png").chmod(0o444)
    # reported before the database is loaded
    assert (
        cli.main(
            [
                "take",
                str(folder / "walk.npz"),
                *(option.format(folder=folder) for option in options),
            ]
        )
        == 1
    )
    text = capsys.readouterr().err
    assert text.count("\n") == 1
    assert [word for word in words if word not in text] == [], text
    assert holds_only(folder, "in_the_way.png", "old.png")


@pytest.mark.slow
def test_ctrl_c_ends_a_film_and_leaves_nothing(folder: Path) -> None:
    file = folder / "walk.npz"
    databases.save(load_few(), file)
    command = [
        sys.executable,
        "-m",
        "motion_matching",
        "take",
        str(file),
        "--seconds",
        "20",
        "--quiet",
        "--preview",
        str(folder / "take.mp4"),
    ]
    with subprocess.Popen(
        command, cwd=CHECKOUT, stderr=subprocess.PIPE, encoding="utf-8", start_new_session=True
    ) as running:
        limit = time.monotonic() + 90
        while (
            not list((folder.parent / "temporary").glob("*/take.mp4")) and time.monotonic() < limit
        ):
            assert running.poll() is None, running.stderr.read()
            time.sleep(0.1)
        os.killpg(running.pid, signal.SIGINT)  # as a terminal does, to all its processes
        assert running.wait(30) == 130
        assert "cancelled" in running.stderr.read()
    with pytest.raises(ProcessLookupError):
        os.killpg(running.pid, 0)  # none of them is left
    assert holds_only(folder, "walk.npz")
