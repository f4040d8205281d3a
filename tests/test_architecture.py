"""The shape of the package: imports point one way, the engine knows no Blender, and loading it costs little."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "motion_matching"
FILES = sorted(PACKAGE.rglob("*.py"))

# Each station, and the stations it may import from (itself included). Everything else is an arrow the wrong way.
BASE = {"engine.errors", "engine.files", "engine.pictures", "engine.presets"}
ENGINE: dict[str, set[str]] = {
    "engine.errors": set(),
    "engine.files": {"engine.errors"},
    "engine.silence": set(),
    "engine.pictures": {"engine.errors", "engine.files"},
    "engine.presets": {"engine.errors", "engine.files"},
    "engine.maths": {*BASE, "engine.maths"},
    "engine.motion": {*BASE, "engine.maths", "engine.motion"},
    "engine.control": {*BASE, "engine.maths", "engine.motion", "engine.control"},
    "engine.matching": {
        *BASE,
        "engine.maths",
        "engine.motion",
        "engine.control",
        "engine.matching",
    },
    "engine.field": {*BASE, "engine.maths", "engine.motion", "engine.control", "engine.field"},
}
ENGINE["engine.baking"] = {*ENGINE}  # takes a database and a take
ENGINE["engine.takes"] = {*ENGINE}  # puts a method and a performer together
SHARED = {
    "engine.field": ("engine", "matching", "database")
}  # what both methods play, though it lies with the first
MAY_IMPORT: dict[str, set[str]] = {
    **ENGINE,
    "engine": set(),
    "scene": {*ENGINE, "scene"},
    "live": {*ENGINE, "scene", "live"},
    "ui": {*ENGINE, "scene", "live", "ui"},
    "arguments": {*ENGINE},
    "commands": {*ENGINE, "scene", "live", "arguments", "commands"},
    "cli": {*ENGINE, "arguments", "commands", "cli"},
    "__main__": {"cli"},
    "registration": {"cli", "live", "ui"},
    "": {"registration"},
}

BLENDER = {
    "bpy",
    "bpy_extras",
    "bpy_types",
    "mathutils",
    "bmesh",
    "gpu",
    "gpu_extras",
    "blf",
    "bl_ui",
    "aud",
}
ENGINE_NEEDS = {*sys.stdlib_module_names, "numpy", "scipy"}


def module_of(file: Path) -> tuple[str, ...]:
    """The file's name inside the package: `engine/maths/quat.py` is ("engine", "maths", "quat")."""
    parts = file.relative_to(PACKAGE).with_suffix("").parts
    return parts[:-1] if parts[-1] == "__init__" else parts


def station_of(module: tuple[str, ...]) -> str:
    """The key of MAY_IMPORT that a module belongs to."""
    return ".".join(module[:2] if module[:1] == ("engine",) else module[:1])


def imports_of(file: Path, tree: ast.AST) -> Iterator[tuple[tuple[str, ...], bool]]:
    """Yield what a file imports, also inside functions: the module's parts, and whether it is of this package."""
    module = module_of(file)
    package = module if file.name == "__init__.py" else module[:-1]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield tuple(alias.name.split(".")), False
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield tuple((node.module or "").split(".")), False
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - (node.level - 1)]
            below = node.module.split(".") if node.module else ()
            for alias in node.names:
                yield (*above, *below, alias.name), True


def parse(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"), str(file))


def wrong_imports(file: Path, tree: ast.Module) -> list[str]:
    """What is wrong with a file's imports, one sentence each."""
    station = station_of(module_of(file))
    wrong = []
    for target, inside in imports_of(file, tree):
        name = ".".join(target)
        if not inside and target[0] == PACKAGE.name:
            wrong.append(f"{name} is imported by its absolute name")
        elif not inside and station.startswith("engine") and target[0] not in ENGINE_NEEDS:
            wrong.append(
                f"the engine imports {name}, which is neither numpy, scipy nor Python's own"
            )
        elif (
            inside
            and station_of(target) not in MAY_IMPORT[station]
            and target[:3] != SHARED.get(station)
        ):
            wrong.append(f"{station or PACKAGE.name} imports {name}")
    return wrong


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(PACKAGE)))
def test_imports_point_one_way(file):
    assert station_of(module_of(file)) in MAY_IMPORT, "a new station: say here what it may import"
    assert wrong_imports(file, parse(file)) == []


