"""Motion capture: load it, generate it, read it from Blender, write it."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from .. import scene
from ..engine import building  # takes build nothing
from ..engine.bvh import bvh
from ..engine.control.rollout import Take
from ..engine.errors import SettingsError
from ..engine.motion.clip import Clip
from ..engine.progress import ReportProgress
from ..engine.sources.sources import GroundObject, Source, choose_character, find_sources
from ..engine.takes import takes

if TYPE_CHECKING:
    import bpy

Motion = str | Path | Clip | Source


def load(
    paths: str | Path | Iterable[str | Path],
    *,
    up: str = "Y",
    forward: str = "Z",
    scale: float | None = None,
    armature: str | None = None,
    actions: Sequence[str] = (),
    bones: str | None = None,
    character: str | None = None,
) -> list[Clip]:
    """Load motion capture as clips.

    Parameters
    ----------
    paths : path or iterable of paths
        BVH files, folders of them (with their subfolders), JSON lists of sources, .blend, FBX and
        glTF files.
    up, forward : str
        Axes of BVH files that point up and forward, such as ``"Z"`` or ``"-X"``.
    scale : float, optional
        Metres per unit of BVH files. By default it is found from the size of the skeleton.
    armature, actions, bones : str, sequence of str, str, optional
        What to read from .blend files: the armature object, its actions, and its bones (``"all"``
        or ``"deform"``). By default the only armature, and all actions that move its bones.
    character : str, optional
        The root to read from BVH files that hold several characters, or the armature of FBX and
        glTF files. By default the one with the most joints, or with the most actions.

    Returns
    -------
    list of Clip
        ``clip.positions`` (F, B, 3) in metres and ``clip.rotations`` (F, B, 4) are local to the
        parent bone.

    Raises
    ------
    MotionDataError
        If a file cannot be used.
    SettingsError
        If a path does not exist, or a file needs Blender and there is none.

    Notes
    -----
    Reading a .blend file replaces the file that is open, so it works in the background only. Its
    loops and tags are not part of a clip: give the path itself to `build` to use them.

    Examples
    --------
    >>> clips = api.load("clips")
    >>> clips[0].positions.shape[1:]
    (22, 3)
    """
    settings = building.build.BuildSettings(up=up, forward=forward, scale=scale)
    sources, _ = list_sources(
        paths, armature=armature, actions=actions, bones=bones, character=character
    )
    return [source.load(settings.get_axes()) for source in sources]


def read_actions(
    armature: bpy.types.Object, actions: Sequence[bpy.types.Action] | None = None
) -> list[Clip]:
    """Read actions of an armature object in the open Blender file as clips.

    Parameters
    ----------
    armature : bpy.types.Object
    actions : sequence of bpy.types.Action, optional
        By default all actions that move its bones, except takes that were made of them.

    Returns
    -------
    list of Clip
        At the scene's frame rate.

    Raises
    ------
    RigError
        If the object cannot be sampled.
    MotionDataError
        If an action does not move the object's bones.

    Examples
    --------
    >>> clips = api.read_actions(bpy.context.object)  # doctest: +SKIP
    """
    check_blender("read_actions")
    chosen = actions
    if chosen is None:
        found = scene.blender.animation.actions.find_actions(armature)
        chosen = [each for each in found if not scene.writing.recording.is_take(each)]
    return [sampled.clip for sampled in scene.reading.sampling.sample(armature, chosen)]


def make_demo_clips(seed: int = 0, *, climbs: bool = False) -> list[Clip]:
    """Return the built-in locomotion clips, which were generated once and are shipped.

    Parameters
    ----------
    seed : int
        Seed of the variations: 0, the one that is shipped.
    climbs : bool
        Also walk up and down ramps and stairs.

    Returns
    -------
    list of Clip
        Standing, walking, running, turning and strafing on a skeleton of 22 bones.

    Raises
    ------
    SettingsError
        If the seed is not shipped.

    Examples
    --------
    >>> clips = api.make_demo_clips()
    >>> clips[0].fps
    30.0
    """
    return building.demo_clips.load_demo_clips(climbs, seed)


def write_bvh(motion: Take | Clip, path: str | Path) -> None:
    """Write a take or a clip as a BVH file: Y up, facing Z, centimetres.

    Parameters
    ----------
    motion : Take or Clip
        A take is written with the bones of its sources, without the simulation bone. A file has
        bones depth first.
    path : path

    Raises
    ------
    MotionDataError
        If the file cannot be written; nothing is left of it then.

    Examples
    --------
    >>> api.write_bvh(clips[0], "copy.bvh")
    >>> copy, = api.load("copy.bvh", scale=0.01)
    >>> np.allclose(copy.positions, clips[0].positions, atol=1e-5)
    True
    """
    if isinstance(motion, Take):
        takes.write_bvh(motion, path)
    else:
        bvh.save(motion, path)


def list_sources(
    given: Motion | Iterable[Motion],
    *,
    armature: str | None = None,
    actions: Sequence[str] = (),
    bones: str | None = None,
    character: str | None = None,
    progress: ReportProgress | None = None,
) -> tuple[list[Source], list[str]]:
    """Return sources of clips, sources and paths, and a sentence on each file that Blender read."""
    several = [given] if isinstance(given, str | Path | Clip | Source) else list(given)
    sources = [source for one in several for source in _expand(one)]
    notes: list[str] = []
    if character and any(source.file for source in sources):
        sources = choose_character(sources, character)
    files = [source.file for source in sources if source.needs_blender]
    if files:
        check_blender(str(files[0]))
        sources, notes = scene.reading.blend_sources.read_blend_sources(
            sources, armature=armature, chosen=actions, bones=bones, progress=progress
        )
    grounds = [one.ground for one in sources if isinstance(one.ground, GroundObject)]
    if grounds:
        check_blender(f"The ground '{grounds[0].name}'")
        sources = scene.staging.ground.read_grounds(sources)
    return sources, notes


def _expand(given: Motion) -> list[Source]:
    if isinstance(given, Source):
        return [given]
    if isinstance(given, Clip):
        return [Source(clip=given)]
    return find_sources([given])


def check_blender(what: str, remedy: str = "run the script in Blender") -> None:
    """Raise SettingsError, with a remedy, if something needs Blender and there is none."""
    if "bpy" not in sys.modules and importlib.util.find_spec("bpy") is None:
        text = f"{what} needs Blender's module bpy, which this Python lacks"
        raise SettingsError(f"{text}; install bpy, or {remedy}.")
