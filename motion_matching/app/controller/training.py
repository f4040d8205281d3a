"""Create the method of a character, and train, store and load its motion field.

The key of a training covers all that it is made of: another database has another key.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import bpy

from ... import engine  # whose modules load on use: panels need this one, and no scipy (0.3 s)
from ...engine.database.tags.tags import parse_names
from ...engine.errors import MotionMatchingError, SettingsError
from ...engine.field.states.tasks import Tasks, space_speeds
from ...engine.field.training import quality
from ...engine.field.training.quality import NOTEBOOK, QUALITIES, TRAININGS
from ...engine.files import own_files
from ...engine.progress import ReportProgress
from ...engine.takes import takes
from ..character.characters import get_armature
from ..database import status
from ..database.build import load_or_build_steps
from ..database.library import get_library
from ..property_access import settings_of
from ..runtime import runtime
from ..steps import Steps, run_in_background_steps

if TYPE_CHECKING:
    from ...engine.control.method import Method
    from ...engine.database.database import Database
    from ...engine.field.field_controller import FieldController
    from ...engine.field.states.value_function import ValueFunction
    from ...engine.field.training.training import Training
    from ...engine.performance.settings import PerformerSettings

# of a field, in performances
_NAME = re.compile(r"field:(?P<metric>default|notebook)(:(?P<key>field-[0-9a-f]{32}))?")
_KEYS_VERSION = 4  # of how keys are made, and of what the qualities mean
_training_lock = threading.Lock()  # a stopped training is saved before the next one resumes it
_NOT_SAVED = (
    "Stopped, but the progress could not be saved: the disk is full, or its folder is not writable"
)
_NOTHING_DONE = "Stopped before there was any progress"
_CAN_RESUME = "Stopped; Train continues from here"


# ---------------------------------------------------------------- what is set


@dataclass(frozen=True)
class TrainingRequest:
    """A request to train a field."""

    quality: str  # of TRAININGS
    metric: str
    with_speed: bool
    tags: tuple[str, ...]

    @classmethod
    def from_object(cls, obj: bpy.types.Object) -> TrainingRequest:
        """Return the request of an armature's settings; the field of the notebook has its own."""
        training = settings_of(obj).training
        tags = tuple(sorted(set(parse_names(training.tags))))
        if settings_of(obj).controller.field == NOTEBOOK:
            return cls(NOTEBOOK, NOTEBOOK, False, tags)
        return cls(_get_quality(obj), training.metric, training.speed, tags)

    def compute_key(self, database: str) -> str:
        """Return the key of the values that are trained with the database of a key."""
        content = [_KEYS_VERSION, database, self.quality, self.metric, self.with_speed, self.tags]
        digest = hashlib.blake2b(json.dumps(content).encode(), digest_size=16)
        return f"field-{digest.hexdigest()}"

    def create_training(self, database: Database, report: ReportProgress) -> Training:
        """Return a training that reports its progress. Raises an error if a tag is on no frame."""
        settings, directions = TRAININGS[self.quality]
        fastest = takes.make_default_settings(database).steering.run.forward
        speeds = space_speeds(fastest) if self.with_speed else ()
        tasks = Tasks(directions, speeds, self.tags, as_notebook=self.quality == NOTEBOOK)
        metric = engine.field.field_controller.METRICS[self.metric](database)
        return engine.field.training.training.Training(database, metric, tasks, settings, report)


@dataclass(frozen=True)
class ChosenMethod:
    """Motion matching, or a field of a metric, with the values in a file if there is one."""

    is_field: bool
    metric: str = "default"
    file: Path | None = None

    @classmethod
    def from_object(cls, obj: bpy.types.Object) -> ChosenMethod:
        """Return what an armature with a built database is set to."""
        if settings_of(obj).controller.method != "FIELD":
            return cls(False)
        return cls.from_training(obj)

    @classmethod
    def from_training(cls, obj: bpy.types.Object) -> ChosenMethod:
        """Return the field that an armature with a built database trains, chosen or not."""
        request = TrainingRequest.from_object(obj)
        key = request.compute_key(settings_of(obj).built_key)
        return cls(True, request.metric, get_library().touch(key))

    @classmethod
    def from_name(cls, name: str) -> ChosenMethod:
        """Return the method of a stored `name`, without values if those are not stored any more.

        Raises SettingsError for a name of something else.
        """
        if not name:
            return cls(False)
        if not (match := _NAME.fullmatch(name)):
            text = f"The take was made by the unknown method '{name}'"
            raise SettingsError(f"{text}; bake it again.")
        file = get_library().touch(match["key"]) if match["key"] else None
        return cls(True, match["metric"], file)

    @property
    def name(self) -> str:
        """Return what a performance stores of it."""
        if not self.is_field:
            return ""
        name = f"field:{self.metric}"
        return f"{name}:{self.file.stem}" if self.file else name

    def load_field(self, database: Database, *, or_greedy: bool = False) -> FieldController | None:
        """Return what makes the field, or None if the method is not one.

        Raises SettingsError if its file is damaged or of other data, unless it may be greedy then.
        """
        if not self.is_field:
            return None
        controllers = engine.field.field_controller
        if self.file:
            try:
                field = controllers.FieldController.load(self.file, database)
                return replace(field, name=self.name)
            except MotionMatchingError as cause:
                if not or_greedy:
                    text = "The trained values cannot be read; train the field again."
                    raise SettingsError(f"{text} {cause}") from cause
        metric = controllers.METRICS[self.metric](database)
        return controllers.FieldController(metric, name=replace(self, file=None).name)

    def create_method(self, database: Database, settings: PerformerSettings) -> Method:
        """Return the method with a database. Raises errors of `load_field`."""
        field = self.load_field(database)
        return (field or engine.matching.method.MotionMatching)(database, settings)