@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("engine/maths/quat.py", "from ..motion.clip import Clip"),
        ("engine/maths/quat.py", "from ..motion import clip"),
        ("engine/motion/clip.py", "from ...scene import sampling"),
        ("engine/motion/clip.py", "from ..matching.features import Schema"),
        ("engine/control/performer.py", "from ..matching.method import MotionMatching"),
        ("engine/matching/method.py", "from ..field import states"),
        ("engine/field/method.py", "def late():\n    from ..matching import search"),
        ("engine/maths/quat.py", "import mathutils"),
        ("engine/maths/quat.py", "def late():\n    from bpy import data"),
        ("engine/maths/quat.py", "import pandas.core"),
        ("scene/bake.py", "from ..live import session"),
        ("scene/bake.py", "from .. import cli"),
        ("live/session.py", "from ..ui.operators import Start"),
        ("cli.py", "from .ui import panels"),
        ("commands/take.py", "from ..ui import panels"),
        ("commands/take.py", "from .. import cli"),
        ("scene/bake.py", "from motion_matching.engine.motion.clip import Clip"),
        ("__init__.py", "from .engine.motion.clip import Clip"),
    ],
)
def test_a_wrong_arrow_is_seen(file, source):
    assert wrong_imports(PACKAGE / file, ast.parse(source))


@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("engine/motion/clip.py", "from ..maths import quat"),
        (
            "engine/matching/method.py",
            "from ..control.performer import Performer\nfrom ..errors import RigError",
        ),
        ("engine/field/states.py", "from ..matching.database import Database"),
        (
            "scene/bake.py",
            "import bpy\nfrom ..engine.motion.clip import Clip\nfrom . import actions",
        ),
        ("cli.py", "from .commands.take import take_command"),
        ("commands/take.py", "from ..scene import bake"),
        ("__init__.py", "from . import registration"),
    ],
)
def test_a_right_arrow_passes(file, source):
    assert wrong_imports(PACKAGE / file, ast.parse(source)) == []


def asks_for_version(tree: ast.AST) -> bool:
    """Tell whether code looks at `bpy.app.version` or a relative of it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr.startswith("version"):
            owner = node.value
            if (
                owner.attr if isinstance(owner, ast.Attribute) else getattr(owner, "id", "")
            ) == "app":
                return True
        if isinstance(node, ast.ImportFrom) and node.module == "bpy.app":
            return True
    return False


def test_only_actions_and_options_of_properties_know_blender_versions():
    asking = [
        file.relative_to(PACKAGE).as_posix() for file in FILES if asks_for_version(parse(file))
    ]
    # registering, which gives properties their options, does without the scene
    assert set(asking) <= {"scene/actions.py", "ui/property_options.py"}
    assert asks_for_version(ast.parse("import bpy\nif bpy.app.version >= (5, 0, 0): pass"))


# A finder ahead of all others that refuses the modules named on the command line, below them too.
BLOCK = """
import sys
class Blocked:
    names = set({names!r})
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in self.names:
            raise ImportError(name + " must not be loaded here")
sys.meta_path.insert(0, Blocked())
"""


def test_package_engine_and_command_line_import_without_blender():
    without_blender = {"", "cli", "commands", "registration", "engine", *ENGINE}
    modules = [
        ".".join([PACKAGE.name, *module_of(file)])
        for file in FILES
        if station_of(module_of(file)) in without_blender
    ]
    assert "motion_matching.cli" in modules
    script = (
        BLOCK.format(names=BLENDER)
        + f"import importlib\nfor name in {modules!r}: importlib.import_module(name)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=200
    )
    assert done.returncode == 0, done.stderr


def test_registering_loads_neither_scipy_nor_sdl(run_in_blender):
    run_in_blender(
        BLOCK.format(names={"scipy", "sdl2"})
        + """
import motion_matching
before = set(sys.modules)
motion_matching.register()
motion_matching.unregister()
new = {name for name in set(sys.modules) - before if name.startswith("motion_matching.")}
light = {"errors", "presets", "control", "control.settings", "matching", "matching.thresholds"}
assert new & {f"motion_matching.{station}" for station in ("cli", "commands", "scene", "live")} == set(), new
assert {name for name in new if name.startswith("motion_matching.engine.")} <= {f"motion_matching.engine.{m}" for m in light}
"""
    )
