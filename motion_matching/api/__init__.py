"""Motion matching for scripts: load motion, build databases, perform, measure and write takes.

Everything named here is stable: names, parameters and shapes change only with a new major version.
In a checkout, `from motion_matching import api`; inside Blender, see `examples/find_api.py`.
Blender is needed only by `read_actions`, `read_ground`, `write_action`, `write_blend`,
`retarget_action` and `retarget_file`, and to read .blend, FBX, glTF and USD files.

Axes and units are Blender's: Z up, the ground is XY, a heading of 0 faces -Y; metres, seconds,
radians. Quaternions are w, x, y, z. Errors are subclasses of `MotionMatchingError`; each message
says what is wrong and what to do.
"""

from typing import TYPE_CHECKING

from ..engine.lazy import load_names_on_use

if TYPE_CHECKING:
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
    from ..engine.takes.take_files import StoredTakes
    from ..engine.takes.takes import summarize
    from .blender import read_ground, write_action, write_blend
    from .data_sets import generate, read_npz, write_npz
    from .databases import build, open, save
    from .digests import compare, digest
    from .directing import DirectedTake, direct, direct_variations, open_director
    from .fields import open_field, save_field, train
    from .insight import describe_frame, find_odd_postures, inspect, inspect_frame
    from .motion import load, make_demo_clips, read_actions, write_bvh
    from .retargeting import retarget_action, retarget_file
    from .takes import make_performance, measure, perform

    Pin = Mark.from_pin  # what scripts called a mark that does not lead

_PLACES = {
    "FLAT": "..engine.ground.ground",
    "AutoTagSettings": "..engine.database.tags.thresholds",
    "Box": "..engine.ground.ground",
    "BuildSettings": "..engine.building.build",
    "Clip": "..engine.motion.clip",
    "ContactRange": "..engine.feet.contact_ranges",
    "ContactSettings": "..engine.motion.contacts",
    "CostTerm": "..engine.matching.cost_terms",
    "Database": "..engine.database.database",
    "DatabaseError": "..engine.errors",
    "DirectedTake": ".directing",
    "Director": "..engine.direct.director",
    "Feature": "..engine.database.features.features",
    "FieldController": "..engine.field.field_controller",
    "ForbiddenJump": "..engine.direct.shot.shot",
    "FrameInspection": "..engine.insight.frames.frame_inspector",
    "GroundObject": "..engine.sources.sources",
    "Inspection": "..engine.insight.coverage.inspection",
    "Intent": "..engine.performance.intent",
    "KeptJump": "..engine.direct.shot.shot",
    "Mark": "..engine.direct.shot.mark",
    "MotionDataError": "..engine.errors",
    "MotionMatchingError": "..engine.errors",
    "OddPosture": "..engine.facts.postures",
    "Performance": "..engine.performance.performance",
    "PerformerSettings": "..engine.performance.settings",
    "Pin": "..engine.direct.shot.mark:Mark.from_pin",
    "Pose": "..engine.direct.shot.mark",
    "ResultError": "..engine.errors",
    "RetargetSettings": "..engine.retargeting.settings",
    "RigError": "..engine.errors",
    "Schema": "..engine.database.features.features",
    "SettingsError": "..engine.errors",
    "Shot": "..engine.direct.shot.shot",
    "SimulationBoneSettings": "..engine.motion.simulation_bone",
    "Skeleton": "..engine.skeleton.skeleton",
    "Source": "..engine.sources.sources",
    "Speeds": "..engine.performance.settings",
    "StoredTakes": "..engine.takes.take_files",
    "TagRange": "..engine.database.tags.tags",
    "Take": "..engine.control.rollout",
    "Tempo": "..engine.direct.shot.shot",
    "TermContext": "..engine.matching.cost_terms",
    "TimedPath": "..engine.direct.shot.shot",
    "build": ".databases",
    "compare": ".digests",
    "describe_frame": ".insight",
    "digest": ".digests",
    "direct": ".directing",
    "direct_variations": ".directing",
    "find_odd_postures": ".insight",
    "generate": ".data_sets",
    "inspect": ".insight",
    "inspect_frame": ".insight",
    "load": ".motion",
    "load_features": "..engine.database.features.features:load_schema",
    "make_demo_clips": ".motion",
    "make_performance": ".takes",
    "measure": ".takes",
    "open": ".databases",
    "open_director": ".directing",
    "open_field": ".fields",
    "perform": ".takes",
    "read_actions": ".motion",
    "read_ground": ".blender",
    "read_npz": ".data_sets",
    "retarget_action": ".retargeting",
    "retarget_file": ".retargeting",
    "save": ".databases",
    "save_field": ".fields",
    "summarize": "..engine.takes.takes",
    "train": ".fields",
    "write_action": ".blender",
    "write_blend": ".blender",
    "write_bvh": ".motion",
    "write_npz": ".data_sets",
}
__all__ = (
    "FLAT", "AutoTagSettings", "Box", "BuildSettings", "Clip", "ContactRange", "ContactSettings",
    "CostTerm", "Database", "DatabaseError", "DirectedTake", "Director", "Feature",
    "FieldController", "ForbiddenJump", "FrameInspection", "GroundObject", "Inspection", "Intent",
    "KeptJump", "Mark", "MotionDataError", "MotionMatchingError", "OddPosture", "Performance",
    "PerformerSettings", "Pin", "Pose", "ResultError", "RetargetSettings", "RigError", "Schema",
    "SettingsError", "Shot", "SimulationBoneSettings", "Skeleton", "Source", "Speeds",
    "StoredTakes", "TagRange", "Take", "Tempo", "TermContext", "TimedPath", "build", "compare",
    "describe_frame", "digest", "direct", "direct_variations", "find_odd_postures", "generate",
    "inspect", "inspect_frame", "load", "load_features", "make_demo_clips", "make_performance",
    "measure", "open", "open_director", "open_field", "perform", "read_actions", "read_ground",
    "read_npz", "retarget_action", "retarget_file", "save", "save_field", "summarize", "train",
    "write_action", "write_blend", "write_bvh", "write_npz",
)  # fmt: skip

if not TYPE_CHECKING:
    # loaded together they take half a second, and most scripts need few of them
    __getattr__ = load_names_on_use(__name__, _PLACES)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
