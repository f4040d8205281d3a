"""Write files completely or not at all, and never over an input. No numpy here."""

from __future__ import annotations

import os
import re
import secrets
import stat
import time
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import combinations
from pathlib import Path
from typing import Any

from ..errors import MotionMatchingError, SettingsError

_LONGEST_STEM = 100  # bytes of a name that the name of a temporary file starts with
_MARK = ".unfinished-"  # in the names of temporary files
_UNSAFE = re.compile(r'[/\\:*?"<>|\s]+')  # what file names on some system may not have
_TEMPORARY = re.compile(rf"\.(.*){re.escape(_MARK)}[0-9a-f]{{8}}", re.DOTALL)
ABANDONED = 24 * 3600.0  # seconds after which the writer of a temporary file is surely gone


# ---------------------------------------------------------------- writing


@contextmanager
def replacing(path: Path | str, error: type[MotionMatchingError]) -> Iterator[Path]:
    """Yield a temporary path that replaces `path` at the end, or is deleted after an exception.

    A link stays, and its target is replaced; the permissions of an old file stay. An OSError, also
    about the temporary path, is raised as `error`, with a sentence that names the path.
    Temporary files of the same path that a killed program left are removed.
    """
    path = Path(path)
    target = Path(os.path.realpath(path))
    try:
        mode = _get_mode(path, error)
        temporary = _create_temporary(target, 0o666 if mode is None else mode & 0o666)
    except OSError as cause:
        raise error(
            f"{path} cannot be written ({cause.strerror}); choose a folder you may write to."
        ) from cause
    try:
        yield temporary
        _flush(temporary, os.O_RDWR)
        if mode is not None:
            os.chmod(temporary, mode)
        os.replace(temporary, target)
        if os.name != "nt":  # where folders cannot be opened
            with suppress(OSError):  # some file systems cannot flush them
                _flush(target.parent, os.O_RDONLY)
        if not _TEMPORARY.fullmatch(target.stem):  # otherwise the write that it is for sweeps
            sweep_unfinished(target, ABANDONED)
    except OSError as cause:
        reason = cause.strerror or str(cause)
        raise error(
            f"{path} cannot be written ({reason}); free some space or choose another place."
        ) from cause
    except MotionMatchingError as cause:
        text = str(cause)
        if str(temporary) not in text:
            raise
        raise type(cause)(text.replace(str(temporary), str(path))) from cause
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def write_text(path: Path | str, text: str, error: type[MotionMatchingError]) -> None:
    """Write a text completely or not at all; letters without encoding become question marks."""
    with replacing(path, error) as temporary:
        temporary.write_text(text, encoding="utf-8", errors="replace")


