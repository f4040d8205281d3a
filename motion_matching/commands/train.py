"""`train`: train a motion field on a database, for `take --controller field`."""

from __future__ import annotations

import argparse
import tempfile
from contextlib import suppress
from pathlib import Path

from ..api.fields import make_training
from ..engine.database.tags.tags import parse_names
from ..engine.errors import SettingsError
from ..engine.field.field_controller import summarize
from ..engine.field.states.value_function import OtherVersionError
from ..engine.field.training.training import Training
from ..engine.files import own_files
from ..engine.files.file_paths import check_clashes
from ..engine.performance.published import FIELD, PUBLISHED
from .checks import check_targets
from .loading import find_set, load_database, tell_differences
from .output import Output

_SETTINGS = ("states", "neighbours", "sweeps", "residual", "discount", "drift")


def run(arguments: argparse.Namespace, out: Output) -> None:
    """Train a field and write it. If training stops or fails, save its state to resume it."""
    check(arguments)
    database = load_database(arguments.database, out)
    tell_differences(arguments, database, out)
    given = {name: getattr(arguments, name) for name in _SETTINGS}
    training = make_training(
        database,
        tasks=parse_names(arguments.task),
        tags=parse_names(arguments.tags),
        quality=arguments.quality,
        as_published=arguments.as_published,
        metric=arguments.metric,
        settings={name: value for name, value in given.items() if value is not None},
        directions=arguments.directions,
        progress=out.show_progress,
    )
    unfinished = _find_unfinished(arguments.output)
    _resume(training, arguments.output, unfinished, out)
    try:
        function = training.run(out.show_progress)
        training.save(arguments.output)
    except BaseException:
        if training.share_done > 0:
            _save_unfinished(training, unfinished, out)
        raise
    own_files.remove(unfinished)
    out.say(f"{arguments.output}: {summarize(function)}.")


def check(arguments: argparse.Namespace) -> None:
    """Raise SettingsError for arguments that are wrong without a look at the data."""
    read = [("the training", arguments.database)]
    check_targets(arguments, {"output": ".npz"}, read)
    check_clashes(read, [("the unfinished training", _find_unfinished(arguments.output))])
    published = find_set(arguments)
    if published and published.method != FIELD:
        fields = ", ".join(each.name for each in PUBLISHED.values() if each.method == FIELD)
        text = f"--as-published {published.name} plays no motion field, so nothing is trained"
        raise SettingsError(f"{text}; use {fields}.")


def _find_unfinished(output: Path) -> Path:
    return output.with_suffix(".unfinished.npz")


def _resume(training: Training, output: Path, unfinished: Path, out: Output) -> None:
    """Resume this training from its files, and report how much is done.

    Raises SettingsError if the unfinished file holds another training, which would be lost.
    """
    if output.exists():
        with suppress(OtherVersionError):
            training.resume(output)
    is_trained = training.is_finished
    if unfinished.exists() and not _resume_unfinished(training, unfinished):
        raise SettingsError(
            f"{unfinished} holds another training that was stopped; finish that one, remove the "
            "file, or choose another -o."
        )
    if is_trained:
        out.say(f"{output} is trained already, and nothing it was made of has changed.")
    elif training.share_done > 0:
        out.say(f"Of this training {training.share_done:.0%} are done already.")


def _resume_unfinished(training: Training, unfinished: Path) -> bool:
    """Resume this training from a file; return whether the file holds it."""
    try:
        return training.resume(unfinished)
    except SettingsError as cause:
        raise SettingsError(
            f"{unfinished} holds a training that cannot be resumed, as it is damaged or of another "
            "version; remove the file, or choose another -o."
        ) from cause


def _save_unfinished(training: Training, unfinished: Path, out: Output) -> None:
    """Save the state next to the field, or else in a temporary folder, and report where."""
    done = f"keeps the {training.share_done:.0%} that are done"
    try:
        if not own_files.is_free(unfinished, own_files.FIELD):
            raise SettingsError(f"{unfinished} is another file by now.")
        training.save(unfinished)
        out.say(f"{unfinished} {done}; the same command goes on from there.")
    except SettingsError:
        spare = Path(tempfile.mkdtemp(prefix="motion-matching-")) / unfinished.name
        training.save(spare)
        text = f"move it to {unfinished}, and the same command goes on from there."
        out.say(f"{spare} {done}; {text}")
