"""Make a take from start to end: settings for a database, performance, take and report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import astuple, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..blending.transition_cost import format_price
from ..body import toe_ends
from ..body.rig import Roles
from ..bvh import bvh
from ..control import rollout
from ..control.method import Candidate, Explanation, Method
from ..control.rollout import Take
from ..database.database import Database
from ..database.statistics import (
    find_missing_speeds,
    measure_speeds,
    measure_strafing,
    measure_top_speeds,
    measure_turn_limit,
)
from ..errors import DatabaseError, MotionDataError, SettingsError
from ..files import file_paths, json_files, written
from ..files.own_files import make_temporary_folder
from ..matching import flips
from ..matching.method import MotionMatching
from ..maths import planar
from ..motion.clip import Clip
from ..motion.rest import AT_REST
from ..motion.simulation_bone import SimulationBoneSettings, detach
from ..performance import performance as performances
from ..performance import scripts
from ..performance.performance import Performance
from ..performance.settings import LARGEST_SPEED, PerformerSettings, Steering
from ..progress import ReportShare
from . import baking, metrics, recovery
from .bodies import Frames, measure_body
from .numbers import NUMBERS
from .performers import create_performer
from .stored_measures import make_range_body, measure_sources
from .stored_measures import make_source_bodies as make_source_bodies
from .stored_measures import save_database as save_database

Controller = Callable[[Database, PerformerSettings], Method]


def make_default_settings(database: Database) -> PerformerSettings:
    """Return the default settings with speeds, turns and steps aside as in the data.

    Raises SettingsError if the data is faster than a character can be steered.
    """
    walk, run = measure_speeds(database)
    fastest = max(*astuple(walk), *astuple(run))
    if fastest > LARGEST_SPEED:
        raise SettingsError(
            f"The character moves at {fastest:.3g} m/s, and can be steered at up to "
            f"{LARGEST_SPEED:g} m/s; if its lengths are not in metres, set the scale of the files, "
            "or scale the armature, and build the database again."
        )
    turn_limit = measure_turn_limit(database)
    strafe = measure_strafing(database)
    steering = Steering(walk=walk, run=run, turn_limit=turn_limit, strafe=strafe)
    return PerformerSettings(steering=steering)


def prepare_performance(
    database: Database,
    settings: PerformerSettings,
    script: str,
    *,
    gait: str,
    seconds: float,
    seed: int,
) -> Performance:
    """Load a recorded performance if `script` ends in .json, or build the script of that name.

    Raises SettingsError if there is no such script, or the recorded settings cannot be used.
    """
    if script.endswith(".json"):
        recorded = performances.load(script)
        try:
            for change in (recorded.settings, *(change for _, change in recorded.changes)):
                settings.with_changes(change)
        except SettingsError as cause:
            raise SettingsError(f"The performance {script} has wrong settings: {cause}") from cause
        return recorded
    steering = settings.steering
    return scripts.build_script(
        script, seconds, database.fps, steering.walk, steering.run, gait=gait, seed=seed
    )


def request_tags(
    performance: Performance, tags: frozenset[str], database: Database, settings: PerformerSettings
) -> Performance:
    """Add tags to a performance's requests. DatabaseError if no frame to enter has them all."""
    if problem := database.explain_missing_tags(tags, settings.search.end_guard):
        raise DatabaseError(problem)
    return performance.with_tags(tags)


def perform(
    database: Database,
    settings: PerformerSettings,
    performance: Performance,
    progress: ReportShare | None = None,
    controller: Controller = MotionMatching,
) -> Take:
    """Perform with a controller on the performance's ground, and return the take.

    Its performance names the cost terms that were used.
    """
    method = controller(database, settings)
    terms = method.terms if isinstance(method, MotionMatching) else ()
    performance = replace(performance, terms=tuple(term.name for term in terms))
    performer = create_performer(method, settings, performance.ground)
    return rollout.solve(performer, performance, progress)


