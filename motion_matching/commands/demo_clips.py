"""`demo-clips`: generated clips as BVH files."""

from __future__ import annotations

import argparse

from ..engine.errors import SettingsError
from ..engine.locomotion import locomotion
from ..engine.motion import bvh
from .checks import check_seed
from .output import Output


def run(arguments: argparse.Namespace, out: Output) -> None:
    """Generate clips into a folder."""
    check_seed(arguments.seed)
    try:
        arguments.folder.mkdir(parents=True, exist_ok=True)
    except OSError as cause:
        raise SettingsError(
            f"The folder {arguments.folder} cannot be made ({cause.strerror}); choose another."
        ) from cause
    out.show_progress("Generating clips")
    clips = locomotion.generate(arguments.seed)
    for number, clip in enumerate(clips):
        out.show_progress("Writing clips", number / len(clips))
        bvh.save(clip, arguments.folder / f"{clip.name}.bvh")
    frames = sum(clip.frame_count for clip in clips)
    out.say(f"{arguments.folder}: {len(clips)} clips, {frames} frames.")
