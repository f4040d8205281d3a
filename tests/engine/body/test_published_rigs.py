"""The tables of published rigs are read whatever programs write before and behind the names."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from motion_matching.engine.body.named_bones import NamedBones
from motion_matching.engine.body.published_rigs import ARM_PARTS, LEG_PARTS, RIGS, list_parts
from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.skeleton.skeleton import Skeleton

WRAPPINGS: dict[str, Callable[[str, str], str]] = {
    "side before": lambda side, name: f"{side}{name.title()}",
    "suffix": lambda side, name: f"{name}_{side[:1].lower()}" if side else name,
    "Blender's importer": lambda side, name: f"Armature|{side}{name.title()}",
    "namespaces": lambda side, name: f"scene:hero:{side}{name.title()}",
    "Mixamo": lambda side, name: f"mixamorig1:{side}{name.title()}",
    "3ds Max": lambda side, name: f"Bip001 {side[:1]} {name}" if side else f"Bip001 {name}",
    "studio": lambda side, name: f"{side}_{name}_jnt" if side else f"c_{name}_jnt",
}


@pytest.mark.parametrize("wrapping", WRAPPINGS)
def test_the_parts_of_a_rig_are_read_in_any_wrapping(wrapping: str) -> None:
    wrap, parts = WRAPPINGS[wrapping], list_parts(RIGS["VRM"])
    sided = [(side, core) for side in ("Left", "Right", "") for core in parts]
    wanted = {
        wrap(side, core): f"{side.lower()}{parts[core]}"
        for side, core in sided
        if parts[core].startswith("_") == bool(side)
    }
    still = np.tile(quat.IDENTITY, (len(wanted), 1)).astype(np.float32)
    above, places = np.arange(-1, len(wanted) - 1), np.zeros((len(wanted), 3), np.float32)
    named = NamedBones.read(Skeleton(tuple(wanted), above, places, still))
    assert {named.skeleton.names[bone]: role for bone, role in named.roles.items()} == wanted


def test_tables_give_each_name_one_meaning_and_both_limbs_their_needed_parts() -> None:
    for name, rig in RIGS.items():
        words = [word for text in (rig.arm, rig.leg) for word in text.replace(",", " ").split()]
        assert len(set(words)) == len(words), name
        needed = {f"_{part}" for part in (*ARM_PARTS[1:4], *LEG_PARTS[:3])}
        assert needed <= set(list_parts(rig).values()), name
