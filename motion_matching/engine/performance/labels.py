"""Define labels: frames of some tags bring their own displacement, blended over a stated time.

Source: article 002, Be Creative: designers label regions of the animation data with the exact
displacement that they want.
"""

from __future__ import annotations

import reprlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ..errors import SettingsError
from ..settings import get_defaults
from ..units import measured

if TYPE_CHECKING:
    from .steering_settings import Coupling

READY = "ready"  # keyword for the built-in labels
_KEYS = {"tags", "settings"}
_EXAMPLE = '{"tags": ["start"], "settings": {"clamp_distance": 0.3}}'


@measured(
    settings={
        "adjust_position_halflife": "s",
        "adjust_rotation_halflife": "s",
        "clamp_distance": "m",
    }
)
@dataclass(frozen=True)
class DisplacementLabel:
    """The displacement of frames that carry one of some tags: settings in place of the performer's.

    `settings` are some of its coupling by name; all others stay the performer's own.
    """

    tags: tuple[str, ...]
    settings: Mapping[str, Any] = field(hash=False)

    @property
    def title(self) -> str:
        return ", ".join(self.tags)

    def to_dict(self) -> dict[str, Any]:
        return {"tags": list(self.tags), "settings": dict(self.settings)}

    def apply_to(self, coupling: Coupling) -> Coupling:
        """Return a coupling with the settings of the label. SettingsError names a wrong one."""
        return replace(coupling, labels=(), **self.settings)


def check_labels(coupling: Coupling) -> None:
    """Raise SettingsError for the first label of a coupling that is wrong."""
    known = [name for name in get_defaults(coupling) if not name.startswith("label")]
    for label in coupling.labels:
        if unknown := sorted(set(label.settings).difference(known)):
            raise SettingsError(
                f"The label '{label.title}' has the setting '{unknown[0]}'; it takes "
                f"{', '.join(known)}."
            )
        try:
            label.apply_to(coupling)
        except SettingsError as cause:
            raise SettingsError(f"The label '{label.title}' is wrong: {cause}") from cause


def find_unknown_tags(
    labels: Iterable[DisplacementLabel], known: Collection[str]
) -> tuple[str, ...]:
    """Return the tags of labels that are not known."""
    used = dict.fromkeys(tag for label in labels for tag in label.tags)
    return tuple(tag for tag in used if tag not in known)


def labels_from_data(data: Any, coupling: Coupling) -> tuple[DisplacementLabel, ...]:
    """Return labels of JSON data, or for 'ready' those built in for a coupling. SettingsError."""
    if data == READY:
        return tuple(make_ready_label(name, coupling) for name in READY_LABELS)
    if not isinstance(data, (list, tuple)):
        raise SettingsError(
            f"The setting 'labels' is {reprlib.repr(data)}; give a list of objects such as "
            f"{_EXAMPLE}, or '{READY}'."
        )
    return tuple(_label_from_data(entry) for entry in data)


def _label_from_data(entry: Any) -> DisplacementLabel:
    if isinstance(entry, DisplacementLabel):
        return entry
    tags = entry.get("tags") if isinstance(entry, Mapping) else None
    changes = entry.get("settings", {}) if isinstance(entry, Mapping) else None
    has_tags = isinstance(tags, (list, tuple)) and all(isinstance(t, str) and t for t in tags)
    if not (has_tags and tags and isinstance(changes, Mapping) and set(entry) <= _KEYS):
        raise SettingsError(
            f"The label {reprlib.repr(entry)} needs 'tags' and 'settings'; write it as in "
            f"{_EXAMPLE}."
        )
    return DisplacementLabel(tuple(tags), dict(changes))


# ---------------------------------------------------------------- ready labels

# by name: the tags proposed from motion, and factors of the performer's numbers
READY_LABELS: Mapping[str, tuple[tuple[str, ...], Mapping[str, float]]] = MappingProxyType(
    {
        "plant_and_turn": (
            ("plant",),
            MappingProxyType({"adjust_position_ratio": 0.5, "clamp_distance": 1.5}),
        ),
        "start_and_stop": (
            ("start", "stop"),
            MappingProxyType({"adjust_position_ratio": 0.25, "clamp_distance": 2.0}),
        ),
        "locomotion": (
            ("walk", "run"),
            MappingProxyType(
                {
                    "adjust_position_ratio": 1.4,
                    "adjust_rotation_ratio": 1.4,
                    "clamp_distance": 0.8,
                }
            ),
        ),
    }
)


def make_ready_label(name: str, coupling: Coupling) -> DisplacementLabel:
    """Return one of `READY_LABELS`; its numbers are relative to those of a coupling."""
    tags, factors = READY_LABELS[name]
    numbers = {key: float(f"{getattr(coupling, key) * by:.6g}") for key, by in factors.items()}
    return DisplacementLabel(tags, {"displacement": "adjust", "clamp": True, **numbers})
