"""Perform with creatures of any size: the tick runs in body units, inside of the world's."""

from __future__ import annotations

from collections.abc import Sequence

from ..control.method import Method
from ..control.performer import Frame, Performer
from ..control.trajectory import TrajectoryPoint
from ..ground.ground import FLAT, Ground, to_body_units
from ..performance.intent import Intent
from ..performance.settings import PerformerSettings
from ..performance.start_state import StartState


def create_performer(
    method: Method, settings: PerformerSettings, ground: Ground = FLAT
) -> Performer:
    """Return a performer in the units of the world."""
    kind = Performer if method.world.scale.is_of_people else ScaledPerformer
    return kind(method, settings, ground)


class ScaledPerformer(Performer):
    """Performs in the units of the world with one that performs in body units."""

    def __init__(self, method: Method, settings: PerformerSettings, ground: Ground = FLAT) -> None:
        self._scale = scale = method.world.scale
        self.method = method
        self.settings = settings
        self.ground = ground
        self.fps = method.world.fps
        self.skeleton = method.world.skeleton
        self.dt = 1.0 / self.fps
        self.last_transition = None
        self._body = Performer(method, scale.to_body(settings), to_body_units(ground, scale))

    def apply(self, settings: PerformerSettings) -> None:
        """See `Performer`."""
        self._body.apply(self._scale.to_body(settings))
        self.settings = settings

    def reset(self, position: tuple[float, float], facing: float, seed: int = 0) -> Frame:
        """See `Performer`."""
        return self._leave(self._body.reset(self._scale.to_body(position, "m"), facing, seed))

    def start_from(
        self, position: tuple[float, float], facing: float, state: StartState, seed: int = 0
    ) -> Frame:
        """See `Performer`."""
        place = self._scale.to_body(position, "m")
        state = self._scale.to_body(state)
        return self._leave(self._body.start_from(place, facing, state, seed))

    def step(self, intent: Intent) -> Frame:
        """Advance by one tick."""
        return self._leave(self._body.step(self._scale.to_body(intent)))

    def predict_path(self, times: Sequence[float]) -> list[TrajectoryPoint]:
        """See `Performer`."""
        path = self._body.predict_path(self._scale.to_body(times, "s"))
        return self._scale.to_world(path)

    def _leave(self, frame: Frame) -> Frame:
        last = self._body.last_transition
        if frame.jumped or last is None:
            self.last_transition = self._scale.to_world(last)
        return self._scale.to_world(frame)
