"""Choose by name the presets that play an implemented article as published.

A set names existing presets: of the simulation bone, the features, the contacts and the controller.
`apart` says what it leaves out of the article. Panels, commands and scripts read this table; there
is no numpy here.

Sources: the articles and talks themselves, as the manual's page of articles lists them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from ..errors import SettingsError
from ..files import presets

# names of methods in commands and scripts
MATCHING = "matching"
FIELD = "field"


@dataclass(frozen=True)
class PublishedSet:
    """Setup of an article, by the names of presets.

    `settings` are the controller's that its preset lacks. If the method is a field, it is trained
    at `quality` and for `tags`; if these are given, a build proposes tags. `apart` are clauses
    about differences from the article.
    """

    name: str
    label: str
    article: str
    method: str
    features: str
    simulation_bone: str
    contacts: str
    controller: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    quality: str = ""
    tags: tuple[str, ...] = ()
    apart: tuple[str, ...] = ()

    @property
    def controller_settings(self) -> dict[str, Any]:
        """The controller's settings as JSON data: those of the preset with the set's own."""
        preset = presets.load("controllers", self.controller)
        return {**preset["settings"], **self.settings}

    def describe(self) -> str:
        """Describe the set in a sentence."""
        words = {
            "the features": self.features,
            "the simulation bone": self.simulation_bone,
            "the controller": self.controller,
        }
        chosen = ", ".join(f"{noun} {_to_title(name)}" for noun, name in words.items())
        method = "a motion field" if self.method == FIELD else "motion matching"
        return f"As '{self.article}': {method} with {chosen}"


def _to_title(name: str) -> str:
    return name.replace("_", " ").title()


_HEADING = "the object's heading follows the motion's"
_SETS = (
    PublishedSet(
        name="motion_matching",
        label="Motion Matching",
        article="Motion Matching For Character Animation",
        method=MATCHING,
        features="notebook",
        simulation_bone="notebook",
        contacts="article",
        controller="notebook",
        apart=("clips play to their ends", _HEADING),
    ),
    PublishedSet(
        name="transition_cost",
        label="Transition Cost",
        article="Inertialization Transition Cost",
        method=MATCHING,
        features="spring",
        simulation_bone="article",
        contacts="article",
        controller="as_published",
        settings={"inertialization": "spring", "inertialization_halflife": 0.15},
        apart=("for its cubic, choose the features Cubic and Blend By Cubic instead",),
    ),
    PublishedSet(
        name="displacement",
        label="Displacement",
        article="Code vs Data Driven Displacement",
        method=MATCHING,
        features="holden",
        simulation_bone="article",
        contacts="article",
        controller="as_published",
        settings={"displacement": "adjust", "adjust_by_velocity": True, "object_waits": False},
        apart=(
            "no motion is generated from contacts",
            "clips are not edited to fit the steering",
            "the camera does not follow over the shoulder",
        ),
    ),
    PublishedSet(
        name="motion_fields",
        label="Motion Fields",
        article="Motion Fields for Interactive Character Animation",
        method=FIELD,
        features="notebook",
        simulation_bone="notebook",
        contacts="notebook",
        controller="notebook",
        quality="notebook",
        tags=("walk", "run"),
        apart=("a target location is no task of the field", _HEADING),
    ),
    PublishedSet(
        name="next_gen",
        label="Next Gen Animation",
        article="The Road to Next Gen Animation",
        method=MATCHING,
        features="nucl_ai_as_published",
        simulation_bone="article",
        contacts="article",
        controller="as_published",
        settings={
            "prediction": "horizon",
            "search_interval": 0.0,
            "continuing_bias": 0.0,
            "wait": False,
        },
        apart=(
            "cost terms are a list, not a graph of nodes",
            "all frames are searched, not the nearest trajectories first",
            "layers are not synchronised",
        ),
    ),
)
PUBLISHED: Mapping[str, PublishedSet] = MappingProxyType({each.name: each for each in _SETS})


def find_published(name: str) -> PublishedSet:
    """Return the set of a name. Raises SettingsError if there is none."""
    if name not in PUBLISHED:
        names = ", ".join(PUBLISHED)
        raise SettingsError(f"There is nothing published as '{name}'; use one of {names}.")
    return PUBLISHED[name]
