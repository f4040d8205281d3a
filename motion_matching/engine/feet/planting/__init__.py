"""Plant the feet of takes: one problem of tasks and limits, whose solution bends the legs."""

from .ankles import measure_pitches, measure_sides
from .feet_plan import FeetPlan, ToeMotion
from .planting import plant_feet

__all__ = ("FeetPlan", "ToeMotion", "measure_pitches", "measure_sides", "plant_feet")
