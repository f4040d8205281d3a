"""`retarget`: put motion of any skeleton onto a character of a Blender file."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from .. import scene
from ..engine.database.tags import parse_names
from ..engine.errors import SettingsError
from ..engine.motion import mapping_preset, retarget_report
from ..engine.motion.mapping_preset import MappingPreset
from ..engine.motion.retarget_settings import RetargetSettings
from ..engine.settings import check_names
from ..engine.takes import takes
from .checks import check_number, check_targets, name_paths
from .loading import check_blender, protect_blender_import
from .output import Output
from .values import parse_changes
from .writing import write_together

if TYPE_CHECKING:
    from ..scene.retargeting.transfer import Retargeted, RetargetRequest

_TARGETS = {"output": (".blend",), "report": (".json",)}


def run(arguments: argparse.Namespace, out: Output) -> None:
    """Read the source, retarget it, and write the copy of the Blender file and the report."""
    _check_arguments(arguments)
    settings = _parse_settings(arguments.changes)
    with protect_blender_import():
        retargeting = scene.retargeting
        files, onto, transfer = retargeting.files, retargeting.onto, retargeting.transfer
    given = mapping_preset.load_mapping(arguments.mapping) if arguments.mapping else MappingPreset()
    request = transfer.RetargetRequest(settings, given.source, given.target)
    out.show_progress("Reading")
    motions = files.read_file(
        arguments.source,
        up=arguments.up,
        forward=arguments.forward,
        scale=arguments.scale,
        character=arguments.character,
        chosen=parse_names(arguments.actions),
    )
    with write_together(arguments, *_TARGETS) as written:
        names, armature, done = onto.retarget_into_copy(
            motions,
            request,
            arguments.onto,
            written.output,
            armature=arguments.armature,
            frame_start=arguments.frame,
            fewer_keys=arguments.fewer_keys or 0.0,
            report=out.show_progress,
        )
        report = _make_report(arguments, armature, names, done, request)
        if written.report:
            takes.write_report(report, written.report)
    _say(out, arguments, names, done)


def _check_arguments(arguments: argparse.Namespace) -> None:
    """Check the arguments before anything is loaded."""
    read = [("the command", arguments.source), *name_paths(arguments, "onto", "mapping")]
    check_targets(arguments, _TARGETS, read)
    if not arguments.onto.is_file():
        raise SettingsError(f"{arguments.onto} does not exist; give the Blender file of a character.")
    check_number("--frame", arguments.frame, -1_000_000, 1_000_000)
    check_number("--fewer-keys", arguments.fewer_keys, 1e-5, 1.0)
    check_blender(arguments.onto, "retarget")


def _parse_settings(texts: list[str]) -> RetargetSettings:
    """Return the settings of retargeting, with changes written as 'name=value'."""
    changes = parse_changes(texts, RetargetSettings())
    check_names(changes, RetargetSettings(), "retargeting setting")
    return RetargetSettings(**changes)
