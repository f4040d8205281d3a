"""Parse text arguments: settings to change, and numbers."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

from ..engine.errors import SettingsError
from ..engine.performance.labels import READY
from ..engine.performance.settings import PerformerSettings
from ..engine.retargeting.settings import RetargetSettings
from ..engine.settings import get_defaults


def parse_changes(
    texts: Sequence[str], settings: PerformerSettings | RetargetSettings
) -> dict[str, Any]:
    """Parse settings written as 'name=value' into JSON data. SettingsError for a wrong value."""
    defaults = get_defaults(settings)
    changes = dict[str, Any]()
    for text in texts:
        name, _, value = text.partition("=")
        default = defaults.get(name)
        if name == "labels":
            changes[name] = _parse_labels(text, value)
        elif isinstance(default, bool):
            changes[name] = _parse_bool(text, value)
        elif isinstance(default, str):
            changes[name] = value.strip()
        else:
            changes[name] = _to_setting(name, parse_numbers(text, value), settings)
    return changes


def check_changes(texts: Sequence[str]) -> None:
    """Raise SettingsError for settings of the controller that are wrong with any database."""
    default = PerformerSettings()
    default.with_changes(parse_changes(texts, default))


def parse_numbers(text: str, value: str, option: str = "--set") -> list[float]:
    """Parse the finite numbers of a value 'a,b,c' or '[a, b, c]'.

    Raises SettingsError, which quotes the `text`, if it has none.
    """
    try:
        words = value.strip().removeprefix("[").removesuffix("]").split(",")
        numbers = [float(word) for word in words]
    except ValueError:
        numbers = []
    if not numbers or not all(map(math.isfinite, numbers)):
        example = "--set name=0.2" if option == "--set" else f"{option} 0.2"
        raise SettingsError(f"{option} {text} does not give a number; write it as in {example}.")
    return numbers


def _parse_bool(text: str, value: str) -> bool:
    if value.strip().lower() not in ("true", "false"):
        raise SettingsError(
            f"--set {text} is neither true nor false; write it as in --set foot_lock=false."
        )
    return value.strip().lower() == "true"


def _parse_labels(text: str, value: str) -> Any:
    """Parse labels of displacement: 'ready', or JSON data."""
    if value.strip() == READY:
        return READY
    try:
        return json.loads(value)
    except ValueError:
        raise SettingsError(
            f"--set {text} gives no labels; write 'ready', or a list as JSON."
        ) from None


def _to_setting(name: str, numbers: list[float], settings: Any) -> Any:
    """Return a number, weights, or speeds: one speed scales the current three."""
    if name == "weights":
        if min(numbers) < 0 or max(numbers) == 0:
            text = "--set weights must be numbers of zero or more, and one of them above zero"
            raise SettingsError(f"{text}; change them.")
        return numbers
    if name in ("walk", "run"):
        data = getattr(settings.steering, name)
        if len(numbers) == 1:
            speeds = (data.forward, data.side, data.back)
            numbers = [numbers[0] * speed / data.forward for speed in speeds]
        if len(numbers) != 3 or not min(numbers) > 0:
            text = f"--set {name} needs one speed above zero in m/s, or three as in "
            raise SettingsError(f"{text}{name}=1.4,1.2,1.1.")
        return dict(zip(("forward", "side", "back"), numbers, strict=True))
    if len(numbers) != 1:
        raise SettingsError(f"--set {name} takes one number, not {len(numbers)}; give one.")
    return numbers[0]
