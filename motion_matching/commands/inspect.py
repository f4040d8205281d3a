"""`inspect`: report the contents of a database, or a search at one of its frames."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import api
from ..engine.database.database import Database
from ..engine.database.tags.tags import parse_names
from ..engine.errors import SettingsError
from ..engine.field.states.neighbours import Metric
from ..engine.insight import maps, plots
from ..engine.insight.frames import frame_inspector
from ..engine.takes import takes
from .checks import check_targets, name_paths, write_together
from .loading import load_database
from .output import Output, say_written
from .values import check_changes, parse_changes, parse_numbers

if TYPE_CHECKING:
    from ..engine.insight.maps.field_map import FieldMap

_TARGETS = {"report": ".json", "plot": ".svg"}
_UMAP = "umap"
_NEIGHBOURS = 80  # of UMAP, as in the notebook


def run(arguments: argparse.Namespace, out: Output) -> None:
    """Report on a database, or on a search at a frame, and write the results."""
    check(arguments)
    database = load_database(arguments.database, out)
    changes = parse_changes(arguments.changes, takes.make_default_settings(database))
    out.show_progress("Measuring")
    with write_together(arguments, *_TARGETS) as written:
        if arguments.frame:
            text, data = _inspect_frame(arguments, database, changes)
        else:
            text, data = _inspect_all(written, database, changes, out)
        if written.report:
            takes.write_report(data, written.report)
    out.say(text)
    say_written(out, name_paths(arguments, *_TARGETS))


def check(arguments: argparse.Namespace) -> None:
    """Raise SettingsError for arguments that are wrong without a look at the data."""
    check_targets(arguments, _TARGETS, name_paths(arguments, "database", "performance"))
    if arguments.performance and arguments.performance.suffix.lower() != ".json":
        raise SettingsError(
            f"{arguments.performance} is not a .json file; give one that --save-performance wrote."
        )
    for option in ("wish", "tags"):
        if getattr(arguments, option) and not arguments.frame:
            text = f"--{option} is about one frame; name it with --frame CLIP:FRAME"
            raise SettingsError(f"{text}, or leave this out.")
    _check_map(arguments.map)
    check_changes(arguments.changes)
    for option in ("performance", "plot", "map"):
        if getattr(arguments, option) and arguments.frame:
            text = f"--{option} says nothing about one frame; leave it out, or --frame."
            raise SettingsError(text)


def _inspect_all(
    arguments: argparse.Namespace, database: Database, changes: dict[str, Any], out: Output
) -> tuple[str, dict[str, Any]]:
    """Describe a database as text and JSON data, and draw pictures of it on request."""
    result = api.inspect(database, settings=changes, performance=arguments.performance)
    data = result.data
    if arguments.report or arguments.plot:
        out.show_progress("Mapping poses")
        poses = maps.pose_map.build_pose_map(database)
        data |= {"pose_map": poses.to_dict(database)}
        states = _build_states_map(database, arguments.map)
        if states:
            data |= {"field_map": states.to_dict(database)}
    if arguments.plot:
        plots.save(database, result, poses, arguments.plot, states)
    return result.text, data


def _inspect_frame(
    arguments: argparse.Namespace, database: Database, changes: dict[str, Any]
) -> tuple[str, dict[str, Any]]:
    """Describe the search at one frame as text and JSON data."""
    seen = api.inspect_frame(
        database,
        arguments.frame,
        velocity=_parse_wish(arguments.wish),
        tags=parse_names(arguments.tags),
        settings=changes,
    )
    return api.describe_frame(seen, database), frame_inspector.to_dict(seen, database)


def _parse_wish(text: str | None) -> tuple[float, float] | None:
    """Return the desired velocity forward and to the left, if one is given."""
    if not text:
        return None
    forward, left, *more = [*parse_numbers(text, text, "--wish"), 0.0]
    if len(more) > 1:
        raise SettingsError(f"--wish is {text}; give one or two numbers in m/s, such as 0.5,1.")
    return forward, left


def _check_map(name: str | None) -> None:
    """Raise SettingsError if the library for a map is not installed."""
    if name == _UMAP and importlib.util.find_spec(_UMAP) is None:
        raise SettingsError(
            "--map umap needs the package umap-learn, which is not installed; install it with "
            "'pip install umap-learn', or use --map field."
        )


def _build_states_map(database: Database, name: str | None) -> FieldMap | None:
    if not name:
        return None
    metric = Metric.from_database(database)
    if name == _UMAP:
        return maps.field_map.build_field_map(database, metric, _embed_by_umap, "UMAP")
    return maps.field_map.build_field_map(database, metric)


def _embed_by_umap(features: np.ndarray) -> np.ndarray:
    """Return positions (n, 3) of states by features (n, F), the same in each run."""
    umap = importlib.import_module(_UMAP)
    neighbours = min(_NEIGHBOURS, len(features) - 1)
    reducer = umap.UMAP(n_components=3, n_neighbors=neighbours, random_state=0, n_jobs=1)
    positions: np.ndarray = reducer.fit_transform(features)
    return positions
