"""`digest`: print what tells whether two runs made the same files."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..api.digests import ANIMATED, compare, digest
from ..engine.errors import ResultError, SettingsError
from .loading import check_blender, load_blender
from .output import Output


def run(arguments: argparse.Namespace, out: Output) -> None:
    """Print a digest for each file, or compare two. Raises ResultError if these differ."""
    files: list[Path] = arguments.files
    animated = [path for path in files if path.suffix.lower() in ANIMATED]
    if animated:
        check_blender(animated[0], "digest")
        load_blender()
    if not arguments.compare:
        for path in files:
            out.say(f"{digest(path)}  {path}")
        return
    if len(files) != 2:
        raise SettingsError(f"--compare takes two files, not {len(files)}; name both.")
    if difference := compare(*files):
        raise ResultError(f"{files[0]} and {files[1]} differ: {difference}.")
    out.say(f"{files[0]} and {files[1]} are equal.")
