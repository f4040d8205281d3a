"""What Blender gets from this extension: one ordered list, and its exact reverse."""

from __future__ import annotations

from collections.abc import Callable

COMMAND = "motion_matching"

_undo: list[Callable[[], None]] = []  # how to take back what is registered now, in the order it was added


def _command_line() -> Callable[[], None]:
    """`blender --command motion_matching …` does what `python -m motion_matching …` does."""
    import bpy

    handle = bpy.utils.register_cli_command(COMMAND, _run_command)  # type: ignore[func-returns-value]  # it does
    return lambda: bpy.utils.unregister_cli_command(handle)


def _run_command(argv: list[str]) -> int:
    from . import cli  # brings numpy and, with most commands, scipy: not before they are asked for
    return cli.main(argv)


# Each entry adds one thing to Blender and returns what takes it back.
REGISTERED: tuple[Callable[[], Callable[[], None]], ...] = (
    _command_line,
)


def register() -> None:
    """Add every entry of the list, in its order; where one fails, take back those before it and raise."""
    unregister()
    try:
        for add in REGISTERED:
            _undo.append(add())
    except Exception:
        unregister()
        raise


def unregister() -> None:
    """Take back what is registered, in reverse order; once nothing is, do nothing."""
    while _undo:
        _undo.pop()()
