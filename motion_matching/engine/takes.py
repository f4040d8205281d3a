"""A take from start to end: settings that suit a database, a performance, the take, its files and its report."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from . import baking, files
from .control import metrics, performance, rollout, scripts
from .control.ground import Ground
from .control.method import Candidate, Method
from .control.metrics import Body
from .control.performance import Performance
from .control.performer import Performer
from .control.settings import PerformerSettings
from .control.take import Take
from .errors import DatabaseError, MotionDataError, SettingsError
from .matching.database import Database
from .matching.method import MotionMatching
from .matching.statistics import speeds_not_in_data, speeds_of, turn_limit_of
from .maths import quat
from .motion import bvh
from .motion.attachment import detach
from .motion.clip import Clip
from .motion.rig import Roles
from .motion.simulation_bone import GroundTrack, SimulationBoneSettings

Controller = Callable[[Database, PerformerSettings], Method]


def default_settings(database: Database) -> PerformerSettings:
    """The shipped settings, with full speeds and the fastest turns as the data has them."""
    walk, run = speeds_of(database)
    return PerformerSettings(walk=walk, run=run, turn_limit=turn_limit_of(database))


def performance_for(
    database: Database,
    settings: PerformerSettings,
    script: str,
    *,
    gait: str,
    seconds: float,
    seed: int,
) -> Performance:
    """A recorded performance where `script` ends in .json, else the script of that name.

    SettingsError where there is no such script, or the recorded settings cannot be used.
    """
    if script.endswith(".json"):
        recorded = performance.load(script)
        try:
            for change in (recorded.settings, *(change for _, change in recorded.changes)):
                settings.changed(change)
        except (TypeError, ValueError, SettingsError) as cause:
            raise SettingsError(
                f"The performance {script} has wrong settings ({cause}); record it again."
            ) from cause
        return recorded
    return scripts.script(
        script, seconds, database.fps, settings.walk, settings.run, gait=gait, seed=seed
    )


def asking_for(
    wanted: Performance, tags: frozenset[str], database: Database, settings: PerformerSettings
) -> Performance:
    """A performance that asks for tags as well. DatabaseError where no frame that may be entered carries them all."""
    if lack := database.lack_of(tags, settings.end_guard):
        raise DatabaseError(lack)
    return wanted.asking_for(tags)


def perform(
    database: Database,
    settings: PerformerSettings,
    wanted: Performance,
    progress: Callable[[float], None] | None = None,
    ground: Ground | None = None,
    controller: Controller = MotionMatching,
) -> Take:
    """The take that a controller makes of a performance, on its own ground if no other is given."""
    performer = Performer(controller(database, settings), settings, ground or wanted.ground)
    return rollout.solve(performer, wanted, progress)


def write_bvh(take: Take, path: Path | str) -> None:
    """The take as motion capture comes: Y up, centimetres, the source's bones."""
    bvh.save(detach(take.clip()), path)


# ---------------------------------------------------------------- report


def report(
    take: Take, database: Database, bvh_file: Path | str | None = None, *, live: Take | None = None
) -> dict[str, Any]:
    """What a take measures, beside its sources and with its settings.

    The body is measured from the take's BVH, read back from `bvh_file` or from one written for the purpose. With the
    same take as it was performed `live`, before its feet were baked, what the feet of that one did is told as well.
    """
    if bvh_file is None:
        with tempfile.TemporaryDirectory() as folder:
            write_bvh(take, Path(folder) / "take.bvh")
            return report(take, database, Path(folder) / "take.bvh", live=live)
    bones = database.skeleton.names[1:]
    written = dict(zip(bones, bvh.written_names(bones), strict=True))
    return report_on(bvh.load(bvh_file, scale=0.01), written, take, database, live=live)


