"""Settings of a job that is exported for other machines."""

from __future__ import annotations

import bpy

from ..base.typed_properties import choice, integer, settings_group, switch, text

KINDS = (
    ("TAKES", "Takes", "All takes in the list, performed again"),
    ("SCENE", "Scene", "The marks and paths of the director"),
    ("SCRIPT", "Script", "What the panel Takes would bake"),
)
# by the option of the command line that writes them
FORMATS = {"output": "use_blend", "bvh": "use_bvh", "npz": "use_npz", "report": "use_report"}


@settings_group
class MotionMatchingJob(bpy.types.PropertyGroup):
    """A job to export"""

    kind: str = choice("SCRIPT", "Perform", "What the job performs", KINDS)
    count: int = integer(
        10, "Seeds", "Number of random seeds, from the one set on", min=1, max=100_000, soft_max=500
    )
    use_blend: bool = switch(
        True, "Blender Files", "Write a copy of this file for each take, with the take on it"
    )
    use_bvh: bool = switch(False, "BVH", "Write each take as motion capture")
    use_npz: bool = switch(False, "Arrays", "Write each take as arrays for NumPy (.npz)")
    use_report: bool = switch(False, "Reports", "Write measures of each take (.json)")
    chunk: int = integer(
        10,
        "Chunk",
        "Takes that one task of a farm performs in turn. More: less time lost by starting, fewer "
        "machines at work",
        min=1,
        max=100_000,
        soft_max=100,
    )
    folder: str = text(
        "",
        "Folder",
        "Folder to export the job to, with copies of the database and the character. Empty: a new "
        "one beside this file",
        subtype="DIR_PATH",
    )
