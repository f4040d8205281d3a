"""Takes of scripts, with the default settings of a database."""

from __future__ import annotations

from motion_matching.engine.control.take import Take
from motion_matching.engine.database.database import Database
from motion_matching.engine.takes import takes


def perform_script(
    database: Database,
    script: str,
    gait: str = "walk",
    seconds: float = 20.0,
    seed: int = 0,
    **changes: object,
) -> Take:
    """Perform a script with the default settings and some changes to them."""
    settings = takes.make_default_settings(database).with_changes(changes)
    performance = takes.prepare_performance(
        database, settings, script, gait=gait, seconds=seconds, seed=seed
    )
    return takes.perform(database, settings, performance)
