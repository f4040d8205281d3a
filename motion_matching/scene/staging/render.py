"""Render the open scene as a picture or a film, in another Blender process.

Without graphics, Workbench ends its whole process: then Cycles renders on the CPU instead. The
other process can also be ended at once.
"""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import bpy

from ...engine.errors import MotionMatchingError
from ...engine.files import replacing
from ...engine.own_files import make_temporary_folder
from ..blender.files import save_copy

Progress = Callable[[float], None]

STILL, FILM = ".png", ".mp4"
WORKBENCH, CYCLES = "BLENDER_WORKBENCH", "CYCLES"
FIRST_FRAME_WITHIN = 120.0  # seconds, for a Workbench that hangs instead of dying
SAMPLES = {STILL: 24, FILM: 6}  # of Cycles, per pixel
_RENDERED = "rendered frame"  # starts a line for each one
_FAILED = "cannot render:"

# What the other process runs. It ends without tidying up, for which some versions need longer than
# for a picture.
_CHILD = f"""
import os, sys
try:
    import bpy
    path, engine, film = sys.argv[-3:]
    if not bpy.data.filepath:
        bpy.ops.wm.open_mainfile(filepath=path, load_ui=False)
    bpy.context.scene.render.engine = engine
    def report(scene, *rest):
        try:
            print("\\n{_RENDERED}", scene.frame_current, flush=True)
        except OSError:
            os._exit(1)  # nobody waits for this any longer
    bpy.app.handlers.render_post.append(report)
    bpy.ops.render.render(animation=film == "film", write_still=True)
except BaseException as error:
    print("\\n{_FAILED}", " ".join(str(error).removeprefix("Error: ").split()), flush=True)
    os._exit(1)
os._exit(0)
"""


def check_format(path: Path) -> None:
    """Raise MotionMatchingError if this Blender cannot make such a file."""
    if path.suffix.lower() == FILM and not bpy.app.build_options.codec_ffmpeg:
        raise MotionMatchingError(
            f"{path} cannot be made, because this Blender has no ffmpeg; ask for a {STILL} file, "
            "or use a Blender from blender.org."
        )


def render(
    path: Path, progress: Progress | None = None, engines: tuple[str, ...] = (WORKBENCH, CYCLES)
) -> str:
    """Write the open scene's current frame to a .png, or all its frames to a .mp4.

    The first of `engines` that works is used, and its name returned. `progress` is called with the
    part done, 0..1. Raises MotionMatchingError, with nothing left behind, if nothing works.
    """
    check_format(path)
    kind = path.suffix.lower()
    with (
        replacing(path, MotionMatchingError) as unfinished,
        make_temporary_folder() as folder,
    ):
        # Blender reads # and // in the name of what it renders as more than a name
        output, file = folder / f"take{kind}", folder / "take.blend"
        _set_output(bpy.context.scene, output)
        save_copy(file)
        reason = "no graphics and no Cycles"
        for engine in engines:
            begun, failure = _run(file, engine, kind == FILM, progress)
            if failure is None and not _is_complete(output):
                failure = "no space left for temporary files"
            if failure is None:
                shutil.copyfile(output, unfinished)
                return engine
            reason = failure or reason
            if begun:
                break
        raise MotionMatchingError(
            f"{path} cannot be rendered ({reason}); free some space or try another Blender."
        )


def _set_output(scene: bpy.types.Scene, path: Path) -> None:
    """Set the output: H.264 that plays everywhere, or a .png; and Cycles, should it be used."""
    render: Any = scene.render
    image = render.image_settings
    if path.suffix == FILM:
        if hasattr(image, "media_type"):  # from 5.0 on
            image.media_type = "VIDEO"
        image.file_format = "FFMPEG"
        video = render.ffmpeg
        video.format, video.codec, video.audio_codec = "MPEG4", "H264", "NONE"
        video.constant_rate_factor, video.ffmpeg_preset, video.gopsize = "HIGH", "GOOD", 25
    else:
        image.file_format, image.color_mode, image.compression = "PNG", "RGB", 90
    render.filepath = str(path)
    for name in dir(render):  # neither the date nor names of folders go into a picture
        if name.startswith("use_stamp_"):
            setattr(render, name, False)
    render.dither_intensity = 0.0  # its noise makes a larger file
    scene.display.render_aa = "8" if path.suffix == STILL else "FXAA"
    scene.display.shading.cavity_type = "SCREEN"  # the other one is noisy
    scene.display.shading.show_cavity = path.suffix == STILL  # takes a third of the time of a frame
    if cycles := getattr(scene, "cycles", None):  # some builds come without
        cycles.device, cycles.samples = "CPU", SAMPLES[path.suffix]
        cycles.use_adaptive_sampling = cycles.use_denoising = False
        cycles.max_bounces = 2


def _run(file: Path, engine: str, film: bool, progress: Progress | None) -> tuple[bool, str | None]:
    """Render a saved scene in another process; return whether it began, and why it failed."""
    command = [*_build_command(file), str(file), engine, "film" if film else "still"]
    scene = bpy.context.scene
    count = scene.frame_end - scene.frame_start + 1
    begun, reason = False, ""
    # Blender leaves things there
    temporary = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(file.parent))
    with subprocess.Popen(
        command,
        env=os.environ | temporary,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
        errors="replace",
    ) as child:
        watch = threading.Timer(FIRST_FRAME_WITHIN, child.kill)
        if engine == WORKBENCH:
            watch.start()
        try:
            for line in child.stdout:
                if line.startswith(_RENDERED):
                    watch.cancel()
                    begun = True
                    done = int(line.split()[-1]) - scene.frame_start + 1
                    if progress:
                        progress(done / count if film else 1.0)
                elif line.startswith(_FAILED):
                    reason = line.removeprefix(_FAILED).strip()
            return begun, None if child.wait() == 0 else reason
        finally:
            watch.cancel()
            if watch.is_alive():
                watch.join()
            with suppress(OSError):
                child.kill()


def _build_command(file: Path) -> list[str]:
    """Return the start of a command that runs `_CHILD`, in this program or in its Python."""
    if program := bpy.app.binary_path:
        start = [program, "--background", "--factory-startup", str(file)]
        return [*start, "--python-expr", _CHILD, "--"]
    return [sys.executable, "-c", _CHILD]


def _is_complete(path: Path) -> bool:
    """Return whether a .png or .mp4 has its end: a full disk may go unnoticed while writing."""
    try:
        data = path.read_bytes()
        if path.suffix == STILL:
            return data[-8:-4] == b"IEND"
        boxes, offset = set(), 0
        while offset < len(data):
            length, kind = struct.unpack_from(">I4s", data, offset)
            if length == 1:  # too long for four bytes
                [length] = struct.unpack_from(">Q", data, offset + 8)
            boxes.add(kind)
            offset += max(length, 8)
        return offset == len(data) and {b"moov", b"mdat"} <= boxes
    except (OSError, struct.error):
        return False
