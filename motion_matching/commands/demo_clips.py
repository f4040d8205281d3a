"""`demo-clips`: write the built-in clips as BVH files."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from ..engine.building.demo_clips import load_demo_clips
from ..engine.bvh import bvh
from ..engine.errors import SettingsError
from ..engine.files import own_files
from ..engine.motion.clip import Clip
from .checks import check_seed
from .output import Output


def run(arguments: argparse.Namespace, out: Output) -> None:
    """Write the clips into a folder, in which they replace nothing but themselves."""
    check(arguments)
    clips = load_demo_clips(arguments.climbs, arguments.seed)
    try:
        arguments.folder.mkdir(parents=True, exist_ok=True)
    except OSError as cause:
        raise SettingsError(
            f"The folder {arguments.folder} cannot be made ({cause.strerror}); choose another."
        ) from cause
    _check_names(clips, arguments.folder)
    for number, clip in enumerate(clips):
        out.show_progress("Writing clips", number / len(clips))
        bvh.save(clip, arguments.folder / f"{clip.name}.bvh")
    frames = sum(clip.frame_count for clip in clips)
    out.say(f"{arguments.folder}: {len(clips)} clips, {frames} frames.")


def check(arguments: argparse.Namespace) -> None:
    """Raise SettingsError for arguments that are wrong."""
    check_seed(arguments.seed)


def _check_names(clips: Sequence[Clip], folder: Path) -> None:
    """Raise SettingsError if a folder has other files of the names of clips."""
    others = []
    with own_files.make_temporary_folder() as made:
        for clip in clips:
            name = f"{clip.name}.bvh"
            if (folder / name).is_file():
                bvh.save(clip, made / name)
                if (folder / name).read_bytes() == (made / name).read_bytes():
                    continue
            others.append(folder / name)
    own_files.check_unnamed(others, f"demo-clips {folder}")
