"""Shipped presets of roles name the bones of the rigs that they are called after."""

from __future__ import annotations

import pytest

from motion_matching.engine import presets
from motion_matching.engine.motion.rig import Roles, find_roles
from tests.engine import rigs

CONVENTIONS = {name.lower().replace(" ", "_").replace("-", "_"): name for name in rigs.NAMINGS}


@pytest.mark.parametrize("preset", presets.list_names("rigs"))
def test_a_preset_of_roles_says_what_is_found_on_such_a_rig(preset: str):
    clip = rigs.make_walk(CONVENTIONS[preset], frames=30)
    roles = Roles.from_names(clip.skeleton, presets.load("rigs", preset)["roles"])
    assert roles == find_roles(clip.skeleton, [clip])
