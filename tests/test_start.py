"""Commands and scripts load what they use, and start as soon as that is there."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from motion_matching import api
from tests.conftest import CHECKOUT

DATABASE = CHECKOUT / "tests" / "data" / "before" / "curves.npz"
RUN = """
import sys
from motion_matching.cli import main
code = main()
sys.stdout.write("\\n".join(["loaded:", *sys.modules]))
sys.exit(code)
"""
# the director, the build, fields and pictures, which a take does without, and all of Blender
OTHERS = (
    *("bpy", "motion_matching.engine.direct", "motion_matching.api.directing"),
    *("motion_matching.engine.building.build", "motion_matching.engine.field.field_controller"),
    *("motion_matching.engine.insight.take_sheet", "motion_matching.engine.retargeting.bodies"),
    *("motion_matching.engine.body.body_search", "motion_matching.scene.staging"),
)
# parts of scipy that neither takes nor their reports need
SLOW = ("scipy.signal", "scipy.spatial", "scipy.optimize", "scipy.interpolate", "scipy.stats")


def list_loaded(line: str, folder: Path) -> set[str]:
    """Return the modules that a process has loaded after a command."""
    done = subprocess.run(
        [sys.executable, "-c", RUN, *line.split()],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        capture_output=True,
        encoding="utf-8",
        timeout=200,
    )
    assert done.returncode == 0, done.stderr
    return set(done.stdout.partition("loaded:\n")[2].splitlines())


@pytest.mark.parametrize(
    ("options", "others"),
    [
        ("--quiet --feet live", ("scipy",)),
        ("--quiet", ("scipy.ndimage", *SLOW)),  # feet are planted by its matrices
        ("--report take.json", SLOW),
    ],
)
def test_a_take_loads_neither_the_director_nor_blender(options, others, tmp_path):
    line = f"take {DATABASE} --seconds 0.5 --bvh take.bvh {options}"
    loaded = list_loaded(line, tmp_path)
    assert "motion_matching.engine.matching.method" in loaded
    assert loaded.isdisjoint({*OTHERS, *others})


def test_names_of_the_api_are_loaded_from_where_type_checkers_find_them():
    tree = ast.parse(Path(api.__file__).read_text(encoding="utf-8"))
    [typed] = (n for n in tree.body if isinstance(n, ast.If) and isinstance(n.test, ast.Name))
    found = {
        alias.asname or alias.name: f"{'.' * node.level}{node.module}"
        + (f":{alias.name}" if alias.asname else "")
        for node in typed.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert {**found, "Pin": "..engine.direct.shot.mark:Mark.from_pin"} == api._PLACES
    assert set(api.__all__) == set(api._PLACES)
    assert set(api.__all__) <= set(dir(api))
    assert all(getattr(api, name) is not None for name in api.__all__)
    with pytest.raises(AttributeError, match="no attribute 'perfrom'"):
        _ = api.perfrom
