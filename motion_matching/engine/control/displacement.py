"""How the character entity and the simulation object are brought together.

Source: article 002, Synchronization: both are placed between where the data leads and where the code leads.
"""

from __future__ import annotations

from .trajectory import SimulationObject, wrap


def synchronize(
    character: tuple[float, float, float], simulation: SimulationObject, factor: float
) -> tuple[float, float, float]:
    """Place both at `factor` of the way from the character (x, y, yaw) to the simulation object; returns the place."""
    x, y, yaw = character
    if factor > 0.0:
        x += (simulation.x - x) * factor
        y += (simulation.y - y) * factor
        yaw += wrap(simulation.yaw - yaw) * factor
    simulation.x, simulation.y = x, y
    # the object's own count of turns is kept: springs work on it
    simulation.yaw += wrap(yaw - simulation.yaw)
    return x, y, yaw
