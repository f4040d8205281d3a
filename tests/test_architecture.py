"""The package's structure: imports point one way, the engine does not know Blender, and loading is
cheap.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import pytest

from building.tables import list_numbers
from motion_matching.engine.feet.planting.numbers import FeetNumbers

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "motion_matching"
FILES = sorted(PACKAGE.rglob("*.py"))

# Rooms of the engine from low to high: each may import those before it, and none that it stands
# APART from.
ORDER = (
    *("errors", "lazy", "progress", "silence", "names", "settings", "units", "scale", "files"),
    *("maths", "ground"),
    *("skeleton", "performance", "motion", "bvh", "body", "legs", "blending"),
    *("feet", "retargeting", "control", "database", "sources", "mending", "facts", "building"),
    *("matching", "field", "takes", "insight", "direct", "datasets"),
)
APART = {
    "field": {"matching"},
    "takes": set[str](),
    "direct": {"matching", "field", "insight"},
}
ENGINE: dict[str, set[str]] = {
    f"engine.{room}": {f"engine.{low}" for low in {*ORDER[: k + 1]} - APART.get(room, set())}
    for k, room in enumerate(ORDER)
}
LAYERS = ["engine", "scene", "live", "app", "ui"]
MAY_IMPORT: dict[str, set[str]] = {
    **ENGINE,
    "engine": {*ENGINE},  # the package loads its subpackages on use
    "scene": {*ENGINE, "scene"},
    "live": {*ENGINE, "scene", "live"},
    "app": {*ENGINE, "engine", "scene", "live", "app", "batch"},
    "ui": {*ENGINE, "engine", "scene", "live", "app", "ui", "batch"},
    "commands": {*ENGINE, "scene", "api", "commands"},
    "batch": {*ENGINE, "commands", "batch"},
    "commands.batch": {*ENGINE, "commands", "batch", "commands.batch"},
    "cli": {*ENGINE, "commands", "cli"},
    "api": {*ENGINE, "scene", "api"},
    "__main__": {"cli"},
    "registration": {"cli", "app", "ui"},
    "": {"registration"},
}
for station in MAY_IMPORT:
    if station not in ("__main__", "registration", ""):
        MAY_IMPORT[station] = {*MAY_IMPORT[station], "engine.lazy"}

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


def get_module(file: Path) -> tuple[str, ...]:
    """Return a file's module parts: `engine/maths/rotations/quat.py` is ("engine", "maths", "quat")."""
    parts = file.relative_to(PACKAGE).with_suffix("").parts
    return parts[:-1] if parts[-1] == "__init__" else parts


def get_station(module: tuple[str, ...]) -> str:
    """Return the key of MAY_IMPORT that a module belongs to."""
    is_own = module[:1] == ("engine",) or module == ("commands", "batch")  # above other commands
    return ".".join(module[:2] if is_own else module[:1])


def list_imports(file: Path, tree: ast.AST) -> Iterator[tuple[tuple[str, ...], bool]]:
    """Yield a file's imports, also inside functions: the module's parts, and whether it is in this
    package.
    """
    module = get_module(file)
    package = module if file.name == "__init__.py" else module[:-1]
    for node in walk(tree):
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


@lru_cache(maxsize=2)  # all rules look at one file after the other
def walk(tree: ast.AST) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(tree))


class Found(NamedTuple):
    """What rules of the structure look at in a file, of which each is parsed once."""

    targets: list[tuple[tuple[str, ...], bool]]
    imports: list[str]
    rooms: list[str]
    state: list[str]
    classes: list[str]
    modules: set[tuple[str, ...]]
    checks_version: bool
    declared: set[str]
    drawn: list[str]


@pytest.fixture(scope="module")
def found() -> dict[Path, Found]:
    """What each file of the package has."""
    return {file: look_into(file, parse(file)) for file in FILES}


def look_into(file: Path, tree: ast.Module) -> Found:
    return Found(
        targets=list(list_imports(file, tree)),
        imports=find_wrong_imports(file, tree),
        rooms=find_wrong_rooms(file, tree),
        state=find_mutable_state(tree),
        classes=[node.name for node in tree.body if isinstance(node, ast.ClassDef)],
        modules=find_module_imports(file, tree),
        checks_version=checks_version(tree),
        declared=find_declared_properties(tree),
        drawn=find_drawn_properties(tree),
    )


def list_wrong(found: dict[Path, Found], rule: str) -> dict[str, list[str]]:
    """Return what breaks a rule, by file."""
    return {
        file.relative_to(PACKAGE).as_posix(): getattr(each, rule)
        for file, each in found.items()
        if getattr(each, rule)
    }