def write_bvh(take: Take, path: Path | str) -> None:
    """Write the take as motion capture: Y up, centimetres, the source's bones."""
    bvh.save(detach(take.to_clip()), path)


# ---------------------------------------------------------------- report


def report(
    take: Take, database: Database, bvh_file: Path | str | None = None, *, live: Take | None = None
) -> dict[str, Any]:
    """Measure a take, the frames that it plays and its sources: the report, as JSON data.

    The body is measured from the take's BVH, read back from `bvh_file` or from a temporary one.
    `live` is the same take before its feet were baked; its feet are reported as well.
    """
    if bvh_file is None:
        with make_temporary_folder() as folder:
            file = folder / "take.bvh"
            write_bvh(take, file)
            return report(take, database, file, live=live)
    bones = database.source_bones
    written = dict(zip(bones, bvh.sanitize_names(bones), strict=True))
    return report_clip(bvh.load(bvh_file, scale=0.01), written, take, database, live=live)


def report_clip(
    clip: Clip,
    names: Mapping[str, str],
    take: Take,
    database: Database,
    *,
    live: Take | None = None,
) -> dict[str, Any]:
    """Report on a take measured from a clip of its ticks, with its bone names by the database's."""
    role_names = {role: names[bone] for role, bone in database.role_names.items()}
    roles = Roles.from_names(clip.skeleton, role_names)
    clip = _add_toe_ends(clip, names, database)
    roles = toe_ends.use_toe_ends(roles, clip.skeleton)
    settings = SimulationBoneSettings(**database.settings["simulation_bone"])
    if settings.source == "root" and roles.root is None:
        settings = replace(settings, source="spine")
    body = measure_body(clip, roles, np.array(database.hips_forward), settings)
    sources = measure_sources(database)
    floors = sources.floors
    peaks = _find_compared_peaks(sources.peaks, database)
    peak_by_name = {names.get(bone, bone): peak for bone, peak in peaks.items()}
    hardest = np.array([peak_by_name.get(name, np.inf) for name in clip.skeleton.names])
    corrections = baking.measure_toe_corrections(take, database)
    in_data = find_ticks_in_data(take, database)
    reachable = find_reachable_speeds(take, database)
    played = measure_played(take, database)
    most = played["acceleration_max"]
    before = {} if live is None else {"live": baking.measure_live(live, database, floors, most)}
    measures = metrics.measure_take(body, take, floors, hardest, corrections, in_data, reachable)
    return {
        "name": take.name,
        "fps": take.fps,
        "take": {
            **measures,
            "database_share_used": len(np.unique(take.frames)) / database.frame_count,
            **metrics.measure_pops(body.acceleration, most, take.fps),
            **recovery.summarize_recoveries(recovery.measure_recoveries(take)),
        },
        "sources": sources.clips,
        "played": played,
        **before,
        "speeds_not_in_data": _find_missing_speeds(take, database),
        "clips": list_used_clips(take, database),
        "jumps": explain_jumps(take, database),
        "settings": take.settings,
        "features": database.schema.to_dict(),
    }


def _add_toe_ends(clip: Clip, names: Mapping[str, str], database: Database) -> Clip:
    """Add the database's bones at the ends of legs, where the clip has end sites."""
    ends = {}
    for above, end in database.toe_ends.values():
        bone = clip.skeleton.index(names[database.skeleton.names[above]])
        length = np.linalg.norm(database.skeleton.rest_positions[end])
        sites = [site for owner, site in clip.skeleton.end_sites if owner == bone]
        if sites:
            ends[bone] = min(sites, key=lambda site: abs(np.linalg.norm(site) - length))
    return toe_ends.add_toe_ends(clip, ends)


