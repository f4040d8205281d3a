"""The method that a character is set to, and its motion field: trained, stored beside the
databases, and loaded again.

The key of a training covers all that it is made of, so that another database or other tasks have
another key.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import bpy

from .. import engine  # whose modules load on use: panels need this one, and no scipy (0.3 s)
from ..engine.database.tags import parse_names
from ..engine.errors import MotionMatchingError, SettingsError
from ..engine.field import quality
from ..engine.field.quality import QUALITIES
from ..engine.field.tasks import Tasks, space_speeds
from ..engine.takes import takes
from . import learning_curves, status
from .build import load_or_build_steps
from .characters import get_armature
from .library import get_library
from .runtime import runtime
from .steps import ReportProgress, Steps, run_in_background_steps
from .typed import settings_of

if TYPE_CHECKING:
    from ..engine.database.database import Database
    from ..engine.field.field_controller import FieldController
    from ..engine.field.training import Training
    from ..engine.field.value_function import ValueFunction
    from ..engine.takes.takes import Controller

_NAME = re.compile(
    r"field:(?P<metric>default|notebook)(:(?P<key>field-[0-9a-f]{32}))?"
)  # of a field, in performances
_KEYS_VERSION = 4  # of how keys are made, and of what the qualities mean
_training_lock = (
    threading.Lock()
)  # a training that was stopped is saved before the next one resumes it
_NOT_SAVED = (
    "Stopped, and what was done could not be saved: the disk is full, or its folder is not writable"
)
_NOTHING_DONE, _CAN_RESUME = (
    "Stopped before there was anything to keep",
    "Stopped; Train goes on from here",
)


# ---------------------------------------------------------------- what is set


@dataclass(frozen=True)
class TrainingRequest:
    """What a field is trained for."""

    quality: str  # of QUALITIES
    metric: str
    with_speed: bool
    tags: tuple[str, ...]

    @classmethod
    def from_object(cls, obj: bpy.types.Object) -> TrainingRequest:
        """Return what an armature is set to."""
        training = settings_of(obj).training
        return cls(
            get_quality(obj),
            training.metric,
            training.speed,
            tuple(sorted(set(parse_names(training.tags)))),
        )

    def compute_key(self, database: str) -> str:
        """Return the key of the values that are trained with the database of a key."""
        text = json.dumps(
            [_KEYS_VERSION, database, self.quality, self.metric, self.with_speed, self.tags]
        )
        return f"field-{hashlib.blake2b(text.encode(), digest_size=16).hexdigest()}"

    def create_training(self, database: Database, report: ReportProgress) -> Training:
        """Return a training that reports its progress. SettingsError or DatabaseError where a tag
        is on no frame.
        """
        settings, directions = QUALITIES[self.quality]
        speeds = (
            space_speeds(takes.make_default_settings(database).run.forward)
            if self.with_speed
            else ()
        )
        metric = engine.field.field_controller.METRICS[self.metric](database)
        return engine.field.training.Training(
            database, metric, Tasks(directions, speeds, self.tags), settings, report
        )


@dataclass(frozen=True)
class ChosenMethod:
    """The chosen method: motion matching, or a field of a metric with the values in a file, if
    there is one.
    """

    is_field: bool
    metric: str = "default"
    file: Path | None = None

    @classmethod
    def from_object(cls, obj: bpy.types.Object) -> ChosenMethod:
        """Return what an armature is set to, whose database is built."""
        if settings_of(obj).controller.method != "FIELD":
            return cls(False)
        request = TrainingRequest.from_object(obj)
        key = request.compute_key(settings_of(obj).built_key)
        return cls(True, request.metric, get_library().touch(key))

    @classmethod
    def from_name(cls, name: str) -> ChosenMethod:
        """Return the method of a stored `name`, without values where those are not stored any more.

        SettingsError for a name of something else.
        """
        if not name:
            return cls(False)
        if not (match := _NAME.fullmatch(name)):
            raise SettingsError(
                f"The take was made by the method '{name}', which is not known here; bake it again."
            )
        return cls(
            True, match["metric"], get_library().touch(match["key"]) if match["key"] else None
        )

    @property
    def name(self) -> str:
        """Return what a performance stores of it."""
        return (
            ":".join(["field", self.metric, *([self.file.stem] if self.file else [])])
            if self.is_field
            else ""
        )

    def load_field(self, database: Database, *, or_greedy: bool = False) -> FieldController | None:
        """Return what makes the field, None where the method is none.

        SettingsError where its file is damaged or of other data, unless it may be greedy then.
        """
        if not self.is_field:
            return None
        controllers = engine.field.field_controller
        if self.file:
            try:
                return replace(
                    controllers.FieldController.load(self.file, database), name=self.name
                )
            except MotionMatchingError as cause:
                if not or_greedy:
                    raise SettingsError(
                        f"What the motion field learnt cannot be read; train it again. {cause}"
                    ) from cause
        return controllers.FieldController(
            controllers.METRICS[self.metric](database), name=replace(self, file=None).name
        )

    def load_controller(self, database: Database) -> Controller:
        """Return what makes the method. Errors are those of `load_field`."""
        return self.load_field(database) or engine.matching.method.MotionMatching


def get_quality(obj: bpy.types.Object) -> str:
    """Return the name of the quality that an armature is set to."""
    return list(QUALITIES)[
        max(settings_of(obj).training.quality, 1) - 1
    ]  # files of other versions hold any number


def describe_quality(obj: bpy.types.Object) -> str:
    """Describe what is trained of an armature with its quality."""
    return quality.describe_quality(get_quality(obj))


def get_training_request(obj: bpy.types.Object) -> TrainingRequest | None:
    """Return what an armature's field is to be trained for, None where its method is motion
    matching.
    """
    return (
        TrainingRequest.from_object(obj) if settings_of(obj).controller.method == "FIELD" else None
    )


# ---------------------------------------------------------------- training


def train_steps(obj: bpy.types.Object) -> Steps[str]:
    """Train the field of an armature's settings, from where it was stopped; return what was
    trained.

    Errors are those of building, of tags that no frame has, and of saving. A training that is
    cancelled is saved.
    """
    runtime.stop_message = _NOTHING_DONE
    uid, request, library = obj.session_uid, TrainingRequest.from_object(obj), get_library()
    database = yield from load_or_build_steps(obj)
    key = request.compute_key(settings_of(get_armature(uid)).built_key)
    try:
        function, words = yield from learning_curves.follow_steps(
            uid,
            run_in_background_steps(
                lambda report: _train(
                    request,
                    database,
                    library.get_path(key),
                    library.get_path(f"{key}.stopped"),
                    report,
                ),
                "Training",
            ),
        )
        library.make_room(key)
    finally:
        with _training_lock:  # what is cancelled is saved before anything else happens
            status.invalidate()
    settings = settings_of(get_armature(uid))
    settings.training.trained_key = key
    # it plays best with the actions that it was trained for
    settings.controller.neighbours, settings.controller.drift = function.neighbours, function.drift
    return f"Trained {words}"


def _train(
    request: TrainingRequest, database: Database, file: Path, stopped: Path, report: ReportProgress
) -> tuple[ValueFunction, str]:
    """Train into `file`, or `stopped` where that is cancelled; return the values, and a summary."""
    with _training_lock:
        runtime.stop_message = _CAN_RESUME if stopped.exists() else _NOTHING_DONE
        training = request.create_training(database, report)
        for before in (file, stopped):
            if before.exists():
                with suppress(SettingsError):  # what is damaged is made anew
                    training.resume(before)
        is_there = training.is_finished and file.exists()
        recorded = -1.0

        def record(stage: str, part: float) -> None:
            nonlocal recorded
            if recorded != training.share_done:
                recorded = training.share_done
                learning_curves.record_progress(
                    file.stem, training.residuals, training.discount, training.sweeps
                )
            report(stage, part)

        try:
            function = training.run(record)
            if not is_there:
                training.save(file)
        except BaseException:
            if training.share_done > 0.0:
                runtime.stop_message = _NOT_SAVED
                training.save(stopped)
                runtime.stop_message = _CAN_RESUME
            raise
        with suppress(OSError):
            stopped.unlink(missing_ok=True)
    return function, engine.field.field_controller.summarize(function)


# ---------------------------------------------------------------- state


def get_training_state(obj: bpy.types.Object) -> str:
    """Return the state of the trained values that an armature needs.

    'fresh', 'stopped' half-way, 'stale' where others were trained, 'elsewhere' where these were
    trained but are not stored here, 'missing', or 'unknown' until the state of the database is
    known.
    """
    if status.get_status(obj).kind == "unknown":
        return "unknown"
    trained, key = settings_of(obj).training.trained_key, get_training_key(obj)
    state = _find_state_on_disk(key) if key else "missing"
    if state != "missing" or not trained:
        return state
    return "elsewhere" if trained == key else "stale"


def get_training_key(obj: bpy.types.Object) -> str:
    """Return the key of the values that an armature needs, or nothing while there is no database to
    train with.
    """
    current = status.get_status(obj)
    database = settings_of(obj).built_key if current.kind == "elsewhere" else current.key
    return TrainingRequest.from_object(obj).compute_key(database) if database else ""


def describe_action_mismatch(obj: bpy.types.Object) -> str:
    """Say which actions the field was trained for where the armature is set to others; nothing
    where it is not.
    """
    controller, trained = settings_of(obj).controller, QUALITIES[get_quality(obj)][0]
    if controller.neighbours == trained.neighbours and abs(controller.drift - trained.drift) < 1e-6:
        return ""
    return (
        f"Trained for {trained.neighbours} neighbours and a drift correction of "
        f"{trained.drift:.2f}, and plays best with these"
    )


def _find_state_on_disk(key: str) -> str:
    try:
        library = get_library()
        return (
            "fresh"
            if library.has(key)
            else "stopped"
            if library.has(f"{key}.stopped")
            else "missing"
        )
    except MotionMatchingError:  # there is no folder, which the panel of the database says
        return "missing"
