"""Generate clips on ramps and stairs: straight walks from flat ground over them onto flat ground.

A walk is planned as on flat ground, slower where it climbs. Then the ground is laid under its
steps: a ramp begins and ends between two of them, and each step of the stairs takes one tread.

Source: measured climbs. On stairs the ball of the foot lands first, up and down, and inclination
hardly changes the time that a step takes (Riener, Rabuffetti and Frigo 2002). Upstairs the knee
lands bent and lifts the body as it straightens, downstairs it lands nearly straight and yields
(McFadyen and Winter 1988). On steep ground steps are shorter and slower (Kawamura, Tokuhiro and
Takechi 1991); uphill trunk and pelvis lean forward, downhill a little back (Leroux, Fung and
Barbeau 2002).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from motion_matching.engine.motion.clip import Clip

from .feet import Foot, move_feet
from .footprints import HEEL_BEHIND_TOE, TIP_AHEAD, Footprints, plan_footprints
from .gait import SLOWEST_STEPS, Style, Swings, plan_footsteps
from .ground import GroundProfile, measure_along
from .humanoid import build_humanoid_skeleton, pose_body
from .locomotion import STEPS_FPS, Move, add_standing, plan_path

Array = np.ndarray

_APPROACH, _LEAVE = 2.2, 2.0  # seconds on flat ground before and after a climb
_SETTLING = 0.6  # seconds in which the speed changes to that of a climb
_SLOWEST, _FASTEST = (0.9, 0.98, 0.9), (1.1, 1.02, 1.1)  # m/s before and after, share of a climb's
_CLIMBING = 2  # the number of the move that climbs: after standing and the approach
_TRIALS = 4  # to find the speed at which a step is a tread
_MIDDLE = 0.5 * (TIP_AHEAD - HEEL_BEHIND_TOE)  # of a foot, metres ahead of the toe joint


@dataclass(frozen=True)
class _Plan:
    """What a climb leads over: `angle` of a ramp in degrees or `riser` of stairs, in metres.

    Negative ones lead down. `speed` in m/s is that on the ramp; on stairs the treads give it. A
    `pace` multiplies speeds and the steps a second.
    """

    seconds: float
    angle: float = 0.0
    speed: float = 0.0
    riser: float = 0.0
    tread: float = 0.0
    pace: float = 1.0


# Slower where it is steeper, so that a step rises by no more than on stairs: by 12 to 21 cm. The
# risers and treads are those of easy, common and steep stairs. Steps downstairs are quicker.
_PLANS = {
    "ramp_up_10": _Plan(5.5, 10.0, 1.10),
    "ramp_up_20": _Plan(5.5, 20.0, 0.75),
    "ramp_up_30": _Plan(5.5, 30.0, 0.50),
    "ramp_down_10": _Plan(5.5, -10.0, 1.10),
    "ramp_down_20": _Plan(5.5, -20.0, 0.75),
    "ramp_down_30": _Plan(5.5, -30.0, 0.50),
    "stairs_up_15": _Plan(7.0, riser=0.15, tread=0.30),
    "stairs_up_17": _Plan(7.0, riser=0.175, tread=0.29),
    "stairs_up_20": _Plan(7.0, riser=0.20, tread=0.28),
    "stairs_down_15": _Plan(7.0, riser=-0.15, tread=0.30, pace=1.12),
    "stairs_down_17": _Plan(7.0, riser=-0.175, tread=0.29, pace=1.12),
    "stairs_down_20": _Plan(7.0, riser=-0.20, tread=0.28, pace=1.12),
    "ramp_up_10_slowly": _Plan(6.0, 10.0, 0.75, pace=0.9),
    "stairs_up_17_slowly": _Plan(7.5, riser=0.175, tread=0.29, pace=0.85),
}


@dataclass(frozen=True)
class Climb:
    """A walk over a ramp or stairs: the true `ground`, and the moves and steps that lead over it.

    `seed` is that of what is drawn as the walk is posed.
    """

    name: str
    ground: GroundProfile
    style: Style
    moves: list[Move]
    swings: tuple[Swings, Swings]
    seed: tuple[int, ...]

    @classmethod
    def from_seed(cls, name: str, seed: int) -> Climb:
        """Plan the steps of a clip as on flat ground and lay its ground under them."""
        plan, number = _PLANS[name], list(_PLANS).index(name)
        rng = np.random.default_rng((seed, number))
        style = Style.from_rng(rng)
        style = replace(style, step_rate=plan.pace * style.step_rate)
        # of the approach, the climb and the walk after it; on stairs the treads give the second
        speeds = plan.pace * rng.uniform(_SLOWEST, _FASTEST)
        speeds[1] *= plan.speed
        steps_seed = (seed, number, 1)
        if plan.speed:
            moves, swings, steps = _plan_steps(plan, speeds, style, steps_seed)
            ground = _lay_ramp(plan, steps)
        else:
            speeds[1] = plan.tread * SLOWEST_STEPS * style.step_rate
            for _ in range(_TRIALS):
                moves, swings, steps = _plan_steps(plan, speeds, style, steps_seed)
                # the steps of a walk are a whole number, so their length follows from all of it
                speeds[1] *= plan.tread / np.mean(np.diff(steps))
            ground = _lay_stairs(plan, steps)
        return cls(name, ground, style, moves, swings, (seed, number, 2))

    def compute_height(self, points: Array) -> Array:
        """Return the ground's height (N,) in metres at points (N, 2)."""
        return self.ground.compute_height(points)

    def move_feet(self, fps: float) -> tuple[Foot, Foot]:
        """Return the motion of both feet over the ground."""
        return move_feet(plan_path(self.moves, fps), *self.swings, self.style, self.ground)

    def pose(self, fps: float) -> Clip:
        """Return the clip of the walk."""
        path, skeleton = plan_path(self.moves, fps), build_humanoid_skeleton()
        rng, feet = np.random.default_rng(self.seed), self.move_feet(fps)
        positions, rotations = pose_body(skeleton, path, *feet, rng, self.style)
        return Clip(self.name, skeleton, positions, rotations, float(fps))


