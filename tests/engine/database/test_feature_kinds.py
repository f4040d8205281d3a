"""A kind of feature is one class: builds, queries, drawings, panels and the manual follow from it."""

from __future__ import annotations

import numpy as np
import pytest

from motion_matching.engine.database.features.features import Feature, Schema, schema_from_dict
from motion_matching.engine.database.features.kinds import KINDS, find_kind
from motion_matching.engine.errors import SettingsError
from motion_matching.engine.insight.frames.feature_strokes import make_strokes
from tests.demo import load_climbing
from tests.features import make_feature

# how fast a character goes, whichever way: a kind that is not shipped
ONE_KIND = '''
import math

import numpy as np

from motion_matching.engine.database.features import kinds
from motion_matching.engine.database.features.kinds.base import PathKind
from motion_matching.engine.database.features.motion_table import sample_track
from motion_matching.engine.database.features.strokes import make_arrow


class PathPace(PathKind):
    """Metres per second, whichever way."""

    name = "trajectory_pace"
    label = "Pace"
    help = "How fast the character will go, whichever way"
    icon = "MOD_TIME"
    number = 99
    is_number = True

    def compute_at(self, table, time, beyond):
        before, after = (sample_track(table, time + t / table.fps, beyond) for t in (-1.0, 1.0))
        return np.linalg.norm((after - before)[:, :2], axis=1, keepdims=True) * (0.5 * table.fps)

    def read_goal(self, point):
        return math.hypot(point.vx, point.vy), 0.0

    def make_strokes(self, feature, value, position):
        return [make_arrow("velocity", position, np.array([0.0, 0.0, value[0]]))]


kinds.KINDS += (PathPace(),)
'''

USE = """
import bpy

import motion_matching

motion_matching.register()
from building import tables
from motion_matching.app.database.content import compute_key
from motion_matching.app.database.library import get_library
from motion_matching.engine.control.trajectory import TrajectoryPoint
from motion_matching.engine.insight.frames.feature_strokes import make_strokes
from motion_matching.engine.matching.method import MotionMatching
from motion_matching.engine.performance.settings import PerformerSettings
from motion_matching.ui.features.properties import get_title
from tests.ui.characters import create_character

# in the panel
obj, ops = create_character(clips=("walk_curves", "walk_stops")), bpy.ops.motion_matching
features = obj.motion_matching.features
assert ops.add_feature(kind="trajectory_pace", times="0.5") == {"FINISHED"}
item = features.items[features.index]
listed = {each.identifier: each for each in item.bl_rna.properties["kind"].enum_items}
assert listed["trajectory_pace"].name == "Pace" and listed["trajectory_pace"].value == 99
assert get_title(item) == "Pace 0.5", get_title(item)

# in a build
ops.add_actions()
assert ops.build() == {"FINISHED"}
database = get_library().load(compute_key(obj))
which = [feature.kind for feature in database.schema.features].index("trajectory_pace")
pace = np.array(database.features[database.schema.slices[which]])
ahead = round(0.5 * database.fps)
x, y, _ = database.track.T
moved = np.hypot(x[2:] - x[:-2], y[2:] - y[:-2]) * (0.5 * database.fps)
last = database.stops[0] - ahead - 2
assert pace.shape == (1, database.frame_count) and pace.std() > 0.1
np.testing.assert_allclose(pace[0, 1:last], moved[ahead : last - 1 + ahead], atol=1e-4)

# in a query: what goes as fast as the goal costs nothing, and costs grow with the square
method, wish = MotionMatching(database, PerformerSettings()), float(np.median(pace))
points = [TrajectoryPoint(0.0, 0.0, 0.0, wish, 0.0) for _ in database.schema.trajectory_times]
costs = method.compute_costs(points, 0)[:, which]
scale = database.normalization.compute_scale(database.schema.weights)[database.schema.slices[which]]
np.testing.assert_allclose(costs, (scale * (pace[0] - wish)) ** 2, rtol=1e-3, atol=1e-5)

# in the frame inspector
velocities = [s.points[1] - s.points[0] for s in make_strokes(database, 60) if s.kind == "velocity"]
upright = [velocity[2] for velocity in velocities if not velocity[:2].any()]
np.testing.assert_allclose(upright, [0.2 * pace[0, 60]], rtol=1e-5)

# in the manual
row = "| `trajectory_pace` | *Pace* | How fast the character will go, whichever way |"
assert row in tables.fill_tables("<!-- table: FeatureKind -->\\n<!-- end of table -->\\n")
"""


@pytest.mark.slow
def test_a_kind_in_one_file_is_built_queried_drawn_and_listed(run_in_blender):
    run_in_blender(ONE_KIND + USE)


def test_files_tell_kinds_apart():
    assert len({kind.name for kind in KINDS}) == len(KINDS)
    assert len({kind.number for kind in KINDS}) == len(KINDS)


def test_every_kind_is_read_back_from_its_preset():
    schema = Schema(tuple(make_feature(kind.name) for kind in KINDS))
    assert schema_from_dict(schema.to_dict()) == schema


def test_a_kind_that_does_not_exist_is_refused_with_those_that_do():
    with pytest.raises(SettingsError, match="'bone_colour'; use one of bone_position, "):
        find_kind("bone_colour")


def test_the_rise_of_the_ground_is_drawn_upright_on_the_path():
    database = load_climbing()
    features = (
        Feature("trajectory_position", times=(1.0,), axes="xy"),
        Feature("trajectory_height", times=(1.0,), axes="xy"),
    )
    database = database.with_schema(Schema(features))
    frame = int(np.argmax(database.features[2]))
    rise = database.features[2, frame]
    assert rise > 0.2, "these clips climb stairs"
    path, *_, upright = (s for s in make_strokes(database, frame) if s.kind == "trajectory")
    np.testing.assert_allclose(upright.points[0], path.points[-1])
    np.testing.assert_allclose(upright.points[1] - upright.points[0], [0.0, 0.0, rise])
