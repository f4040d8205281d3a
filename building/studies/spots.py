"""Lead characters to spots on the ground, as *Steer By Target* does."""

from __future__ import annotations

import numpy as np

from motion_matching.engine.control.method import Method
from motion_matching.engine.control.performer import Performer, Placement
from motion_matching.engine.performance.settings import PerformerSettings
from motion_matching.engine.takes.performers import create_performer
from motion_matching.live.inputs.base import Situation
from motion_matching.live.inputs.leaders.target import TargetInput

from .quality import Measures

COUNT = 12
NEAREST, FARTHEST = 1.0, 6.0  # metres
THERE = 0.3  # metres from a spot at which the input settles the character on it
_RESTS = 4.0  # seconds after a straight way at full speed, and as long again for the turn


def draw_spots(seed: int) -> np.ndarray:
    """Return spots (COUNT, 2) all around a character."""
    rng = np.random.default_rng(seed)
    distance, angle = rng.uniform(NEAREST, FARTHEST, COUNT), rng.uniform(0.0, 2.0 * np.pi, COUNT)
    return distance[:, None] * np.column_stack([np.sin(angle), -np.cos(angle)])


def measure_way(
    method: Method, settings: PerformerSettings, spot: np.ndarray, gait: float
) -> Measures:
    """Lead a character to a spot (2,), and measure how it gets there.

    Returns how far it rests from the spot and how far it went beyond it, in metres, and the time
    until it is there for good, as a multiple of a straight way at full speed; infinite if never.
    """
    away = float(np.linalg.norm(spot))
    speed = (settings.steering.run if gait else settings.steering.walk).forward
    way = _lead(create_performer(method, settings), spot, gait, 2.0 * (away / speed + _RESTS))
    apart = np.linalg.norm(way - spot, axis=1)
    far = np.flatnonzero(apart > THERE)
    there = int(far[-1]) + 1 if len(far) else 0
    straight = away / speed * method.fps
    return {
        "rests": float(apart[-1]),
        "beyond": max(float(((way - spot) @ spot).max()) / away, 0.0),
        "longers": [there / straight if there < len(way) else np.inf],
    }


def _lead(performer: Performer, spot: np.ndarray, gait: float, seconds: float) -> np.ndarray:
    """Return where a character is (T, 2) that is led to a spot."""
    goal = Placement(*spot.tolist(), 0.0)
    source = TargetInput(lambda: goal, performer.settings.steering, gait=gait)
    frame, way = performer.reset((0.0, 0.0), 0.0), []
    for tick in range(round(seconds * performer.fps)):
        situation = Situation(tick, performer.dt, frame.character, frame.simulation_object)
        frame = performer.step(source.get_intent(situation))
        way.append(frame.character[:2])
    return np.array(way)