def _get_quality(obj: bpy.types.Object) -> str:
    """Return the name of the quality that an armature is set to."""
    names = list(QUALITIES)
    number = settings_of(obj).training.quality
    return names[min(max(number, 1), len(names)) - 1]  # files of other versions hold any number


def get_field_metric(obj: bpy.types.Object) -> str:
    """Return the name of the metric by which an armature's field compares states."""
    return TrainingRequest.from_object(obj).metric


def describe_quality(obj: bpy.types.Object) -> str:
    """Describe what is trained of an armature with its quality."""
    return quality.describe_quality(TrainingRequest.from_object(obj).quality)


def get_training_request(obj: bpy.types.Object) -> TrainingRequest | None:
    """Return the training request of an armature's field, or None for motion matching."""
    is_field = settings_of(obj).controller.method == "FIELD"
    return TrainingRequest.from_object(obj) if is_field else None


# ---------------------------------------------------------------- training


def train_steps(obj: bpy.types.Object) -> Steps[str]:
    """Train the field of an armature's settings, or continue; return a description of it.

    Raises errors of building, of tags that no frame has, and of saving. A cancelled training is
    saved.
    """
    runtime.stop_message = _NOTHING_DONE
    uid = obj.session_uid
    request = TrainingRequest.from_object(obj)
    library = get_library()
    database = yield from load_or_build_steps(obj)
    key = request.compute_key(settings_of(get_armature(uid)).built_key)
    files = library.get_path(key), library.get_path(f"{key}.stopped")
    steps = run_in_background_steps(partial(_train, request, database, *files), "Training")
    try:
        function, words = yield from steps
        library.make_room(key)
    finally:
        with _training_lock:  # what is cancelled is saved before anything else happens
            status.invalidate()
    settings = settings_of(get_armature(uid))
    settings.training.trained_key = key
    # it plays best with the actions that it was trained for
    settings.controller.neighbours = function.neighbours
    settings.controller.drift = function.drift
    return f"Trained {words}"


def _train(
    request: TrainingRequest, database: Database, file: Path, stopped: Path, report: ReportProgress
) -> tuple[ValueFunction, str]:
    """Train into `file`, or `stopped` if cancelled; return the values and a summary."""
    with _training_lock:
        runtime.stop_message = _CAN_RESUME if stopped.exists() else _NOTHING_DONE
        training = request.create_training(database, report)
        for before in (file, stopped):
            if before.exists():
                with suppress(SettingsError):  # what is damaged is made anew
                    training.resume(before)
        is_there = training.is_finished and file.exists()
        for each in (file, stopped):
            own_files.make_way(each, own_files.FIELD)
        try:
            function = training.run(report)
            if not is_there:
                training.save(file)
        except BaseException:
            if training.share_done > 0.0:
                runtime.stop_message = _NOT_SAVED
                training.save(stopped)
                runtime.stop_message = _CAN_RESUME
            raise
        own_files.remove(stopped)
    return function, engine.field.field_controller.summarize(function)


# ---------------------------------------------------------------- state


def get_training_state(obj: bpy.types.Object) -> str:
    """Return the state of the trained values that an armature needs.

    It is 'fresh', 'stopped' half-way, 'stale' (others were trained), 'elsewhere' (trained, but not
    stored here), 'missing', or 'unknown' like the database.
    """
    if status.get_status(obj).kind == "unknown":
        return "unknown"
    trained = settings_of(obj).training.trained_key
    key = get_training_key(obj)
    state = _find_state_on_disk(key) if key else "missing"
    if state != "missing" or not trained:
        return state
    return "elsewhere" if trained == key else "stale"


def get_training_key(obj: bpy.types.Object) -> str:
    """Return the key of the values that an armature needs; nothing without a database."""
    current = status.get_status(obj)
    database = settings_of(obj).built_key if current.kind == "elsewhere" else current.key
    return TrainingRequest.from_object(obj).compute_key(database) if database else ""


def describe_action_mismatch(obj: bpy.types.Object) -> str:
    """Say which actions the field was trained for if the armature is set to others."""
    controller = settings_of(obj).controller
    trained, _ = TRAININGS[TrainingRequest.from_object(obj).quality]
    if controller.neighbours == trained.neighbours and abs(controller.drift - trained.drift) < 1e-6:
        return ""
    actions = f"{trained.neighbours} neighbours and a drift correction of {trained.drift:.2f}"
    return f"Trained for {actions}, and plays best with these"


def _find_state_on_disk(key: str) -> str:
    with suppress(MotionMatchingError):  # there is no folder, which the panel of the database says
        library = get_library()
        if library.has(key):
            return "fresh"
        if library.has(f"{key}.stopped"):
            return "stopped"
    return "missing"
