"""As published: builds, trainings and takes of commands and scripts choose an article by its name."""

from __future__ import annotations

import argparse
import inspect
import json
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from motion_matching import api
from motion_matching.commands.arguments import build_parser
from motion_matching.engine.building.published_build import list_missing
from motion_matching.engine.bvh import bvh
from motion_matching.engine.database import database as databases
from motion_matching.engine.database.features.features import load_schema
from motion_matching.engine.errors import SettingsError
from motion_matching.engine.field.states import value_function
from motion_matching.engine.field.training.quality import TRAININGS
from motion_matching.engine.files import presets
from motion_matching.engine.motion import contacts, simulation_bone
from motion_matching.engine.performance.published import PUBLISHED
from motion_matching.engine.performance.settings import PerformerSettings
from tests.command_line import run
from tests.demo import generate_clips


@pytest.fixture(scope="module")
def clips() -> list[api.Clip]:
    return [clip for clip in generate_clips() if clip.name in ("walk_curves", "run_curves")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, clips: list[api.Clip]) -> Path:
    folder = tmp_path_factory.mktemp("clips")
    for clip in clips:
        bvh.save(clip, folder / f"{clip.name}.bvh")
    return folder


@pytest.fixture(scope="module")
def shipped(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a database that is built as shipped."""
    file = tmp_path_factory.mktemp("databases") / "shipped.npz"
    assert run("build", folder, "-o", file, "--quiet") == 0
    return file


@pytest.mark.parametrize("published", PUBLISHED.values(), ids=PUBLISHED)
def test_sets_name_presets_that_are_there(published):
    load_schema(published.features)
    assert published.simulation_bone in simulation_bone.PRESETS
    assert published.contacts in contacts.PRESETS
    assert published.controller in presets.list_names("controllers")
    PerformerSettings().with_changes(published.controller_settings)
    assert (published.method == "field") == bool(published.quality)
    assert not published.quality or published.quality in TRAININGS


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_build_and_a_take_are_those_of_the_article(name, clips):
    published = PUBLISHED[name]
    database = api.build(clips, as_published=name)
    bone = simulation_bone.PRESETS[published.simulation_bone]
    assert database.settings["simulation_bone"] == asdict(bone)
    assert database.settings["contacts"] == asdict(contacts.PRESETS[published.contacts])
    assert list_missing(database, published) == []
    take = api.perform(database, seconds=1, as_published=name)
    wanted = published.controller_settings
    assert {key: take.settings[key] for key in wanted} == wanted
    same = api.perform(database, seconds=1, settings=wanted, controller=published.method)
    np.testing.assert_array_equal(take.poses, same.poses)
    own = api.perform(database, seconds=1, as_published=name, settings={"drift": 0.3})
    assert own.settings["drift"] == 0.3, "what is given comes before it"


def test_scripts_and_commands_say_what_a_database_lacks(shipped, tmp_path, capsys):
    database = api.open(shipped)
    with pytest.warns(UserWarning, match="features are not notebook, its simulation bone is not"):
        api.perform(database, seconds=1, as_published="motion_matching")
    report = tmp_path / "take.json"
    options = ("--as-published", "motion_fields", "--seconds", 1, "--report", report)
    assert run("take", shipped, *options, "--set", "drift=0.2") == 0
    said = capsys.readouterr().out
    assert "As 'Motion Fields for Interactive Character Animation': a motion field" in said
    assert "not built --as-published motion_fields: its features are not notebook" in said
    assert "no frame is tagged walk" in said
    settings = json.loads(report.read_text())["settings"]
    assert (settings["field"], settings["drift"], settings["foot_lock"]) == ("notebook", 0.2, False)


def test_commands_build_and_train_as_published(folder, tmp_path, capsys):
    file, field = tmp_path / "fields.npz", tmp_path / "field.npz"
    assert run("build", folder, "-o", file, "--as-published", "motion_fields") == 0
    assert "Not as published: a target location is no task" in capsys.readouterr().out
    database = databases.load(file)
    assert database.schema.dimensions == 33
    assert {"walk", "run"} <= set(database.tag_names)
    quick = ("--states", 150, "--sweeps", 3, "--neighbours", 4)
    assert run("train", file, "--as-published", "motion_fields", *quick, "-o", field) == 0
    tasks = value_function.load(field).tasks
    assert (tasks.as_notebook, tasks.speeds, set(tasks.tags)) == (True, (), {"walk", "run"})
    one = ("--as-published", "motion_fields", "--features", "holden", "--contacts", "article")
    assert run("build", folder, "-o", file, *one, "--quiet") == 0
    database = databases.load(file)
    assert database.schema.features == load_schema("holden").features, "what is given comes first"
    assert database.settings["contacts"] == asdict(contacts.PRESETS["article"])


def test_what_contradicts_itself_is_refused(shipped, tmp_path, capsys):
    both = ("--as-published", "displacement", "--settings", "weighty")
    assert run("take", shipped, *both) == 1
    assert "leave out --settings weighty, or use --set" in capsys.readouterr().err
    field = tmp_path / "field.npz"
    assert run("train", shipped, "--as-published", "next_gen", "-o", field) == 1
    assert "nothing is trained; use motion_fields" in capsys.readouterr().err
    with pytest.raises(SettingsError, match="no field to train; use motion_fields"):
        api.train(api.open(shipped), as_published="next_gen")
    with pytest.raises(SettingsError, match="nothing published as 'poses'; use one of motion_ma"):
        api.perform(api.open(shipped), as_published="poses")


def test_scripts_train_as_published(clips):
    database = api.build(clips, as_published="motion_fields")
    quick = {"states": 150, "sweeps": 3, "neighbours": 4}
    field = api.train(database, as_published="motion_fields", settings=quick)
    assert field.function.tasks.as_notebook
    assert set(field.function.tasks.tags) == {"walk", "run"}
    take = api.perform(database, seconds=1, as_published="motion_fields", controller=field)
    assert take.settings["neighbours"] == 15, "the article's, as settings are those of the set"


def test_choices_of_commands_and_scripts_are_lower_case():
    """Only axes have the capitals that everybody writes."""
    parser = build_parser()
    (commands,) = (a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    chosen = [
        choice
        for command in commands.choices.values()
        for action in command._actions
        for choice in action.choices or ()
    ]
    defaults = [
        parameter.default
        for name in api.__all__
        if inspect.isfunction(getattr(api, name))
        for parameter in inspect.signature(getattr(api, name)).parameters.values()
        if isinstance(parameter.default, str) and parameter.name not in ("up", "forward")
    ]
    assert "motion_fields" in chosen
    assert "figure_eight" in defaults
    assert [text for text in (*chosen, *defaults) if text != text.lower()] == []
