"""Toes of blended frames land when and where the blend has them land."""

from __future__ import annotations

import numpy as np
import pytest

from motion_matching.engine.feet.played_toes import NEVER, blend_toes, measure_toes

FPS, FRAMES, CLIPS = 30.0, 60, 7


def make_clips(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return contacts (C, F, 2), places (C, F, 2, 3) and rows (C, F, 2, 8) of clips that walk."""
    contacts, toes = np.zeros((CLIPS, FRAMES, 2), bool), np.zeros((CLIPS, FRAMES, 2, 3))
    for c in range(CLIPS):
        for leg in range(2):
            begins = rng.integers(0, 15)
            for start in range(begins, FRAMES, 20):
                contacts[c, start : start + rng.integers(5, 14), leg] = True
        toes[c, :, :, :2] = np.cumsum(rng.normal(size=(FRAMES, 2, 2)), axis=0) * 0.02
    still = np.zeros((FRAMES, 3))
    rows = np.stack(
        [
            measure_toes(toe, still, contact, np.array([FRAMES]), [False], FPS)
            for toe, contact in zip(toes, contacts, strict=True)
        ]
    )
    return contacts, toes, rows


@pytest.mark.parametrize("seed", range(20))
def test_a_blend_lands_and_leaves_as_soon_as_its_share_of_frames_does(seed):
    """Beside all clips played on from where they are, tick by tick."""
    rng = np.random.default_rng(seed)
    contacts, toes, rows = make_clips(rng)
    at, weights, share = rng.integers(0, 20, CLIPS), rng.random(CLIPS), rng.uniform(0.2, 0.9)
    weights /= weights.sum()
    ahead = np.stack([contacts[c, at[c] : at[c] + 40] for c in range(CLIPS)])
    stands = np.einsum("c,ctl->tl", weights, ahead) >= share
    blended = blend_toes(rows[np.arange(CLIPS), at], weights, stands[0], share)
    for leg in range(2):
        if stands[0, leg]:
            # those that stand leave one after another, and none comes back meanwhile
            on = np.logical_and.accumulate(ahead[:, :, leg], axis=1)
            leaves = np.argmin(weights @ on >= share)
            assert blended[leg, 4] == pytest.approx(leaves / FPS, abs=1e-5)
            continue
        assert blended[leg, 4] <= 0.0
        landed = np.logical_or.accumulate(ahead[:, :, leg], axis=1)
        lands = int(np.argmax(weights @ landed >= share))
        assert blended[leg, 5] == pytest.approx(lands / FPS, abs=1e-5)
        counted = landed[:, lands]
        first = at + np.argmax(ahead[:, :, leg], axis=1)
        places = toes[np.arange(CLIPS), first, leg, :2]
        expected = weights[counted] @ places[counted] / weights[counted].sum()
        np.testing.assert_allclose(blended[leg, 6:], expected, atol=1e-5)


def test_a_blend_of_one_frame_is_that_frame():
    contacts, _, rows = make_clips(np.random.default_rng(1))
    for frame in range(0, 40, 3):
        row = rows[0, frame]
        blended = blend_toes(row[None], np.ones(1), contacts[0, frame], 0.5)
        np.testing.assert_allclose(blended[:, :6], row[:, :6], atol=1e-6)
        np.testing.assert_allclose(blended[:, 6:], row[:, 6:], atol=1e-6)


def test_a_blend_lands_never_if_too_few_of_its_frames_do():
    _, _, rows = make_clips(np.random.default_rng(2))
    some = rows[:3, 0].copy()
    some[1:, :, 4:6] = 0.0, NEVER
    some[0, :, 4] = 0.0
    blended = blend_toes(some, np.full(3, 1 / 3), np.zeros(2, bool), 0.5)
    assert np.all(blended[:, 5] == NEVER)