def report_on(
    clip: Clip,
    names: Mapping[str, str],
    take: Take,
    database: Database,
    *,
    live: Take | None = None,
) -> dict[str, Any]:
    """The same with the body measured from a clip of the take, whose bones have these names by those of the database.

    The clip has a frame for each tick.
    """
    roles = Roles.from_names(
        clip.skeleton, {role: names[bone] for role, bone in database.role_names.items()}
    )
    settings = SimulationBoneSettings(**database.settings["simulation_bone"])
    if settings.source == "root" and roles.root is None:
        settings = replace(settings, source="spine")
    body = metrics.body_of(clip, roles, np.array(database.hips_forward), settings)
    sources, contacts = source_bodies(database)
    floors = metrics.toe_floors(sources)
    hardest = _hardest_accelerations(sources, database)
    of_clip = {names[bone]: acceleration for bone, acceleration in hardest.items()}
    before = {} if live is None else {"live": baking.foot_measures(live, database, floors)}
    return {
        "name": take.name,
        "fps": take.fps,
        "take": metrics.measure_take(
            body,
            take,
            floors,
            np.array([of_clip.get(name, np.inf) for name in clip.skeleton.names]),
            toe_corrections(take, database),
            wish_in_data(take, database),
            database.frame_count,
        ),
        "sources": metrics.measure_clips(sources, contacts, floors),
        **before,
        "speeds_not_in_data": _speeds_not_in_data(take, database),
        "clips": clips_used(take, database),
        "jumps": jumps_explained(take, database),
        "settings": take.settings,
        "features": database.schema.to_dict(),
    }


def _speeds_not_in_data(take: Take, database: Database) -> list[dict[str, Any]]:
    """What the settings ask for in the gaits of a take and the data lacks; see `statistics.speeds_not_in_data`."""
    settings = PerformerSettings().changed(take.settings)
    gaits = {"run" if intent.gait > 0.5 else "walk" for intent in take.performance.intents}
    return [
        {"gait": gait, **lacking}
        for gait in sorted(gaits)
        for lacking in speeds_not_in_data(database, getattr(settings, gait))
    ]


def _hardest_accelerations(sources: list[Body], database: Database) -> dict[str, float]:
    """The largest acceleration of each bone in the sources, without the simulation bone.

    Bones above the hips ride on the character and have none of their own: they count as infinite.
    """
    largest = np.max([body.bone_accelerations.max(axis=0) for body in sources], axis=0)
    riders = {
        database.skeleton.names[bone] for bone in database.skeleton.ancestors(database.roles.hips)
    }
    names = database.skeleton.names[1:]
    return {
        name: np.inf if name in riders else float(a) for name, a in zip(names, largest, strict=True)
    }


def toe_corrections(take: Take, database: Database) -> np.ndarray:
    """How far foot locking moved each toe (T, L), in metres."""
    baked, before = (
        baking.toes_of(take.poses, database),
        baking.toes_of(take.unlocked_poses, database),
    )
    return np.linalg.norm(baked - before, axis=-1)


def clips_used(take: Take, database: Database) -> list[dict[str, Any]]:
    """The clips that a take plays, longest first: name, seconds, and seconds of their mirror images."""
    played: dict[str, list[int]] = {}
    for r, ticks in zip(
        *np.unique(database.range_of_frame[take.frames], return_counts=True), strict=True
    ):
        origin = database.ranges[int(r)]
        played.setdefault(origin.clip, [0, 0])[origin.mirrored] += int(ticks)
    order = sorted(played, key=lambda clip: (-sum(played[clip]), clip))
    return [
        {
            "clip": clip,
            "seconds": round(played[clip][0] / take.fps, 2),
            "mirrored": round(played[clip][1] / take.fps, 2),
        }
        for clip in order
    ]


def jumps_explained(take: Take, database: Database) -> list[dict[str, Any]]:
    """Every jump: its second, what playing on would have cost, and the best frames with their cost by feature."""

    def told(candidate: Candidate, labels: tuple[str, ...]) -> dict[str, Any]:
        source = database.source_of(candidate.frame)
        costs = {
            label: round(cost, 3) for label, cost in zip(labels, candidate.by_feature, strict=True)
        }
        return vars(source) | {"cost": round(candidate.cost, 3), "by_feature": costs}

    return [
        {
            "second": round(tick / take.fps, 3),
            "playing_on": told(search.continuing, search.labels),
            "candidates": [told(candidate, search.labels) for candidate in search.candidates],
        }
        for tick, search in take.decisions
    ]


def wish_in_data(take: Take, database: Database) -> np.ndarray:
    """Ticks (T,) whose next second, as it was wanted, is found in a second or more of the database.

    Found means that the character gets as far, within a tenth or 0.1 m, and turns as much, within 0.3 rad.
    """
    from scipy.spatial import cKDTree

    frames = round(take.fps)
    way = np.cumsum(np.vstack([np.zeros(2), take.desired_velocity]), axis=0) / take.fps
    later = np.minimum(np.arange(take.frame_count) + frames, take.frame_count - 1)
    wanted = _seen_from(take.desired_yaw, way[later] - way[:-1])
    wanted_turn = take.desired_yaw[later] - take.desired_yaw
    inside = np.arange(database.frame_count) + frames < database.stops[database.range_of_frame]
    here = np.flatnonzero(inside)
    moved = _seen_from(
        database.track[here, 2], database.track[here + frames, :2] - database.track[here, :2]
    )
    turn = database.track[here + frames, 2] - database.track[here, 2]
    radius = np.maximum(0.1 * np.linalg.norm(wanted, axis=1), 0.1)
    near = cKDTree(moved).query_ball_point(wanted, radius)
    difference = [turn[found] - t for found, t in zip(near, wanted_turn, strict=True)]
    return np.array([(np.cos(d) > np.cos(0.3)).sum() >= frames for d in difference])


