"""What a database is made of, as the settings ask for it, and what of that has changed since another one was built."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import bpy

_MOST_NAMES = 3
_OTHER_LABELS = {"schema": "Features", "fps": "the scene's frame rate", "rig": "the armature"}


class Content(NamedTuple):
    """The key of a database, the settings that it is built with (JSON data), and digests of its sources, by the names that
    lists know them by, and of the rig."""

    key: str
    settings: Mapping[str, Any]
    sources: Mapping[str, str]
    rig: str

    def to_text(self) -> str:
        """All of it, as short as telling changes asks for."""
        settings = {name: _short(value) for name, value in self.settings.items()}
        sources = {name: _short(digest) for name, digest in self.sources.items()}
        return json.dumps({"settings": settings | {"rig": _short(self.rig)}, "sources": sources})


def _short(value: Any) -> str:
    return hashlib.blake2b(
        json.dumps(value, sort_keys=True, default=str).encode(), digest_size=4
    ).hexdigest()


def changes(obj: bpy.types.Object, before: str, now: str) -> str:
    """What has changed about an armature's database between two texts of contents, in words; nothing where one is none."""
    try:
        old, new = (
            {kind: dict(json.loads(text)[kind]) for kind in ("settings", "sources")}
            for text in (before, now)
        )
    except (ValueError, TypeError, KeyError):  # of a file from before this was noted
        return ""
    settings = obj.motion_matching
    shown = {
        source.name: source.action.name if source.action else source.name
        for source in settings.sources
    }
    labels = {prop.identifier: prop.name for prop in settings.bl_rna.properties} | _OTHER_LABELS
    quoted = {name: f"'{shown.get(name, name)}'" for name in old["sources"] | new["sources"]}
    changed = [quoted[name] for name in _differing(old["sources"], new["sources"])]
    changed += sorted(
        labels.get(name, name) for name in _differing(old["settings"], new["settings"])
    )
    told = (
        ("changed", changed),
        ("new", [quoted[name] for name in new["sources"] if name not in old["sources"]]),
        ("left out", [quoted[name] for name in old["sources"] if name not in new["sources"]]),
    )
    (first, names), *others = [(word, _listed(names)) for word, names in told if names] or [
        ("", "")
    ]
    rest = "".join(f"; {word}: {more}" for word, more in others)
    return f"{first.capitalize()} since the build: {names}{rest}" if names else ""


def _differing(old: Mapping[str, str], new: Mapping[str, str]) -> list[str]:
    """What both have, and have otherwise."""
    return [name for name in new if name in old and old[name] != new[name]]


def _listed(names: Iterable[str]) -> str:
    every = list(names)
    more = len(every) - _MOST_NAMES
    return ", ".join(every[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
