"""Contacts: a toe that hardly moves is on the ground."""

from __future__ import annotations

import numpy as np
import pytest

from motion_matching.engine.bvh import bvh
from motion_matching.engine.errors import SettingsError
from motion_matching.engine.maths.along_time import find_runs
from motion_matching.engine.motion.contacts import PRESETS, ContactSettings, find_contacts

RAW = ContactSettings(median=0.0)


def make_steps(
    fps: float, speed: float = 1.3, cycle: float = 1.0, duration: float = 6.0
) -> tuple[np.ndarray, np.ndarray]:
    """Make two toes (F, 2, 3) that stand for half a cycle and swing for the other, and when they
    are planted (F, 2).
    """
    t = np.arange(round(duration * fps)) / fps
    phase = t[:, None] / cycle + np.array([0.0, 0.5])
    swing = np.clip(2 * (phase % 1.0) - 1, 0, 1)
    way = (np.floor(phase) + swing - np.sin(2 * np.pi * swing) / (2 * np.pi)) * speed * cycle
    height = 0.1 * np.sin(np.pi * swing) ** 2
    side = np.broadcast_to([0.1, -0.1], way.shape)
    return np.stack([side, -way, height + 0.02], axis=-1), swing == 0


@pytest.mark.parametrize("settings", PRESETS.values(), ids=PRESETS.keys())
@pytest.mark.parametrize("fps", [30.0, 60.0, 120.0])
def test_planted_toes_are_found_at_any_frame_rate(settings, fps):
    toes, planted = make_steps(fps)
    contacts = find_contacts(toes, fps, settings)
    assert contacts.shape == planted.shape
    assert contacts.dtype == bool
    # may differ only where a step begins or ends, and the toe is slow
    assert np.mean(contacts == planted) > 0.88
    inside = np.ones(len(planted), bool)
    reach = int(np.ceil(0.08 * fps))
    inside[-reach:] = False
    for foot in range(2):
        for change in np.flatnonzero(np.diff(planted[:, foot])):
            inside[max(change - reach, 0) : change + reach + 2] = False
        assert (contacts[inside, foot] == planted[inside, foot]).all()
        inside[:-reach] = True


@pytest.mark.parametrize("fps", [48.0, 60.0, 100.0, 120.0])
def test_the_noise_of_a_sensor_breaks_no_contact_at_any_frame_rate(fps):
    toes, _ = make_steps(fps, duration=30.0)
    noise = np.random.default_rng(0).normal(0.0, 0.0015, toes.shape)  # metres
    contacts = find_contacts(toes + noise, fps, ContactSettings())
    for foot in range(2):
        assert len(find_runs(contacts[:, foot])) in (30, 31)  # a step a second, and one cut off
    assert np.mean(contacts == find_contacts(toes, fps, ContactSettings())) > 0.98


@pytest.mark.parametrize("factor", [0.99, 1.01])
@pytest.mark.parametrize("fps", [30.0, 60.0])
def test_the_thresholds_are_metres_per_second_and_metres_per_thirtieth(factor, fps):
    times = np.arange(40) / fps
    for settings, limit in ((RAW, 0.15), (PRESETS["notebook"], 30 * 0.01 * np.sqrt(0.1))):
        toe = np.zeros((40, 1, 3))
        toe[:, 0] = times[:, None] * factor * limit * np.array([0.6, 0.0, 0.8])
        assert (find_contacts(toe, fps, settings) == (factor < 1)).all()


def test_the_median_removes_flicker_and_keeps_lasting_changes():
    fps = 60.0
    speed = np.zeros(120)
    speed[30] = (
        1.0  # one noisy frame, which affects three central differences, in a window of seven
    )
    speed[70:] = 1.0
    toe = np.zeros((120, 1, 3))
    toe[:, 0, 1] = np.cumsum(speed) / fps
    assert not find_contacts(toe, fps, RAW)[:, 0][28:33].all()
    contacts = find_contacts(toe, fps, ContactSettings())[:, 0]
    assert contacts[:68].all()
    assert not contacts[72:].any()


def test_the_ends_of_a_clip_count_like_their_neighbours():
    toes = np.zeros((20, 1, 3))
    assert find_contacts(toes, 30.0, ContactSettings()).all()
    toes[:, 0, 0] = np.arange(20)
    assert not find_contacts(toes, 30.0, ContactSettings()).any()


