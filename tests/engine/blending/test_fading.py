"""Total displacements of fading offsets, against numeric integrals of the offsets themselves."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad

from motion_matching.engine.blending.fading import (
    compute_cubic_displacement,
    compute_cubic_matrix,
    compute_signed_spring_displacement,
    compute_spring_displacement,
)
from motion_matching.engine.maths.springs import compute_decay_matrix, halflife_to_rate, spring

RNG = np.random.default_rng(5)
COUNT = 120


def integrate(get_offset, stop, pieces=60):
    """Integrate the size of an offset over time, in pieces so that no kink goes unseen."""
    edges = np.linspace(0.0, stop, pieces + 1)
    return sum(
        quad(lambda t: abs(get_offset(t)), *edges[k : k + 2], epsabs=1e-11, limit=200)[0]
        for k in range(pieces)
    )


def draw_cases(count):
    """Draw offsets, velocities and two halflives; every eighth kind of case is a degenerate one."""
    x = RNG.normal(size=count) * 10.0 ** RNG.uniform(-2, 0, count)
    v = RNG.normal(size=count) * 10.0 ** RNG.uniform(-2, 1, count)
    halflife, other = RNG.uniform(0.03, 0.5, (2, count))
    kind = np.arange(count) % 8
    x[kind == 0], v[kind == 1] = 0.0, 0.0
    same = kind >= 4
    other[same] = halflife[same]
    touching = kind == 4
    v[touching] = -x[touching] * halflife_to_rate(halflife[touching])
    back = kind >= 6  # velocities that take the offset through zero
    v[back] = -np.sign(x[back]) * np.abs(v[back])
    return x, v, halflife, other


def test_the_springs_displacement_is_the_integral_of_what_the_decay_matrix_does():
    cases = draw_cases(COUNT)
    found = compute_spring_displacement(*cases)
    for k, (x, v, halflife, other) in enumerate(np.transpose(cases)):

        def get_offset(t, x=x, v=v, halflife=halflife, other=other):
            return float(compute_decay_matrix(halflife, t, other)[0] @ (x, v))

        numeric = integrate(get_offset, 20.0 * max(halflife, other))
        assert found[k] == pytest.approx(numeric, rel=1e-6, abs=1e-9), (x, v, halflife, other)


def test_an_offset_that_crosses_zero_twice_is_split_at_both_times():
    """Velocities that fade faster than offsets push through zero and lose: the offset returns."""
    x, v, halflife, other = 0.1, -12.0, 0.3, 0.05
    offsets = [
        compute_decay_matrix(halflife, t, other)[0] @ (x, v) for t in np.arange(0, 1.5, 1e-3)
    ]
    assert (np.diff(np.sign(offsets)) != 0).sum() == 2
    numeric = integrate(lambda t: float(compute_decay_matrix(halflife, t, other)[0] @ (x, v)), 4.0)
    assert compute_spring_displacement(x, v, halflife, other) == pytest.approx(numeric, rel=1e-6)


def test_with_one_halflife_it_is_the_integral_of_the_plain_spring():
    for x, v in ((0.1, -3.0), (0.1, 1.0), (-0.2, 5.0), (0.0, 0.0)):
        numeric = integrate(lambda t, x=x, v=v: spring(x, v, 0.0, 0.15, t)[0], 4.0)
        found = float(compute_spring_displacement(x, v, 0.15))
        assert found == pytest.approx(numeric, rel=1e-6, abs=1e-12)
        signed = abs(float(compute_signed_spring_displacement(x, v, 0.15)))
        crosses = v * x < 0 and abs(v) > abs(x) * halflife_to_rate(0.15)
        assert signed < 0.9 * found if crosses else signed == pytest.approx(found, abs=1e-12)


@pytest.mark.slow
def test_the_cubics_displacement_is_the_integral_of_its_offset():
    x, v, time, _ = draw_cases(COUNT)
    v[::8], x[4::8] = -2.0 * x[::8] / time[::8], 0.0  # a line's slope of zero, and only a velocity
    found = compute_cubic_displacement(x, v, time)
    for k in range(COUNT):
        # from its conditions: x and v at the start, and zero with no velocity at the end
        rows = [[0, 0, 0, 1], [0, 0, 1, 0], [1, 1, 1, 1], [3, 2, 1, 0]]
        cubic = np.linalg.solve(rows, [x[k], v[k] * time[k], 0, 0])
        numeric = integrate(lambda t, c=cubic, T=time[k]: np.polyval(c, t / T), time[k])
        assert found[k] == pytest.approx(numeric, rel=1e-6, abs=1e-9)


@pytest.mark.slow
def test_a_cubic_whose_parts_end_at_different_times_is_the_integral_of_its_matrix():
    x, v, time, other = draw_cases(COUNT)
    found = compute_cubic_displacement(x, v, time, other)
    for k in range(COUNT):

        def get_offset(t, k=k):
            return float(compute_cubic_matrix(time[k], t, other[k])[0] @ (x[k], v[k]))

        numeric = integrate(get_offset, max(time[k], other[k]))
        assert found[k] == pytest.approx(numeric, rel=1e-6, abs=1e-9)
    same = compute_cubic_displacement(x, v, time, time)
    np.testing.assert_allclose(same, compute_cubic_displacement(x, v, time), rtol=1e-12)
    nearly = compute_cubic_displacement(x, v, time, time * (1.0 + 1e-9))
    np.testing.assert_allclose(nearly, same, rtol=1e-6, atol=1e-12)


def test_the_cubics_matrix_begins_with_what_is_given_and_ends_at_rest():
    np.testing.assert_allclose(compute_cubic_matrix(0.3, 0.0, 0.5), np.eye(2), atol=1e-12)
    np.testing.assert_array_equal(compute_cubic_matrix(0.3, 0.5, 0.5), np.zeros((2, 2)))
    step, age = 1e-6, 0.1
    before, now, after = (compute_cubic_matrix(0.3, age + d, 0.5) for d in (-step, 0.0, step))
    np.testing.assert_allclose((after[0] - before[0]) / (2 * step), now[1], rtol=1e-6)


@pytest.mark.parametrize("degenerate", [(0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, -1e9)])
def test_degenerate_offsets_give_numbers(degenerate):
    for measure in (compute_spring_displacement, compute_cubic_displacement):
        for time in (0.0, 1e-6, 0.1, 100.0):
            assert np.isfinite(measure(*degenerate, time))


def test_whole_arrays_are_measured_as_single_numbers_are():
    cases = draw_cases(64)
    for measure, count in ((compute_spring_displacement, 4), (compute_cubic_displacement, 3)):
        whole = measure(*(part.reshape(4, 16) for part in cases[:count]))
        each = [float(measure(*row[:count])) for row in np.transpose(cases)]
        np.testing.assert_allclose(whole.ravel(), each, rtol=1e-9)
    x, v = cases[:2]
    table = compute_spring_displacement(x[:, None], v, 0.1)
    assert table.shape == (64, 64)
    assert table[3, 5] == pytest.approx(float(compute_spring_displacement(x[3], v[5], 0.1)))


def test_displacements_scale_with_the_offset_and_with_time():
    x, v, halflife, other = draw_cases(COUNT)
    spring_of = compute_spring_displacement(x, v, halflife, other)
    cubic_of = compute_cubic_displacement(x, v, halflife)
    for factor in (-1.0, 3.0, -0.01):
        np.testing.assert_allclose(
            compute_spring_displacement(factor * x, factor * v, halflife, other),
            abs(factor) * spring_of,
            rtol=1e-9,
        )
        np.testing.assert_allclose(
            compute_cubic_displacement(factor * x, factor * v, halflife),
            abs(factor) * cubic_of,
            rtol=1e-9,
        )
    # the same curve played twice as slowly; halflives have a tiny constant added
    np.testing.assert_allclose(
        compute_spring_displacement(x, v / 2, 2 * halflife, 2 * other), 2 * spring_of, rtol=2e-3
    )
    np.testing.assert_allclose(
        compute_cubic_displacement(x, v / 2, 2 * halflife), 2 * cubic_of, rtol=1e-9
    )
