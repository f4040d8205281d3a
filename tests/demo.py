"""The built-in clips and their database, made once in a run and read once in each process."""

from __future__ import annotations

from functools import cache

from building.locomotion import locomotion
from motion_matching.engine.building.build import BuildSettings, build
from motion_matching.engine.building.demo_clips import load_demo_clips
from motion_matching.engine.database.database import Database
from motion_matching.engine.motion.clip import Clip
from motion_matching.engine.performance.settings import PerformerSettings
from motion_matching.engine.sources.sources import Source
from motion_matching.engine.takes import takes
from tests.run_files import pickle_once

# Clips with which a character stands, walks and runs.
CLIMBERS = ("idle", "walk_speeds", "walk_starts_and_stops", "walk_curves")
FEW = ("idle", "walk_speeds", "walk_curves", "run_speeds", "gait_changes")


@cache
def generate_clips(fps: float = 30.0) -> tuple[Clip, ...]:
    """Return the clips, whose arrays cannot be written to: all tests of a process share them."""
    clips = tuple(load_demo_clips() if fps == 30.0 else locomotion.generate(fps=fps))
    for clip in clips:
        clip.positions.flags.writeable = clip.rotations.flags.writeable = False
    return clips


@cache
def load_demo() -> Database:
    """Return the clips and their mirror images with the shipped settings."""

    def build_demo() -> Database:
        sources = [Source(clip=clip) for clip in generate_clips()]
        return build(sources, BuildSettings(mirror=True))[0]

    return pickle_once("demo", build_demo)


@cache
def load_few() -> Database:
    """Return the database of few clips, for commands that read all of it each time."""

    def build_few() -> Database:
        sources = [Source(clip=clip) for clip in generate_clips() if clip.name in FEW]
        return build(sources, BuildSettings(mirror=True))[0]

    return pickle_once("few", build_few)


@cache
def load_climbing() -> Database:
    """Return the database of few clips, and of those on ramps and stairs."""

    def build_climbing() -> Database:
        clips = load_demo_clips(climbs=True)
        climbing = [c for c in clips if c.name in CLIMBERS or c.name.startswith(("ramp", "stairs"))]
        return build([Source(clip=clip) for clip in climbing], BuildSettings())[0]

    return pickle_once("climbing", build_climbing)


@cache
def demo_settings() -> PerformerSettings:
    """Return the controller's default settings for that database."""
    return takes.make_default_settings(load_demo())
