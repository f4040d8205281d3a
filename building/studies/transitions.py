"""Perform takes with several ways to blend, to price and to compare jumps, and measure them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import spearmanr

from motion_matching.engine.blending import transition_cost
from motion_matching.engine.blending.jump import Jump
from motion_matching.engine.building import retagging
from motion_matching.engine.control.rollout import Take
from motion_matching.engine.database.database import Database
from motion_matching.engine.database.features.features import load_schema
from motion_matching.engine.database.tags.thresholds import PLANT_ANGLE, AutoTagSettings
from motion_matching.engine.files import presets
from motion_matching.engine.matching.fitted_features import FittedFeatures
from motion_matching.engine.performance.labels import READY_LABELS, make_ready_label
from motion_matching.engine.performance.settings import Coupling, PerformerSettings
from motion_matching.engine.takes import baking, metrics, takes

from . import quality
from .quality import GAITS, Loaded, Measures

SETS = ("generated", "bandai", "lafan1")
PRESETS = ("default", "holden", "spring", "cubic", "notebook", "nucl_ai")
_PUBLISHED = {"blend_stretch": 1.0, "blend_root": False}
_CUBIC = {"inertialization": "cubic"}
_VELOCITIES = ("bone_velocity", "trajectory_velocity")


class Variant(NamedTuple):
    """What a take is performed with: a preset of features, and changes of the settings.

    A `difference` replaces that of the preset.
    """

    features: str = "default"
    changes: tuple[tuple[str, Any], ...] = ()
    difference: str = ""


def _vary(features: str = "default", **changes: Any) -> Variant:
    return Variant(features, tuple(changes.items()))


def _list_blends(**others: Any) -> dict[str, Variant]:
    blends = ((3.0, True), (2.0, True), (1.5, True), (1.0, True), (3.0, False), (1.0, False))
    return {
        f"stretch {stretch:g}, root {'blended' if root else 'at once'}": _vary(
            **({} if stretch == 3.0 else {"blend_stretch": stretch}),
            **({} if root else {"blend_root": False}),
            **others,
        )
        for stretch, root in blends
    }


def _list_leads() -> dict[str, Variant]:
    leads = {"motion": 0.0, "steering": 1.0}
    kinds: dict[str, Mapping[str, Any]] = {"balanced": {}, "as published": _PUBLISHED}
    return {
        f"{lead} leads, {kind}": _vary(
            displacement="synchronize", synchronization=share, foot_lock=False, **changes
        )
        for (kind, changes), (lead, share) in product(kinds.items(), leads.items())
    }


def _list_modes() -> dict[str, Variant]:
    """List what article 002 compares: who leads, and how the two stay together; feet free."""
    free = {"foot_lock": False, **_PUBLISHED}
    meet, pull = {"displacement": "synchronize"}, {"displacement": "adjust"}
    damped, moving = {"adjust_by_velocity": False}, {"adjust_by_velocity": True}
    modes: dict[str, Mapping[str, Any]] = {
        "independent": {"displacement": "independent", "clamp": False},
        "motion leads": {**meet, "synchronization": 0.0, "clamp": False},
        "halfway": {**meet, "synchronization": 0.5, "clamp": False},
        "steering leads": {**meet, "synchronization": 1.0, "clamp": False},
        "adjusted": {**pull, **damped, "clamp": False},
        "adjusted while moving": {**pull, **moving, "clamp": False},
        "adjusted and clamped": {**pull, **damped, "clamp": True},
        "adjusted while moving, and clamped": {**pull, **moving, "clamp": True},
    }
    return {name: _vary(**free, **changes) for name, changes in modes.items()}


def _list_labels() -> dict[str, Variant]:
    """List the ready labels, each alone and all of them; feet free."""
    labels = {name: make_ready_label(name, Coupling()) for name in READY_LABELS}
    return {
        "no labels": _vary(foot_lock=False),
        **{
            name.replace("_", " "): _vary(foot_lock=False, labels=(label,))
            for name, label in labels.items()
        },
        "all three": _vary(foot_lock=False, labels=tuple(labels.values())),
    }


def _list_ladder() -> dict[str, Variant]:
    """List what article 004 adds step by step to what is compared; feet free."""
    features = load_schema("nucl_ai").features
    steps = {
        "trajectory": {"trajectory_position"},
        "and pose": {"trajectory_position", "bone_position"},
        "and velocities": {"trajectory_position", "bone_position", *_VELOCITIES},
        "and the past": {"trajectory_position", "bone_position", *_VELOCITIES, "past"},
    }
    ladder = {
        name: _vary(
            "nucl_ai",
            weights=tuple(
                f.weight
                if f.kind in kinds and ("past" in kinds or not (f.times and min(f.times) < 0.0))
                else 0.0
                for f in features
            ),
            foot_lock=False,
        )
        for name, kinds in steps.items()
    }
    by_length = ladder["and the past"]._replace(difference="absolute")
    published = _vary("nucl_ai_as_published", foot_lock=False)
    return {**ladder, "all, by length": by_length, "as published": published}


def _list_notebook() -> dict[str, Variant]:
    """List what notebook 000 plays, and the shipped settings with its features, and with ours."""
    settings = presets.load("controllers", "notebook")["settings"]
    return {
        "as the notebook plays": _vary("notebook", **settings),
        "its features, balanced": _vary("notebook"),
        "as shipped": _vary(),
    }


TABLES: Mapping[str, Mapping[str, Variant]] = MappingProxyType(
    {
        "feet free": _list_blends(foot_lock=False),
        "feet locked": _list_blends(),
        "leads": _list_leads(),
        "price": {"0": _vary()} | {f"{w:g}": _vary(price_weight=w) for w in (0.5, 1.0, 2.0)},
        "features": {
            name: _vary(name, **(_CUBIC if name == "cubic" else {})) for name in PRESETS
        },
        "notebook": _list_notebook(),
        "modes": _list_modes(),
        "labels": _list_labels(),
        "ladder": _list_ladder(),
    }
)  # fmt: skip


class TransitionJob(NamedTuple):
    """A take to measure."""

    set: str
    gait: str
    variant: Variant
    seed: int


def list_jobs(sets: Sequence[str], tables: Sequence[str], seeds: int) -> list[TransitionJob]:
    """Return the takes of tables, each once."""
    variants = dict.fromkeys(v for table in tables for v in TABLES[table].values())
    return [TransitionJob(*parts) for parts in product(sets, GAITS, variants, range(seeds))]


def tag(database: Database) -> Database:
    """Return a database with the automatic tags that the ready labels name."""
    tags = {source.key: () for source in database.range_sources or ()}
    return retagging.retag(database, tags, AutoTagSettings(plant_angle=PLANT_ANGLE))


def measure_job(job: TransitionJob, folder: Path, seconds: float) -> tuple[TransitionJob, Measures]:
    """Perform a take of a set saved in `folder`, and measure it."""
    loaded = quality.load_set(folder / f"{job.set}.npz")
    return job, measure(loaded, perform(loaded, job, seconds))


def perform(loaded: Loaded, job: TransitionJob, seconds: float) -> Take:
    """Perform the take of a job."""
    database, settings = loaded.database, loaded.settings.with_changes(dict(job.variant.changes))
    if job.variant.features != "default":
        schema = load_schema(job.variant.features)
        difference = job.variant.difference or schema.difference
        database = database.with_schema(replace(schema, difference=difference))
    performance = takes.prepare_performance(
        database, settings, "random", gait=job.gait, seconds=seconds, seed=job.seed
    )
    return takes.perform(database, settings, performance)


def measure(loaded: Loaded, take: Take) -> Measures:
    """Measure a take as performed: in m/s, m·s and seconds, and pops in ten minutes."""
    database = loaded.database
    played = metrics.measure_frames(takes.find_played_frames(take, database))
    body = baking.make_body(take.poses, take.character, database)
    frames = metrics.Frames.from_body(body, take.contacts, loaded.toe_floors)
    answers = metrics.measure_response_times(
        body.velocity,
        take.desired_velocity,
        take.desired_yaw,
        takes.find_reachable_speeds(take, database),
        take.fps,
    )
    pops = metrics.measure_pops(body.acceleration, played["acceleration_max"], take.fps)["pops"]
    seconds = take.frame_count / take.fps
    apart = np.linalg.norm(take.character[:, :2] - take.simulation[:, :2], axis=1)
    return {
        "apart": float(apart.mean()),
        "path": quality.measure_path(take),
        **_measure_labelled(database, take, frames),
        "slide": metrics.measure_contact_slide(frames),
        "pops": 600.0 * pops / seconds,
        **metrics.measure_jump_prices(take),
        "jumps": float(take.jumped.sum() / seconds),
        "answers": answers,
    }


def _measure_labelled(database: Database, take: Take, frames: metrics.Frames) -> Measures:
    """Return the slide while frames of each ready label are played, None where none is."""
    result: Measures = {}
    for name, (tags, _) in READY_LABELS.items():
        carries = np.zeros(database.frame_count, bool)
        for known in set(tags).intersection(database.tag_names):
            carries |= database.make_tag_mask({known})
        ticks = np.flatnonzero(carries[take.frames])
        slide = metrics.measure_contact_slide(frames.select(ticks)) if len(ticks) else None
        result[f"slide_{name}"] = slide
    return result


def combine(measured: Sequence[Measures]) -> Measures:
    """Return the means of takes of all seeds, and the median of all answers."""
    names = [name for name in measured[0] if name != "answers"]
    answers = [second for take in measured for second in take["answers"]]
    row: Measures = {name: _average([take[name] for take in measured]) for name in names}
    return row | {"answer": float(np.median(answers)) if answers else None}


def _average(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None


# ---------------------------------------------------------------- costs and prices of real jumps


def measure_ranks(set_name: str, folder: Path, seconds: float, seeds: int) -> Measures:
    """Return how the costs of all presets rank the jumps of takes, beside their exact price.

    Spearman's correlation by preset, of what its bones cost: with the price of the feet, and with
    that of the whole body. The jumps are those of takes with the default features.
    """
    loaded = quality.load_set(folder / f"{set_name}.npz")
    database, jumps = loaded.database, []
    for gait, seed in product(GAITS, range(seeds)):
        jumps.append(
            list_jumps(
                perform(loaded, TransitionJob(set_name, gait, _vary(), seed), seconds), database
            )
        )
    sources, targets = np.concatenate(jumps).T
    result: Measures = {"jumps": len(sources)}
    for name in PRESETS:
        settings = loaded.settings.with_changes(_CUBIC if name == "cubic" else {})
        feet, body = price_jumps(database, settings, sources, targets)
        costs = compare_bones(database.with_schema(load_schema(name)), settings, sources, targets)
        result[name] = [float(spearmanr(costs, prices).statistic) for prices in (feet, body)]
    return result


def list_jumps(take: Take, database: Database) -> np.ndarray:
    """Return the frames (J, 2) that the jumps of a take leave and enter, without those of idles."""
    ticks = np.flatnonzero(take.jumped[1:] & np.isfinite(take.prices[1:])) + 1
    sources, followers = take.frames[ticks - 1], take.frames[ticks]
    targets = np.maximum(followers - 1, 0)
    # a frame that is held, or the first of a loop, has none before it
    known = database.successors[targets] == followers
    return np.column_stack([sources, targets])[known].astype(np.intp)


def price_jumps(
    database: Database, settings: PerformerSettings, sources: np.ndarray, targets: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the exact prices (J,) of jumps: of the feet alone, and of the whole body."""

    def get_state(frame: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return database.poses[frame], database.velocities[frame], database.root_motion[frame]

    pairs = zip(sources.tolist(), targets.tolist(), strict=True)
    jumps = [Jump(*get_state(source), *get_state(target)) for source, target in pairs]
    transitions = transition_cost.enter(jumps, np.array(database.limits), settings)
    costs = transition_cost.measure_costs(transitions, database.skeleton.parents)
    feet = [leg.foot for leg in database.roles.legs]
    return costs[:, feet].mean(axis=1).sum(axis=-1), costs[:, 1:].mean(axis=1).sum(axis=-1)


def compare_bones(
    database: Database, settings: PerformerSettings, sources: np.ndarray, targets: np.ndarray
) -> np.ndarray:
    """Return what the features of bones cost (J,) between frames."""
    schema, fitted = database.schema, FittedFeatures(database).fit(settings)
    kinds = [not feature.definition.is_path for feature in schema.features]
    dims = np.repeat(kinds, [feature.dimensions for feature in schema.features])
    scale = fitted.normalization.compute_scale(schema.weights)[dims, None]
    away = (fitted.values[dims][:, sources] - fitted.values[dims][:, targets]) * scale
    return np.einsum("dj,dj->j", away, away)
