"""Motion matching for scripts: load motion, build databases, perform, measure and write takes.

Everything named here is stable: names, parameters and shapes change only with a new major version.
In a checkout, `from motion_matching import api`; inside Blender, see `examples/find_api.py`.
Blender is needed only by `read_actions`, `read_ground`, `write_action`, `write_blend`,
`retarget_action` and `retarget_file`, and to read .blend, FBX, glTF and USD files.

Axes and units are Blender's: Z up, the ground is XY, a heading of 0 faces -Y; metres, seconds,
radians. Quaternions are w, x, y, z. Errors are subclasses of `MotionMatchingError`; each message
says what is wrong and what to do.
"""

from ..engine.building.build import BuildSettings
from ..engine.control.rollout import Take
from ..engine.database.database import Database
from ..engine.database.features.features import Feature, Schema
from ..engine.database.features.features import load_schema as load_features
from ..engine.database.tags.tags import TagRange
from ..engine.database.tags.thresholds import AutoTagSettings
from ..engine.direct.director import Director
from ..engine.direct.shot.mark import Mark, Pose
from ..engine.direct.shot.shot import ForbiddenJump, KeptJump, Shot, Tempo, TimedPath
from ..engine.errors import (
    DatabaseError,
    MotionDataError,
    MotionMatchingError,
    ResultError,
    RigError,
    SettingsError,
)
from ..engine.facts.postures import OddPosture
from ..engine.feet.contact_ranges import ContactRange
from ..engine.field.field_controller import FieldController
from ..engine.ground.ground import FLAT, Box
from ..engine.insight.coverage.inspection import Inspection
from ..engine.insight.frames.frame_inspector import FrameInspection
from ..engine.matching.cost_terms import CostTerm, TermContext
from ..engine.motion.clip import Clip
from ..engine.motion.contacts import ContactSettings
from ..engine.motion.simulation_bone import SimulationBoneSettings
from ..engine.performance.intent import Intent
from ..engine.performance.performance import Performance
from ..engine.performance.settings import PerformerSettings, Speeds
from ..engine.retargeting.settings import RetargetSettings
from ..engine.skeleton.skeleton import Skeleton
from ..engine.sources.sources import GroundObject, Source
from ..engine.takes.takes import summarize
from .blender import read_ground, write_action, write_blend
from .databases import build, open, save
from .digests import compare, digest
from .directing import DirectedTake, direct, direct_variations, open_director
from .fields import open_field, save_field, train
from .insight import describe_frame, find_odd_postures, inspect, inspect_frame
from .motion import load, make_demo_clips, read_actions, write_bvh
from .retargeting import retarget_action, retarget_file
from .takes import make_performance, measure, perform

Pin = Mark.from_pin  # what scripts called a mark that does not lead

__all__ = (
    "FLAT", "AutoTagSettings", "Box", "BuildSettings", "Clip", "ContactRange", "ContactSettings",
    "CostTerm", "Database", "DatabaseError", "DirectedTake", "Director", "Feature",
    "FieldController", "ForbiddenJump", "FrameInspection", "GroundObject", "Inspection", "Intent",
    "KeptJump", "Mark", "MotionDataError", "MotionMatchingError", "OddPosture", "Performance",
    "PerformerSettings", "Pin", "Pose", "ResultError", "RetargetSettings", "RigError", "Schema",
    "SettingsError", "Shot", "SimulationBoneSettings", "Skeleton", "Source", "Speeds", "TagRange",
    "Take", "Tempo", "TermContext", "TimedPath", "build", "compare", "describe_frame", "digest",
    "direct", "direct_variations", "find_odd_postures", "inspect", "inspect_frame", "load",
    "load_features", "make_demo_clips", "make_performance", "measure", "open", "open_director",
    "open_field", "perform", "read_actions", "read_ground", "retarget_action", "retarget_file",
    "save", "save_field", "summarize", "train", "write_action", "write_blend", "write_bvh",
)  # fmt: skip
