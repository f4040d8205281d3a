"""Exceptions that a user can cause; each message is one sentence: what is wrong and what to do."""


class MotionMatchingError(Exception):
    """Base of all errors that a user can cause; users see the text unchanged."""

    def __init__(self, sentence: str) -> None:
        # names of files that are no text come with letters that Blender refuses to show
        readable = sentence.encode("utf-8", "replace").decode("utf-8")
        super().__init__(readable if readable.endswith((".", "?", "!")) else f"{readable}.")


class MotionDataError(MotionMatchingError):
    """A motion file or clip cannot be used."""


class RigError(MotionMatchingError):
    """A skeleton lacks a bone that is needed, or skeletons do not agree."""


class RigChangedError(RigError):
    """The rig was deleted or changed during the work; the motion is not at fault, start again."""


class DatabaseError(MotionMatchingError):
    """A database cannot be built, saved or loaded."""


class SettingsError(MotionMatchingError):
    """A setting, preset, script or source list is not valid."""
