"""Name ranges of source frames by tags to request; four reserved tags steer the search."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import SettingsError
from ...files import file_paths, json_files
from ...files.json_files import EntryError
from ...settings import is_number
from ..numbers import NUMBERS

# in order: entered only by playing on; never played; at a lower cost; a cycle
NO_ENTRY = "no_entry"
NO_USE = "no_use"
PREFER = "prefer"
LOOP = "loop"
RESERVED_TAGS = (NO_ENTRY, NO_USE, PREFER, LOOP)  # these steer the search, and cannot be requested
PREFERENCE = NUMBERS.preference
_LARGEST_BIAS = 1000.0
MOST_FRAMES = 1_000_000_000  # frames of a source, far more than fit into memory
_KEYS = {"name", "start", "stop", "bias"}


@dataclass(frozen=True)
class TagRange:
    """A tag on source frames start <= f < stop; None reaches to that end of the clip.

    The `bias` of 'prefer' is added to the cost of its frames: negative to prefer them, positive to
    avoid them. None means `PREFERENCE` for 'prefer', and no bias for other tags.
    """

    name: str
    start: int | None = None
    stop: int | None = None
    bias: float | None = None

    @property
    def cost(self) -> float:
        """Return the amount added to the cost of its frames."""
        if self.name != PREFER:
            return 0.0
        return PREFERENCE if self.bias is None else self.bias

    def check(self, owner: str) -> None:
        """Raise SettingsError, which names the `owner`, for an empty range or a wrong bias."""
        name = f"The tag '{self.name}' of {owner}"
        if self.stop is not None and self.stop <= (self.start or 0):
            raise SettingsError(
                f"{name} stops at frame {self.stop}, before it starts; give a stop after its start."
            )
        if self.bias is None:
            return
        if self.name != PREFER:
            raise SettingsError(f"{name} has a bias, but only '{PREFER}' takes one; remove it.")
        if not (is_number(self.bias) and abs(self.bias) <= _LARGEST_BIAS):
            raise SettingsError(
                f"{name} has the bias {reprlib.repr(self.bias)}; give a number from "
                f"-{_LARGEST_BIAS:g} to {_LARGEST_BIAS:g}, negative to prefer its frames."
            )


def find_source_frame(first: float, step: float, offset: int) -> int:
    """Return the source frame from which on a tag covers frame `offset` of a range, none before.

    The range starts at the source frame `first`, and each of its frames is `step` of the source's.
    With more frames than the source has, a tag may cover a few before.
    """
    return math.floor(first + offset * step + 1e-6)


def find_unused(names: Sequence[str], bits: np.ndarray) -> np.ndarray:
    """Return which frames (N,) carry 'no_use', given the names of all tags and their bits (N,)."""
    if NO_USE not in names:
        return np.zeros(len(bits), bool)
    unused: np.ndarray = bits & np.uint32(1 << names.index(NO_USE)) > 0
    return unused


def parse_names(text: str) -> tuple[str, ...]:
    """Split 'a, b' into names, each once, in their order."""
    return tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))


def tag_from_dict(entry: Any, where: str) -> TagRange:
    """Read a tag from JSON data. SettingsError says `where` it is wrong."""
    if not isinstance(entry, Mapping) or not entry.get("name") or set(entry) - _KEYS:
        raise SettingsError(
            f"{where} has the tag {reprlib.repr(entry)}; give an object with a 'name' and, if "
            f"needed, 'start', 'stop' and, for '{PREFER}', 'bias'."
        )
    try:
        name = json_files.expect_name(entry["name"], f"the name of a tag of {where}")
    except EntryError as cause:
        text = str(cause)
        raise SettingsError(f"{text[0].upper()}{text[1:]}.") from cause
    start, stop = parse_frame_range(entry, f"{where}: its tag '{name}'")
    tag = TagRange(name, start, stop, entry.get("bias"))
    tag.check(where)
    return tag


def parse_frame_range(entry: Mapping[str, Any], where: str) -> tuple[int | None, int | None]:
    """Return the optional entries 'start' and 'stop'. SettingsError if one is no frame number."""
    for key in ("start", "stop"):
        value = entry.get(key)
        is_whole = isinstance(value, int) and not isinstance(value, bool)
        if value is not None and (not is_whole or not 0 <= value <= MOST_FRAMES):
            raise SettingsError(
                f"{where} has {key} {reprlib.repr(value)}; give a frame number, counted from 0."
            )
    return entry.get("start"), entry.get("stop")


def load_tags(path: Path | str) -> dict[str, tuple[TagRange, ...]]:
    """Read tags by clip from a JSON file of `save_tags`. SettingsError says what is wrong."""
    data = json_files.read(path, "tag file")
    if not isinstance(data, dict) or not all(isinstance(tags, list) for tags in data.values()):
        example = '{"walk": [{"name": "turn", "start": 9}]}'
        raise SettingsError(f"{path} must hold lists of tags by clip, such as {example}.")
    return {
        clip: tuple(tag_from_dict(tag, f"'{clip}' in {path}") for tag in tags)
        for clip, tags in data.items()
    }


def save_tags(tags: Mapping[str, Sequence[TagRange]], path: Path | str) -> None:
    """Write tags by clip as JSON, a line for each tag. Raises SettingsError if that fails."""
    clips = []
    for clip, ranges in tags.items():
        entries = [{k: v for k, v in vars(tag).items() if v is not None} for tag in ranges]
        lines = ",\n".join(f"  {json_files.to_text(entry)}" for entry in entries)
        clips.append(f" {json_files.to_text(clip)}: [" + (f"\n{lines}\n ]" if lines else "]"))
    file_paths.write_text(path, "{\n" + ",\n".join(clips) + "\n}\n", SettingsError)
