"""Render a film of a take, from the Blender file that `take -o` wrote. The camera follows the body.

With Blender's Python module:

    python examples/film_of_take.py take.blend take.mp4

With Blender:

    blender --background --python examples/film_of_take.py -- take.blend take.mp4

`--renderer CYCLES` renders on machines without graphics. A film needs a Blender with FFmpeg.
"""

import argparse
import sys
from pathlib import Path

import bpy
import numpy as np

SMOOTHED = 0.7  # seconds over which the way of the camera is averaged
ROOM = 2.0  # heights of the body that the picture shows


def follow(scene: bpy.types.Scene, armature: bpy.types.Object) -> None:
    """Key the scene's camera to look at the middle of the body from where it looks now."""
    frames = range(scene.frame_start, scene.frame_end + 1)
    heads = []
    for frame in frames:
        scene.frame_set(frame)
        heads.append([armature.matrix_world @ bone.head for bone in armature.pose.bones])
    heads = np.array(heads)
    height = float(np.median(np.ptp(heads[..., 2], axis=1)))
    middle = 0.5 * (heads.min(axis=1) + heads.max(axis=1))
    around = max(round(SMOOTHED * scene.render.fps / 2.0), 1)
    padded = np.pad(middle, ((around, around), (0, 0)), mode="edge")
    kernel = np.full(2 * around + 1, 1.0 / (2 * around + 1))
    way = np.stack([np.convolve(column, kernel, mode="valid") for column in padded.T], axis=1)

    camera = scene.camera
    data, back = camera.data, np.array(camera.matrix_world.col[2])[:3]
    ratio = scene.render.resolution_y / max(scene.render.resolution_x, scene.render.resolution_y)
    distance = ROOM * height * data.lens / (data.sensor_width * ratio)
    for frame, point in zip(frames, way + distance * back, strict=True):
        camera.location = point
        camera.keyframe_insert("location", frame=frame)


def set_output(scene: bpy.types.Scene, film: Path, renderer: str) -> None:
    """Render all frames with shadows into one H.264 file that plays everywhere."""
    render, image = scene.render, scene.render.image_settings
    render.engine = renderer
    render.filepath = str(film.resolve())
    if hasattr(image, "media_type"):  # from Blender 5.0 on
        image.media_type = "VIDEO"
    image.file_format = "FFMPEG"
    video = render.ffmpeg
    video.format, video.codec, video.audio_codec = "MPEG4", "H264", "NONE"
    video.constant_rate_factor, video.ffmpeg_preset = "HIGH", "GOOD"
    if renderer == "CYCLES":
        scene.cycles.device, scene.cycles.samples = "CPU", 6
        scene.cycles.use_denoising = False


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path, help="a Blender file with a camera and an armature")
    parser.add_argument("film", type=Path, help="the .mp4 to write")
    parser.add_argument("--size", type=int, nargs=2, default=(640, 360), metavar=("X", "Y"))
    names = ("BLENDER_WORKBENCH", "CYCLES")
    parser.add_argument("--renderer", choices=names, default=names[0])
    words = sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else sys.argv[1:]
    chosen = parser.parse_args(words)
    bpy.ops.wm.open_mainfile(filepath=str(chosen.file.resolve()))
    scene = bpy.context.scene
    armature = next((each for each in scene.objects if each.type == "ARMATURE"), None)
    if scene.camera is None or armature is None:
        parser.error(f"{chosen.file} needs a camera and an armature")
    scene.render.resolution_x, scene.render.resolution_y = chosen.size
    follow(scene, armature)
    set_output(scene, chosen.film, chosen.renderer)
    bpy.ops.render.render(animation=True)
    print(f"{chosen.film}: {scene.frame_end - scene.frame_start + 1} frames.")


if __name__ == "__main__":
    main()
