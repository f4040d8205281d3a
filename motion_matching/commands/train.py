"""`train`: a motion field's value function from a database, which `take --controller field` plays by."""

from __future__ import annotations

import argparse
import tempfile
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..engine.errors import SettingsError
from .checks import check_target
from .loading import load_database
from .values import listed_names

if TYPE_CHECKING:
    from ..engine.field.quality import TrainingSettings
    from ..engine.field.tasks import Tasks
    from ..engine.field.training import Training
    from ..engine.matching.database import Database
    from .output import Output

TASKS = ("direction", "speed")


def train_command(arguments: argparse.Namespace, out: Output) -> None:
    """Train and write what was learnt. Where that is stopped or fails, what is done is kept, to be taken up again."""
    from ..engine.field import residual_plot
    from ..engine.field.playing import METRICS, summary
    from ..engine.field.training import Training

    _check(arguments)
    settings, directions = _quality(arguments)
    database = load_database(arguments.database)
    tasks = _tasks(arguments, database, directions)
    training = Training(
        database, METRICS[arguments.metric](database), tasks, settings, out.progress
    )
    unfinished = arguments.output.with_suffix(".unfinished.npz")
    _resume(training, arguments.output, unfinished, out)
    try:
        function = training.run(out.progress)
        training.save(arguments.output)
    except BaseException:
        if training.part > 0:
            _keep(training, unfinished, out)
        raise
    unfinished.unlink(missing_ok=True)
    out.say(f"{arguments.output}: {summary(function)}.")
    if arguments.plot:
        residual_plot.save(function.residuals, function.discount, arguments.plot)
        out.say(f"Written: {arguments.plot}.")


def _check(arguments: argparse.Namespace) -> None:
    """Say what is wrong with the arguments before anything is loaded."""
    check_target(arguments.output, ".npz")
    check_target(arguments.plot, ".svg")
    if arguments.output.resolve() == arguments.database.resolve():
        raise SettingsError(
            f"-o names {arguments.output}, the database itself; choose another name."
        )


def _quality(arguments: argparse.Namespace) -> tuple[TrainingSettings, int]:
    """How well is to be trained, and the number of directions."""
    from ..engine.field.quality import QUALITIES

    settings, directions = QUALITIES[arguments.quality]
    given = {
        name: getattr(arguments, name)
        for name in ("states", "neighbours", "sweeps", "residual", "discount", "drift")
    }
    settings = replace(
        settings, **{name: value for name, value in given.items() if value is not None}
    )
    return settings, directions if arguments.directions is None else arguments.directions


def _tasks(arguments: argparse.Namespace, database: Database, directions: int) -> Tasks:
    """The tasks that are asked for."""
    from ..engine import takes
    from ..engine.field.tasks import Tasks, task_speeds

    asked = listed_names(arguments.task)
    if unknown := [name for name in asked if name not in TASKS]:
        raise SettingsError(
            f"There is no task '{unknown[0]}'; use {' or '.join(TASKS)}, or both as direction,speed, and "
            "--tags for what frames are tagged with."
        )
    speeds = task_speeds(takes.default_settings(database).run.forward) if "speed" in asked else ()
    return Tasks(directions=directions, speeds=speeds, tags=listed_names(arguments.tags))


def _resume(training: Training, output: Path, unfinished: Path, out: Output) -> None:
    """Take up what the files hold of this training, and tell how much that is.

    SettingsError where the unfinished one is of another training, which would be lost.
    """
    from ..engine.field.value_function import OtherVersionError

    if output.exists():
        with suppress(OtherVersionError):
            training.resume(output)
    is_trained = training.finished
    if unfinished.exists() and not _resumed(training, unfinished):
        raise SettingsError(
            f"{unfinished} keeps another training that was stopped; finish that one, remove the file, or "
            "choose another -o."
        )
    if is_trained:
        out.say(f"{output} is trained already, and nothing it was made of has changed.")
    elif training.part > 0:
        out.say(f"Of this training {training.part:.0%} are done already.")


def _resumed(training: Training, unfinished: Path) -> bool:
    """Whether a file holds this training, whose tables and values are taken up then. SettingsError where it is of no use."""
    try:
        return training.resume(unfinished)
    except SettingsError as cause:
        raise SettingsError(
            f"{unfinished} keeps a training that cannot be gone on with, as it is damaged or of another "
            "version; remove the file, or choose another -o."
        ) from cause


def _keep(training: Training, unfinished: Path, out: Output) -> None:
    """Write what is done beside the field, or where that fails among the temporary files, and tell where it is."""
    done = f"keeps the {training.part:.0%} that are done"
    try:
        training.save(unfinished)
        out.say(f"{unfinished} {done}; the same command goes on from there.")
    except SettingsError:
        spare = Path(tempfile.mkdtemp(prefix="motion-matching-")) / unfinished.name
        training.save(spare)
        out.say(
            f"{spare} {done}; move it to {unfinished}, and the same command goes on from there."
        )
