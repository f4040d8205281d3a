"""As Published: one choice sets bone, features, controller and field as an article has them."""

from __future__ import annotations

from dataclasses import asdict

import bpy
import pytest

from motion_matching.app.controller.features import build_schema
from motion_matching.app.controller.training import TrainingRequest
from motion_matching.app.settings import get_build_settings, get_controller_data
from motion_matching.engine.database.features.features import load_schema
from motion_matching.engine.motion.simulation_bone import PRESETS
from motion_matching.engine.performance.published import PUBLISHED
from motion_matching.engine.performance.settings import AsPublished, PerformerSettings
from motion_matching.engine.settings import get_defaults
from motion_matching.ui.controller import panel
from tests.ui.characters import create_character
from tests.ui.drawn import draw_panels

ops = bpy.ops.motion_matching


@pytest.mark.parametrize("published", PUBLISHED.values(), ids=PUBLISHED)
def test_one_choice_sets_all_that_an_article_says(published):
    obj = create_character(clips=("walk_curves",))
    settings = obj.motion_matching
    settings.features.responsiveness = 2.0
    settings.controller.velocity_halflife = 0.9
    assert ops.as_published(article=published.name) == {"FINISHED"}
    built = get_build_settings(obj)
    assert asdict(built.simulation_bone) == pytest.approx(
        asdict(PRESETS[published.simulation_bone])
    )
    listed, wanted = build_schema(settings.features), load_schema(published.features)
    assert listed.to_comparison_data() == wanted.to_comparison_data()
    weights = [feature.weight for feature in wanted.features]
    assert [feature.weight for feature in listed.features] == pytest.approx(weights, rel=1e-5)
    assert settings.features.responsiveness == 1.0
    wanted = PerformerSettings().with_changes(published.controller_settings).to_dict()
    for name, value in get_controller_data(settings.controller).items():
        assert value == (pytest.approx(wanted[name]) if name != "labels" else value), name
    is_field = published.method == "field"
    assert settings.controller.method == ("FIELD" if is_field else "MATCHING")
    if is_field:
        request = TrainingRequest.from_object(obj)
        assert (request.quality, request.metric) == (published.quality, "notebook")
        assert set(request.tags) == set(published.tags)
        assert built.auto_tags is not None


def test_it_says_what_it_set_what_is_to_do_and_what_is_partial(capfd):
    obj = create_character(clips=("walk_curves",))
    ops.add_actions()
    ops.as_published(article="motion_fields")
    said = capfd.readouterr().out
    assert "As 'Motion Fields for Interactive Character Animation': a motion field with" in said
    assert "the features Notebook, the simulation bone Notebook, the controller Notebook" in said
    assert "train the field to play it" in said
    assert "build the database again" not in said, "there is none yet"
    assert "Not as published: a target location is no task" in said
    assert "build --contacts notebook" in said
    ops.build()
    capfd.readouterr()
    ops.as_published(article="motion_fields")
    said = capfd.readouterr().out
    assert "build the database again" not in said, "it is built so"
    assert "no source is tagged run" in said
    ops.as_published(article="displacement")
    assert "; build the database again to play it" in capfd.readouterr().out
    assert obj.motion_matching.controller.object_waits is False


def test_it_is_undone_in_one_step():
    obj = create_character(clips=("walk_curves",))
    before = get_controller_data(obj.motion_matching.controller)
    bpy.ops.ed.undo_push(message="before")
    assert ops.as_published("EXEC_DEFAULT", True, article="motion_fields") == {"FINISHED"}
    bpy.ops.ed.undo()
    settings = bpy.data.objects["Hero"].motion_matching
    assert get_controller_data(settings.controller) == before
    assert (settings.controller.method, settings.training.tags) == ("MATCHING", "")
    assert not settings.features.items
    assert not settings.auto_tags


def test_what_only_an_article_needs_has_a_panel_of_its_own(addon):
    """It is closed, and hidden until something in it differs from the shipped settings."""
    create_character(clips=("walk_curves",))
    own, names = panel.MOTION_MATCHING_PT_as_published, set(get_defaults(AsPublished))
    assert own.bl_options == {"DEFAULT_CLOSED"}
    assert set(own.names) == names
    others = [each for each in panel._SettingsPanel.__subclasses__() if each is not own]
    assert len(others) > 5
    assert not names & {name for other in others for name in other.names}
    assert not own.poll(bpy.context)
    for article, is_shown in (("motion_fields", True), ("displacement", False)):
        ops.as_published(article=article)
        assert own.poll(bpy.context) is is_shown, article
        draw_panels()
    addon.preferences.show_advanced = True
    assert own.poll(bpy.context)
    draw_panels()
