"""Exceptions that a user can cause. Each message is a sentence that names the culprit and says what to do."""


class MotionMatchingError(Exception):
    """Base of everything a user can cause; the command line and operators show its text as it is."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence if sentence.endswith((".", "?", "!")) else f"{sentence}.")


class MotionDataError(MotionMatchingError):
    """A motion file or clip cannot be used."""


class RigError(MotionMatchingError):
    """A skeleton lacks a bone that is needed, or skeletons do not agree."""


class ChangedError(RigError):
    """The rig went, or is no longer what it was when work with it began: no fault of the motion at hand, start again."""


class DatabaseError(MotionMatchingError):
    """A database cannot be built, saved or loaded."""


class SettingsError(MotionMatchingError):
    """A setting, preset, script or source list is not valid."""