def _find_missing_speeds(take: Take, database: Database) -> list[dict[str, Any]]:
    """Return the speeds of the gaits of a take that the data lacks; see `find_missing_speeds`."""
    gaits = {"run" if intent.gait > 0.5 else "walk" for intent in take.performance.intents}
    steering = take.performer_settings.steering
    return [
        {"gait": gait, **missing}
        for gait in sorted(gaits)
        for missing in find_missing_speeds(database, getattr(steering, gait))
    ]


def _find_compared_peaks(peaks: np.ndarray, database: Database) -> dict[str, float]:
    """Return the sources' largest acceleration of each bone, infinite (not compared) above hips."""
    skeleton = database.skeleton
    largest = peaks.copy()
    # the peaks lack bone 0, the simulation bone
    largest[[bone - 1 for bone in skeleton.get_ancestors(database.roles.hips) if bone]] = np.inf
    return dict(zip(skeleton.names[1:], largest.tolist(), strict=True))


def list_used_clips(take: Take, database: Database) -> list[dict[str, Any]]:
    """List the clips that a take plays, longest first: name, seconds, and mirrored seconds."""
    played: dict[str, list[int]] = {}
    for r, ticks in Counter(database.range_of_frame[take.frames].tolist()).items():
        origin = database.ranges[r]
        played.setdefault(origin.label, [0, 0])[origin.mirrored] += ticks
    result = []
    for clip in sorted(played, key=lambda clip: (-sum(played[clip]), clip)):
        seconds, mirrored = (round(ticks / take.fps, 2) for ticks in played[clip])
        result.append({"clip": clip, "seconds": seconds, "mirrored": mirrored})
    return result


def explain_jumps(take: Take, database: Database) -> list[dict[str, Any]]:
    """List every jump: its second and price, the cost of playing on, and the best frames' costs.

    `flips_if` is the least change of one weight with which the search would have done another of
    these; None if there is none, or if the price of jumps decides too.
    """

    def candidate_to_dict(candidate: Candidate, search: Explanation) -> dict[str, Any]:
        source = database.get_frame_source(candidate.frame)
        costs = [round(cost, 3) for cost in candidate.by_feature]
        by_feature = dict(zip(search.labels, costs, strict=True))
        total = round(candidate.cost, 3)
        feet = round(candidate.feet, 3)
        shown = vars(source) | {"cost": total, "by_feature": by_feature, "feet": feet}
        if search.terms:
            terms = [round(cost, 3) for cost in candidate.terms]
            shown["terms"] = dict(zip(search.terms, terms, strict=True))
        return shown

    return [
        {
            "second": round(tick / take.fps, 3),
            "price": round(float(take.prices[tick]), 5),
            "playing_on": candidate_to_dict(search.continuing, search),
            "candidates": [candidate_to_dict(c, search) for c in search.candidates],
            "flips_if": flips.to_dict(flip, database, search.continuing.frame),
        }
        for (tick, search), flip in zip(
            take.decisions, flips.find_flips(take, database), strict=True
        )
    ]


def find_ticks_in_data(take: Take, database: Database) -> np.ndarray:
    """Return ticks (T,) whose next desired second exists in a second or more of the database.

    It exists if the character gets as far (within a tenth or 0.1 m) and turns as much (0.3 rad).
    """
    frames = round(take.fps)
    path = np.cumsum(np.vstack([np.zeros(2), take.desired_velocity]), axis=0) / take.fps
    later = np.minimum(np.arange(take.frame_count) + frames, take.frame_count - 1)
    desired = planar.rotate(path[later] - path[:-1], -take.desired_yaw)
    desired_turn = take.desired_yaw[later] - take.desired_yaw
    stops = database.stops[database.range_of_frame]
    here = np.flatnonzero(np.arange(database.frame_count) + frames < stops)
    moved = database.track[here + frames] - database.track[here]
    offset = planar.rotate(moved[:, :2], -database.track[here, 2])
    turn = moved[:, 2]
    ways = np.linalg.norm(desired, axis=1)
    radius = np.maximum(NUMBERS.covered_near * ways, NUMBERS.covered_least)
    counts = _count_near(offset, turn, np.column_stack([desired, desired_turn]), radius)
    return np.asarray(counts >= frames)


