"""`retarget`: put motion of any skeleton onto a character of a Blender file."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .. import scene
from ..api.retargeting import make_options, make_request, read_motions
from ..engine.body.axes import FileAxes, add_options
from ..engine.database.tags.tags import parse_names
from ..engine.errors import SettingsError
from ..engine.files.file_paths import describe_no_file
from ..engine.retargeting.pairs.mapping_preset import MappingPreset, load_mapping
from ..engine.retargeting.settings import RetargetSettings
from ..engine.settings import check_names, get_descriptions
from ..engine.takes import takes
from .checks import check_number, check_targets, name_paths, write_together
from .loading import check_blender, load_blender
from .output import Output, say_warnings, say_written
from .values import parse_changes

if TYPE_CHECKING:
    from ..scene.retargeting.transfer import Retargeted

_FORCE = "write it all the same with --force"
_TARGETS = {"output": ".blend", "report": ".json"}


def run(arguments: argparse.Namespace, out: Output) -> None:
    """Read the source, retarget it, and write the copy of the Blender file and the report."""
    check(arguments)
    settings = _parse_settings(arguments.changes)
    load_blender()
    given = load_mapping(arguments.mapping) if arguments.mapping else MappingPreset()
    out.show_progress("Reading")
    motions, misread, notes = read_motions(
        arguments.source,
        FileAxes(arguments.up, arguments.forward),
        arguments.scale,
        arguments.character,
        parse_names(arguments.actions),
        arguments.keep_frames,
    )
    for text in misread:
        out.say(f"Warning: {add_options(text)}")
    say_warnings(notes, out)
    with write_together(arguments, *_TARGETS) as written:
        names, armature, done = scene.retargeting.onto.retarget_into_copy(
            motions,
            make_request(settings, given.source, given.target),
            arguments.onto,
            written.output,
            make_options(arguments.fewer_keys or 0.0, arguments.legs, arguments.arms),
            armature=arguments.armature,
            frame_start=arguments.frame,
            force="" if arguments.force else _FORCE,
            report=out.show_progress,
        )
        if written.report:
            report = {
                "source": arguments.source.name,
                "onto": arguments.onto.name,
                "armature": armature,
                **_make_report(names, done, settings),
                "notes": [note.text for note in notes],
            }
            takes.write_report(report, written.report)
    _say(out, names, armature, done)
    say_written(out, name_paths(arguments, *_TARGETS))


def check(arguments: argparse.Namespace) -> None:
    """Raise SettingsError for arguments that are wrong without a look at the data."""
    check_targets(arguments, _TARGETS, name_paths(arguments, "source", "onto", "mapping"))
    if not arguments.onto.is_file():
        raise SettingsError(
            f"{describe_no_file(arguments.onto)}; give the Blender file of a character."
        )
    check_number("--frame", arguments.frame, -1_000_000, 1_000_000)
    check_number("--fewer-keys", arguments.fewer_keys, 1e-5, 1.0)
    check_blender(arguments.onto, "retarget")
    _parse_settings(arguments.changes)


def _parse_settings(texts: list[str]) -> RetargetSettings:
    """Return the settings of retargeting, with changes written as 'name=value'."""
    changes = parse_changes(texts, RetargetSettings())
    check_names(changes, RetargetSettings(), "retargeting setting")
    if "offsets" in changes:
        raise SettingsError("--set offsets cannot be given; set them in the panel, or by a script.")
    return RetargetSettings(**changes)


def _make_report(
    names: Sequence[str], done: Retargeted, settings: RetargetSettings
) -> dict[str, Any]:
    """Return the content of the report: pairs of bones, results, and measures."""
    mapping = done.mapping
    motions = [motion for motion, _ in done.pairs]
    return {
        "settings": {name: getattr(settings, name) for name in get_descriptions(RetargetSettings)},
        "mapped": mapping.mapped_count,
        "total": mapping.total,
        "needs_help": mapping.needs_help,
        "problems": list(mapping.problems),
        **json.loads(mapping.to_json()),
        "actions": [
            {
                "name": name,
                "source": motion.clip.name,
                "frames": motion.clip.frame_count,
                "skipped": motion.skipped,
                "fps": motion.clip.fps,
                **found,
                "result": check.to_dict(),
            }
            for name, motion, found, check in zip(
                names, motions, done.measures, done.checks, strict=True
            )
        ],
    }


def _say(out: Output, names: Sequence[str], armature: str, done: Retargeted) -> None:
    mapping = done.mapping
    made = f"'{names[0]}'" if len(names) == 1 else f"{len(names)} actions"
    out.say(
        f"Retargeted {made} onto '{armature}': {mapping.mapped_count} of {mapping.total} parts."
    )
    lacking = [pair.role for pair in mapping.pairs if not pair.source]
    if lacking:
        out.say(f"No bone of the source was found for {_name_parts(lacking)}.")
    roles = [pair.role for pair in mapping.pairs if pair.source and not pair.target]
    if roles:
        out.say(f"'{armature}' has no {_name_parts(roles)}.")
    for problem in mapping.problems:
        out.say(f"Needs help: {problem}")
    for role in mapping.doubtful:
        pair = next((pair for pair in mapping.pairs if pair.role == role), None)
        bones = (
            " and ".join(f"'{(*names, '?')[0]}'" for names in (pair.source, pair.target))
            if pair
            else ""
        )
        out.say(f"Doubtful: {role.replace('_', ' ')} ({bones}); name its bones with --mapping.")
    for name, found in zip(names, done.measures, strict=True):
        out.say(
            f"  {name}: planted feet slide {found['slide']:.2f} cm/s (the source's, scaled, "
            f"{found['source_slide']:.2f}) and are {found['height']:.1f} cm off their height, hips "
            f"at {found['hips']:.0%} of theirs, legs {found['legs']:.1f}° and torso "
            f"{found['torso']:.1f}° off the source's, {found['against']:.0f} frames with a knee or "
            "elbow against it."
        )
        if bone := found.get("off_bone"):
            off = f"{found['off_cm']:.1f} cm and {found['off_degrees']:.1f}°"
            out.say(f"  As its controls move it, '{bone}' is off most: by {off}.")
    for check in done.checks:
        if check.is_wrong:
            out.say(f"Written all the same: {check.describe()}.")


def _name_parts(roles: Sequence[str]) -> str:
    words = ("root bone" if role == "root" else role for role in roles)
    return ", ".join(words).replace("_", " ")
