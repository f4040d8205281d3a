"""Define errors that a user can cause; each message is one sentence: the fault and the remedy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

LONGEST_SENTENCE = 1200  # characters; files may hold names and values of any length


def shorten(text: str, longest: int = LONGEST_SENTENCE) -> str:
    """Shorten a text in its middle if it is too long to read: remedies are at the end."""
    half = longest // 2
    return text if len(text) <= longest else f"{text[:half]} … {text[-half:]}"


class MotionMatchingError(Exception):
    """Base of all errors that a user can cause; users see the text unchanged."""

    def __init__(self, sentence: str) -> None:
        # file names that are no valid text contain letters that Blender refuses to show
        readable = shorten(sentence).encode("utf-8", "replace").decode("utf-8")
        super().__init__(readable if readable.endswith((".", "?", "!")) else f"{readable}.")


_LIBRARIES = ("numpy", "scipy")  # bundled with the zips or with Blender


class MissingLibraryError(MotionMatchingError):
    """A library is not installed for this Python."""


def to_missing_library(error: ImportError) -> MissingLibraryError:
    """Return the error for a missing library from its import's error; raise any other."""
    library = (error.name or "").partition(".")[0]
    if library not in _LIBRARIES:
        raise error
    return MissingLibraryError(
        f"{library} is missing: reinstall the extension for this platform, or install {library} "
        "for this Python."
    )


class MotionDataError(MotionMatchingError):
    """A motion file or clip cannot be used."""


class RigError(MotionMatchingError):
    """A skeleton lacks a bone that is needed, or skeletons do not agree."""


class RigChangedError(RigError):
    """The rig was deleted or changed during the work; the motion is not at fault, start again."""


class ResultError(MotionMatchingError):
    """A result differs from its source; `figures` say by how much, for each clip."""

    def __init__(self, sentence: str, figures: Sequence[Mapping[str, Any]] = ()) -> None:
        super().__init__(sentence)
        self.figures = list(figures)


class DatabaseError(MotionMatchingError):
    """A database cannot be built, saved or loaded."""


class SettingsError(MotionMatchingError):
    """A setting, preset, script or source list is not valid."""


class BatchError(MotionMatchingError):
    """Rows of a batch are wrong, or have failed."""
