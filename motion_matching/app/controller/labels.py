"""Read the labels of a character: displacement settings for frames with certain tags."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...engine.database.tags.tags import parse_names
from ...engine.performance.labels import READY_LABELS, DisplacementLabel, make_ready_label
from ...engine.performance.settings import LABELLED, Coupling
from .. import property_access
from ..property_access import to_plain_value


def read_labels(controller: Any) -> list[dict[str, Any]]:
    """Return the labels of a controller as JSON data, without labels that name no tag."""
    return [label.to_dict() for label in build_labels(controller)]


def build_labels(controller: Any) -> tuple[DisplacementLabel, ...]:
    """Return the labels of a controller, without labels that name no tag."""
    pairs = ((parse_names(item.tags), item) for item in controller.labels)
    return tuple(DisplacementLabel(tags, _read_settings(item)) for tags, item in pairs if tags)


def get_state(controller: Any) -> tuple[Any, ...]:
    """Return all values of the labels, to see cheaply whether one has changed."""
    return tuple(
        (item.tags, *(getattr(item, name) for name in LABELLED)) for item in controller.labels
    )


def set_labels(controller: Any, labels: Sequence[DisplacementLabel], own: Coupling) -> None:
    """List other labels; what they do not name, they get from a performer's own settings."""
    controller.labels.clear()
    inherited = len(controller.labels)  # a library override keeps linked items: they get new values
    for index, label in enumerate(labels):
        if index < inherited:
            _fill(controller.labels[index], label, own)
        else:
            _append(controller, label, own)
    for index in range(len(labels), inherited):
        controller.labels[index].tags = ""
    controller.label_index = 0


def add_labels(controller: Any, names: Sequence[str]) -> None:
    """Add ready labels behind the others, or with no name one that is like the controller."""
    own = Coupling(**_read_settings(controller))
    labels = [make_ready_label(name, own) for name in names] or [DisplacementLabel((), {})]
    for label in labels:
        _append(controller, label, own)
    controller.label_index = len(controller.labels) - 1


def list_missing(controller: Any, names: Sequence[str]) -> list[str]:
    """Return the ready labels among some whose tags no label of a controller names."""
    used = {tag for item in controller.labels for tag in parse_names(item.tags)}
    return [name for name in names if not used.issuperset(READY_LABELS[name][0])]


def _append(controller: Any, label: DisplacementLabel, own: Coupling) -> None:
    _fill(property_access.add(controller.labels, label.title or "Label"), label, own)


def _fill(item: Any, label: DisplacementLabel, own: Coupling) -> None:
    item.tags = label.title
    for name in LABELLED:
        setattr(item, name, label.settings.get(name, getattr(own, name)))


def _read_settings(group: Any) -> dict[str, Any]:
    return {name: to_plain_value(getattr(group, name)) for name in LABELLED}
