"""What arguments give as text: settings to change, numbers and names."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..engine.errors import SettingsError

if TYPE_CHECKING:
    from ..engine.control.settings import PerformerSettings


def changes_of(texts: Sequence[str], settings: PerformerSettings) -> dict[str, Any]:
    """The settings to change, written as 'name=value', by name as JSON data. SettingsError for what is no value."""
    changes: dict[str, Any] = {}
    for text in texts:
        name, _, value = text.partition("=")
        default = getattr(settings, name, None)
        if isinstance(default, bool):
            changes[name] = _truth(text, value)
        elif isinstance(default, str):
            changes[name] = value.strip()
        else:
            changes[name] = _value(name, numbers_of(text, value), settings)
    return changes


def names_of(text: str) -> frozenset[str]:
    """The names of 'a, b'."""
    from ..engine.matching.tags import names_in

    return frozenset(names_in(text))


def listed_names(text: str) -> tuple[str, ...]:
    """The different names of 'a, b' in their order."""
    return tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))


def numbers_of(text: str, value: str, option: str = "--set") -> list[float]:
    """The finite numbers of a value 'a,b,c' or '[a, b, c]'. SettingsError, which quotes the `text`, where it has none."""
    try:
        numbers = [
            float(word) for word in value.strip().removeprefix("[").removesuffix("]").split(",")
        ]
    except ValueError:
        numbers = []
    if not numbers or not all(map(math.isfinite, numbers)):
        example = "--set name=0.2" if option == "--set" else f"{option} 0.2"
        raise SettingsError(f"{option} {text} does not give a number; write it as in {example}.")
    return numbers


def _truth(text: str, value: str) -> bool:
    if value.strip().lower() not in ("true", "false"):
        raise SettingsError(
            f"--set {text} does not say true or false; write it as in --set foot_lock=false."
        )
    return value.strip().lower() == "true"


def _value(name: str, numbers: list[float], settings: PerformerSettings) -> Any:
    """What a setting becomes: a number; weights; or speeds, of which one stands for all in proportion."""
    if name == "weights":
        if min(numbers) < 0 or max(numbers) == 0:
            raise SettingsError(
                "--set weights must be numbers of zero or more, and one of them above zero; change them."
            )
        return numbers
    if name in ("walk", "run"):
        data = getattr(settings, name)
        if len(numbers) == 1:
            numbers = [
                numbers[0] * speed / data.forward for speed in (data.forward, data.side, data.back)
            ]
        if len(numbers) != 3 or not min(numbers) > 0:
            raise SettingsError(
                f"--set {name} needs one speed above zero in m/s, or three as in {name}=1.4,1.2,1.1."
            )
        return dict(zip(("forward", "side", "back"), numbers, strict=True))
    if len(numbers) != 1:
        raise SettingsError(f"--set {name} takes one number, not {len(numbers)}; give one.")
    return numbers[0]
