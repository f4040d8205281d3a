"""Find the content of a character's database: its key, and the changes since a build."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import bpy

from ...engine.database.tags.tags import LOOP, parse_names
from ...engine.errors import SettingsError
from ...engine.files import json_files
from ...engine.files.json_files import EntryError, expect_object, expect_text
from ...engine.progress import run_to_end
from ...scene.library import library
from ...scene.reading.hand_path import compute_fingerprint
from ..character.characters import get_armature
from ..property_access import settings_of, to_plain_value
from ..runtime import runtime
from ..settings import get_build_settings
from ..sources import source_grounds
from ..sources.source_files import find_file
from ..sources.source_list import get_enabled_indices, get_source, get_tag_name
from ..steps import Steps
from ..strip.warnings import format_names
from .library import get_action_digests

_OTHER_LABELS = {
    "schema": "Features",
    "fps": "the scene's frame rate",
    "rig": "the armature",
    "mapping": "how bones are mapped",
}


class Content(NamedTuple):
    """The content of a database, by its `key`; `motion` is the key of the same without tags.

    The rest is that motion: its settings as JSON data, and digests of sources by name and of the
    rig. `source_keys` name the sources in the database, by their index in the list.
    """

    key: str
    motion: str
    settings: Mapping[str, Any]
    sources: Mapping[str, str]
    rig: str
    source_keys: Mapping[int, str]

    def find_indices(self, count: int) -> dict[str, int]:
        """Return the places in the list of `count` sources, by the keys that databases know."""
        return {key: index for index, key in self.source_keys.items() if index < count}

    def to_text(self) -> str:
        """Return a text that is enough to describe changes."""
        settings = {name: _digest(value) for name, value in self.settings.items()}
        sources = {name: _digest(digest) for name, digest in self.sources.items()}
        return json.dumps({"settings": settings | {"rig": _digest(self.rig)}, "sources": sources})


def compute_key(obj: bpy.types.Object) -> str:
    """Return the key of the database of an armature's settings. Raises errors of building."""
    return run_to_end(content_steps(obj.session_uid)).key


def content_steps(uid: int, reads_all: bool = True) -> Steps[Content]:
    """Find the content of the database, one source or a part of it between two yields.

    Unless it `reads_all`, actions that Blender has reported no change of are not read again.
    """
    obj = get_armature(uid)
    settings = settings_of(obj)
    sources = settings_of(obj).sources
    with_files = any(source.kind == "FILE" for source in sources)
    indices = get_enabled_indices(obj)
    names = []
    kinds = {sources[index].kind for index in indices}
    build_settings = get_build_settings(obj)
    bones = {"bones": settings.bones}
    if len(kinds) > 1 and not build_settings.character:
        # earlier versions mixed up the bone frames of files and actions
        bones["frames"] = "of the armature"
    content = build_settings.get_content(with_files=with_files) | bones
    untagged = replace(build_settings, auto_tags=None)
    motion = untagged.get_content(with_files=with_files) | bones
    action_digests = get_action_digests()
    if reads_all:
        used = (sources[index].action for index in indices)
        action_digests.forget(action.session_uid for action in used if action)
    file_digests = runtime.get_cache(library.FileDigests)
    builder = library.DatabaseKeyBuilder(content, motion, file_digests, action_digests)
    for number, index in enumerate(indices, 1):
        obj, source = get_source(uid, index)  # references from before a yield may be invalid
        names.append(source.name)
        action = source.action if source.kind == "ACTION" else None
        uses = _collect_source_settings(source, obj)
        part = library.SourceContent(action, find_file(source), *uses)
        for _ in builder.add_steps(part, source.performer or obj):
            yield "Looking at sources", (number - 1) / len(indices)
        yield "Looking at sources", number / len(indices)
    if "ACTION" in kinds:
        obj = get_armature(uid)
        builder.add_rig(obj)
        performers = (settings_of(obj).sources[index].performer for index in indices)
        for performer in dict.fromkeys(one for one in performers if one and one != obj):
            builder.add_rig(performer)
    digests = builder.motion_digests
    keys = {
        index: f"{digest}-{digests[:number].count(digest)}"
        for number, (index, digest) in enumerate(zip(indices, digests, strict=True))
    }
    named = dict(zip(names, digests, strict=True))
    return Content(builder.key, builder.motion_key, motion, named, builder.rig_digest, keys)


