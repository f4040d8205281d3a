"""Measure on demand how much of a search's time each feature of an armature takes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import bpy

from .. import engine
from ..engine.errors import SettingsError
from ..engine.progress import ReportProgress
from . import callbacks, status
from .build import load_or_build_steps
from .characters import get_armature
from .features import build_schema
from .runtime import runtime
from .settings import get_performer_settings
from .steps import Steps, run_in_background_steps
from .typed import settings_of

if TYPE_CHECKING:
    from ..engine.database.features import Feature


class MeasuredSearch(NamedTuple):
    """The median `seconds` of a search in the data with a `key`, in its `edition`.

    `parts` says of each feature, with a weight of 1, how many numbers it has in the search, and
    which share of the time a search takes less without it.
    """

    key: str
    edition: int
    seconds: float
    parts: dict[Feature, tuple[int, float]]


def measure_steps(obj: bpy.types.Object) -> Steps[MeasuredSearch]:
    """Measure searches in the data of an armature. Raises errors of building."""
    uid = obj.session_uid
    database = yield from load_or_build_steps(obj)
    obj = get_armature(uid)
    key, settings = settings_of(obj).built_key, get_performer_settings(obj, database)

    def measure(report: ReportProgress) -> MeasuredSearch:
        times = engine.insight.search_times.measure_search_times(
            database, settings, lambda share: report("Measuring", share)
        )
        parts = zip(times.numbers, times.saved, strict=True)
        features = (replace(feature, weight=1.0) for feature in database.schema.features)
        named = dict(zip(features, parts, strict=True))
        return MeasuredSearch(key, status.get_edition(key), times.seconds, named)

    result = yield from run_in_background_steps(measure, "Measuring")
    runtime.search_times[uid] = result
    callbacks.redraw("WINDOW")
    return result


def describe_active(obj: bpy.types.Object) -> str:
    """Return what the active feature costs in words, or an empty string if that is not known."""
    settings, measured = settings_of(obj), runtime.search_times.get(obj.session_uid)
    if measured is None or measured[:2] != (
        settings.built_key,
        status.get_edition(settings.built_key),
    ):
        return ""
    try:
        features = build_schema(settings.features).features
    except SettingsError:
        return ""
    index = settings.features.index
    part = (
        measured.parts.get(replace(features[index], weight=1.0)) if index < len(features) else None
    )
    if part is None:
        return ""
    count, saved = part
    numbers = f"{count} of {sum(numbers for numbers, _ in measured.parts.values())} numbers"
    less = "less" if saved >= 0.0 else "more"
    return (
        f"{numbers}; a search takes {1e3 * measured.seconds:.2g} ms, without this feature "
        f"{abs(saved):.0%} {less}"
    )
