"""Results that no memory decides: numpy's functions that round otherwise for values that lie apart."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from motion_matching.engine.maths import numeric

PACKAGE = Path(__file__).resolve().parent.parent / "motion_matching"

# numpy's functions that it computes several at a time, with other last bits than one at a time
BLOCKWISE = {
    *("sin", "cos", "tan", "arcsin", "arccos", "arctan", "arctan2", "sinh", "cosh", "tanh"),
    *("arcsinh", "arccosh", "arctanh", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p"),
    *("power", "float_power", "cbrt"),
}


def is_apart(node: ast.expr) -> bool:
    """Tell whether an expression selects values that may lie apart, as of one column."""
    if isinstance(node, ast.Starred):
        return is_apart(node.value)
    if isinstance(node, ast.Attribute):
        return node.attr == "T"
    if not isinstance(node, ast.Subscript):
        return False
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    several = [part for part in parts if isinstance(part, ast.Slice)]
    steps = any(part.step for part in several)
    dots = any(isinstance(part, ast.Constant) and part.value is Ellipsis for part in parts)
    return steps or dots or (len(several) > 0 and len(parts) > 1) or is_apart(node.value)


def find_unsteady_calls(tree: ast.Module) -> list[int]:
    """Return the lines that hand values which may lie apart to one of these functions."""
    return [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and (node.func.value.id, node.func.attr) in {("np", name) for name in BLOCKWISE}
        and any(map(is_apart, node.args))
    ]


def test_no_function_that_rounds_by_memory_gets_values_that_lie_apart():
    texts = {file: file.read_text(encoding="utf-8") for file in PACKAGE.rglob("*.py")}
    called = re.compile(rf"np\.({'|'.join(BLOCKWISE)})\(")
    found = {
        file.relative_to(PACKAGE).as_posix(): lines
        for file, text in texts.items()
        if called.search(text) and (lines := find_unsteady_calls(ast.parse(text)))
    }
    assert found == {}, "use as_run or arctan2 of engine/maths/numeric.py"


@pytest.mark.parametrize(
    ("source", "is_steady"),
    [
        ("np.arctan2(poses[:, 6, 0], poses[:, 3, 0])", False),
        ("np.exp(v[..., 0])", False),
        ("np.arctan2(*way.T)", False),
        ("np.log(v[::2])", False),
        ("np.arctan2(way[0], -way[1])", True),
        ("np.exp(0.5 * v[:, 0])", True),
        ("np.arccos(v[2:5])", True),
        ("np.sqrt(v[:, 0])", True),
    ],
)
def test_a_call_with_a_column_is_reported(source, is_steady):
    assert (find_unsteady_calls(ast.parse(source)) == []) == is_steady


@given(st.integers(1, 9), st.integers(1, 5), st.integers(1, 3), st.booleans())
def test_values_of_a_run_follow_one_another_and_stay_as_they_are(rows, columns, step, turned):
    whole = np.arange(rows * columns * 4, dtype=np.float32).reshape(rows, columns, 4)
    part = whole[::step, :, 1:3].T if turned else whole[::step, :, 2]
    run = numeric.as_run(part)
    assert run.flags.forc
    np.testing.assert_array_equal(run, part)
    assert numeric.as_run(run) is run, "a run is not copied"


def test_angles_of_columns_are_those_of_runs():
    points = np.random.default_rng(1).normal(size=(501, 4))
    columns = np.ascontiguousarray(points.T)
    expected = np.arctan2(columns[3], columns[1])
    np.testing.assert_array_equal(numeric.arctan2(points[:, 3], points[:, 1]), expected)


@given(st.lists(st.integers(-3, 3) | st.just(np.inf), max_size=30), st.integers(1, 12))
def test_of_equal_values_the_lowest_index_is_smallest(values, count):
    found = numeric.find_smallest(np.array(values, np.float32), count)
    assert found.tolist() == sorted(range(len(values)), key=lambda i: (values[i], i))[:count]
