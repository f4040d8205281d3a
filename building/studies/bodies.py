"""The motion and the characters that retargeting is studied on, with the true parts of each."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from building.benchmarks.report import CHECKOUT
from building.locomotion import locomotion
from building.locomotion.humanoid import build_humanoid_skeleton
from motion_matching.engine.body.body_roles import BodyRoles
from motion_matching.engine.bvh import bvh
from motion_matching.engine.motion.clip import Clip
from tests.engine import animals, characters
from tests.engine.characters import HUMANOID_ROLES, SIDES, Character
from tests.scene.rigify_bones import list_bones

_GENERATED = (0, 3, 7, 12)  # of the built-in clips: standing, walking, turning and strafing
_EVERY_ANIMAL, _EVERY_FILE = 4, 20
_FRAMES = 3000  # of LAFAN1's take
_PARTS = ("collar", "upper_arm", "forearm", "hand", "thigh", "shin", "foot", "toe")


class Data(NamedTuple):
    """Clips of one skeleton; `folder` is the one below MOTION_MATCHING_MOCAP, if any."""

    text: str
    folder: str
    load: Callable[[Path], tuple[list[Clip], Character]]
    four_legged: bool = False


class Target(NamedTuple):
    """A character; `rigify` is the metarig of one that Rigify generates.

    Bounds are of the mean error of legs in degrees, and of the share of parts that are found.
    """

    text: str
    make: Callable[[], Character] | None = None
    rigify: str = ""
    four_legged: bool = False
    legs: float = 3.0
    found: float = 0.95
    unit: float = 1.0  # lengths as multiples of metres


def _load_generated(_: Path) -> tuple[list[Clip], Character]:
    clips = locomotion.generate()
    chosen = [clips[index] for index in _GENERATED]
    return chosen, Character(clips[0].skeleton, HUMANOID_ROLES)


def _load_few_joints(_: Path) -> tuple[list[Clip], Character]:
    clip, character = characters.make_cmu_like(locomotion.generate()[3])
    return [clip], character


def _load_many_joints(_: Path) -> tuple[list[Clip], Character]:
    clip, character = characters.make_many_joints(locomotion.generate()[3])
    return [clip], character


def _load_dog(_: Path) -> tuple[list[Clip], Character]:
    clips = [motion.clip for motion in animals.make_dog_motions()][::_EVERY_ANIMAL]
    return clips, Character(clips[0].skeleton, characters.DOG_ROLES, four_legged=True)


def _load_bandai(folder: Path) -> tuple[list[Clip], Character]:
    names = ["Shoulder", "UpperArm", "LowerArm", "Hand", "UpperLeg", "LowerLeg", "Foot", "Toes"]
    trunk = {"root": "joint_Root", "hips": "Hips", "spine": "Spine Chest"}
    limbs = {side: [f"{name}_{side[0].upper()}" for name in names] for side in SIDES}
    clips = [bvh.load(path) for path in sorted(folder.glob("*.bvh"))[::_EVERY_FILE]]
    return clips, _name_bones(clips[0], trunk, limbs)


def _load_lafan(folder: Path) -> tuple[list[Clip], Character]:
    names = ["Shoulder", "Arm", "ForeArm", "Hand", "UpLeg", "Leg", "Foot", "Toe"]
    trunk = {"hips": "Hips", "spine": "Spine Spine1 Spine2"}
    limbs = {side: [side.title() + name for name in names] for side in SIDES}
    clip = bvh.load(sorted(folder.glob("*.bvh"))[0])
    return [clip.crop(0, min(_FRAMES, clip.frame_count))], _name_bones(clip, trunk, limbs)


def _name_bones(
    clip: Clip, trunk: Mapping[str, str], limbs: Mapping[str, Sequence[str]]
) -> Character:
    roles = {role: tuple(names.split()) for role, names in trunk.items()}
    roles |= {"neck": ("Neck",), "head": ("Head",)}
    for side, names in limbs.items():
        roles |= {f"{side}_{part}": (name,) for part, name in zip(_PARTS, names, strict=True)}
    return Character(clip.skeleton, roles)


DATA = {
    "bandai": Data(
        "Bandai-Namco's motion capture, every twentieth file", "bandai-namco", _load_bandai
    ),
    "lafan1": Data(f"the first {_FRAMES:,} frames of a take of LAFAN1", "lafan1", _load_lafan),
    "generated": Data("four of the built-in clips", "", _load_generated),
    "31 bones": Data(
        "a built-in clip on 31 bones that are named and split as those of CMU's files",
        "",
        _load_few_joints,
    ),
    "77 joints": Data(
        "the same on 77 joints, with a root that carries the motion, fingers and a face",
        "",
        _load_many_joints,
    ),
    "dog": Data(
        "a generated dog that walks, trots and canters, with front legs named as arms",
        "",
        _load_dog,
        four_legged=True,
    ),
}  # fmt: skip


def make_performer() -> Character:
    return Character(build_humanoid_skeleton(), HUMANOID_ROLES)


_ANIMAL = {"four_legged": True, "legs": 10.0}
_LEAST_FOUND = 17 / 19  # of the parts of Rigify's animals
TARGETS = {
    "performer": Target("the demo's performer", make_performer),
    "Rigify human": Target("the deform bones of Rigify's human, with face and fingers", rigify="human"),
    "Rigify basic human": Target("the deform bones of Rigify's basic human", rigify="basic_human"),
    "Mixamo": Target("Mixamo's names and fingers, a T-pose, in centimetres", characters.make_mixamo, unit=100.0),
    "Unreal": Target(
        "Unreal's names, root, twist and IK bones, a 45° A-pose, X along bones", characters.make_unreal
    ),
    "MPFB": Target("MPFB's names, limbs of two bones, a 42° A-pose", characters.make_mpfb),
    "child": Target("three quarters of an adult's size, with legs 0.6 times as long as such an adult's", characters.make_child, legs=6.0),
    "giant": Target("1.6 times an adult's size", characters.make_giant, legs=6.0),
    "no toes": Target("no toes, a 60° A-pose, twist bones, names that say nothing", characters.make_no_toes),
    "quadruped": Target("an animal with long forelegs, shoulder blades and a tail", characters.make_quadruped, **_ANIMAL),
    "Rigify quadruped": Target("the deform bones of Rigify's basic quadruped", rigify="basic_quadruped", **_ANIMAL),
    "Rigify wolf": Target("the same of Rigify's wolf", rigify="wolf", found=_LEAST_FOUND, **_ANIMAL),
    "Rigify horse": Target("the same of Rigify's horse", rigify="horse", found=_LEAST_FOUND, **_ANIMAL),
    "Rigify cat": Target("the same of Rigify's cat", rigify="cat", found=_LEAST_FOUND, **_ANIMAL),
}  # fmt: skip


def find_data() -> list[str]:
    """Return the names of data that is here."""
    mocap = os.environ.get("MOTION_MATCHING_MOCAP")
    return [name for name, data in DATA.items() if mocap or not data.folder]


def find_targets() -> list[str]:
    """Return the names of characters that can be made here: Rigify's need Blender's module."""
    blender = find_spec("bpy") is not None
    return [name for name, target in TARGETS.items() if blender or not target.rigify]


@lru_cache(maxsize=2)
def load_data(name: str) -> tuple[list[Clip], BodyRoles]:
    """Return clips, and the true parts of their skeleton."""
    data = DATA[name]
    clips, character = data.load(Path(os.environ.get("MOTION_MATCHING_MOCAP", "")) / data.folder)
    return clips, get_roles(character)


def load_target(name: str, folder: Path) -> Character:
    """Return a character; Rigify's are read from where `save_rigify` has put them."""
    target = TARGETS[name]
    if target.make:
        return target.make()
    skeleton = pickle.loads(_find_file(folder, target.rigify).read_bytes())
    roles = {role: tuple(names) for role, names in list_bones(target.rigify).items()}
    return Character(skeleton, roles, target.four_legged)


def get_roles(character: Character) -> BodyRoles:
    """Return the true parts of a character."""
    sure = dict.fromkeys(character.roles, 1.0)
    return BodyRoles(character.list_chains(), sure, character.four_legged)


def save_rigify(kind: str, folder: Path) -> None:
    """Generate one of Rigify's rigs in a process of its own, and save its skeleton in `folder`."""
    command = [sys.executable, "-m", "building.studies.rigify_skeleton", kind]
    path = _find_file(folder, kind)
    done = subprocess.run(
        [*command, str(path)], cwd=CHECKOUT, capture_output=True, encoding="utf-8"
    )
    # Blender may crash at exit, when all is saved
    if not path.exists():
        raise RuntimeError(f"Rigify's {kind} could not be generated:\n{done.stdout}{done.stderr}")


def _find_file(folder: Path, kind: str) -> Path:
    return folder / f"{kind}.pickle"