def _seen_from(yaw: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Ground vectors (N, 2) in the frames of characters that face `yaw` (N,)."""
    c, s = np.cos(yaw), np.sin(yaw)
    return np.column_stack([c * v[:, 0] + s * v[:, 1], c * v[:, 1] - s * v[:, 0]])


def source_bodies(database: Database) -> tuple[list[Body], list[np.ndarray]]:
    """World motion and contacts of every range that is not a mirror image."""
    bodies, contacts = [], []
    for start, stop, origin in zip(database.starts, database.stops, database.ranges, strict=True):
        if origin.mirrored:
            continue
        poses = database.poses[start:stop].transpose(0, 2, 1).astype(np.float64)
        _, positions = quat.fk(poses[..., 3:], poses[..., :3], database.skeleton.parents)
        toes = positions[:, [leg.toe for leg in database.roles.legs]]
        track = GroundTrack(database.track[start:stop, :2], database.track[start:stop, 2])
        bodies.append(Body(database.fps, positions[:, 1:], toes, track))
        contacts.append(np.asarray(database.contacts[start:stop]))
    return bodies, contacts


def write_report(data: dict[str, Any], path: Path | str) -> None:
    with files.replacing(path, MotionDataError) as temporary:
        temporary.write_text(json.dumps(data, indent=1), encoding="utf-8")


def summary(data: dict[str, Any]) -> str:
    """A report in a few lines for people."""
    take, sources = data["take"], data["sources"]
    speed = [f"freezes: {take['freezes']}"]
    if take["wanted_speed_in_data"]:
        speed.insert(
            0,
            f"{take['achieved_speed']:.2f} m/s achieved of {take['desired_speed']:.2f} wanted, where the data "
            f"has it ({take['wanted_speed_in_data']:.0%} of the time)",
        )
    if take["response_time_median"] is not None:
        speed.append(f"answers a turn within {take['response_time_median']:.2f} s")
    share, clips = take["database_share_used"], len(data["clips"])
    live = data.get("live", {})
    slid = [
        f"live {100 * live[name]:.1f}, " if live else ""
        for name in ("foot_slide_mann", "foot_slide_contacts")
    ]
    lines = [
        f"{data['name']}: {take['seconds']:.1f} s at {data['fps']:g} fps, {take['jumps_per_second']:.1f} jumps a second, "
        f"{clips} clip{'s' * (clips != 1)} and {share:.1%} of the database used",
        f"  speed        {'; '.join(speed)}",
        f"  foot slide   {100 * take['foot_slide_mann']:.1f} cm/s ({slid[0]}sources "
        f"{100 * sources['foot_slide_mann']:.1f}); on source contacts {100 * take['foot_slide_contacts']:.1f} ("
        f"{slid[1]}sources {100 * sources['foot_slide_contacts']:.1f}); {take['contacts_locked']:.0%} of contacts held, "
        f"legs bent by {100 * take['leg_correction_mean']:.1f} cm, at most {100 * take['leg_correction_max']:.0f}",
        f"  turns        {take['turn_rate_max']:.2f} rad/s at most (sources, 99 % of turning: "
        f"{sources['turning_p99']:.2f})",
        f"  acceleration {take['jump_acceleration_p99']:.0f} m/s² at jumps in 99 % (sources "
        f"{sources['acceleration_p99']:.0f}, at most {sources['acceleration_max']:.0f})",
        f"  simulation   code and data part by {take['apart_speed_mean']:.2f} m/s and {take['apart_turn_rate_mean']:.2f} "
        f"rad/s and end {take['simulation_distance_mean']:.2f} m apart",
    ]
    lines += [
        f"  not in data  '{lacking['gait']}' {lacking['direction']}: {lacking['wanted']:.2f} m/s is asked for, the clips "
        f"reach {lacking['found']:.2f}; lower the setting, or add clips that go so"
        for lacking in data["speeds_not_in_data"]
    ]
    return "\n".join(lines)
