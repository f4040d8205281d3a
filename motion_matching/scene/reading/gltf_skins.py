"""Give glTF files without a skin one for each body, so that Blender imports an armature.

Files that hold motion alone, such as VRM animations (.vrma), move plain nodes. Blender's importer
makes empties of these, and bones only of the joints of a skin, which needs no mesh.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ...engine.bvh.bvh_text import LIMB, is_body
from ...engine.errors import SettingsError
from ...engine.files import json_files
from ...engine.files.own_files import make_temporary_folder

_MAGIC = b"glTF"
_VERSION = 2
_JSON = b"JSON"
_HUMANOID = "VRMC_vrm_animation"  # extension that names the nodes of a body
_MOVING = ("translation", "rotation", "scale")
# what data of another shape than glTF's raises where it is looked at
_MALFORMED = (ArithmeticError, AttributeError, IndexError, KeyError, TypeError, ValueError)
_UNREADABLE = (OSError, SettingsError, struct.error, *_MALFORMED)
# frames per second, and how far they may be off a whole number
_RATES = (10, 500)
_ROUNDED = 0.01


@contextmanager
def with_skins(path: Path) -> Iterator[Path]:
    """Yield a file to import in place of a glTF file: a copy with skins, or itself with its own."""
    content = _add_skins_to_file(path)
    if content is None:
        yield path
        return
    with make_temporary_folder() as folder:
        copy = folder / path.name
        copy.write_bytes(content)
        yield copy


def _add_skins_to_file(path: Path) -> bytes | None:
    """Return a file with skins for its bodies; None if it has its own, no body, or cannot be read.

    What cannot be read is left to the importer and its error.
    """
    try:
        data, rest = _read(path)
        if not add_skins(data):
            return None
    except _UNREADABLE:
        return None
    _make_paths_absolute(data, path.absolute().parent)
    text = json.dumps(data).encode()
    if rest is None:
        return text
    text += b" " * (-len(text) % 4)  # chunks are aligned
    length = 20 + len(text) + len(rest)
    return _MAGIC + struct.pack("<III4s", _VERSION, length, len(text), _JSON) + text + rest


def find_rate(path: Path) -> int | None:
    """Return the frames per second of a glTF file whose animation has a key on every frame."""
    try:
        data, _ = _read(path)
        inputs = {
            sampler["input"]
            for animation in data.get("animations", ())
            for sampler in animation["samplers"]
        }
        keys = [one for one in map(data["accessors"].__getitem__, inputs) if one["count"] > 1]
        rates = ((one["count"] - 1) / (one["max"][0] - one["min"][0]) for one in keys)
        rate = float(max(rates, default=0.0))
    except _UNREADABLE:
        return None
    whole = round(rate)
    is_rate = _RATES[0] <= whole <= _RATES[1] and abs(rate - whole) < _ROUNDED
    return whole if is_rate else None


def _read(path: Path) -> tuple[dict[str, Any], bytes | None]:
    """Return the JSON data of a glTF file, and the chunks that follow it if it is binary."""
    text = path.read_bytes()
    rest = None
    if text.startswith(_MAGIC):
        length, kind = struct.unpack_from("<I4s", text, 12)
        if kind != _JSON:
            raise ValueError("the first chunk is not JSON")
        text, rest = text[20 : 20 + length], text[20 + length :]
    return json_files.parse(text, "JSON of the file"), rest


def _make_paths_absolute(data: dict[str, Any], folder: Path) -> None:
    """Let a copy of the data elsewhere find the files beside the original."""
    for entry in (*data.get("buffers", ()), *data.get("images", ())):
        uri = entry.get("uri", "data:")
        if not uri.startswith("data:") and not Path(uri).is_absolute():
            escaped = str(folder).replace("%", "%25")  # as the importer decodes it
            entry["uri"] = f"{escaped}/{uri}"


def add_skins(data: dict[str, Any]) -> bool:
    """Add a skin for each body whose nodes move, if data has none; say if it now has.

    A body gets a node of its own above it, which becomes its armature.
    """
    if data.get("skins") or not data.get("animations"):
        return False
    channels = (one for animation in data["animations"] for one in animation["channels"])
    targets = (one["target"] for one in channels)
    moved = {one["node"] for one in targets if "node" in one and one["path"] in _MOVING}
    tree = _Tree(data["nodes"], moved)
    tops = [top for root in tree.roots for top in tree.find_tops(root)]
    _name_bones(data)
    for top in tops:
        joints = tree.list_below(top)
        name = data["nodes"][top].get("name", "Armature")
        above = len(data["nodes"])
        for holder in (*data["nodes"], *data.get("scenes", ())):
            for key in ("children", "nodes"):
                if top in holder.get(key, ()):
                    holder[key] = [above if node == top else node for node in holder[key]]
        data["nodes"].append({"name": name, "children": [top]})
        data.setdefault("skins", []).append({"name": name, "joints": joints})
    return bool(tops)


def _name_bones(data: dict[str, Any]) -> None:
    """Name nodes by the bones of a body that a VRM animation says they are."""
    extension = data.get("extensions", {}).get(_HUMANOID, {})
    for name, bone in extension.get("humanoid", {}).get("humanBones", {}).items():
        data["nodes"][bone["node"]]["name"] = name
    required = data.get("extensionsRequired", [])
    if _HUMANOID in required:  # which importers do not know, and need not
        data["extensionsRequired"] = [name for name in required if name != _HUMANOID]


class _Tree:
    """The nodes of a file: which are below which, and which of them move."""

    def __init__(self, nodes: list[dict[str, Any]], moved: set[int]) -> None:
        self.children = [list(node.get("children", ())) for node in nodes]
        self.moved = moved
        below = [child for children in self.children for child in children]
        if len(set(below)) < len(below) or not set(below) <= set(range(len(nodes))):
            raise ValueError("nodes are no trees")
        self.roots = sorted(set(range(len(nodes))) - set(below))

    def list_below(self, top: int) -> list[int]:
        """Return a node and all below it, parents first."""
        found = [top]
        for node in found:
            found += self.children[node]
        return found

    def get_parents(self, top: int) -> np.ndarray:
        """Return the parents (B,) of the nodes below one, itself first."""
        nodes = self.list_below(top)
        numbers = {node: number for number, node in enumerate(nodes)}
        parents = np.full(len(nodes), -1)
        for node in nodes:
            parents[[numbers[child] for child in self.children[node]]] = numbers[node]
        return parents

    def find_tops(self, node: int) -> list[int]:
        """Return the topmost nodes of bodies that move, below one or itself.

        A still node above them, such as that of a scene, is no part of them.
        """
        branches = [one for one in self.children[node] if self._measure_depth(one) >= LIMB]
        is_above = node not in self.moved and bool(branches)
        if is_above and all(is_body(self.get_parents(branch)) for branch in branches):
            return [top for branch in branches for top in self.find_tops(branch)]
        below = self.list_below(node)
        is_moving = not self.moved.isdisjoint(below)
        return [node] if is_moving and is_body(self.get_parents(node)) else []

    def _measure_depth(self, node: int) -> int:
        """Return the number of nodes in the longest chain down from one, itself included."""
        depth = 0
        level = [node]
        while level:
            depth += 1
            level = [child for one in level for child in self.children[one]]
        return depth
