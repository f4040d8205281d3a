"""Whole ticks as the notebook plays them: the object moves, then the way ahead is predicted.

The loop below is the notebook's own (notebook 000, Player), in its own order. Two things are as here
and not as there: a clip plays to its end, and the object's heading follows that of the motion.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from motion_matching.engine.control.performer import Performer
from motion_matching.engine.database.database import Database
from motion_matching.engine.database.features.features import load_schema
from motion_matching.engine.files import presets
from motion_matching.engine.matching.method import MotionMatching
from motion_matching.engine.performance.intent import Intent
from motion_matching.engine.performance.settings import PerformerSettings

TICKS, CHANGE = 600, 40  # ticks in all, and between two wishes
DT = 1.0 / 30.0
HALFLIFE, TURN_HALFLIFE = 0.5, 0.4
AHEAD = (10.0 / 30.0, 20.0 / 30.0, 30.0 / 30.0)
REWIND, LAST = 5, 30  # frames: a jump goes back by more, and never to the end of a clip


def rotate(x: np.ndarray, yaw: float) -> np.ndarray:
    c, s = math.cos(yaw), math.sin(yaw)
    return np.array([c * x[0] - s * x[1], s * x[0] + c * x[1]])


def spring_character_update(x, v, a, goal, halflife, dt):
    y = 2.0 * math.log(2.0) / halflife
    j0 = v - goal
    j1 = a + j0 * y
    e = math.exp(-y * dt)
    x = e * (-j1 / y**2 + (-j0 - j1 * dt) / y) + j1 / y**2 + j0 / y + goal * dt + x
    return x, e * (j0 + j1 * dt) + goal, e * (a - j1 * y * dt)


def simple_spring_damper(x, v, goal, halflife, dt):
    y = 2.0 * math.log(2.0) / halflife
    j0 = (x - goal + math.pi) % math.tau - math.pi
    j1 = v + j0 * y
    e = math.exp(-y * dt)
    return x + e * (j0 + j1 * dt) - j0, e * (v - j1 * y * dt)


class NotebookPlayer:
    """The notebook's objects and its player, in float64."""

    def __init__(self, database: Database, frame: int) -> None:
        self.database, self.frame = database, frame
        raw, weights = database.features.T.astype(np.float64), database.schema.weights
        deviation = raw.std(axis=0)
        varies = deviation > 1e-4
        self.mean = raw.mean(axis=0)
        self.scale = np.where(varies, weights / np.where(varies, deviation, 1.0), 0.0)
        self.features = (raw - self.mean) * self.scale
        self.stops = database.stops[database.range_of_frame]
        self.may_enter = np.arange(len(raw)) < self.stops - LAST
        self.p, self.yaw = np.zeros(2), 0.0
        self.x, self.v, self.a = np.zeros(2), np.zeros(2), np.zeros(2)
        self.x_rot, self.v_rot = 0.0, 0.0

    def build_query(self, futures) -> np.ndarray:
        query = self.features[self.frame].copy()
        points, directions = [], []
        for place, yaw in futures:
            points += [*rotate(place - self.p, -self.yaw), 0.0]
            directions += [*rotate(np.array([0.0, -1.0]), yaw - self.yaw), 0.0]
        query[15:] = (np.array(points + directions) - self.mean[15:]) * self.scale[15:]
        return query

    def predict(self, velocity: np.ndarray, facing: float):
        """Return place and heading after each of the times ahead."""
        for time in AHEAD:
            x, _, _ = spring_character_update(self.x, self.v, self.a, velocity, HALFLIFE, time)
            yaw, _ = simple_spring_damper(self.x_rot, self.v_rot, facing, TURN_HALFLIFE, time)
            yield x, yaw

    def move_object(self, velocity: np.ndarray, facing: float) -> None:
        state = self.x, self.v, self.a
        self.x, self.v, self.a = spring_character_update(*state, velocity, HALFLIFE, DT)
        turn = self.x_rot, self.v_rot
        self.x_rot, self.v_rot = simple_spring_damper(*turn, facing, TURN_HALFLIFE, DT)

    def search(self, query: np.ndarray) -> int:
        current, frames = self.frame, np.arange(len(self.features))
        allowed = self.may_enter & ((frames < current - REWIND) | (frames > current))
        allowed[current] = current + 1 < self.stops[current]
        costs = np.sum((self.features - query) ** 2, axis=1)
        return int(np.argmin(np.where(allowed, costs, np.inf)))

    def tick(self, velocity: np.ndarray, facing: float, moves_first: bool = True) -> bool:
        """Play one tick; return whether it jumped."""
        if moves_first:
            self.move_object(velocity, facing)
        query = self.build_query(list(self.predict(velocity, facing)))
        if not moves_first:
            self.move_object(velocity, facing)
        best = self.search(query)
        jumped = best != self.frame
        self.frame = best + 1
        (ax, ay, before), (bx, by, after) = self.database.track[best : best + 2]
        self.p = self.p + rotate(rotate(np.array([bx - ax, by - ay]), -before), self.yaw)
        self.yaw += after - before
        self.x = self.p.copy()
        self.x_rot += (self.yaw - self.x_rot + math.pi) % math.tau - math.pi
        return jumped


@pytest.fixture(scope="module")
def database(demo_database):
    return demo_database.with_schema(load_schema("notebook"))


def list_wishes() -> list[tuple[np.ndarray, float]]:
    """List velocities and headings: each asked for some ticks long, and standing in between."""
    rng = np.random.default_rng(5)
    wishes = []
    for number in range(TICKS // CHANGE):
        heading, speed = rng.uniform(-math.pi, math.pi), rng.uniform(0.8, 3.0)
        velocity = rotate(np.array([0.0, -speed]), heading)
        wishes += [(velocity if number % 4 < 3 else np.zeros(2), heading)] * CHANGE
    return wishes


def play_both(database, *, moves_first: bool, **changes) -> tuple[list[bool], list[bool]]:
    """Return in which ticks both play the same frame at the same place, and jump."""
    preset = presets.load("controllers", "notebook")["settings"]
    # a halflife that does not depend on whether there is an input, as without `fast_stop`
    settings = PerformerSettings().with_changes(preset | {"stop_factor": 1.0} | changes)
    performer = Performer(MotionMatching(database, settings), settings)
    player = NotebookPlayer(database, performer.reset((0.0, 0.0), 0.0).frame)
    same, jumps = [], []
    for velocity, facing in list_wishes():
        frame = performer.step(Intent(velocity=tuple(velocity.tolist()), facing=facing))
        jumps.append(player.tick(velocity, facing, moves_first))
        place = math.dist(frame.character[:2], player.p) < 1e-3
        same.append(frame.frame == player.frame and frame.jumped == jumps[-1] and place)
    return same, jumps


@pytest.mark.slow
def test_all_ticks_are_those_of_the_notebooks_loop_in_its_order(database):
    same, jumps = play_both(database, moves_first=True)
    assert (len(same), sum(same)) == (600, 600)
    assert 40 < sum(jumps) < 300


@pytest.mark.slow
def test_the_order_matters(database):
    """The shipped order is the loop's once that predicts first, and another one otherwise."""
    assert all(play_both(database, moves_first=False, prediction="spring")[0])
    assert not all(play_both(database, moves_first=True, prediction="spring")[0])