def _get_mode(path: Path, error: type[MotionMatchingError]) -> int | None:
    """Return the permissions of the file at a path, if there is one; `error` if it has to stay."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(mode):
        raise error(f"{path} is a folder; give the name of a file.")
    if not stat.S_ISREG(mode):
        raise error(f"{path} is a device or pipe; give the name of a file.")
    if not mode & stat.S_IWUSR:
        raise error(f"{path} is read-only; allow writing or choose another name.")
    return stat.S_IMODE(mode)


def _create_temporary(target: Path, mode: int) -> Path:
    """Create an empty file next to a target, with its ending."""
    start, end = _split_temporary_name(target)
    while True:
        temporary = target.with_name(f"{start}{secrets.token_hex(4)}{end}")
        with suppress(FileExistsError):
            # the system applies the user's umask, which could only be read by changing it
            os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_RDWR, mode))
            return temporary


def _split_temporary_name(target: Path) -> tuple[str, str]:
    """Return start and end of names of temporary files, also of one of a temporary file."""
    nested = _TEMPORARY.fullmatch(target.stem)
    stem = nested[1] if nested else target.stem
    while len(os.fsencode(stem)) > _LONGEST_STEM:  # names that grow must not become too long
        stem = stem[:-1]
    return f".{stem}{_MARK}", target.suffix


def _flush(path: Path, flags: int) -> None:
    """Wait until a file or folder is on the disk; here at the latest a full disk raises."""
    handle = os.open(path, flags)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def is_unfinished(path: Path) -> bool:
    """Return whether a file is a temporary one, which replaces another once it is whole."""
    return bool(_TEMPORARY.fullmatch(path.stem))


def sweep_unfinished(target: Path, age: float = 0.0) -> None:
    """Remove temporary files of a target that a killed program left `age` seconds ago or longer.

    Without an age, nobody may be writing the target. One with '@' is Blender's.
    """
    start, end = _split_temporary_name(target)
    # earlier versions named a temporary file's temporary file after it, with another mark
    again = rf"(?:{re.escape(_MARK)}[0-9a-f]{{8}})?"
    name = re.compile(rf"\.?{re.escape(start)}[0-9a-f]{{8}}{again}{re.escape(end)}@?")
    with suppress(OSError), os.scandir(target.parent) as entries:
        for entry in entries:
            if name.fullmatch(entry.name):
                with suppress(OSError):  # it is gone, or somebody else's
                    if not age or time.time() - entry.stat().st_mtime > age:
                        os.unlink(entry)


# ---------------------------------------------------------------- reading


def open_at_once(path: str, flags: int) -> int:
    """Open a file as `open` does, without waiting for a program that writes into a pipe."""
    handle = os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
    if hasattr(os, "O_NONBLOCK"):
        os.set_blocking(handle, True)
    return handle


def open_regular(path: str, flags: int) -> int:
    """Open a file as `open` does. ValueError for a pipe, or a device, which may have no end."""
    handle = open_at_once(path, flags)
    mode = os.fstat(handle).st_mode
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode):  # `open` itself refuses a folder
        return handle
    os.close(handle)
    raise ValueError("it is a device or pipe")


def to_file_name(text: str) -> str:
    """Return a text as a part of a file's name that all systems take."""
    return _UNSAFE.sub("_", text)


def describe_no_file(path: Path | str) -> str:
    """Return why a path names no ordinary file, as in "/dev/zero is no ordinary file"."""
    if os.path.isdir(path):
        return f"{path} is a folder"
    what = "is no ordinary file, but a device or pipe" if os.path.exists(path) else "does not exist"
    return f"{path} {what}"


# ---------------------------------------------------------------- files that are the same

NamedPath = tuple[str, Path | str | None]


def check_clashes(inputs: Iterable[NamedPath], outputs: Iterable[NamedPath]) -> None:
    """Raise SettingsError if a file to write is also read, or if two to write are the same.

    Both come with the option that names them, such as "--report". Files are compared regardless of
    spelling: through links, other spellings of a folder, or other case where it does not matter.
    """
    targets = [(name, Path(path)) for name, path in outputs if path]
    read = {_identify(Path(path)): name for name, path in inputs if path}
    for name, path in targets:
        if (other := read.get(_identify(path))) is not None:
            raise SettingsError(
                f"{name} would replace {path}, which {other} reads; choose another name."
            )
    for (name, path), (other, other_path) in combinations(targets, 2):
        if _identify(path) == _identify(other_path) or _differ_in_case(path, other_path):
            raise SettingsError(
                f"{name} names {path}, which {other} names too; choose another name."
            )


def _identify(path: Path) -> tuple[Any, ...]:
    """Return an identity that is equal for all names of one file."""
    with suppress(OSError):
        found = path.stat()
        if found.st_ino:  # some file systems have no such numbers
            return found.st_dev, found.st_ino
    return (os.path.normcase(os.path.realpath(path)),)


def _differ_in_case(path: Path, other: Path) -> bool:
    """Return whether two names of new files differ only in what their file system ignores."""
    real = Path(os.path.realpath(path))
    others = Path(os.path.realpath(other))
    if fold(real.name) != fold(others.name) or _identify(real.parent) != _identify(others.parent):
        return False
    trial = real.with_name(f".case{secrets.token_hex(4)}")
    with suppress(OSError):
        trial.touch(exist_ok=False)
        try:
            return trial.with_name(trial.name.swapcase()).exists()
        finally:
            trial.unlink()
    return False


def fold(name: str) -> str:
    """Return a name as file systems see it that ignore case and the form of accents."""
    return unicodedata.normalize("NFC", name).casefold()