def find_wrong_imports(file: Path, tree: ast.Module) -> list[str]:
    """Return a sentence for each wrong import of a file."""
    station = get_station(get_module(file))
    skipped = find_typing_only(tree)
    typed = ast.Module(
        [node for node in walk(tree) if isinstance(node, ast.ImportFrom) and id(node) in skipped],
        [],
    )
    # settings are typed beside their properties: only type checkers see `app` import them
    exempt = {
        target
        for target, inside in list_imports(file, typed)
        if inside and station == "app" and "properties" in target
    }
    wrong = []
    for target, inside in list_imports(file, tree):
        name = ".".join(target)
        if not inside and target[0] == PACKAGE.name:
            wrong.append(f"{name} is imported by its absolute name")
        elif not inside and station.startswith("engine") and target[0] not in ENGINE_NEEDS:
            wrong.append(
                f"the engine imports {name}, which is neither numpy, scipy nor Python's own"
            )
        elif inside and get_station(target) not in MAY_IMPORT[station] and target not in exempt:
            wrong.append(f"{station or PACKAGE.name} imports {name}")
    return wrong


def test_imports_point_one_way(found):
    stations = {get_station(get_module(file)) for file in FILES}
    assert stations <= set(MAY_IMPORT), "add the new station to MAY_IMPORT"
    assert list_wrong(found, "imports") == {}


@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("engine/maths/rotations/quat.py", "from ...motion.clip import Clip"),
        ("engine/maths/rotations/quat.py", "from ...motion import clip"),
        ("engine/motion/clip.py", "from ...scene import sampling"),
        ("engine/motion/clip.py", "from ..matching.features import Schema"),
        ("engine/control/performer.py", "from ..matching.method import MotionMatching"),
        ("engine/matching/method.py", "from ..field import states"),
        ("engine/field/method.py", "def late():\n    from ..matching import search"),
        ("engine/maths/rotations/quat.py", "import mathutils"),
        ("engine/maths/rotations/quat.py", "def late():\n    from bpy import data"),
        ("engine/maths/rotations/quat.py", "import pandas.core"),
        ("scene/writing/bake.py", "from ...live import session"),
        ("scene/writing/bake.py", "from ... import cli"),
        ("scene/writing/bake.py", "from ...app import status"),
        ("live/session.py", "from ..app.live import host"),
        ("app/live/host.py", "from ...ui import preferences"),
        ("engine/building/build.py", "from ..matching import search"),
        ("live/session.py", "from ..ui.operators import Start"),
        ("cli.py", "from .ui import panels"),
        ("commands/take.py", "from ..ui import panels"),
        ("commands/take.py", "from .. import cli"),
        ("commands/take.py", "from ..batch import job"),
        ("batch/job.py", "from ..api import takes"),
        ("api/takes.py", "from ..commands import take"),
        ("scene/writing/bake.py", "from motion_matching.engine.motion.clip import Clip"),
        ("__init__.py", "from .engine.motion.clip import Clip"),
    ],
)
def test_a_wrong_import_is_reported(file, source):
    assert find_wrong_imports(PACKAGE / file, ast.parse(source))


@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("engine/motion/clip.py", "from ..maths import quat"),
        (
            "engine/matching/method.py",
            "from ..control.performer import Performer\nfrom ..errors import RigError",
        ),
        ("engine/field/states/states.py", "from ..database.database import Database"),
        (
            "scene/writing/bake.py",
            "import bpy\nfrom ...engine.motion.clip import Clip\nfrom ..blender import actions",
        ),
        ("cli.py", "from .commands.take import take_command"),
        ("commands/take.py", "from ..scene.writing import bake"),
        ("commands/take.py", "from ..api.performing import Setup"),
        ("__init__.py", "from . import registration"),
    ],
)
def test_a_right_import_passes(file, source):
    assert find_wrong_imports(PACKAGE / file, ast.parse(source)) == []


# Folders of `scene`, from low to high: Blender's data, rigs, reading and writing motion, staging,
# motion onto control rigs

ROOMS: dict[str, set[str]] = {
    "blender": {"blender"},
    "rig": {"blender", "rig"},
    "library": {"blender", "rig", "library"},
    "reading": {"blender", "rig", "reading"},
    "direct": {"blender", "direct"},
    "writing": {"blender", "rig", "direct", "writing"},
    "staging": {"blender", "rig", "reading", "writing", "staging"},
    "controls": {"blender", "rig", "reading", "writing", "staging", "controls"},
    "retargeting": {"blender", "rig", "reading", "writing", "controls", "retargeting"},
}


