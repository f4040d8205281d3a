"""Shipped presets of roles match the rigs that they are named after."""

from __future__ import annotations

import pytest

from motion_matching.engine.body.rig import Roles, find_roles
from motion_matching.engine.files import presets
from tests.engine import rigs

CONVENTIONS = {name.lower().replace(" ", "_").replace("-", "_"): name for name in rigs.NAMINGS}


@pytest.mark.parametrize("preset", presets.list_names("rigs"))
def test_a_role_preset_equals_the_roles_found_on_its_rig(preset: str):
    clip = rigs.make_walk(CONVENTIONS[preset], frames=30)
    roles = Roles.from_names(clip.skeleton, presets.load("rigs", preset)["roles"])
    assert roles == find_roles(clip.skeleton, [clip])
