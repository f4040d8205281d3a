"""Fixtures of the tests of panels, operators and preferences."""

from __future__ import annotations

import pytest


@pytest.fixture
def addon():
    """The entry of the enabled extension in Blender's preferences."""
    import bpy

    addon = bpy.context.preferences.addons.new()
    addon.module = "motion_matching"
    return addon
