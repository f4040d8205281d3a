"""Find motion that most performances need and a database lacks."""

from __future__ import annotations

from ..database.database import Database
from ..database.statistics import measure_strafing
from ..facts.idles import find_idle_runs
from ..sources.reel import BuildNote

_TWO_LEGS = 2


def find_missing_motion(database: Database) -> tuple[BuildNote, ...]:
    """Return notes on missing standing, and on the missing side steps of a body with two legs."""
    notes = []
    if not len(database.derive(find_idle_runs)):
        text = "No idle clip: the character freezes mid-step when it stops. Add a clip of standing."
        notes.append(BuildNote("", text, "standing"))
    if len(database.roles.legs) == _TWO_LEGS and not measure_strafing(database):
        text = (
            "No clip of side steps: the character turns to where it goes. Add one if it should "
            "face another way."
        )
        notes.append(BuildNote("", text, "side steps"))
    return tuple(notes)