def find_wrong_rooms(file: Path, tree: ast.Module) -> list[str]:
    """Return the wrong imports between folders of `scene`."""
    if get_module(file)[:1] != ("scene",) or len(get_module(file)) == 1:
        return []
    room = get_module(file)[1]
    return [
        ".".join(target)
        for target, inside in list_imports(file, tree)
        if inside and target[0] == "scene" and target[1] not in ROOMS[room]
    ]


def test_scene_folders_import_one_way(found):
    assert list_wrong(found, "rooms") == {}


def test_a_wrong_import_between_scene_folders_is_reported():
    assert find_wrong_rooms(
        PACKAGE / "scene/rig/plan.py", ast.parse("from ..reading import sampling")
    )
    assert find_wrong_rooms(
        PACKAGE / "scene/reading/sampling.py", ast.parse("from ..writing.bake import bake")
    )
    assert not find_wrong_rooms(
        PACKAGE / "scene/staging/demo.py", ast.parse("from ..writing.bake import bake")
    )


# No cycles, including imports inside functions


def find_typing_only(tree: ast.Module) -> set[int]:
    """Return the ids of all nodes that only a type checker reads."""
    blocks = [
        node.body
        for node in walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
    ]
    return {id(inner) for body in blocks for statement in body for inner in ast.walk(statement)}


MODULES = {get_module(file) for file in FILES}


def find_module_imports(file: Path, tree: ast.Module) -> set[tuple[str, ...]]:
    """Return the modules of the package that a file imports at run time, also inside functions."""
    skipped = find_typing_only(tree)
    kept = ast.Module(
        [
            node
            for node in walk(tree)
            if isinstance(node, ast.Import | ast.ImportFrom) and id(node) not in skipped
        ],
        [],
    )
    targets = {
        target if target in MODULES else target[:-1]
        for target, inside in list_imports(file, kept)
        if inside
    }
    return (targets & MODULES) - {get_module(file)}


