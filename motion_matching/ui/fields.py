"""The method that a character is set to, and its motion field: trained, kept beside the databases, and found again there.

What was trained is known by a key of all that it was made of, so that another database or other tasks ask for another one.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import bpy

from ..engine.errors import MotionMatchingError, SettingsError
from . import asking, learning, request, status
from .operators_build import built
from .preferences import library
from .work import Steps, in_background

if TYPE_CHECKING:
    from ..engine.field.playing import FieldController
    from ..engine.field.training import Training
    from ..engine.field.value_function import ValueFunction
    from ..engine.matching.database import Database
    from ..engine.takes import Controller

_NAME = re.compile(
    r"field:(?P<metric>default|notebook)(:(?P<key>field-[0-9a-f]{32}))?"
)  # of a field, in performances
_KEYS_VERSION = 4  # of the way keys are made, and of what the qualities mean
_one_at_a_time = (
    threading.Lock()
)  # a training that was stopped is kept before the next one takes it up
_NOTHING_DONE, _GOES_ON = (
    "Stopped before there was anything to keep",
    "Stopped; Train goes on from here",
)
last_words = _NOTHING_DONE  # what became of the training that was given up last


# ---------------------------------------------------------------- what is set


@dataclass(frozen=True)
class Asked:
    """What a field is to be trained for."""

    quality: str  # of QUALITIES
    metric: str
    with_speed: bool
    tags: tuple[str, ...]

    @classmethod
    def of(cls, obj: bpy.types.Object) -> Asked:
        """As an armature is set."""
        training = obj.motion_matching.training
        return cls(
            quality_of(obj),
            training.metric,
            training.speed,
            tuple(sorted(set(asking.names(training.tags)))),
        )

    def key(self, database: str) -> str:
        """What the values are known by, with the database of a key."""
        told = json.dumps(
            [_KEYS_VERSION, database, self.quality, self.metric, self.with_speed, self.tags]
        )
        return f"field-{hashlib.blake2b(told.encode(), digest_size=16).hexdigest()}"

    def training(self, database: Database, tell: Callable[[str, float], None]) -> Training:
        """`tell` is told what is going on, and may raise. SettingsError or DatabaseError where a tag is on no frame."""
        from ..engine import takes
        from ..engine.field.playing import METRICS
        from ..engine.field.quality import QUALITIES
        from ..engine.field.tasks import Tasks, task_speeds
        from ..engine.field.training import Training

        settings, directions = QUALITIES[self.quality]
        speeds = (
            task_speeds(takes.default_settings(database).run.forward) if self.with_speed else ()
        )
        return Training(
            database,
            METRICS[self.metric](database),
            Tasks(directions, speeds, self.tags),
            settings,
            tell,
        )


@dataclass(frozen=True)
class Chosen:
    """The method that is chosen: motion matching, or a field of a metric with the values in a file, if there is one."""

    is_field: bool
    metric: str = "default"
    file: Path | None = None

    @classmethod
    def of(cls, obj: bpy.types.Object) -> Chosen:
        """As an armature is set, whose database is built."""
        if obj.motion_matching.controller.method != "FIELD":
            return cls(False)
        asked = Asked.of(obj)
        key = asked.key(obj.motion_matching.built_key)
        return cls(True, asked.metric, library().used(key))

    @classmethod
    def named(cls, name: str) -> Chosen:
        """The method that `name` told of once, without values where those are not kept any more.

        SettingsError for a name of something else.
        """
        if not name:
            return cls(False)
        if not (told := _NAME.fullmatch(name)):
            raise SettingsError(
                f"The take was made by the method '{name}', which is not known here; bake it again."
            )
        return cls(True, told["metric"], library().used(told["key"]) if told["key"] else None)

    @property
    def name(self) -> str:
        """What a performance keeps of it."""
        return (
            ":".join(["field", self.metric, *([self.file.stem] if self.file else [])])
            if self.is_field
            else ""
        )

    def field(self, database: Database, *, or_greedy: bool = False) -> FieldController | None:
        """What makes the field, where it is one. SettingsError where its file is damaged or of other data, unless it may
        be greedy then."""
        if not self.is_field:
            return None
        from ..engine.field.playing import METRICS, FieldController

        if self.file:
            try:
                return replace(FieldController.load(self.file, database), name=self.name)
            except MotionMatchingError as cause:
                if not or_greedy:
                    raise SettingsError(
                        f"What the motion field learnt cannot be read; train it again. {cause}"
                    ) from cause
        return FieldController(METRICS[self.metric](database), name=replace(self, file=None).name)

    def controller(self, database: Database) -> Controller:
        """What makes the method. Errors are those of `field`."""
        from ..engine.matching.method import MotionMatching

        return self.field(database) or MotionMatching


def quality_of(obj: bpy.types.Object) -> str:
    """The name of the quality that an armature is set to."""
    from ..engine.field.quality import QUALITIES

    return list(QUALITIES)[
        max(obj.motion_matching.training.quality, 1) - 1
    ]  # files of other versions hold any number


def quality_in_words(obj: bpy.types.Object) -> str:
    """What is trained of an armature with its quality."""
    from ..engine.field.quality import in_words

    return in_words(quality_of(obj))


def asked_of(obj: bpy.types.Object) -> Asked | None:
    """What the method of an armature is asked for, None where that is motion matching."""
    return Asked.of(obj) if obj.motion_matching.controller.method == "FIELD" else None


# ---------------------------------------------------------------- training


def trained(obj: bpy.types.Object) -> Steps[str]:
    """Work that trains the field of an armature's settings, from where it was stopped; returns what was trained.

    Errors are those of building, of tags that no frame has, and of saving. Given up, it keeps what is done.
    """
    global last_words
    last_words = _NOTHING_DONE
    uid, asked, kept = obj.session_uid, Asked.of(obj), library()
    database = yield from built(obj)
    key = asked.key(request.held(uid).motion_matching.built_key)
    try:
        function, words = yield from learning.followed(
            uid,
            in_background(
                lambda tell: _train(
                    asked, database, kept.path(key), kept.path(f"{key}.stopped"), tell
                ),
                "Training",
            ),
        )
        kept.make_room(key)
    finally:
        with _one_at_a_time:  # what is given up is kept before anything else happens
            status.forget()
    chosen = request.held(uid).motion_matching
    chosen.training.trained_key = key
    # it plays best with the actions that it was trained for
    chosen.controller.neighbours, chosen.controller.drift = function.neighbours, function.drift
    return f"Trained {words}"


def _train(
    asked: Asked, database: Database, file: Path, stopped: Path, tell: Callable[[str, float], None]
) -> tuple[ValueFunction, str]:
    """Train into a file, or where that is given up into the one of what was stopped; returns the values, and words."""
    from ..engine.field.playing import summary

    global last_words
    with _one_at_a_time:
        last_words = _GOES_ON if stopped.exists() else _NOTHING_DONE
        training = asked.training(database, tell)
        for before in (file, stopped):
            if before.exists():
                with suppress(SettingsError):  # what is damaged is made anew
                    training.resume(before)
        is_there = training.finished and file.exists()

        noted = -1.0

        def told(stage: str, part: float) -> None:
            nonlocal noted
            if noted != training.part:
                noted = training.part
                learning.note(file.stem, training.residuals, training.discount, training.sweeps)
            tell(stage, part)

        try:
            function = training.run(told)
            if not is_there:
                training.save(file)
        except BaseException:
            if training.part > 0.0:
                last_words = "Stopped, and what was done could not be kept: the disk is full, or its folder is not writable"
                training.save(stopped)
                last_words = _GOES_ON
            raise
        with suppress(OSError):
            stopped.unlink(missing_ok=True)
    return function, summary(function)


# ---------------------------------------------------------------- how it stands


def standing(obj: bpy.types.Object) -> str:
    """How the values stand that an armature asks for: 'fresh', 'stopped' half-way, 'stale' where others were trained,
    'elsewhere' where these were but are not kept here, 'missing', or 'unknown' while the database is looked at."""
    if status.shown(obj).kind == "unknown":
        return "unknown"
    had, key = obj.motion_matching.training.trained_key, key_of(obj)
    stands = _on_disk(key) if key else "missing"
    if stands != "missing" or not had:
        return stands
    return "elsewhere" if had == key else "stale"


def key_of(obj: bpy.types.Object) -> str:
    """What the values that an armature asks for are known by, or nothing while there is no database to train with."""
    found = status.shown(obj)
    database = obj.motion_matching.built_key if found.kind == "elsewhere" else found.key
    return Asked.of(obj).key(database) if database else ""


def others_than_trained(obj: bpy.types.Object) -> str:
    """What other actions an armature is set to than its field was trained for, in a sentence; nothing if to none."""
    from ..engine.field.quality import QUALITIES

    controller, trained = obj.motion_matching.controller, QUALITIES[quality_of(obj)][0]
    if controller.neighbours == trained.neighbours and abs(controller.drift - trained.drift) < 1e-6:
        return ""
    return (
        f"Trained for {trained.neighbours} neighbours and a drift correction of {trained.drift:.2f}, and plays best "
        "with these"
    )


def _on_disk(key: str) -> str:
    try:
        kept = library()
        return "fresh" if kept.has(key) else "stopped" if kept.has(f"{key}.stopped") else "missing"
    except MotionMatchingError:  # there is no folder, of which the panel of the database tells
        return "missing"