def test_a_toe_resting_in_the_air_can_be_excluded():
    toes = np.zeros((30, 2, 3))
    toes[:, 1, 2] = 0.4
    assert find_contacts(toes, 30.0, ContactSettings()).all()
    np.testing.assert_array_equal(
        find_contacts(toes, 30.0, ContactSettings(max_height=0.2))[0], [True, False]
    )


@pytest.mark.parametrize("settings", PRESETS.values(), ids=PRESETS.keys())
def test_contacts_do_not_depend_on_position_heading_or_order_of_feet(settings):
    toes, _ = make_steps(30.0)
    contacts = find_contacts(toes, 30.0, settings)
    turned = toes @ np.array([[0.6, 0.8, 0], [-0.8, 0.6, 0], [0, 0, 1]]) + [4.0, -7.0, 0.0]
    np.testing.assert_array_equal(find_contacts(turned, 30.0, settings), contacts)
    np.testing.assert_array_equal(find_contacts(toes[:, ::-1], 30.0, settings), contacts[:, ::-1])


@pytest.mark.parametrize("settings", PRESETS.values(), ids=PRESETS.keys())
@pytest.mark.parametrize("frames", [1, 2, 3])
def test_tiny_clips_have_contacts(settings, frames):
    assert find_contacts(np.zeros((frames, 2, 3)), 30.0, settings).all()


@pytest.mark.parametrize(
    "wrong",
    [
        {"method": "luck"},
        {"speed": -0.1},
        {"displacement": np.nan},
        {"median": -1.0},
        {"max_height": np.inf},
    ],
)
def test_invalid_settings_are_refused(wrong):
    with pytest.raises(SettingsError, match="contact setting"):
        ContactSettings(**wrong)


def test_feet_of_a_real_walk_alternate(mocap):
    clip = bvh.load(mocap / "bandai-namco" / "dataset-1_walk_normal_001.bvh")
    toes = [clip.skeleton.names.index(name) for name in ("Toes_L", "Toes_R")]
    contacts = find_contacts(clip.compute_world()[1][:, toes], clip.fps, ContactSettings())
    assert (contacts.mean(axis=0) > 0.35).all()
    assert (contacts.mean(axis=0) < 0.8).all()
    assert contacts.any(axis=1).mean() > 0.75


def compare_contacts(contacts: np.ndarray, planted: np.ndarray) -> tuple[float, float]:
    """Return which share of planted frames have a contact, and of contacts are planted."""
    return float(contacts[planted].mean()), float(planted[contacts].mean())


@pytest.mark.parametrize("fps", [30.0, 60.0, 120.0])
@pytest.mark.parametrize("tremble", [0.004, 0.008])
def test_toes_that_tremble_are_planted(fps, tremble):
    toes, planted = make_steps(fps)
    noise = np.random.default_rng(4).normal(0.0, tremble, toes.shape)
    found, true = compare_contacts(find_contacts(toes + noise, fps, ContactSettings()), planted)
    assert found > 0.75
    assert true > 0.8


@pytest.mark.parametrize("fps", [30.0, 120.0])
@pytest.mark.parametrize("slide", [0.2, 0.5])
def test_toes_that_slide_in_every_step_are_planted(fps, slide):
    toes, planted = make_steps(fps, cycle=0.8)
    toes[..., 1] -= slide * np.arange(len(toes))[:, None] / fps
    found, true = compare_contacts(find_contacts(toes, fps, ContactSettings()), planted)
    assert found > 0.85
    assert true > 0.8


def test_toes_that_never_rest_have_no_contacts():
    fps, t = 60.0, np.arange(300) / 60.0
    circle = np.stack([np.cos(6.0 * t), np.sin(6.0 * t), 0.0 * t], axis=1)[:, None]
    swaying = np.stack([np.cos(6.0 * t), 0.5 * np.sin(6.0 * t), 0.0 * t], axis=1)[:, None]
    for toes in (circle, swaying):
        assert not find_contacts(toes, fps, ContactSettings()).any()


def test_a_few_steps_without_a_rest_change_no_others():
    toes, _ = make_steps(60.0, duration=20.0)
    whole = find_contacts(toes, 60.0, ContactSettings())
    slipping = toes.copy()
    slipping[:120, :, 1] -= 0.4 * np.arange(-120, 0)[:, None] / 60.0
    contacts = find_contacts(slipping, 60.0, ContactSettings())
    np.testing.assert_array_equal(contacts[130:], whole[130:])
