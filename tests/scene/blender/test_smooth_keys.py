"""Keys with slopes evaluate in Blender as they do in numpy."""

from __future__ import annotations

import bpy
import numpy as np

from motion_matching.scene.blender.animation import actions
from motion_matching.scene.blender.animation.curves import (
    evaluate_smooth_keys,
    write_smooth_keys,
)


def test_blender_evaluates_smooth_keys_as_numpy_does() -> None:
    rng = np.random.default_rng(1)
    obj = bpy.data.objects.new("Any", None)
    for count in (2, 3, 12, 60):
        inner = rng.choice(np.arange(1, 399), count - 2, replace=False)
        keys = np.sort(np.concatenate([[0, 399], inner]))
        values, slopes = rng.normal(size=(3, count)), 0.1 * rng.normal(size=(3, count))
        with actions.create_action("Any", obj) as action:
            curves = [
                actions.get_channelbag(action).fcurves.new("location", index=i) for i in range(3)
            ]
            for curve, own, slope in zip(curves, values, slopes, strict=True):
                write_smooth_keys(curve, keys + 5.0, own, slope)
        frames = np.arange(400)
        evaluated = [[curve.evaluate(frame + 5.0) for frame in frames] for curve in curves]
        np.testing.assert_allclose(
            evaluate_smooth_keys(keys, values, slopes, 400), evaluated, atol=1e-4
        )


def test_two_equal_keys_with_level_handles_hold_what_is_between() -> None:
    keys, values = np.array([0, 10, 30, 40]), np.array([[0.0, 2.0, 2.0, 5.0]])
    slopes = np.array([[0.3, 0.0, 0.0, 0.1]])
    curve = evaluate_smooth_keys(keys, values, slopes, 41)
    np.testing.assert_allclose(curve[0, 10:31], 2.0)
    assert curve[0, 31] > 2.0
