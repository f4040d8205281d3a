"""Link timeline markers to objects by name. A marker cannot hold a reference, so its name is the
only link. Where there is one, its frame counts: it is what one drags.
"""

from __future__ import annotations

import bpy


def find_marker(name: str) -> bpy.types.TimelineMarker | None:
    """Return the first marker of a name on the timeline of the current scene."""
    marker: bpy.types.TimelineMarker | None = bpy.context.scene.timeline_markers.get(name)
    return marker


def put_marker(name: str, frame: int) -> None:
    """Move the marker of a name to a frame, or add it there."""
    if marker := find_marker(name):
        marker.frame = frame
    else:
        bpy.context.scene.timeline_markers.new(name, frame=frame)


def remove_marker(name: str) -> None:
    """Remove the marker of a name, if there is one."""
    if marker := find_marker(name):
        bpy.context.scene.timeline_markers.remove(marker)
