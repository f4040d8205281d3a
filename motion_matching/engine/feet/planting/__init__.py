"""Plant the feet of takes: one problem of tasks and limits, whose solution bends the legs."""

from .feet_plan import FeetPlan, ToeMotion
from .heels import measure_pitches
from .planting import plant_feet
from .sides import measure_sides

__all__ = ("FeetPlan", "ToeMotion", "measure_pitches", "measure_sides", "plant_feet")
