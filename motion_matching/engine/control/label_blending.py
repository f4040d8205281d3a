"""Place the character by the displacement of the labels that it plays, blended over a time.

Numbers that pull are blended by their pull. Limits on the distance between character and simulation
object ease, so that nothing snaps, and take the same time at any frame rate.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from ..maths.planar import wrap
from ..performance.labels import DisplacementLabel
from ..performance.settings import Coupling
from . import displacement
from .displacement import GroundPose
from .trajectory import SimulationObject

Shared = Sequence[tuple[float, Coupling]]


class EasedShares:
    """Shares of the performer's own numbers and of each label, eased within a time.

    Each share is a cubic in time from its value and rate when the goal changed; all of them
    together are 1, and come to rest at the goal.
    """

    def __init__(self) -> None:
        self.values: tuple[float, ...] = ()
        self.goal: tuple[float, ...] = ()
        self._rates: tuple[float, ...] = ()
        self._origin: tuple[tuple[float, ...], tuple[float, ...]] = ((), ())
        self._age = math.inf

    def update(self, goal: tuple[float, ...], seconds: float, dt: float) -> None:
        """Go one tick nearer to a goal; the first one is reached at once."""
        if len(goal) != len(self.goal):
            self.values, self.goal, self._rates = goal, goal, (0.0,) * len(goal)
            return
        if goal != self.goal:
            self.goal = goal
            self._age = 0.0
            self._origin = self.values, self._rates
        elif self.values == goal:
            return
        self._age += dt
        if self._age >= (1.0 - 1e-6) * seconds:
            self.values, self._rates = goal, (0.0,) * len(goal)
            return
        s = self._age / seconds
        speed = 6.0 * s * (1.0 - s) / seconds
        slow = (1.0 - s) * (1.0 - 3.0 * s)
        triples = list(zip(*self._origin, goal, strict=True))
        self.values = tuple(_ease(a, rate * seconds, b, s) for a, rate, b in triples)
        self._rates = tuple(speed * (b - a) + slow * rate for a, rate, b in triples)


class EasedLimit:
    """Largest allowed gap between two things: a distance or an angle that eases within a time.

    A narrower limit closes softly, from the present gap and its rate of change. A limit that ends
    opens ever faster.
    """

    def __init__(self) -> None:
        self.value = self._goal = math.inf
        self._rate = 0.0
        self._apart = 0.0
        self._origin = 0.0, 0.0
        self._age = math.inf

    def start(self, goal: float) -> None:
        """Begin at a limit, infinite for none."""
        self.value = self._goal = goal
        self._rate = 0.0
        self._age = math.inf

    def update(self, goal: float, margin: float, apart: float, seconds: float, dt: float) -> None:
        """Go one tick nearer to a goal; a limit that ends opens by more than a margin."""
        parting = (apart - self._apart) / dt
        self._apart = apart
        if goal != self._goal:
            self._goal = goal
            self._age = 0.0
            if goal < self.value:
                start = max(min(self.value, apart), goal)
                self._origin = start, parting if start > goal else 0.0
            else:
                self._origin = self.value, self._rate
        elif self._age >= seconds:
            return
        self._age += dt
        before = self.value
        (start, rate) = self._origin
        if self._age >= (1.0 - 1e-6) * seconds:
            self.value = goal
            self._rate = 0.0
            self._age = math.inf
            return
        s = self._age / seconds
        is_open = math.isinf(goal)
        self.value = max(_ease(start, rate * seconds, start + margin if is_open else goal, s), 0.0)
        if is_open:
            self.value /= 1.0 - s * s
        self._rate = (self.value - before) / dt if math.isfinite(before) else 0.0


def _ease(start: float, rate: float, goal: float, s: float) -> float:
    """Return the cubic from a start, at a rate, to rest at a goal, at s from 0 to 1."""
    return start + s * s * (3.0 - 2.0 * s) * (goal - start) + s * (1.0 - s) * (1.0 - s) * rate


class LabelBlending:
    """Places a character by the labels that it plays; see `displacement.place_character`."""

    def __init__(self, settings: Coupling) -> None:
        self.apply(settings)
        self.reset()

    def apply(self, settings: Coupling) -> None:
        """Use other settings from the next tick on."""
        self._seconds = settings.label_blend
        self._settings = (settings, *(label.apply_to(settings) for label in settings.labels))

    def reset(self) -> None:
        """Begin with the label that is played first."""
        self._shares = EasedShares()
        self._limits = tuple(EasedLimit() for _ in range(5))

    def place_character(
        self,
        character: GroundPose,
        velocity: GroundPose,
        simulation: SimulationObject,
        labels: Sequence[float],
        dt: float,
        feet: tuple[float, float] | None = None,
    ) -> GroundPose:
        """Return where a character that plays `labels` by their shares is after a tick."""
        shares = self._shares
        is_first = not self._shares.goal
        shares.update((1.0 - sum(labels), *labels), self._seconds, dt)
        goal = self._settings[shares.goal.index(1.0)]
        self._update_limits(goal, _measure_gap(character, simulation), is_first, dt)
        if shares.values == shares.goal:
            return displacement.place_character(character, velocity, simulation, goal, dt, feet)
        shared = list(zip(shares.values, self._settings, strict=True))
        meet, meet_turn, wait, clamp, clamp_turn = (limit.value for limit in self._limits)
        character = _adjust(character, velocity, simulation, shared, dt, feet)
        character = _synchronize(character, simulation, shared, meet, meet_turn)
        simulation.wait_for(character[0], character[1], wait)
        return displacement.clamp_character(character, simulation, clamp, clamp_turn)

    def _update_limits(
        self, goal: Coupling, apart: tuple[float, float], is_first: bool, dt: float
    ) -> None:
        """Ease toward the limits of some settings.

        They are those within which both meet, by distance and angle, from which on the object
        waits, and those of clamping.
        """
        meet = 0.0 if goal.displacement == "synchronize" else math.inf
        wait = goal.clamp_distance if displacement.waits(goal) else math.inf
        clamp = (goal.clamp_distance, goal.clamp_angle) if goal.clamp else (math.inf, math.inf)
        distance = goal.clamp_distance, apart[0]
        angle = goal.clamp_angle, apart[1]
        measured = distance, angle, distance, distance, angle
        goals = meet, meet, wait, *clamp
        for limit, most, of in zip(self._limits, goals, measured, strict=True):
            if is_first:
                limit.start(most)
            limit.update(most, *of, self._seconds, dt)


def _measure_gap(character: GroundPose, simulation: SimulationObject) -> tuple[float, float]:
    """Return the distance and the angle between character and simulation object."""
    x, y, yaw = character
    return math.hypot(x - simulation.x, y - simulation.y), abs(wrap(yaw - simulation.yaw))


def _adjust(
    character: GroundPose,
    velocity: GroundPose,
    simulation: SimulationObject,
    shared: Shared,
    dt: float,
    feet: tuple[float, float] | None,
) -> GroundPose:
    """Move the character by the average of all adjustments."""
    x, y, yaw = character
    for share, settings in shared:
        if settings.displacement == "adjust":
            moved = displacement.adjust(character, velocity, simulation, settings, dt, feet)
            x += share * (moved[0] - character[0])
            y += share * (moved[1] - character[1])
            yaw += share * (moved[2] - character[2])
    return x, y, yaw


def _synchronize(
    character: GroundPose,
    simulation: SimulationObject,
    shared: Shared,
    most: float,
    most_angle: float,
) -> GroundPose:
    """Bring both within a distance and an angle of each other."""
    meeting = [pair for pair in shared if pair[1].displacement == "synchronize"]
    share = sum(share for share, _ in meeting)
    factor = sum(s * settings.synchronization for s, settings in meeting) / (share or 1.0)
    x, y, yaw = character
    dx, dy = simulation.x - x, simulation.y - y
    apart = math.hypot(dx, dy)
    angle = wrap(simulation.yaw - yaw)
    if apart > most:
        part = (apart - most) / apart
        x, y = x + factor * part * dx, y + factor * part * dy
        away = (1.0 - factor) * part
        simulation.x, simulation.y = simulation.x - away * dx, simulation.y - away * dy
    if abs(angle) > most_angle:
        turn = angle - math.copysign(most_angle, angle)
        yaw += factor * turn
        simulation.yaw -= (1.0 - factor) * turn
    return x, y, yaw


class PlayedLabels:
    """Finds the labels of frames, given the names of all tags and their bits (N,).

    A frame that several labels name carries the first of them.
    """

    def __init__(self, names: Sequence[str], bits: np.ndarray) -> None:
        self._names = tuple(names)
        self._bits = bits
        self._tags: tuple[tuple[str, ...], ...] = ()
        self._of_frame: np.ndarray | None = None
        self._shares: tuple[tuple[float, ...], ...] = ((),)

    def apply(self, labels: Iterable[DisplacementLabel]) -> None:
        """Take the labels of new settings."""
        tags = tuple(label.tags for label in labels)
        if tags == self._tags:
            return
        self._tags, count = tags, len(tags)
        of_frame = np.full(len(self._bits), count, np.intp)
        ones = np.eye(count + 1, count).tolist()  # a row of zeros behind those of the labels
        self._shares = tuple(map(tuple, ones))
        for index in reversed(range(count)):
            known = [self._names.index(tag) for tag in tags[index] if tag in self._names]
            carries = np.asarray(self._bits) & np.uint32(sum(1 << bit for bit in known)) > 0
            of_frame[carries] = index
        self._of_frame = of_frame if tags else None

    def get_shares(self, frame: int) -> tuple[float, ...]:
        """Return 1 for the label of a frame, and 0 for all others."""
        return self._shares[0 if self._of_frame is None else self._of_frame.item(frame)]

    def find_most(self, frames: np.ndarray, weights: np.ndarray) -> tuple[float, ...]:
        """Return 1 for the label, if any, that frames (k,) of the most weight (k,) carry."""
        if self._of_frame is None:
            return ()
        by_label = np.bincount(self._of_frame[frames], weights, len(self._tags) + 1)
        return self._shares[int(by_label.argmax())]
