"""How rows of a batch stand: keys of what they are made of, and a file beside the first output."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from ..engine.errors import BatchError, SettingsError
from ..engine.files import file_paths, presets
from ..engine.files.json_files import read
from .job import Row

_PACKAGE = Path(__file__).resolve().parents[1]
_CODE = (".py", ".npz", ".json")  # endings of the package's files that results depend on
_LISTS = (".json", ".gltf")  # endings of files that may name others
_BLOCK = 1 << 20  # bytes that are read at once
_LONGEST_NAME = 1024  # letters of a text that may name a file
_MISSING = "missing"
DONE, NEW, STALE, FAILED = "done", "new", "stale", "failed"


class Standing(NamedTuple):
    """How a row stands, and why it has to be done if it has."""

    state: str
    reason: str = ""


class Digests:
    """Digests of files, of which each is read once while it stays the same."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, int, int], str] = {}
        self._named: dict[str, list[Path]] = {}  # what lists name, by their digest

    def of_file(self, path: Path) -> str:
        """Return the digest of a file, or that it is missing."""
        try:
            found = path.stat()
            key = str(path), found.st_mtime_ns, found.st_size
            if key not in self._known:
                self._known[key] = _digest_files([path])
        except (OSError, ValueError):
            return _MISSING
        return self._known[key]

    @cached_property
    def of_code(self) -> str:
        """The digest of the package and its presets."""
        roots = (_PACKAGE, presets.find_folder("features").parent)
        return _digest_files(file for root in roots for file in _list_code(root))

    def make_key(self, row: Row) -> dict[str, Any]:
        """Return what a row is made of now: itself, the program's code, and all files it reads."""
        # named from its state on, so that a batch may move as a whole
        start = row.state_file.parent
        inputs = {_name_from(start, path): self.of_file(path) for path in self.list_inputs(row)}
        asked = json.dumps([row.command, dict(row.arguments)], sort_keys=True)
        own = hashlib.sha256(asked.encode()).hexdigest()
        return {"row": own, "code": self.of_code, "inputs": inputs}

    def of_outputs(self, row: Row) -> dict[str, str]:
        """Return the digests of all files that a row wrote, by name."""
        start = row.state_file.parent
        return {_name_from(start, file): self.of_file(file) for file in list_outputs(row)}

    def list_inputs(self, row: Row) -> list[Path]:
        """Return all files that a row reads: in folders, and those that its lists name, too."""
        found = dict[Path, None]()
        for path in row.reads:
            for file in _list_motion(path) if path.is_dir() else [path]:
                found[file] = None
                if file.suffix.lower() in _LISTS:
                    key = f"{file} {self.of_file(file)}"
                    if key not in self._named:
                        self._named[key] = list(_list_named(file))
                    found.update(dict.fromkeys(self._named[key]))
        return list(found)


def _digest_files(files: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for file in files:
        with open(file, "rb", opener=file_paths.open_regular) as stream:
            while block := stream.read(_BLOCK):
                digest.update(block)
    return digest.hexdigest()


def _list_code(root: Path) -> list[Path]:
    return sorted(
        path
        for path in root.rglob("*")
        if path.suffix in _CODE and "__pycache__" not in path.parts and path.is_file()
    )


def _name_from(start: Path, path: Path) -> str:
    try:
        return Path(os.path.relpath(path, start)).as_posix()
    except ValueError:  # on another drive of Windows
        return str(path)


# ---------------------------------------------------------------- files of rows


def _list_motion(folder: Path) -> list[Path]:
    """Return the files of a folder that commands read, sorted."""
    visible = (path for path in folder.rglob("*.[bB][vV][hH]") if not path.name.startswith("."))
    return sorted(path for path in visible if path.is_file())


def _list_named(file: Path) -> Iterator[Path]:
    """Yield the files that a list of sources, or another JSON file, names relative to itself."""
    try:
        texts = list(_list_texts(read(file, "list")))
    except SettingsError:  # the command says what is wrong with it
        return
    for text in texts:
        path = file.parent / text
        if "." in text and len(text) < _LONGEST_NAME and "\0" not in text and path.is_file():
            yield path


def _list_texts(data: Any) -> Iterator[str]:
    if isinstance(data, str):
        yield data
    elif isinstance(data, Mapping | list):
        for each in data.values() if isinstance(data, Mapping) else data:
            yield from _list_texts(each)


def list_outputs(row: Row) -> Iterator[Path]:
    """Yield the files that a row has written; of a folder, all that are in it."""
    for path in row.writes:
        if path.is_dir():
            inside = (file for file in sorted(path.rglob("*")) if file.is_file())
            yield from (file for file in inside if not file.name.startswith("."))
        elif path.exists():
            yield path


# ---------------------------------------------------------------- states


def load_state(row: Row) -> dict[str, Any]:
    """Return what is stored of a row; nothing if that is not there, or not ours."""
    try:
        found = read(row.state_file, "state of a row")
    except SettingsError:
        return {}
    return found if isinstance(found, dict) and isinstance(found.get("key"), dict) else {}


def save_state(row: Row, state: Mapping[str, Any]) -> None:
    """Store how a row stands. BatchError if that cannot be written."""
    whole = {"row": row.number, "name": row.name, "command": row.command, **state}
    file_paths.write_text(row.state_file, json.dumps(whole, indent=1) + "\n", BatchError)


def find_standing(row: Row, digests: Digests) -> Standing:
    """Return how a row stands, from what is stored and from its files as they are now."""
    stored = load_state(row)
    if not stored:
        return Standing(NEW, "it was not done yet")
    if changed := _find_change(stored["key"], digests.make_key(row)):
        return Standing(STALE, changed)
    if stored.get("state") != DONE:
        return Standing(FAILED, str(stored.get("error", "it was stopped")))
    for name, digest in stored.get("outputs", {}).items():
        now = digests.of_file(row.state_file.parent / name)
        if now != digest:
            said = "is gone" if now == _MISSING else "is another file than was written"
            return Standing(STALE, f"{name} {said}")
    return Standing(DONE)


def _find_change(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """Return what a row is made of that has changed; empty if nothing has."""
    if before.get("row") != now["row"]:
        return "what it asks for has changed"
    stored = before.get("inputs")
    known = stored if isinstance(stored, Mapping) else {}
    for name in (*now["inputs"], *known):
        if known.get(name) != now["inputs"].get(name):
            gone = now["inputs"].get(name, _MISSING) == _MISSING
            return f"{name} {'is gone' if gone else 'has changed'}"
    return "" if before.get("code") == now["code"] else "the program has changed"
