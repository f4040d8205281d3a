"""Tags: names on ranges of source frames. Most are the user's, to be asked for; four steer playing and search."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import files
from ..errors import SettingsError

if TYPE_CHECKING:
    from .sources import Source

# frames that are entered only by playing on into them, that are never played, that cost less, that go round
NO_ENTRY, NO_USE, PREFER, LOOP = "no_entry", "no_use", "prefer", "loop"
MEANT = (NO_ENTRY, NO_USE, PREFER, LOOP)  # by the search itself: nobody asks for them
PREFERENCE = -1.0  # bias of 'prefer' unless it is given
_LARGEST_BIAS = 1000.0
_KEYS = {"name", "start", "stop", "bias"}


@dataclass(frozen=True)
class TagRange:
    """A tag on source frames start <= f < stop; None reaches to that end of the clip.

    The `bias` of 'prefer' is added to the cost of its frames: negative ones are preferred, positive ones avoided. None
    is `PREFERENCE` for 'prefer', and nothing for others.
    """

    name: str
    start: int | None = None
    stop: int | None = None
    bias: float | None = None

    @property
    def cost(self) -> float:
        """What is added to the cost of its frames."""
        if self.name != PREFER:
            return 0.0
        return PREFERENCE if self.bias is None else self.bias

    def check(self, owner: str) -> None:
        """SettingsError, which names the `owner`, for a range that is empty or a bias that makes no sense."""
        if self.stop is not None and self.stop <= (self.start or 0):
            raise SettingsError(
                f"The tag '{self.name}' of {owner} stops at frame {self.stop}, where it has not started; "
                "give a stop after its start."
            )
        if self.bias is None:
            return
        if self.name != PREFER:
            raise SettingsError(
                f"The tag '{self.name}' of {owner} has a bias, and only '{PREFER}' takes one; remove it."
            )
        number = isinstance(self.bias, (int, float)) and not isinstance(self.bias, bool)
        if not (number and abs(self.bias) <= _LARGEST_BIAS):
            raise SettingsError(
                f"The tag '{PREFER}' of {owner} has the bias {self.bias!r}; give a number from "
                f"-{_LARGEST_BIAS:g} to {_LARGEST_BIAS:g}, a negative one to prefer its frames."
            )


def names_in(text: str) -> tuple[str, ...]:
    """The names of 'a, b', each once, in their order."""
    return tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))


def tag_from_dict(entry: Any, where: str) -> TagRange:
    """A tag from JSON data; SettingsError says `where` it is wrong."""
    name = entry.get("name") if isinstance(entry, Mapping) else None
    if not isinstance(name, str) or not name or set(entry) - _KEYS:
        raise SettingsError(
            f"{where} has the tag {entry!r}; give an object with a 'name' and perhaps 'start', 'stop' and, "
            f"for '{PREFER}', 'bias'."
        )
    start, stop = frames_of(entry, f"{where}: its tag '{name}'")
    tag = TagRange(name, start, stop, entry.get("bias"))
    tag.check(where)
    return tag


def frames_of(entry: Mapping[str, Any], where: str) -> tuple[int | None, int | None]:
    """The entries 'start' and 'stop', both of which may be left out; SettingsError where they are no frames."""
    for key in ("start", "stop"):
        value = entry.get(key)
        if value is not None and (
            not isinstance(value, int) or isinstance(value, bool) or value < 0
        ):
            raise SettingsError(
                f"{where} has {key} {value!r}; give a frame number, counted from 0."
            )
    return entry.get("start"), entry.get("stop")


def load_tags(path: Path | str) -> dict[str, tuple[TagRange, ...]]:
    """Tags by clip from a JSON file such as `save_tags` writes; SettingsError names what is wrong with it."""
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise SettingsError(f"The file of tags {path} does not exist; check its name.") from None
    except (OSError, ValueError) as cause:
        raise SettingsError(f"The file of tags {path} cannot be read as JSON: {cause}.") from cause
    if not isinstance(data, dict) or not all(isinstance(tags, list) for tags in data.values()):
        raise SettingsError(
            f'{path} must hold lists of tags by clip, such as {{"walk": [{{"name": "turn", "start": 9}}]}}.'
        )
    return {
        clip: tuple(tag_from_dict(tag, f"'{clip}' in {path}") for tag in tags)
        for clip, tags in data.items()
    }


def save_tags(tags: Mapping[str, Sequence[TagRange]], path: Path | str) -> None:
    """Write tags by clip as JSON, a line for each; SettingsError where that fails."""
    clips = []
    for clip, ranges in tags.items():
        entries = [
            {key: value for key, value in vars(tag).items() if value is not None} for tag in ranges
        ]
        lines = ",\n".join(f"  {json.dumps(entry)}" for entry in entries)
        clips.append(
            f" {json.dumps(clip)}: [\n{lines}\n ]" if entries else f" {json.dumps(clip)}: []"
        )
    with files.replacing(path, SettingsError) as temporary:
        temporary.write_text("{\n" + ",\n".join(clips) + "\n}\n", encoding="utf-8")


def with_tags(sources: Sequence[Source], tags: Mapping[str, Sequence[TagRange]]) -> list[Source]:
    """Sources with tags by clip in place of their own, as far as these lie on the frames that are taken.

    SettingsError where a clip is none of theirs.
    """
    names = list(dict.fromkeys(source.name for source in sources))
    unknown = next((clip for clip in tags if clip not in names), None)
    if unknown is not None:
        some = ", ".join(names[:5]) + (" and others" if len(names) > 5 else "")
        raise SettingsError(
            f"There are tags for a clip '{unknown}', which is no source; the clips are {some}."
        )
    return [
        replace(source, tags=tuple(tag for tag in tags[source.name] if _meets(tag, source)))
        if source.name in tags
        else source
        for source in sources
    ]


def tags_by_clip(sources: Sequence[Source]) -> dict[str, tuple[TagRange, ...]]:
    """The tags of sources by clip, each on no more than the frames that are taken.

    SettingsError where two files have one name.
    """
    files_of = {source.name: source.file for source in sources}
    tags: dict[str, tuple[TagRange, ...]] = {}
    for source in sources:
        if source.file != files_of[source.name]:
            raise SettingsError(
                f"{source.file} and {files_of[source.name]} have one name, so their tags cannot be told "
                "apart; rename one."
            )
        tags[source.name] = tags.get(source.name, ()) + tuple(
            _within(tag, source) for tag in source.tags
        )
    return tags


def _within(tag: TagRange, source: Source) -> TagRange:
    """A tag on the frames of a source alone."""
    start = max(tag.start or 0, source.start or 0)
    stops = [stop for stop in (tag.stop, source.stop) if stop is not None]
    return replace(tag, start=start or None, stop=min(stops, default=None))


def _meets(tag: TagRange, source: Source) -> bool:
    """Whether a tag may lie on frames of a source, whose clip need not be read yet."""
    ends_before = tag.stop is not None and tag.stop <= (source.start or 0)
    return not ends_before and (source.stop is None or (tag.start or 0) < source.stop)
