"""The feet of takes: tasks and limits of one problem, and the legs that its solution bends."""

from .feet_plan import FeetPlan, ToeMotion
from .heels import measure_pitches
from .planting import plant_feet
from .sides import measure_sides

__all__ = ("FeetPlan", "ToeMotion", "measure_pitches", "measure_sides", "plant_feet")
