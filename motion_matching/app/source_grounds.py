"""Read the grounds that sources were captured on: found, level, or objects of the scene."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import bpy

from .. import engine, scene  # whose modules load on use: panels need this one
from ..engine.errors import SettingsError
from .typed import settings_of

if TYPE_CHECKING:
    import numpy as np

    from ..engine.control.ground import Ground

FOUND, LEVEL, OBJECT = "FOUND", "LEVEL", "OBJECT"
_DECIMALS = 5  # of places that count


def has_object(source: Any) -> bool:
    """Return whether the ground of a source is an object of a scene, not just left in the file."""
    ground = source.ground_object  # in a damaged file, any block
    return isinstance(ground, bpy.types.Object) and bool(ground.users_scene)


def read_floor(source: Any) -> Ground | None:
    """Return the ground that is given for a source, as it is now; None if it is to be found.

    Raises SettingsError for an object that shows no mesh.
    """
    if source.ground == OBJECT:
        return scene.staging.ground.build_ground(_read_triangles(source))[0]
    return engine.control.ground.FLAT if source.ground == LEVEL else None


def get_content(source: Any, obj: bpy.types.Object) -> dict[str, str]:
    """Return what a database of an armature depends on of the ground; nothing if it is found.

    That is where an object lies from the motion. Raises SettingsError as `read_floor` does.
    """
    if source.ground != OBJECT:
        return {} if source.ground == FOUND else {"ground": "level"}
    owner, blender = source.performer or obj, scene.blender
    places = [_read_triangles(source).reshape(-1, 3)]
    if source.kind == "ACTION" and not blender.actions.moves_object(source.action, owner):
        places.append(blender.curve_poses.compute_static_matrix(owner))
    digest = hashlib.blake2b(digest_size=16)
    for part in places:
        digest.update((part.round(_DECIMALS) + 0.0).astype("float32").tobytes())
    return {"ground": digest.hexdigest()}


def _read_triangles(source: Any) -> np.ndarray:
    ground: bpy.types.Object = source.ground_object
    triangles = scene.staging.ground.collect_object_triangles(ground)
    if not len(triangles):
        raise SettingsError(
            f"The ground of the source '{source.name}', '{ground.name}', shows no mesh in this "
            "scene; unhide it, or choose another object."
        )
    return triangles


def list_watched(obj: bpy.types.Object) -> Iterator[int]:
    """Yield the session_uids of what the grounds of an armature's sources depend on."""
    for source in settings_of(obj).sources:
        if source.ground == OBJECT and has_object(source):
            yield (source.performer or obj).session_uid
            for part in (source.ground_object, *source.ground_object.children_recursive):
                yield part.session_uid
                if part.data:
                    yield part.data.session_uid