def _count_near(
    offset: np.ndarray, turn: np.ndarray, desired: np.ndarray, radius: np.ndarray
) -> np.ndarray:
    """Count the offsets (N, 2) and turns (N,) near each desired x, y and turn (T, 3)."""
    order = np.argsort(offset[:, 0])
    x, y = offset[order].T
    turn = turn[order]
    first = np.searchsorted(x, desired[:, 0] - radius)
    last = np.searchsorted(x, desired[:, 0] + radius, side="right")
    least = np.cos(NUMBERS.covered_turn)
    counts = np.zeros(len(desired), np.intp)
    for n, (start, stop) in enumerate(zip(first.tolist(), last.tolist(), strict=True)):
        some = slice(start, stop)
        away = (x[some] - desired[n, 0]) ** 2 + (y[some] - desired[n, 1]) ** 2
        near = turn[some][away <= radius[n] ** 2]
        counts[n] = np.count_nonzero(np.cos(near - desired[n, 2]) > least)
    return counts


def find_reachable_speeds(take: Take, database: Database) -> np.ndarray:
    """Return the data's top speeds (T,) in m/s in the desired direction and facing.

    A direction missing in the data gets the speed of its fastest one.
    """
    top = astuple(measure_top_speeds(database))
    least = AT_REST.moving * database.pace
    # slow drifting is no motion in that direction, however many frames have it
    forward, side, back = (speed if speed >= least else max(top) or np.inf for speed in top)
    velocity = planar.rotate(take.desired_velocity, -take.desired_yaw)
    left, behind = (velocity / np.maximum(np.linalg.norm(velocity, axis=1), 1e-9)[:, None]).T
    slowness = np.hypot(left / side, behind / np.where(behind < 0, forward, back))
    return 1 / np.maximum(slowness, 1e-9)


def measure_played(take: Take, database: Database) -> dict[str, float]:
    """Measure the database frames that a take plays, in the same way as the take."""
    frames = find_played_frames(take, database)
    return metrics.measure_frames(frames) | metrics.measure_slips(frames, take.fps)


def find_played_frames(take: Take, database: Database) -> Frames:
    """Return the database frames that a take plays, as in the data, each clip over its floor."""
    played = database.range_of_frame[take.frames]
    known = set(played.tolist())
    clips: dict[tuple[str, bool], list[int]] = {}
    for r, origin in enumerate(database.ranges):
        clips.setdefault((origin.clip, origin.mirrored), []).append(r)
    found = []
    for ranges in clips.values():
        if known.isdisjoint(ranges):
            continue
        bodies = [make_range_body(database, r) for r in ranges]
        floors = metrics.measure_toe_floors(bodies)
        for r, body in zip(ranges, bodies, strict=True):
            start, stop = database.starts[r], database.stops[r]
            frames = Frames.from_body(body, np.asarray(database.contacts[start:stop]), floors)
            found.append(frames.select(take.frames[played == r] - start))
    return Frames.concatenate(found)


def write_report(data: dict[str, Any], path: Path | str) -> None:
    """Write a report as JSON, with rounded measures. Raises MotionDataError if that fails."""
    text = json_files.to_text(written.round_measures(data), indent=1)
    file_paths.write_text(path, text, MotionDataError)


def _summarize_prices(take: dict[str, Any]) -> list[str]:
    """Return the line about the prices of jumps, if there are any."""
    if take["jump_price_mean"] is None:
        return []
    mean, usual, most = (
        format_price(take[f"jump_price_{name}"]) for name in ("mean", "p95", "max")
    )
    return [
        f"  jumps        cost {mean} on average, {usual} or less in 95 %, at most {most}, and "
        f"{format_price(take['jump_price_per_second'])} a second"
    ]


