"""Colours in the 3D views differ from each other, from the selection and from the background, for
the colour-blind too.
"""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import bpy
import numpy as np
import pytest

from motion_matching.app.runtime import runtime
from motion_matching.ui.base import colors

APART = 25.0  # CIE 1976 distance; 2.3 is just noticeable
SELECTION = ("object_active", "object_selected", "bone_pose", "bone_pose_active", "vertex_select")
TELLING = (
    "desired",
    "chosen",
    "contact",
    "trajectory",
)  # those that mean something by their colour
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
# Machado, Oliveira, Fernandes 2009, at full severity, for linear RGB
SIGHTS = {
    "normal": np.eye(3),
    "protanopia": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deuteranopia": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
}


def linearize(color) -> np.ndarray:
    color = np.asarray(color[:3], float)
    return np.where(color <= 0.04045, color / 12.92, ((color + 0.055) / 1.055) ** 2.4)


def see(color, sight: str) -> np.ndarray:
    """Return CIE L*a*b* of a colour as someone sees it."""
    xyz = TO_XYZ @ np.clip(SIGHTS[sight] @ linearize(color), 0.0, 1.0)
    x, y, z = np.cbrt(np.maximum(xyz / TO_XYZ.sum(axis=1), 1e-6))
    return np.array([116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)])


def measure_contrast(a, b) -> float:
    """Return the contrast of two colours as WCAG defines it."""
    low, high = sorted(float(TO_XYZ[1] @ linearize(color)) for color in (a, b))
    return (high + 0.05) / (low + 0.05)


@pytest.fixture(params=["Blender_Dark.xml", "Blender_Light.xml"])
def theme(request):
    folder = Path(bpy.utils.preset_paths("interface_theme")[0])
    bpy.ops.preferences.reset_default_theme()
    bpy.ops.script.execute_preset(
        filepath=str(folder / request.param), menu_idname="USERPREF_MT_interface_theme_presets"
    )
    yield bpy.context.preferences.themes[0].view_3d
    bpy.ops.preferences.reset_default_theme()


@pytest.mark.parametrize("sight", SIGHTS)
def test_colours_differ_from_each_other_and_from_the_selection(theme, sight):
    own = {role: see(colors.get_color(role), sight) for role in TELLING}
    for (a, first), (b, second) in combinations(own.items(), 2):
        assert np.linalg.norm(first - second) > APART, (a, b)
    for name in SELECTION:
        selected = see(getattr(theme, name), sight)
        for role, color in own.items():
            assert np.linalg.norm(color - selected) > APART, (role, name)


@pytest.mark.parametrize("sight", SIGHTS)
def test_colours_stand_out_from_the_background(theme, sight):
    background = theme.space.gradients.high_gradient
    for role in TELLING:
        color = colors.get_color(role)
        assert np.linalg.norm(see(color, sight) - see(background, sight)) > APART, role
    for role in colors.ROLES:
        assert measure_contrast(colors.get_color(role), background) >= 3.0, role


def test_plots_have_dark_paper_in_every_theme(theme):
    for role in TELLING:
        paper = (0.05, 0.05, 0.05)
        assert measure_contrast(colors.get_color(role, "dark"), paper) > 3.0, role


def test_the_preferences_change_a_colour_in_the_themes_palette(addon, theme):
    shown = colors.find_background()
    other = "dark" if shown == "light" else "light"
    before = colors.get_color("desired", other)
    heard = []
    runtime.subscribe("selection", lambda: heard.append(1))
    setattr(addon.preferences, f"{shown}_desired", (0.25, 0.5, 0.75))
    assert colors.get_color("desired") == (0.25, 0.5, 0.75, 1.0)
    assert colors.get_color("desired", other) == before
    assert heard, "what is drawn from stored batches is drawn again"
