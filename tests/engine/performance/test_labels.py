"""Labels: frames of some tags bring their own displacement, and nothing snaps at their edges."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as options
from hypothesis import strategies as st

from motion_matching.engine.building import retagging
from motion_matching.engine.control import displacement
from motion_matching.engine.control.label_blending import EasedShares, LabelBlending, PlayedLabels
from motion_matching.engine.control.rollout import Take
from motion_matching.engine.control.trajectory import SimulationObject
from motion_matching.engine.database.database import Database
from motion_matching.engine.database.tags.thresholds import PLANT_ANGLE, AutoTagSettings
from motion_matching.engine.errors import SettingsError
from motion_matching.engine.field.field_controller import FieldController
from motion_matching.engine.field.states.neighbours import Metric
from motion_matching.engine.matching.method import MotionMatching
from motion_matching.engine.performance import performance
from motion_matching.engine.performance.intent import Intent
from motion_matching.engine.performance.labels import READY_LABELS, DisplacementLabel
from motion_matching.engine.performance.performance import Performance
from motion_matching.engine.performance.settings import Coupling, PerformerSettings
from motion_matching.engine.takes import baking, metrics, takes
from tests.demo import load_demo

LOOSE = {"displacement": "adjust", "clamp": True, "adjust_by_velocity": True, "clamp_distance": 0.3}
TIGHT = {
    "displacement": "adjust",
    "clamp": True,
    "adjust_by_velocity": False,
    "clamp_distance": 0.05,
}
FREE = {"displacement": "independent", "clamp": False}
MEET = {"displacement": "synchronize", "synchronization": 0.3}
STEER = {"displacement": "synchronize", "synchronization": 1.0}
MODES = (LOOSE, TIGHT, FREE, MEET, STEER)


def make_settings(own: dict[str, Any], *others: dict[str, Any], **more: Any) -> PerformerSettings:
    """Return settings with labels of the tags 'a', 'b' and so on."""
    pairs = zip("abcd", others, strict=False)
    labels = [{"tags": [tag], "settings": changes} for tag, changes in pairs]
    return PerformerSettings().with_changes({**own, **more, "labels": labels})


# ---------------------------------------------------------------- shares


@pytest.mark.parametrize("dt", [1 / 240, 1 / 30, 1 / 7])
def test_shares_reach_their_goal_within_the_time_and_not_before(dt):
    shares = EasedShares()
    shares.update((1.0, 0.0), 0.3, dt)
    assert shares.values == (1.0, 0.0), "the first frame is played as it is labelled"
    ticks = math.ceil(0.3 / dt - 1e-6)
    for tick in range(1, ticks + 1):
        shares.update((0.0, 1.0), 0.3, dt)
        assert sum(shares.values) == pytest.approx(1.0)
        assert (shares.values == (0.0, 1.0)) == (tick == ticks)


def test_interrupted_shares_keep_their_value_and_rate():
    rng, shares, dt = np.random.default_rng(4), EasedShares(), 1 / 240
    values = []
    goal = (1.0, 0.0, 0.0)
    for tick in range(2400):
        if tick % 20 == 0:  # far sooner than a change takes
            goal = tuple(np.eye(3)[rng.integers(3)].tolist())
        shares.update(goal, 0.3, dt)
        values.append(shares.values)
    array = np.array(values)
    assert array.min() > -0.1
    assert array.max() < 1.1
    rates = np.diff(array, axis=0) / dt
    assert np.abs(rates).max() < 2.5 / 0.3
    assert np.abs(np.diff(rates, axis=0) / dt).max() < 16.0 / 0.3**2


def test_without_a_time_shares_change_at_once():
    shares = EasedShares()
    for goal in ((1.0, 0.0), (0.0, 1.0)):
        shares.update(goal, 0.0, 1 / 30)
        assert shares.values == goal


# ---------------------------------------------------------------- placing


class Walk:
    """A character that the data lead aside of its simulation object, and what they play."""

    def __init__(self, settings: PerformerSettings, fps: float) -> None:
        self.blending, self.dt = LabelBlending(settings.coupling), 1.0 / fps
        self.simulation = SimulationObject(settings.steering)
        self.simulation.reset(0.0, 0.0, 0.0)
        self.place = (0.0, 0.0, 0.0)
        self.places: list[tuple[float, ...]] = []

    def play(self, labels: tuple[float, ...], seconds: float) -> np.ndarray:
        """Return where character and object are (T, 6)."""
        first = len(self.places)
        for _ in range(round(seconds / self.dt)):
            self.simulation.y -= 1.5 * self.dt
            self.simulation.yaw += 0.5 * self.dt
            x, y, yaw = self.place
            led = x + 0.4 * self.dt, y - 1.4 * self.dt, yaw + 0.1 * self.dt
            self.place = self.blending.place_character(
                led, (0.4, -1.4, 0.1), self.simulation, labels, self.dt
            )
            s = self.simulation
            self.places.append((*self.place, s.x, s.y, s.yaw))
        return np.array(self.places[first:])


@pytest.mark.parametrize("changes", MODES)
def test_between_labels_of_equal_numbers_the_character_is_placed_as_by_one(changes):
    settings = make_settings(changes, changes, label_blend=1.0)
    blending = LabelBlending(settings.coupling)
    rng = np.random.default_rng(1)
    for tick in range(20):
        one, other = (SimulationObject(settings.steering) for _ in range(2))
        pose = tuple(rng.normal(0.0, 0.2, 3).tolist())
        velocity = tuple(rng.normal(0.0, 1.0, 3).tolist())
        for object_ in (one, other):
            object_.reset(0.2, -0.1, 0.4)
        feet = (0.05, 0.02) if tick % 2 else None
        shares = (1.0,) if tick else (0.0,)
        blended = blending.place_character(pose, velocity, one, shares, 1 / 30, feet)
        pure = displacement.place_character(pose, velocity, other, settings.coupling, 1 / 30, feet)
        np.testing.assert_allclose(blended, pure, atol=1e-9)
        np.testing.assert_allclose((one.x, one.y, one.yaw), (other.x, other.y, other.yaw))


@given(st.permutations(MODES), st.sampled_from([(0.4,), (0.12, 0.12, 0.12, 0.4)]))
@options(max_examples=30)
def test_nothing_snaps_at_the_edge_of_a_label(modes, seconds):
    """Whatever the two modes, and even if the change is interrupted: in a 960th of a second, the
    speed changes by no more than a tenth of that with which they would meet evenly in the time,
    and the 0.25 m/s at which they part, which clamping ends. A jump of a millimetre would be 1 m/s.
    """
    (own, other, *_), fps, time = modes, 960.0, 0.3
    walk = Walk(make_settings(own, other, label_blend=time), fps)
    walk.play((0.0,), 1.0)
    x, y, yaw, *(object_x, object_y, object_yaw) = walk.places[-1]
    gap = math.dist((x, y), (object_x, object_y)) + 0.4 * abs(yaw - object_yaw)
    before = len(walk.places) - 2
    for number, length in enumerate(seconds):
        walk.play((float(number % 2 == 0),), length)
    steps = np.diff(np.array(walk.places[before:])[:, :3], axis=0) * fps * [1.0, 1.0, 0.4]
    changes = np.linalg.norm(np.diff(steps, axis=0), axis=1)
    assert changes.max() < 0.1 * gap / time + 0.25
    assert np.linalg.norm(steps, axis=1).max() < 1.8 + 1.6 * gap / time


@pytest.mark.parametrize("other", MODES)
def test_within_the_time_a_label_holds_as_if_it_had_always_been_set(other):
    walk = Walk(make_settings(FREE, other, label_blend=0.3), 60.0)
    walk.play((0.0,), 2.0)
    walk.play((1.0,), 0.3)
    walk.play((1.0,), 1 / 60)
    settings, (x, y, _), simulation = make_settings(other), walk.place, walk.simulation
    away = math.dist((x, y), (simulation.x, simulation.y))
    if settings.coupling.displacement == "synchronize":
        assert (x, y) == (simulation.x, simulation.y)
    elif settings.coupling.clamp:
        assert away <= settings.coupling.clamp_distance + 1e-9
    else:
        assert away > 0.5


@pytest.mark.parametrize(("own", "other"), [(FREE, TIGHT), (LOOSE, MEET), (MEET, STEER)])
def test_a_change_takes_the_same_way_at_any_frame_rate(own, other):
    ways = []
    for fps in (30.0, 240.0):
        walk = Walk(make_settings(own, other, label_blend=0.4), fps)
        walk.play((0.0,), 1.0)
        walk.play((1.0,), 0.2)
        ways.append(walk.place)
    np.testing.assert_allclose(*ways, atol=0.03)


# ---------------------------------------------------------------- settings and files


def test_labels_survive_their_json():
    settings = make_settings({}, LOOSE, STEER, label_blend=0.1)
    data = json.loads(json.dumps(settings.to_dict()))
    assert PerformerSettings().with_changes(data) == settings
    assert data["labels"][0] == {"tags": ["a"], "settings": LOOSE}
    assert isinstance(hash(settings), int)


def test_a_recording_of_before_plays_without_labels():
    data = PerformerSettings().to_dict()
    del data["labels"], data["label_blend"]
    text = performance.to_json(Performance("old", 30.0, (Intent(),), settings=data))
    old = performance.from_json(text, "old")
    now = make_settings({}, LOOSE, label_blend=0.7).with_changes(old.settings)
    assert (now.coupling.labels, now.coupling.label_blend) == (
        (),
        PerformerSettings().coupling.label_blend,
    )


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ("all", "list of objects"),
        ([3], "needs 'tags'"),
        ([{"tags": "start", "settings": {}}], "needs 'tags'"),
        ([{"tags": [], "settings": {}}], "needs 'tags'"),
        ([{"tags": ["a"], "settings": {}, "x": 1}], "needs 'tags'"),
        ([{"tags": ["a", ""], "settings": {}}], "needs 'tags'"),
        ([{"tags": ["a"], "settings": {"walk": 2.0}}], "label 'a' has the setting 'walk'"),
        ([{"tags": ["a"], "settings": {"clamp_distance": -1}}], "'clamp_distance' is -1"),
        ([{"tags": ["a"], "settings": {"displacement": "fly"}}], "label 'a' is wrong"),
    ],
)
def test_wrong_labels_are_refused_by_name(labels, said):
    with pytest.raises(SettingsError, match=said):
        PerformerSettings().with_changes({"labels": labels})


@pytest.mark.parametrize("scale", [0.1, 1.0, 5.0])
def test_ready_labels_are_relative_to_the_performers_own_numbers(scale):
    own = PerformerSettings(coupling=Coupling(clamp_distance=0.15 * scale))
    settings = own.with_changes({"labels": "ready"})
    assert [label.tags for label in settings.coupling.labels] == [
        tags for tags, _ in READY_LABELS.values()
    ]
    plant, start, locomotion = (
        label.apply_to(settings.coupling) for label in settings.coupling.labels
    )
    assert plant.clamp_distance > own.coupling.clamp_distance
    assert start.clamp_distance > own.coupling.clamp_distance
    assert locomotion.adjust_position_ratio > own.coupling.adjust_position_ratio
    assert plant.clamp_distance / own.coupling.clamp_distance == pytest.approx(1.5)
    # with others in the same change, they follow those
    both = PerformerSettings().with_changes({"labels": "ready", "clamp_distance": 0.15 * scale})
    assert both == settings


# ---------------------------------------------------------------- what is played


def test_a_frame_follows_the_first_label_that_it_carries():
    played = PlayedLabels(("x", "y", "z"), np.array([0, 1, 2, 4, 7], np.uint32))
    assert played.get_shares(1) == ()
    labels = [DisplacementLabel(tags, {}) for tags in (("z",), ("x", "y"), ("unknown",))]
    played.apply(labels)
    assert [played.get_shares(frame) for frame in range(5)] == [
        (0.0, 0.0, 0.0),
        (0.0, 1.0, 0.0),
        (0.0, 1.0, 0.0),
        (1.0, 0.0, 0.0),
        (1.0, 0.0, 0.0),
    ]
    weights = np.array([0.4, 0.3, 0.3])
    assert played.find_most(np.array([3, 1, 2]), weights) == (0.0, 1.0, 0.0)
    assert played.find_most(np.array([0, 1, 3]), weights) == (0.0, 0.0, 0.0)
    played.apply(())
    assert played.get_shares(4) == ()
    assert played.find_most(np.array([3]), np.ones(1)) == ()


# ---------------------------------------------------------------- takes


@cache
def load_tagged_demo() -> Database:
    database = load_demo()
    assert database.range_sources is not None
    tags = {source.key: () for source in database.range_sources}
    return retagging.retag(database, tags, AutoTagSettings(plant_angle=PLANT_ANGLE))


@cache
def perform_turns(labels: str, method: str = "matching", seconds: float = 20.0) -> Take:
    """Perform turns with labels as JSON."""
    database = load_tagged_demo()
    controller = MotionMatching
    if method == "field":
        controller = FieldController(Metric.from_database(database))
    settings = takes.make_default_settings(database).with_changes({"labels": json.loads(labels)})
    request = takes.prepare_performance(
        database, settings, "turns", gait="walk", seconds=seconds, seed=3
    )
    return takes.perform(database, settings, request, controller=controller)


def find_differences(one: Take, other: Take) -> np.ndarray:
    """Return the ticks at which two takes differ."""
    return np.flatnonzero(
        np.any(one.poses != other.poses, axis=(1, 2)) | np.any(one.character != other.character, 1)
    )


@pytest.mark.slow
@pytest.mark.parametrize("method", ["matching", "field"])
def test_without_a_label_that_is_played_a_take_is_the_same_to_the_bit(method):
    plain = perform_turns("[]", method, 6.0)
    unused = '[{"tags": ["unknown"], "settings": {"displacement": "independent"}}]'
    same = '[{"tags": ["walk"], "settings": {"clamp_distance": 0.15}}]'
    assert not len(find_differences(plain, perform_turns(unused, method, 6.0)))
    np.testing.assert_allclose(
        plain.character[:30], perform_turns(same, method, 6.0).character[:30], atol=1e-6
    )


@pytest.mark.slow
@pytest.mark.parametrize("method", ["matching", "field"])
def test_labels_change_a_take_from_the_first_frame_on_that_carries_them(method):
    plain = perform_turns("[]", method, 6.0)
    labelled = '[{"tags": ["start", "plant"], "settings": {"displacement": "independent"}}]'
    changed = find_differences(plain, perform_turns(labelled, method, 6.0))
    assert len(changed)
    database = load_tagged_demo()
    carried = database.make_tag_mask({"start"}) | database.make_tag_mask({"plant"})
    assert changed[0] >= np.flatnonzero(carried[plain.frames])[0] - (method == "field") * 15


@pytest.mark.slow
def test_ready_labels_pop_no_more():
    database = load_tagged_demo()
    for labels in ("[]", '"ready"'):
        take = perform_turns(labels)
        body = baking.make_body(take.poses, take.character, database)
        most = metrics.measure_frames(takes.find_played_frames(take, database))["acceleration_max"]
        assert metrics.measure_pops(body.acceleration, most, take.fps)["pops"] == 0, labels


def test_a_labelled_take_is_performed_again_the_same():
    take = perform_turns('"ready"')
    database = load_tagged_demo()
    stored = replace(take.performance, settings=take.settings)
    read = performance.from_json(performance.to_json(stored), "the take")
    again = takes.perform(database, PerformerSettings(), read)
    assert again.performer_settings.coupling.labels == take.performer_settings.coupling.labels
    assert not len(find_differences(take, again))
