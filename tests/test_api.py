"""The Python API: round trips, the same takes as on the command line, and errors that say what to
do.
"""

from __future__ import annotations

import doctest
import importlib.util
import inspect
import json
import re
import shutil
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from motion_matching import api
from motion_matching.cli import main
from tests.command_line import run
from tests.conftest import CHECKOUT
from tests.engine.stumbles import make_stumbling_runs

FUNCTIONS = {name: thing for name in api.__all__ if inspect.isfunction(thing := getattr(api, name))}
OF_THE_ENGINE = {"load_features", "summarize"}
MANUAL = (CHECKOUT / "docs" / "scripting.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def clips() -> list[api.Clip]:
    return [
        clip
        for clip in api.make_demo_clips()
        if clip.name in ("idle", "walk_speeds", "walk_starts_and_stops")
    ]


@pytest.fixture(scope="module")
def folder(clips: list[api.Clip], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with clips as BVH files and their database, `walk.npz`, saved by the API."""
    folder = tmp_path_factory.mktemp("api")
    (folder / "clips").mkdir()
    for clip in clips:
        api.write_bvh(clip, folder / "clips" / f"{clip.name}.bvh")
    api.save(api.build(folder / "clips", api.BuildSettings(mirror=True)), folder / "walk.npz")
    return folder


@pytest.fixture(scope="module")
def database(folder: Path) -> api.Database:
    return api.open(folder / "walk.npz")


# Round trips


def test_clips_are_loaded_as_they_were_written(clips, folder):
    loaded = {clip.name: clip for clip in api.load(folder / "clips", scale=0.01)}
    assert set(loaded) == {clip.name for clip in clips}
    for clip in clips:
        again = loaded[clip.name]
        order = [
            again.skeleton.index(name) for name in clip.skeleton.names
        ]  # files order bones depth first
        assert (len(order), again.fps) == (
            again.skeleton.bone_count,
            pytest.approx(clip.fps, rel=1e-5),
        )
        np.testing.assert_allclose(again.positions[:, order], clip.positions, atol=1e-5)
        np.testing.assert_allclose(
            np.abs(np.sum(again.rotations[:, order] * clip.rotations, axis=-1)), 1.0, atol=1e-5
        )


def test_a_saved_database_has_the_same_arrays(clips, tmp_path):
    built = api.build(clips)
    api.save(built, tmp_path / "walk.npz")
    opened = api.open(tmp_path / "walk.npz")
    for name, value in vars(built).items():
        if isinstance(value, np.ndarray):
            np.testing.assert_array_equal(getattr(opened, name), value, err_msg=name)
    assert (opened.ranges, opened.schema, opened.fps, opened.role_names) == (
        built.ranges,
        built.schema,
        built.fps,
        built.role_names,
    )


@pytest.mark.slow
def test_paths_clips_and_sources_give_the_same_database(folder):
    files = sorted((folder / "clips").glob("*.bvh"))
    from_paths = api.build(files)
    sources = [api.Source(file=file) for file in files]
    for given in (folder / "clips", api.load(files), sources, [files[0], *api.load(files[1:])]):
        np.testing.assert_array_equal(api.build(given).poses, from_paths.poses)


def test_the_command_line_builds_the_same_database(folder, tmp_path):
    assert (
        main(
            [
                "build",
                str(folder / "clips"),
                "-o",
                str(tmp_path / "walk.npz"),
                "--mirror",
                "--quiet",
            ]
        )
        == 0
    )
    assert (tmp_path / "walk.npz").read_bytes() == (folder / "walk.npz").read_bytes()


def test_an_array_of_weights_changes_the_take_and_is_recorded(database):
    weights = np.array([feature.weight for feature in database.schema.features]) * np.arange(1, 10)
    take = api.perform(database, seconds=3, settings={"weights": weights})
    assert take.settings["weights"] == pytest.approx(weights.tolist())
    assert not np.array_equal(take.frames, api.perform(database, seconds=3).frames)


def test_settings_may_be_numpy_numbers_and_arrays(database):
    weights = np.ones(len(database.schema.features), np.float32)
    changes = {"weights": weights, "velocity_halflife": np.float32(0.5), "neighbours": np.int64(9)}
    data = api.inspect(database, settings=changes).data
    assert data["settings"]["weights"] == tuple(weights.tolist())
    plain = {"weights": [1.0] * len(weights), "velocity_halflife": 0.5}
    costs = [api.inspect_frame(database, 100, settings=c).continuing for c in (changes, plain)]
    assert costs[0] == costs[1]
    take = api.perform(database, seconds=1, settings=changes)
    assert take.settings["neighbours"] == 9
    quick = {"states": np.int64(60), "sweeps": np.int64(2)}
    assert len(api.train(database, quality="draft", settings=quick).function.residuals) == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "arguments"),
    [
        ({"script": "flips", "seconds": 4}, "--script flips --seconds 4"),
        (
            {
                "script": "random",
                "seconds": 4,
                "seed": 3,
                "settings": {"velocity_halflife": 0.2},
                "feet": "live",
            },
            "--script random --seconds 4 --seed 3 --set velocity_halflife=0.2 --feet live",
        ),
        ({"seconds": 2, "controller": "field"}, "--seconds 2 --controller field"),
    ],
)
def test_takes_equal_those_of_the_command_line_to_the_byte(
    database, folder, tmp_path, options, arguments
):
    api.write_bvh(api.perform(database, **options), tmp_path / "api.bvh")
    command = [
        "take",
        str(folder / "walk.npz"),
        *arguments.split(),
        "--bvh",
        str(tmp_path / "command.bvh"),
        "--quiet",
    ]
    assert main(command) == 0
    assert (tmp_path / "api.bvh").read_bytes() == (tmp_path / "command.bvh").read_bytes()


def test_files_of_a_take_do_the_same_as_on_the_command_line(database, folder, tmp_path):
    obstacles, contacts = tmp_path / "boxes.json", tmp_path / "contacts.json"
    obstacles.write_text('[{"center": [0, -2], "size": [1, 1]}]')
    line = ["take", folder / "walk.npz", "--script", "square", "--seconds", 3, "--quiet"]
    assert not run(*line, "--save-contacts", contacts)
    edited = json.loads(contacts.read_text())
    del edited["ranges"][1:]
    contacts.write_text(json.dumps(edited))
    options = ("--obstacles", obstacles, "--contacts", contacts, "--settings", "as_published")
    assert not run(*line, *options, "--bvh", tmp_path / "command.bvh")
    files = {"obstacles": obstacles, "contacts": contacts, "preset": "as_published"}
    api.write_bvh(api.perform(database, "square", seconds=3, **files), tmp_path / "api.bvh")
    assert (tmp_path / "api.bvh").read_bytes() == (tmp_path / "command.bvh").read_bytes()


def test_a_take_is_performed_on_another_ground(database):
    wall = ((-3.0, -4.0), (3.0, -4.0))
    take = api.perform(database, "square", seconds=1, ground=(api.FLAT, [wall]))
    assert (take.performance.floor, take.performance.walls) == (api.FLAT, (wall,))


def test_labels_of_tags_that_no_frame_has_give_a_warning(database):
    with pytest.warns(UserWarning, match="'start'.*which no frame of the database is tagged"):
        api.perform(database, seconds=1, settings={"labels": "ready"})


def test_standing_is_added_to_a_build_as_on_the_command_line(folder, tmp_path):
    walk, out = folder / "clips" / "walk_speeds.bvh", tmp_path / "walk.npz"
    assert not run("build", walk, "-o", out, "--add-standing", "--quiet")
    api.save(api.build(walk, add_standing=True), tmp_path / "api.npz")
    assert (tmp_path / "api.npz").read_bytes() == out.read_bytes()


def test_a_take_is_performed_again_from_its_performance(database):
    take = api.perform(database, "square", seconds=3)
    np.testing.assert_array_equal(api.perform(database, take.performance).poses, take.poses)


def test_a_trained_field_is_saved_and_plays_the_same(database, tmp_path):
    field = api.train(database, quality="draft", settings={"states": 60, "sweeps": 5})
    assert len(field.function.residuals) == 5
    api.save_field(field, tmp_path / "field.npz")
    opened = api.open_field(tmp_path / "field.npz", database)
    np.testing.assert_array_equal(opened.function.values, field.function.values)
    takes = [api.perform(database, seconds=1, controller=one) for one in (field, opened)]
    np.testing.assert_array_equal(takes[0].poses, takes[1].poses)


# Arrays in and out


def test_arrays_steer_a_take(database):
    """Straight ahead, then to the character's left, which is +X while it faces -Y; the last second
    faces -Y.
    """
    velocities = np.repeat([[0.0, -1.2], [1.2, 0.0]], 90, axis=0)
    facings = np.where(np.arange(180) < 150, np.nan, 0.0)
    take = api.perform(
        database, api.make_performance(velocities, facings=facings, position=(2.0, 1.0))
    )
    assert take.poses.shape == (180, 7, database.skeleton.bone_count)
    np.testing.assert_allclose(take.character[0, :2], (2.0, 1.0), atol=0.1)
    np.testing.assert_allclose(take.desired_velocity[60], (0.0, -1.2), atol=1e-6)
    first, second = (
        take.character[89, :2] - take.character[0, :2],
        take.character[-1, :2] - take.character[89, :2],
    )
    assert first[1] < -1.5
    assert second[0] > 1.5
    assert [intent.facing for intent in take.performance.intents[149:151]] == [None, 0.0]


@pytest.mark.parametrize("gaits", [0.5, np.full(30, 0.5)])
def test_gaits_are_one_value_or_one_per_tick(gaits):
    made = api.make_performance(np.zeros((30, 2)), gaits=gaits, fps=60.0)
    assert (made.seconds, {intent.gait for intent in made.intents}) == (0.5, {0.5})


def test_metrics_come_with_those_of_the_sources(database):
    take = api.perform(database, seconds=4, feet="baked")
    report = api.measure(take, database, live=api.perform(database, seconds=4, feet="live"))
    assert set(report["take"]) > {"achieved_speed", "foot_slide_mann"}
    assert report["sources"]["seconds"] > 30
    assert report["live"]["foot_slide_mann"] > 0
    assert api.summarize(report).startswith("figure_eight walk: 4.0 s")


def test_a_frame_is_inspected_by_number_and_by_name(database):
    seen = api.inspect_frame(database, 100, velocity=(2.0, 0.0), count=3)
    source = database.get_frame_source(100)
    named = api.inspect_frame(
        database, f"{source.clip}:{source.frame}", velocity=(2.0, 0.0), count=3
    )
    assert len(seen.candidates) == 3
    assert [c.frame for c in named.candidates] == [c.frame for c in seen.candidates]
    assert sum(seen.continuing.by_feature) == pytest.approx(seen.continuing.cost, rel=1e-5)
    assert f"{source.clip}:{source.frame}" in api.describe_frame(seen, database)


def test_inspecting_a_database_compares_it_with_a_performance(database):
    walk = api.make_performance(np.tile([0.0, -1.0], (120, 1)))
    text, data, *_ = api.inspect(
        database, performance=walk, settings={"run": {"forward": 2, "side": 2, "back": 2}}
    )
    assert text
    assert data["frames"] == database.frame_count
    assert data["settings"]["run"]["forward"] == 2


@pytest.mark.slow
def test_odd_postures_are_found_and_excluded_by_a_tag():
    clips, stumbles = make_stumbling_runs()
    found = api.find_odd_postures(api.build(clips, api.BuildSettings(mirror=True)))
    assert len(found) == sum(map(len, stumbles.values()))
    sources = [
        api.Source(
            clip=clip,
            tags=tuple(
                api.TagRange("no_use", o.first, o.last) for o in found if o.clip == clip.name
            ),
        )
        for clip in clips
    ]
    assert api.find_odd_postures(api.build(sources, api.BuildSettings(mirror=True))) == ()


def test_progress_is_reported_and_can_cancel(clips, database):
    stages = []
    api.build(clips, progress=lambda stage, part: stages.append(stage))
    api.perform(database, seconds=1, progress=lambda stage, part: stages.append(stage))
    assert {"Reading", "Performing"} <= set(stages)

    def cancel(stage: str, part: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        api.perform(database, progress=cancel)


# Errors and warnings


def test_clips_left_out_of_a_build_give_a_warning(clips):
    short = api.Source(clip=clips[0], stop=4)
    with pytest.warns(UserWarning, match=f"Left out {clips[0].name}: it has 4 frames"):
        api.build([*clips, short])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        api.build(clips)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda d, f: api.load(f / "nothing.bvh"), r"does not exist; give a \.bvh file"),
        (lambda d, f: api.open(f / "clips"), r"is not a database; make one with api\.build"),
        (lambda d, f: api.open(f / "no.npz"), "does not exist; make it first"),
        (
            lambda d, f: api.open_field(f / "walk.npz", d),
            "is not a trained motion field; give a file made by 'train'",
        ),
        (
            lambda d, f: api.perform(d, "moonwalk"),
            "There is no script 'moonwalk'; use one of figure_eight",
        ),
        (
            lambda d, f: api.perform(d, settings={"speed": 1}),
            "There is no setting 'speed'; known ones are",
        ),
        (
            lambda d, f: api.perform(d, seconds=float("inf")),
            "inf seconds cannot be made; give a length above zero, and up to 36000",
        ),
        (lambda d, f: api.train(d, settings={"states": -1}), "whole number from 0 to 10000000"),
        (lambda d, f: api.perform(d, tags=["limp"]), "No frame of the database is tagged 'limp'"),
        (lambda d, f: api.perform(d, tags="limp"), "No frame of the database is tagged 'limp'"),
        (
            lambda d, f: api.perform(d, seconds=1, feet="flat"),
            "cannot be 'flat'; use one of baked, live, off",
        ),
        (
            lambda d, f: api.perform(d, seconds=1, feet="off", contacts=[]),
            "Contacts plant feet, and 'off' does not; leave out one",
        ),
        (
            lambda d, f: api.perform(d, preset="default", as_published="displacement"),
            "'displacement' chooses the preset of the controller; leave out 'default'",
        ),
        (
            lambda d, f: api.perform(d, controller="ml"),
            "There is no controller 'ml'; use matching, field, or",
        ),
        (
            lambda d, f: api.make_performance(np.zeros((3, 3))),
            r"'velocities' has the shape \(3, 3\); give .* \(ticks, 2\)",
        ),
        (
            lambda d, f: api.make_performance(np.zeros((3, 2)), facings=np.zeros(2)),
            r"'facings' has the shape \(2,\)",
        ),
        (lambda d, f: api.make_performance(np.full((3, 2), np.nan)), "give finite numbers"),
        (
            lambda d, f: api.make_performance(np.zeros((2, 2)), facings=[0.0, np.inf]),
            "'facings' .* give finite numbers",
        ),
        (lambda d, f: api.make_performance([[0, 1], [1]]), "'velocities' .* rows of one length"),
        (
            lambda d, f: api.make_performance(np.zeros((2, 2)), facings=["N", "E"]),
            "'facings' holds something other than numbers",
        ),
        (
            lambda d, f: api.make_performance(np.zeros((2, 2)), gaits=[0, [1]]),
            "'gaits' holds something other than numbers",
        ),
        (lambda d, f: api.make_performance(np.zeros((3, 2)), gaits=-1.0), "gaits from 0"),
        (lambda d, f: api.train(d, quality="best"), "There is no quality 'best'; use one of draft"),
        (
            lambda d, f: api.train(d, metric="own"),
            "There is no metric 'own'; use one of default, notebook",
        ),
        (
            lambda d, f: api.train(d, tasks=["dance"]),
            "There is no task 'dance'; use direction or speed",
        ),
        (lambda d, f: api.train(d, directions=0), "number of directions is 0; give an odd number"),
        (
            lambda d, f: api.train(d, settings={"depth": 1}),
            "There is no training setting 'depth'; known ones are discount",
        ),
        (
            lambda d, f: api.save_field(api.FieldController(None), f / "x.npz"),
            "is not trained, so there is nothing to save",
        ),
        (lambda d, f: api.inspect_frame(d, -1), "no frame -1; give one from 0 to"),
        (lambda d, f: api.inspect_frame(d, "jump:3"), "has no clip 'jump'; it has idle"),
    ],
)
def test_errors_say_what_to_do(database, folder, call, sentence):
    with pytest.raises(api.MotionMatchingError, match=sentence):
        call(database, folder)


@pytest.mark.parametrize(
    "call",
    [
        lambda file: api.load(file),
        lambda file: api.load(file.with_suffix(".fbx")),
        lambda file: api.build(file),
        lambda file: api.write_blend(None, file, None),
        lambda file: api.write_action(None, None),
        lambda file: api.read_ground(file, "Stairs"),
    ],
)
def test_functions_that_need_blender_say_so(monkeypatch, tmp_path, call):
    monkeypatch.delitem(sys.modules, "bpy", raising=False)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    for ending in (".blend", ".fbx"):
        (tmp_path / f"hero{ending}").touch()
    with pytest.raises(
        api.SettingsError,
        match=r"needs Blender's module bpy.*; install bpy, or run the script in Blender",
    ):
        call(tmp_path / "hero.blend")


# In Blender, in another process, as files are opened

IN_BLENDER = """
import pathlib
import sys

import numpy as np
import pytest

from motion_matching import api

folder = pathlib.Path(sys.argv[1])
database = api.open(folder / "walk.npz")
take = api.perform(database, seconds=3)
with pytest.raises(api.SettingsError, match="cannot be 'feet'; use one of object"):
    api.write_blend(take, folder / "take.blend", database, root="feet")
api.write_blend(take, folder / "take.blend", database)
clip, = api.load(folder / "take.blend")
assert clip.frame_count == take.frame_count
heads = take.to_clip().compute_world()[1]
names = [take.skeleton.names.index(name) for name in clip.skeleton.names if name in take.skeleton.names]
own = [i for i, name in enumerate(clip.skeleton.names) if name in take.skeleton.names]
assert len(own) >= 22
np.testing.assert_allclose(clip.compute_world()[1][:, own], heads[:, names], atol=1e-3)

again = api.perform(database, "square", seconds=2)
api.write_blend(again, folder / "both.blend", database, onto=folder / "take.blend", frame_start=11, track="second")
bpy.ops.wm.open_mainfile(filepath=str(folder / "both.blend"))
armature = next(obj for obj in bpy.data.objects if obj.type == "ARMATURE")
clips = api.read_actions(armature)
assert sorted(clip.frame_count for clip in clips) == [60, 90], clips
action = api.write_action(api.load(folder / "clips")[0], armature, name="idle", frame_start=5)
assert action == armature.animation_data.action and action.frame_range[0] == 5 and not action.pose_markers
action = api.write_action(take, armature, database, root="OBJECT")  # as the panel names it
assert action.name.startswith(take.name) and any("foot plant" in marker.name for marker in action.pose_markers)
assert api.read_actions(armature, [action])[0].frame_count == 90
"""


@pytest.mark.slow
def test_takes_survive_a_round_trip_through_blender(folder, tmp_path, run_in_blender):
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    run_in_blender(IN_BLENDER, tmp_path)


# Docstrings and the manual


SECTIONS = ("Parameters", "Returns", "Raises", "Warns", "Notes", "Examples")


def test_docstrings_name_every_parameter():
    for name in FUNCTIONS.keys() - OF_THE_ENGINE:
        text, signature = inspect.getdoc(FUNCTIONS[name]), inspect.signature(FUNCTIONS[name])
        sections = re.findall(r"^(\w+)\n-+$", text, re.M)
        assert sections == [each for each in SECTIONS if each in sections], name
        assert {"Parameters", "Examples"} <= set(sections), name
        listed = text.partition("Parameters\n----------\n")[2].partition("\n\n")[0]
        lines = re.findall(r"^(\w.*) : ", listed, re.M)
        named = [word for line in lines for word in line.split(", ")]
        assert named == list(signature.parameters), name
        assert ("Returns" in sections) == (signature.return_annotation != "None"), name


@pytest.mark.slow
def test_examples_of_docstrings_run(folder, clips, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(folder / "clips", tmp_path / "clips")
    order = [
        "build",
        "save",
        "open",
        "make_demo_clips",
        "load",
        "write_bvh",
        "digest",
        "compare",
        "make_performance",
        "perform",
        "write_npz",
        "read_npz",
        "generate",
        "measure",
        "train",
        "save_field",
        "open_field",
        "inspect",
        "find_odd_postures",
        "inspect_frame",
        "describe_frame",
        "open_director",
        "direct",
        "direct_variations",
        "read_actions",
        "read_ground",
        "write_action",
        "write_blend",
        "retarget_action",
        "retarget_file",
    ]
    assert set(order) == FUNCTIONS.keys() - OF_THE_ENGINE
    names = {"api": api, "np": np}
    finder, runner = (
        doctest.DocTestFinder(recurse=False),
        doctest.DocTestRunner(optionflags=doctest.ELLIPSIS),
    )
    for name in order:
        for test in finder.find(FUNCTIONS[name], name, globs=names):
            test.globs = names
            runner.run(test, clear_globs=False)
    assert runner.summarize(verbose=False).failed == 0


def test_the_manual_names_every_function():
    assert [name for name in FUNCTIONS if f"`{name}`" not in MANUAL] == []


@pytest.mark.slow
def test_the_blocks_of_the_manual_run(folder, tmp_path, monkeypatch):
    """Run its blocks in order, except those that need Blender."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(folder / "clips", tmp_path / "clips")
    blocks = re.findall(r"```python\n(.*?)```", MANUAL, re.S)
    assert len(blocks) > 6
    names: dict[str, object] = {}
    for block in blocks:
        if "bpy" not in block:
            exec(compile(block, "scripting.md", "exec"), names)
    assert {path.name for path in tmp_path.iterdir()} >= {"walk.npz", "take.bvh", "field.npz"}
