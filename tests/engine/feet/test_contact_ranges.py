"""Contact ranges: found from contacts, split where a foot drags, and edited as JSON."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pytest

from motion_matching.engine.errors import SettingsError
from motion_matching.engine.feet import contact_ranges
from motion_matching.engine.feet.contact_ranges import ContactRange

FPS, RADIUS = 30.0, 0.2
LEGS = ("left", "right")


def find_ranges(
    on: np.ndarray, places: np.ndarray | None = None, fps: float = FPS
) -> list[tuple[int, int]]:
    toes = np.zeros((len(on), 1, 3))
    if places is not None:
        toes[:, 0, : places.shape[1]] = places
    return [
        (r.start, r.stop)
        for r in contact_ranges.find_contact_ranges(on[:, None], toes, fps, RADIUS)
    ]


def make_contacts(frames: int, *ranges: tuple[int, int]) -> np.ndarray:
    on = np.zeros(frames, bool)
    for start, stop in ranges:
        on[start:stop] = True
    return on


def test_each_run_of_contacts_becomes_one_range():
    assert find_ranges(make_contacts(100, (0, 20), (40, 60), (75, 100))) == [
        (0, 20),
        (40, 60),
        (75, 100),
    ]
    assert find_ranges(make_contacts(100)) == []


def test_flicker_neither_splits_nor_adds_ranges():
    assert find_ranges(make_contacts(100, (10, 20), (22, 40))) == [(10, 40)]
    assert find_ranges(make_contacts(100, (10, 40), (60, 61))) == [(10, 40)]


def test_a_foot_that_hops_to_another_place_steps_however_short_the_hop():
    contacts = make_contacts(100, (10, 30), (35, 60))
    places = np.zeros((100, 2))
    places[33:, 0] = 0.05
    assert find_ranges(contacts, places) == [(10, 60)]
    places[33:, 0] = 0.35
    assert find_ranges(contacts, places) == [(10, 30), (35, 60)]


def test_ranges_cover_the_same_seconds_at_any_frame_rate():
    slow, fast = (
        make_contacts(120, (30, 50), (53, 70), (90, 115)),
        make_contacts(240, (60, 100), (106, 140), (180, 230)),
    )
    assert [(2 * a, 2 * b) for a, b in find_ranges(slow)] == find_ranges(fast, fps=2 * FPS)


def test_a_foot_dragged_far_is_split_into_steps():
    """Split a drag of one metre over two seconds, as when turning on the spot, into ranges within
    the radius.
    """
    places = np.stack([np.linspace(0.0, 1.0, 60), np.zeros(60)], axis=1)
    parts = find_ranges(make_contacts(60, (0, 60)), places)
    assert len(parts) >= 2
    for start, stop in parts:
        assert (
            np.abs(places[start:stop, 0] - np.median(places[start:stop, 0])).max() <= RADIUS + 1e-9
        )
    gaps = [later[0] - earlier[1] for earlier, later in pairwise(parts)]
    assert min(gaps) >= 0.2 * FPS
    # a drag within the radius stays one range
    assert find_ranges(make_contacts(60, (0, 60)), 0.3 * places) == [(0, 60)]


@pytest.mark.parametrize("fps", [30.0, 60.0, 120.0])
@pytest.mark.parametrize("hardest", [2.0, 4.0, 8.0])
def test_a_step_takes_longer_the_farther_it_goes(fps, hardest):
    """A foot that is dragged in a bound steps as quickly as the data does at most."""
    count = round(6.0 * fps)
    for far in (0.3, 0.6, 1.2):
        toes = np.zeros((count, 1, 3))
        toes[count // 2 :, 0, 0] = 2.0 * RADIUS + far
        found = contact_ranges.find_contact_ranges(
            np.ones((count, 1), bool), toes, fps, RADIUS, hardest
        )
        seconds = (found[1].start - found[0].stop + 1) / fps
        places = contact_ranges.place_toes(found, np.ones((count, 1), bool), toes, RADIUS, 0.0)
        step = np.linalg.norm(places[found[1].start, 0] - places[found[0].start, 0])
        assert step == pytest.approx(far, abs=0.02)
        assert len(found) == 2
        assert (
            max(np.sqrt(step / hardest), 0.22) - 1e-6
            <= seconds
            <= 0.25 + np.sqrt((step + 0.1) / hardest)
        )


def test_a_dragged_foot_makes_as_few_steps_as_can_be():
    """Along a metre, five places within 0.2 m of it, less what steps go on, are three."""
    places = np.stack([np.linspace(0.0, 1.0, 240), np.zeros(240)], axis=1)
    on = make_contacts(240, (0, 240))
    assert len(find_ranges(on, places, fps=2 * FPS)) == 3
    back = np.concatenate([places[:120], places[119::-1]])  # half a metre there, and back
    assert len(find_ranges(on, back, fps=2 * FPS)) == 3


def test_a_dragged_foot_steps_while_another_stands():
    toes = np.zeros((120, 2, 3))
    toes[:, :, 0] = np.linspace(0.0, 0.6, 120)[:, None]
    for first in (30, 50, 70):
        contacts = np.ones((120, 2), bool)
        contacts[:, 1] = make_contacts(120, (first, first + 20))
        one, other = (
            [
                r
                for r in contact_ranges.find_contact_ranges(contacts, toes, FPS, RADIUS)
                if r.leg == 0
            ][k]
            for k in (0, 1)
        )
        assert first <= one.stop
        assert other.start <= first + 20


def test_two_dragged_feet_do_not_step_at_once():
    toes = np.zeros((240, 2, 3))
    toes[:, :, 0] = np.linspace(0.0, 1.2, 240)[:, None]
    contacts = np.ones((240, 2), bool)
    found = contact_ranges.find_contact_ranges(contacts, toes, FPS, RADIUS)
    assert len(found) > 4
    inner = contact_ranges.build_contact_mask(found, 240, 2)[10:-10]
    assert inner.any(axis=1).all()


def test_a_dragged_foot_stands_within_the_radius_at_all_times():
    rng = np.random.default_rng(4)
    toes = np.zeros((300, 1, 3))
    toes[:, 0, :2] = np.cumsum(0.02 * rng.normal(size=(300, 2)), axis=0)
    on = np.ones((300, 1), bool)
    found = contact_ranges.find_contact_ranges(on, toes, FPS, RADIUS)
    places = contact_ranges.place_toes(found, on, toes, RADIUS, 0.0)
    for r in found:
        own = slice(r.start, r.stop)
        assert np.ptp(places[own, 0], axis=0).max() == 0.0
        away = np.linalg.norm(toes[own, 0, :2] - places[own, 0], axis=1)
        assert away.max() <= RADIUS + 1e-9


def test_a_range_is_cut_where_the_foot_moves():
    places = np.zeros((90, 2))
    places[50:, 1] = 0.6
    (_, first_stop), (second_start, _) = find_ranges(make_contacts(90, (0, 90)), places)
    assert first_stop <= 50 <= second_start


def test_a_dragged_foot_steps_while_it_is_off_the_ground():
    """Even if that is too short a time to count as a step by itself."""
    places = np.stack([np.linspace(0.0, 0.7, 60), np.zeros(60)], axis=1)
    for first in (18, 26, 34):
        on = make_contacts(60, (0, first), (first + 5, 60))
        parts = find_ranges(on, places)
        assert not any(start <= first + 2 < stop for start, stop in parts)


def test_a_foot_stands_from_its_contact_on_where_it_had_the_time_to_get_there():
    """Even if a jump is still fading, which has it 0.3 m away; not right after another range."""
    places = np.zeros((90, 2))
    places[60:65, 0] = 0.3
    assert find_ranges(make_contacts(90, (0, 30), (60, 90)), places) == [(0, 30), (60, 90)]
    places[:60, 0] = 0.6
    assert find_ranges(make_contacts(90, (0, 58), (59, 90)), places)[1][0] >= 64


def test_ranges_survive_saving_and_loading(tmp_path):
    ranges = [ContactRange(0, 0, 12), ContactRange(0, 30, 44, (0.25, -1.5)), ContactRange(1, 3, 29)]
    contact_ranges.save(ranges, LEGS, FPS, tmp_path / "contacts.json")
    assert contact_ranges.load(tmp_path / "contacts.json", LEGS, FPS) == ranges


def test_loaded_ranges_are_converted_to_the_frame_rate_of_the_take(tmp_path):
    contact_ranges.save([ContactRange(1, 10, 25)], LEGS, 30.0, tmp_path / "contacts.json")
    assert contact_ranges.load(tmp_path / "contacts.json", LEGS, 60.0) == [ContactRange(1, 20, 50)]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"ranges": [{"leg": "third", "start": 0, "stop": 5}]}, "left, right"),
        ({"ranges": [{"leg": "left", "start": 5, "stop": 5}]}, "stop"),
        ({"ranges": [{"leg": "left", "start": "soon", "stop": 5}]}, "'start' of range 1"),
        ({"ranges": [{"leg": "left", "start": 0, "stop": 5, "point": [1]}]}, "point"),
        (
            {
                "ranges": [
                    {"leg": "left", "start": 0, "stop": 5},
                    {"leg": "left", "start": 4, "stop": 9},
                ]
            },
            "frame 4",
        ),
        ({"ranges": [{"leg": "left", "start": 1e308, "stop": 1.1e308}]}, "'start' of range 1"),
        ({"ranges": [5]}, "range 1 is 5; give an object"),
        ({"ranges": {}}, "'ranges' is {}; give a list"),
        ({"format": "something else"}, "--save-contacts"),
        ({"fps": 0}, "fps"),
        ({"fps": 1e-320}, "fps"),
    ],
)
def test_invalid_edited_ranges_are_refused(tmp_path, change, words):
    file = tmp_path / "contacts.json"
    contact_ranges.save([ContactRange(0, 0, 12)], LEGS, FPS, file)
    file.write_text(json.dumps(json.loads(file.read_text()) | change))
    with pytest.raises(SettingsError, match=words) as caught:
        contact_ranges.load(file, LEGS, FPS)
    assert str(file) in str(caught.value)


def test_missing_and_broken_files_are_refused(tmp_path):
    with pytest.raises(SettingsError, match="does not exist"):
        contact_ranges.load(tmp_path / "none.json", LEGS, FPS)
    (tmp_path / "broken.json").write_text("{")
    with pytest.raises(SettingsError, match="cannot be read as JSON"):
        contact_ranges.load(tmp_path / "broken.json", LEGS, FPS)


def test_plants_stay_where_the_step_between_them_has_its_time():
    """However much shorter it could be; a step that has not is made shorter."""
    toes = np.zeros((60, 1, 3))
    toes[36:, 0, 0] = 1.5 * RADIUS
    ranges = [ContactRange(0, 0, 24), ContactRange(0, 36, 60)]
    on = np.ones((60, 1), bool)
    for quickest, length in ((1.6 * RADIUS / 12**2, 1.5 * RADIUS), (0.1 * RADIUS / 12**2, 0.0)):
        places = contact_ranges.place_toes(ranges, on, toes, RADIUS, quickest)
        assert places[36, 0, 0] - places[0, 0, 0] == pytest.approx(length, abs=0.3 * RADIUS)