def find_cycle(graph: dict[tuple[str, ...], set[tuple[str, ...]]]) -> list[tuple[str, ...]]:
    """Return modules that import each other in a cycle, or an empty list."""
    done: set[tuple[str, ...]] = set()

    def visit(module: tuple[str, ...], path: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
        if module in path:
            return path[path.index(module) :]
        if module in done:
            return []
        for target in sorted(graph[module]):
            if cycle := visit(target, [*path, module]):
                return cycle
        done.add(module)
        return []

    return next((cycle for module in sorted(graph) if (cycle := visit(module, []))), [])


def test_there_is_no_import_cycle(found):
    graph = {get_module(file): each.modules for file, each in found.items()}
    # a package that only names its modules, as `app` does, imports none of them
    assert [".".join(module) for module in find_cycle(graph)] == []


def test_an_import_cycle_is_reported():
    assert find_cycle({("a",): {("b",)}, ("b",): {("c",)}, ("c",): {("b",)}}) == [("b",), ("c",)]
    assert find_cycle({("a",): {("b",), ("c",)}, ("b",): {("c",)}, ("c",): set()}) == []


# No mutable state in modules: the one Runtime holds what is alive while Blender runs

MUTABLE = (ast.Dict, ast.List, ast.Set, ast.DictComp, ast.ListComp, ast.SetComp)
MAKERS = {
    "dict",
    "list",
    "set",
    "deque",
    "defaultdict",
    "Counter",
    "OrderedDict",
    "WeakKeyDictionary",
    "WeakValueDictionary",
}
HOLDS_STATE = {"app/runtime.py"}


def find_mutable_state(tree: ast.Module) -> list[str]:
    """Return a module's mutable globals: names that functions rebind, and containers that are not
    constants.
    """
    rebound = {name for node in walk(tree) if isinstance(node, ast.Global) for name in node.names}
    for node in tree.body:
        targets = (
            node.targets
            if isinstance(node, ast.Assign)
            else [node.target]
            if isinstance(node, ast.AnnAssign)
            else []
        )
        for target in targets:
            if (
                isinstance(target, ast.Name)
                and not target.id.lstrip("_").isupper()
                and is_mutable(node.value)
            ):
                rebound.add(target.id)
    return sorted(rebound)


def is_mutable(value: ast.expr | None) -> bool:
    """Tell whether an expression makes a mutable container."""
    called = value.func if isinstance(value, ast.Call) else None
    name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
    return isinstance(value, MUTABLE) or name in MAKERS


def test_modules_hold_no_mutable_state(found):
    assert set(list_wrong(found, "state")) <= HOLDS_STATE


@pytest.mark.parametrize(
    "source",
    [
        "found = {}",
        "_found: dict[int, str] = {}",
        "listeners = list()",
        "last = None\ndef put(x):\n    global last\n    last = x",
    ],
)
def test_mutable_state_in_a_module_is_reported(source):
    assert find_mutable_state(ast.parse(source))


def test_class_names_are_unique(found):
    owners: dict[str, list[str]] = {}
    for file, each in found.items():
        for name in each.classes:
            owners.setdefault(name, []).append(file.relative_to(PACKAGE).as_posix())
    assert {name: files for name, files in owners.items() if len(files) > 1} == {}


def find_drawn_properties(tree: ast.Module) -> list[str]:
    """Return the property names in layouts."""
    return [
        node.args[1].value
        for node in walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("prop", "prop_search")
        and len(node.args) > 1
        and isinstance(node.args[1], ast.Constant)
    ]


def find_declared_properties(tree: ast.Module) -> set[str]:
    """Return the names that classes annotate, as properties are."""
    return {
        node.target.id
        for cls in walk(tree)
        if isinstance(cls, ast.ClassDef)
        for node in cls.body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    }


def test_panels_draw_properties_that_exist(found):
    drawing = {file: each for file, each in found.items() if get_station(get_module(file)) == "ui"}
    # Blender's own, the last two of keymap items
    declared = {"name", "active", "type"}.union(*(each.declared for each in drawing.values()))
    assert "steer" in declared
    unknown = {file.name: set(each.drawn) - declared for file, each in drawing.items()}
    assert {name: names for name, names in unknown.items() if names} == {}
    assert sum(len(each.drawn) for each in drawing.values()) > 50
    assert find_drawn_properties(ast.parse("layout.prop(controller, 'metod')")) == ["metod"]


def checks_version(tree: ast.AST) -> bool:
    """Tell whether code looks at `bpy.app.version` or a relative of it."""
    for node in walk(tree):
        if isinstance(node, ast.Attribute) and node.attr.startswith("version"):
            owner = node.value
            if (
                owner.attr if isinstance(owner, ast.Attribute) else getattr(owner, "id", "")
            ) == "app":
                return True
        if isinstance(node, ast.ImportFrom) and node.module == "bpy.app":
            return True
    return False


def test_only_listed_modules_check_the_blender_version(found):
    asking = [
        file.relative_to(PACKAGE).as_posix() for file, each in found.items() if each.checks_version
    ]
    # registering, which gives properties their options, does not need the scene
    assert set(asking) <= {"scene/blender/animation/actions.py", "ui/base/typed_properties.py"}
    assert checks_version(ast.parse("import bpy\nif bpy.app.version >= (5, 0, 0): pass"))


# A finder that refuses the modules named on the command line, and their submodules.
BLOCK = """
import sys
class Blocked:
    names = set({names!r})
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in self.names:
            raise ImportError(name + " must not be loaded here")
sys.meta_path.insert(0, Blocked())
"""


@pytest.mark.slow
def test_package_engine_and_command_line_import_without_blender():
    without_blender = {"", "api", "batch", "cli", "commands", "commands.batch", "engine", *ENGINE}
    modules = [
        ".".join([PACKAGE.name, *get_module(file)])
        for file in FILES
        if get_station(get_module(file)) in without_blender
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
light = {"errors", "lazy", "names", "progress", "settings", "units", "files", "files.file_paths", "files.json_files", "files.presets", "files.numbers", "files.written",
         "performance", "performance.intent", "performance.labels", "performance.published", "performance.scripts",
         "performance.settings", "performance.old_names", "performance.playing_settings",
         "performance.steering_settings", "database",
         "database.features", "database.features.motion_table", "database.features.strokes", "database.features.kinds",
         *(f"database.features.kinds.{m}" for m in ("base", "bones", "fades", "paths")), "blending", "maths",
         "maths.planar", "maths.numeric", "maths.rotations", "maths.rotations.euler", "maths.rotations.quat",
         "database.tags", "database.tags.thresholds", "motion", "motion.rest", "motion.settings", "skeleton",
         "skeleton.bone_names", "retargeting", "retargeting.settings", "performance.numbers", "database.numbers",
         "direct", "direct.shot", "direct.shot.mark"}
assert not {name for name in new if name.startswith(("motion_matching.cli", "motion_matching.commands"))}, new
assert not {name for name in new if name.startswith(("motion_matching.scene.", "motion_matching.live."))}, new
assert {name for name in new if name.startswith("motion_matching.engine.")} <= {f"motion_matching.engine.{m}" for m in light}, new
"""
    )


# ---------------------------------------------------------------- rooms and their faces


MOST_NAMES = 7
STOREYS = {("engine",), ("scene",), ("app",), ("ui",), ("api",), ("commands",)}
ROOM_FACES = {
    get_module(file): file
    for file in FILES
    if file.name == "__init__.py" and get_module(file) and get_module(file)[0] != "ui"
}


def read_face(tree: ast.Module) -> set[str]:
    """Return the names that a package shows: those of `__all__`, and what it loads on use."""
    named = {
        alias.asname or alias.name
        for node in walk(tree)
        if isinstance(node, ast.ImportFrom) and node.level == 1
        for alias in node.names
    }
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            named |= set(ast.literal_eval(node.value))
    return named


def test_rooms_have_a_small_face():
    """Other rooms import at most seven names of a room, and these stand in its `__init__`."""
    faces = {room: read_face(parse(file)) for room, file in ROOM_FACES.items()}
    sizes = {room: sorted(face) for room, face in faces.items() if len(face) > MOST_NAMES}
    assert set(sizes) <= STOREYS, sizes
    wrong = [
        f"{'.'.join(get_module(file))} imports {'.'.join(target)}"
        for file in FILES
        if file.name != "__init__.py"
        for target, inside in list_imports(file, parse(file))
        if inside and find_closed_room(get_module(file), target, faces)
    ]
    assert wrong == []


def find_closed_room(
    module: tuple[str, ...], target: tuple[str, ...], faces: dict[tuple[str, ...], set[str]]
) -> tuple[str, ...] | None:
    """Return the room whose face lacks what a module outside of it imports."""
    rooms = (target[:k] for k in range(1, len(target)))
    return next(
        (
            room
            for room in rooms
            if room in faces
            and room not in STOREYS
            and module[: len(room)] != room
            and target[len(room)] not in faces[room]
        ),
        None,
    )


def test_an_import_past_a_face_is_reported():
    faces = {("engine", "feet"): {"played_toes"}}
    for name, room in (("played_toes", None), ("dragging", ("engine", "feet"))):
        target = ("engine", "feet", name)
        assert find_closed_room(("engine", "takes", "takes"), target, faces) == room
        assert find_closed_room(("engine", "feet", "live", "foot_lock"), target, faces) is None


# ---------------------------------------------------------------- numbers


NUMBERED = (  # rooms whose tuned numbers stand in their `numbers.py`
    "feet",
    "legs",
    "ground",
    "control",
    "blending",
    "matching",
    "field",
    "facts",
    "takes",
    "performance",
    "motion",
    "direct",
    "body",
    "sources",
    "mending",
    "retargeting",
    "insight",
    "database",
    "building",
)
NOT_TUNED = {  # constants that nobody would choose otherwise, by what they are
    "a limit of input": {
        "FARTHEST",
        "FEWEST_DIRECTIONS",
        "HIGHEST_RATE",
        "LARGEST_ANGLE",
        "LARGEST_SPEED",
        "LONGEST_FADE",
        "LONGEST_SHOT",
        "LONGEST_TAKE",
        "LOWEST_RATE",
        "MOST_DIRECTIONS",
        "MOST_FRAMES",
        "MOST_POSES",
        "MOST_SPEEDS",
        "MOST_VARIATIONS",
        "_FARTHEST",
        "_FARTHEST_TIME",
        "_LARGEST_BIAS",
        "_LARGEST_BOX",
        "_LARGEST_MOVE",
        "_LARGEST_PLACE",
        "_LARGEST_VELOCITY",
        "_LONGEST_WINDOW",
        "_MOST_BONES",
        "_MOST_DIGITS",
        "_MOST_DIMENSIONS",
        "_MOST_TAGS",
        "_SHORTEST_FADE",
        "_SHORTEST_SHOT",
    },
    "stands for a time that does not come or is not known": {"NEVER", "_ALWAYS", "_UNKNOWN"},
    "a unit": {"PER_CENTIMETRE", "_CM", "_GIVEN_RATE"},
    "mathematics": {"SHORTEST_TAKE", "_GOLDEN", "_PART", "_SPAN", "_STENCILS"},
    "a column": {"STAYS", "UNTIL"},
    "anatomy": {"_PHALANGES", "_TWO_LEGS"},
    "a default of a setting": {"PLANT_ANGLE", "SIZE", "usual_time"},
    "a colour": {"ACTUAL", "DESIRED", "OBSTACLE", "OTHER"},
    "a direction or a rotation": {"STRAIGHT_AHEAD", "_NEVER", "_UNTURNED"},
    "the version of a format": {
        "DIFFERENCES",
        "FACTS_VERSION",
        "VERSION",
        "_ALGORITHM",
        "_VERSION",
        "number",
    },
    "keeps a division or a solution finite": {
        "_DAMPING",
        "_LEAST_LENGTH",
        "_LEAST_WEIGHT",
        "_SHIFT",
        "_SMALLEST",
        "_TINY",
    },
    "what rounding leaves": {
        "_BETWEEN",
        "_NO_LENGTH",
        "_ROUNDING",
        "_SHORTEST",
        "_SKIN",
        "_TOUCH",
        "_WHOLE",
    },
}


def find_loose_numbers(tree: ast.Module) -> list[str]:
    """Return the constants of a module and of its classes that are bound to numbers."""
    bodies = [tree.body, *(node.body for node in tree.body if isinstance(node, ast.ClassDef))]
    bound = [
        (target, value)
        for body in bodies
        for node in body
        if isinstance(node, ast.Assign) or (isinstance(node, ast.AnnAssign) and body is tree.body)
        for target, value in list_bound(node)
    ]
    return [
        target.id
        for target, value in bound
        if isinstance(target, ast.Name) and not is_fixed(target.id) and is_of_numbers(value)
    ]


def is_fixed(name: str) -> bool:
    return any(name in names for names in NOT_TUNED.values())


def list_bound(node: ast.Assign | ast.AnnAssign) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    """Yield the names that an assignment binds, each with its own value."""
    for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            yield from zip(target.elts, node.value.elts, strict=True)
        else:
            yield target, node.value


def is_of_numbers(value: ast.expr | None) -> bool:
    """Tell whether an expression is made of numbers; zeros alone are no choice."""
    match value:
        case ast.Constant():
            return type(value.value) in (int, float) and value.value != 0
        case ast.UnaryOp():
            return is_of_numbers(value.operand)
        case ast.BinOp():
            return is_of_numbers(value.left) or is_of_numbers(value.right)
        case ast.Tuple():
            return any(map(is_of_numbers, value.elts))
        case ast.Call(func=ast.Attribute(value=ast.Name(id="math"))):
            return any(map(is_of_numbers, value.args))
    return False


def test_tuned_numbers_stand_in_one_place():
    loose = {
        file.relative_to(PACKAGE).as_posix(): names
        for room in NUMBERED
        for file in (PACKAGE / "engine" / room).rglob("*.py")
        if file.name != "numbers.py" and (names := find_loose_numbers(parse(file)))
    }
    assert loose == {}, "tune it in the room's `numbers.py`, with its unit and why"


@pytest.mark.parametrize(
    "source",
    [
        "_AROUND = 0.02",
        "_FEW, _MANY = 3, -4",
        "_TIMES: tuple[float, ...] = (0.1, 0.2)",
        "_TURN = math.radians(30.0)",
        "_TWICE = 2 * _ONCE",
        "class Search:\n    _MOST = 64",
    ],
)
def test_a_loose_number_is_reported(source):
    assert find_loose_numbers(ast.parse(source))


@pytest.mark.parametrize(
    "source",
    [
        "STEP = NUMBERS.step",
        "_NOWHERE = (0.0, 0.0)",
        "_NAMES = 'a', 'b'",
        "class Point:\n    x: float = 0.0",
    ],
)
def test_what_is_no_number_passes(source):
    assert find_loose_numbers(ast.parse(source)) == []


def test_each_tuned_number_has_a_unit_and_a_reason():
    wrong = [
        f"{room}: {each.name}"
        for room, numbers in list_numbers().items()
        for each in fields(numbers)
        if not each.metadata["unit"] or len(each.metadata["why"]) <= 10
    ]
    assert wrong == []


def test_the_room_of_planting_stays_small():
    planting = PACKAGE / "engine" / "feet" / "planting"
    lines = sum(len(file.read_text("utf-8").splitlines()) for file in planting.glob("*.py"))
    assert lines <= 2200, "a limit more is worth it if another goes, or if the room gets simpler"
    assert len(fields(FeetNumbers)) <= 40, "measure a number from the data, or drop another"
