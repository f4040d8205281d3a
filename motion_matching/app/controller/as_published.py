"""Set a character as an article plays: simulation bone, features, controller and field at once."""

from __future__ import annotations

from dataclasses import asdict

import bpy

from ... import engine  # whose modules load on use: panels need this one, and no scipy
from ...engine.files import presets
from ...engine.performance.published import FIELD, PublishedSet
from ..database import status
from ..property_access import settings_of
from ..settings import get_build_settings, set_controller
from . import features

_BUILD = "build the database again"
_TRAIN = "train the field"
_CONTACTS = (
    "contacts come from the toe's speed here; 'build --contacts notebook' finds them as published"
)


def apply(obj: bpy.types.Object, published: PublishedSet) -> tuple[str, str]:
    """Set an armature as published; return the changes with the next steps, and the differences
    left.
    """
    settings = settings_of(obj)
    before = get_build_settings(obj).get_content()
    partial = _describe_partial(obj, published, is_tagged=settings.auto_tags)
    features.set_features(
        settings.features, presets.load("features", published.features), published.features
    )
    for slider in ("responsiveness", "continuity", "past"):
        setattr(settings.features, slider, 1.0)
    bone = engine.motion.simulation_bone.PRESETS[published.simulation_bone]
    for name, value in asdict(bone).items():
        setattr(settings.simulation_bone, name, value)
    named = "" if published.settings else published.controller
    set_controller(settings.controller, published.controller_settings, named)
    settings.controller.method = "FIELD" if published.method == FIELD else "MATCHING"
    if published.tags:
        settings.training.tags = ", ".join(published.tags)
        settings.auto_tags = True
    changed = get_build_settings(obj).get_content() != before
    status.invalidate()
    steps = [_BUILD] if changed and settings.built_key else []
    steps += [_TRAIN] if published.method == FIELD else []
    told = f"; {', and '.join(steps)} to play it" if steps else ""
    return published.describe() + told, partial


def _describe_partial(obj: bpy.types.Object, published: PublishedSet, is_tagged: bool) -> str:
    """Return the parts of a set that a character cannot have, empty if it has all.

    `is_tagged`: its database has had tags proposed, so that it shows what motion the sources lack.
    """
    known = status.get_status(obj)
    clauses = list(published.apart)
    if published.contacts != "article":
        clauses.append(_CONTACTS)
    if known.frames and published.method == FIELD and known.stands:
        clauses.append("a field as published never leaves the standing in these sources")
    if known.frames and is_tagged:
        absent = [tag for tag in published.tags if tag not in known.tags]
        clauses += [f"no source is tagged {tag}" for tag in absent]
    return f"Not as published: {'; '.join(clauses)}" if clauses else ""