def generate_climbs(seed: int = 0, fps: float = 30.0) -> list[Clip]:
    """Generate clips of 8 to 15 s on ramps and stairs, the same from the same seed."""
    return [find_climb(name, seed).pose(fps) for name in _PLANS]


def find_climb(name: str, seed: int = 0) -> Climb:
    """Return the walk and the ground of the clip that `generate_climbs` makes from this seed.

    Raises KeyError for a name of no such clip.
    """
    return Climb.from_seed(name, seed)


def _plan_steps(
    plan: _Plan, speeds: Array, style: Style, seed: tuple[int, ...]
) -> tuple[list[Move], tuple[Swings, Swings], Array]:
    """Return moves at these speeds (3,), their swings, and how far along the climb's steps are."""
    seconds = (_APPROACH, plan.seconds, _LEAVE)
    moves = add_standing(
        [Move(time, float(speed)) for time, speed in zip(seconds, speeds, strict=True)]
    )
    path = plan_path(moves, STEPS_FPS)
    swings = plan_footsteps(path, np.random.default_rng(seed), style)
    return moves, swings, _find_steady_steps(plan_footprints(path, *swings, style), moves)


def _find_steady_steps(prints: tuple[Footprints, Footprints], moves: list[Move]) -> Array:
    """Return how far along (N,) the toes of those steps stand that fall into the climb's move."""
    begin = sum(move.seconds for move in moves[:_CLIMBING]) + _SETTLING
    end = begin - _SETTLING + moves[_CLIMBING].seconds
    steady: list[Array] = []
    for foot in prints:
        lands, lifts = foot.swings.land, np.append(foot.swings.lift[1:], np.inf)
        steady.append(measure_along(foot.points[1:])[(lands > begin) & (lifts < end)])
    return np.sort(np.concatenate(steady))


def _lay_ramp(plan: _Plan, steps: Array) -> GroundProfile:
    """Return a ramp under all steady steps (N,), which begins and ends between two of them."""
    middle = steps + _MIDDLE
    half = 0.5 * float(np.mean(np.diff(steps)))
    return GroundProfile.from_ramp(
        middle[0] - half, middle[-1] + half, float(np.radians(plan.angle))
    )


def _lay_stairs(plan: _Plan, steps: Array) -> GroundProfile:
    """Return stairs of which each steady step (N,) takes one tread, but the last one the end."""
    offsets = steps + _MIDDLE - plan.tread * (np.arange(len(steps)) + 0.5)
    return GroundProfile.from_stairs(
        float(np.mean(offsets)), plan.tread, plan.riser, len(steps) - 1
    )
