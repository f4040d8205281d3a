"""`retarget`: put motion of any skeleton onto a character of a Blender file."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from .. import scene
from ..engine.database.tags import parse_names
from ..engine.errors import SettingsError
from ..engine.motion import mapping_preset
from ..engine.motion.retarget_settings import RetargetSettings
from .checks import check_number, check_targets, name_paths
from .loading import check_blender, protect_blender_import
from .output import Output
from .values import parse_settings
from .writing import write_together

if TYPE_CHECKING:
    from ..scene.retargeting.transfer import Retargeted

_TARGETS = {"output": (".blend",), "report": (".json",)}