def _summarize_pushes(take: dict[str, Any]) -> list[str]:
    """Return the line about pushes, if there are any."""
    if not take["pushes"]:
        return []
    line = f"  pushes       recovered from {take['pushes_recovered']} of {take['pushes']}"
    if take["pushes_recovered"]:
        line += (
            f", within {take['recovery_time_median']:.2f} s and after "
            f"{take['push_distance_median']:.2f} m (medians)"
        )
    return [line]


def summarize(data: dict[str, Any]) -> str:
    """Return a few lines about a report, for people."""
    take = data["take"]
    sources = data["sources"]
    played = data["played"]
    speed = [f"freezes: {take['freezes']}"]
    if take["wanted_speed_in_data"]:
        speed.insert(
            0,
            f"{take['achieved_speed']:.2f} m/s of the desired {take['desired_speed']:.2f}, where "
            f"the data has it ({take['wanted_speed_in_data']:.0%} of the time)",
        )
    if turns := take["response_times"]:
        answered = sum(t is not None for t in turns)
        median = take["response_time_median"]
        within = "" if median is None else f"{median:.2f} s "
        speed.append(f"full speed {within}after a turn ({answered} of {len(turns)})")
    share = take["database_share_used"]
    clips = len(data["clips"])
    live = data.get("live", {})

    def compare(name: str, unit: str, digits: int = 0, factor: float = 1.0) -> str:
        """Write a measure, with those of the live take and of the frames played behind it."""
        before = f"live {factor * live[name]:.{digits}f}, " if live else ""
        of_played = f"frames played {factor * played[name]:.{digits}f}"
        return f"{factor * take[name]:.{digits}f} {unit} ({before}{of_played})"

    pops = f"{take['pops']} pop{'s' * (take['pops'] != 1)}"
    of_live = f" (live {live['pops']})" if live else ""
    lines = [
        f"{data['name']}: {take['seconds']:.1f} s at {data['fps']:g} fps, "
        f"{take['jumps_per_second']:.1f} jumps a second, "
        f"{clips} clip{'s' * (clips != 1)} and {share:.1%} of the database used",
        f"  speed        {'; '.join(speed)}",
        f"  foot slide   {compare('foot_slide_mann', 'cm/s', 1, 100)} near the ground, "
        f"{compare('foot_slide_contacts', 'cm/s', 1, 100)} on source contacts",
        f"  legs         bent by {100 * take['leg_correction_mean']:.1f} cm, at most "
        f"{100 * take['leg_correction_max']:.0f}, to hold {take['contacts_locked']:.0%} of "
        f"contacts; crossed for {compare('legs_crossed', '%', 1, 100)} of the time",
        f"  slips        {compare('slips_per_minute', 'a minute', 1)}, each by "
        f"{compare('slip_way', 'cm', 0, 100)}",
        f"  turns        {take['turn_rate_max']:.2f} rad/s at most (sources, 99 % of turning: "
        f"{sources['turning_p99']:.2f}); knees {compare('knee_rate_max', 'rad/s')}",
        f"  acceleration {take['jump_acceleration_p99']:.0f} m/s² at jumps in 99 %, at most "
        f"{compare('acceleration_max', 'm/s²')}; {pops}{of_live}",
        *_summarize_prices(take),
        *_summarize_pushes(take),
        f"  simulation   code and data drift apart by {take['apart_speed_mean']:.2f} m/s and "
        f"{take['apart_turn_rate_mean']:.2f} rad/s, and are "
        f"{take['simulation_distance_mean']:.2f} m apart on average",
    ]
    lines += [
        f"  not in data  '{missing['gait']}' {missing['direction']}: {missing['wanted']:.2f} m/s "
        "is set, but the clips only "
        f"reach {missing['found']:.2f}; lower the setting, or add clips that go faster"
        for missing in data["speeds_not_in_data"]
    ]
    return "\n".join(lines)