def _collect_source_settings(
    source: Any, obj: bpy.types.Object
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the settings of a source that the database depends on: all, and the ones of its
    motion. Among tags, only loops add motion.
    """
    use = {name: getattr(source, name) for name in ("kind", "mirror", "loop")}
    limits = [source.frame_start, source.frame_end] if source.use_range else None
    if source.kind == "FILE" and source.character:
        use["character"] = source.character
    if source.use_path:
        use["path"] = compute_fingerprint(source.path, obj)
    use |= source_grounds.get_content(source, obj)
    use |= {"range": limits, "speed": round(source.speed, 6)}
    # left out at their defaults, so that databases of before are found
    use |= {name: True for name in ("tempo", "keep_frames", "keep_floor") if getattr(source, name)}
    described = [(get_tag_name(tag), _describe_tag_range(tag)) for tag in source.tag_ranges]
    ranges = [tag for _, tag in described]
    loops = [tag for name, tag in described if name == LOOP]
    loop = LOOP if LOOP in parse_names(source.tags) else ""
    return (
        use | _describe_tags(source.gait, source.tags, ranges),
        use | _describe_tags("none", loop, loops),
    )


def _describe_tags(gait: str, tags: str, ranges: list[list[Any]]) -> dict[str, Any]:
    return {"gait": gait, "tags": tags} | ({"tag_ranges": ranges} if ranges else {})


def _describe_tag_range(tag: Any) -> list[Any]:
    label = tag.label if tag.kind == "FREE" else ""
    return [tag.kind, label, tag.frame_start, tag.frame_end, to_plain_value(tag.bias)]


def _digest(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, default=str)
    return hashlib.blake2b(text.encode(), digest_size=4).hexdigest()


def describe_changes(obj: bpy.types.Object, before: str, now: str) -> str:
    """Describe what has changed between two texts of contents; nothing if one is no such text."""
    try:
        old_settings, old_sources = _parse_content(before)
        new_settings, new_sources = _parse_content(now)
    except (SettingsError, EntryError):  # from a file before this was stored
        return ""
    settings = settings_of(obj)
    actions = {source.name: source.action.name for source in settings.sources if source.action}
    labels = {prop.identifier: prop.name for prop in settings.bl_rna.properties} | _OTHER_LABELS
    quoted = {name: f"'{actions.get(name, name)}'" for name in old_sources | new_sources}
    changed = [quoted[name] for name in _find_differences(old_sources, new_sources)]
    changed += sorted(
        labels.get(name, name) for name in _find_differences(old_settings, new_settings)
    )
    lists = {
        "changed": changed,
        "new": [quoted[name] for name in new_sources if name not in old_sources],
        "left out": [quoted[name] for name in old_sources if name not in new_sources],
    }
    listed = [(word, format_names(names)) for word, names in lists.items() if names]
    if not listed:
        return ""
    (first, names), *others = listed
    rest = "".join(f"; {word}: {more}" for word, more in others)
    return f"{first.capitalize()} since the build: {names}{rest}"


def _parse_content(text: str) -> tuple[dict[str, str], dict[str, str]]:
    """Return the digests of settings and of sources in a text of `Content.to_text`."""
    content = expect_object(json_files.parse(text, "content"), "the content")
    settings, sources = (
        {name: expect_text(digest, name) for name, digest in expect_object(part, "it").items()}
        for part in (content.get("settings"), content.get("sources"))
    )
    return settings, sources


def _find_differences(old: Mapping[str, str], new: Mapping[str, str]) -> list[str]:
    """Return the names that both have with different values."""
    return [name for name in new if name in old and old[name] != new[name]]
