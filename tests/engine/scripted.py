"""Takes of scripts, with the default settings of a database."""

from __future__ import annotations

import hashlib

from motion_matching.engine.control.rollout import Take
from motion_matching.engine.database.database import Database
from motion_matching.engine.takes import takes
from tests.demo import load_demo
from tests.run_files import pickle_once


def perform_script(
    database: Database,
    script: str,
    gait: str = "walk",
    seconds: float = 20.0,
    seed: int = 0,
    **changes: object,
) -> Take:
    """Perform a script with the default settings and some changes to them.

    A take of the demo database is performed once in a run of the tests, and each caller has a copy.
    """

    def perform() -> Take:
        settings = takes.make_default_settings(database).with_changes(changes)
        performance = takes.prepare_performance(
            database, settings, script, gait=gait, seconds=seconds, seed=seed
        )
        return takes.perform(database, settings, performance)

    if database is not load_demo():
        return perform()
    asked = repr((script, gait, float(seconds), seed, sorted(changes.items())))
    return pickle_once(f"take_{hashlib.sha256(asked.encode()).hexdigest()[:16]}", perform)
