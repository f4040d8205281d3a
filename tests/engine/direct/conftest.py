"""A director of generated clips: standing, walking, turning and running, with their mirror images."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from motion_matching.engine.building.build import BuildSettings, build
from motion_matching.engine.database.database import Database
from motion_matching.engine.direct.director import Director
from motion_matching.engine.direct.footage.footage import Footage, make_footage
from motion_matching.engine.direct.footage.jump_table import JumpTable, build_table
from motion_matching.engine.sources.sources import Source
from tests.demo import generate_clips
from tests.run_files import pickle_once

_CLIPS = (
    *("idle", "idle_and_turns_in_place", "walk_starts_and_stops", "starts_in_all_directions"),
    *("walk_speeds", "walk_curves", "walk_bends", "run_speeds", "gait_changes"),
)


@pytest.fixture(scope="session")
def walking() -> Database:
    """The database of these clips."""
    sources = [Source(clip=clip) for clip in generate_clips() if clip.name in _CLIPS]
    return pickle_once("walking", lambda: build(sources, BuildSettings(mirror=True))[0])


@pytest.fixture(scope="session")
def footage(walking: Database) -> Footage:
    return make_footage(walking)


@pytest.fixture(scope="session")
def table(footage: Footage) -> JumpTable:
    return pickle_once("walking_table", lambda: build_table(footage))


@pytest.fixture(scope="session")
def director(footage: Footage, table: JumpTable) -> Director:
    return Director(footage, table)


@pytest.fixture(scope="session")
def bandai_director(bandai_namco: Database) -> Director:
    """A director of Bandai-Namco's clips and their mirror images."""
    footage = make_footage(bandai_namco)
    return Director(footage, pickle_once("bandai_table", lambda: build_table(footage)))


@pytest.fixture(scope="session")
def giant(walking: Database) -> Database:
    """The same of a body that is four times as large, and so takes twice as long for all."""
    size, skeleton, poses = 4.0, walking.skeleton, np.array(walking.poses)
    poses[:, :3] *= size
    sites = tuple((bone, tuple(size * v for v in site)) for bone, site in skeleton.end_sites)
    rest = size * skeleton.rest_positions
    return replace(
        walking,
        skeleton=replace(skeleton, rest_positions=rest, end_sites=sites),
        fps=walking.fps / 2.0,
        poses=poses,
        track=walking.track * [size, size, 1.0],
    )
