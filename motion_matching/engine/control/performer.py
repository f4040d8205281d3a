"""Perform with a steered character; sessions, bakes and panels use nothing else."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ..blending.inertialization import Inertializer
from ..blending.jump import Jump, Seam
from ..blending.transition_cost import Transition, measure_prices
from ..feet.live.foot_lock import FootLock
from ..ground.ground import FLAT, Ground, is_flat
from ..ground.ground_ahead import list_times, measure_rises
from ..legs.joints import Joints
from ..maths.planar import rotate_xy, wrap
from ..motion.margins import MARGINS
from ..motion.rest import AT_REST
from ..performance.intent import Intent
from ..performance.performance import Performance
from ..performance.settings import PerformerSettings
from ..performance.start_state import (
    GroundPlace,
    MovingPose,
    StartState,
    align_root,
    compose_places,
)
from ..units import POSE, measured
from . import displacement
from .label_blending import LabelBlending
from .life.breathing import Breathing
from .life.looking import Look
from .method import Goal, Method, Motion
from .trajectory import PastTrajectory, SimulationObject, TrajectoryPoint, choose_prediction


@measured(x="m", y="m")
class Placement(NamedTuple):
    """A position on the ground in metres and a heading in radians."""

    x: float
    y: float
    yaw: float


@measured(pose=POSE, unlocked_pose=POSE, desired_velocity="m/s")
class Frame(NamedTuple):
    """One tick of a performance.

    `pose` (7, B) is local, with bone 0 the character in the world; `unlocked_pose` is that before
    the feet were locked. `contacts` (L,) are the source frame's, `locked` (L,) the toes locked.
    `apart` is the simulation object's step less the data's. `blocked`: obstacles prevent the
    desired velocity. `frame`, `jumped` and `cost` are of the played frame, shown a `share` of a
    frame later, and played at a `rate`.
    """

    pose: np.ndarray
    unlocked_pose: np.ndarray
    character: Placement
    simulation_object: Placement
    apart: Placement
    desired_velocity: tuple[float, float]
    desired_yaw: float
    blocked: bool
    contacts: np.ndarray
    locked: tuple[bool, ...]
    frame: int
    jumped: bool
    cost: float
    share: float
    rate: float


class Performer:
    """Turns intents into frames, one tick of 1 / fps at a time.

    All is in body units; `create_performer` makes one that plays in those of the world.
    """

    def __init__(self, method: Method, settings: PerformerSettings, ground: Ground = FLAT) -> None:
        self.method = method
        self.settings = settings
        self.ground = ground
        self.fps = method.fps
        self.skeleton = method.skeleton
        self.dt = 1.0 / method.fps
        self._simulation = SimulationObject(settings.steering, ground)
        self._predict = choose_prediction(settings.as_published, self.dt)
        self._feet = FootLock(method.legs, ground)
        self._look = Look(method.gaze)
        self._breathing = Breathing(method.skeleton.parents, method.hips, method.legs, method.gaze)
        self._inertializer = Inertializer.from_settings(
            method.acceleration_limits, settings, self.dt
        )
        self._joints = Joints(method.skeleton.parents)
        self._labels = LabelBlending(settings.coupling)
        times = method.trajectory_times
        self._future_times = tuple(t for t in times if t > 0)
        self._past_times = tuple(t for t in times if t <= 0)
        # times at which the ground is sampled, if it matters
        self._looks = list_times(times) if method.climbs and not is_flat(ground) else ()
        longest = min((*self._past_times, *self._looks), default=0.0)
        self._past = PastTrajectory(-longest, method.fps)
        self.reset((0.0, 0.0), 0.0)

    def apply(self, settings: PerformerSettings) -> None:
        """Use other settings from the next tick on. Raises what the method raises."""
        # first, because the method may refuse them before anything has changed
        self.method.apply(settings)
        self.settings = settings
        self._simulation.apply(settings.steering)
        self._predict = choose_prediction(settings.as_published, self.dt)
        self._inertializer.apply(settings)
        self._labels.apply(settings.coupling)
        if not settings.feet.foot_lock:
            self._feet.release()

    def reset(self, position: tuple[float, float], facing: float, seed: int = 0) -> Frame:
        """Stand at a position in metres, or beside an obstacle there, facing a heading.

        A character that holds a stance breathes from the seed.
        """
        self._breathing.reset(seed)
        motion = self.method.reset()
        self._inertializer.reset()
        self._feet.reset()
        self._look.reset()
        self._labels.reset()
        self._hardest = MARGINS.fall
        self._around_jump: list[tuple[bool, float]] = []  # of the last ticks
        x, y = self.ground.slide(position, position, self.settings.steering.collision_radius)
        self._placement = (x, y, facing)
        self.last_transition: Transition | None = None
        self._simulation.reset(*self._placement)
        self._past.reset(*self._placement)
        self._previous_desired = (0.0, 0.0, facing)
        self._desired_age = 0.0
        self._since_jump = math.inf
        self._stands = False
        self._apart = Placement(0.0, 0.0, 0.0)
        self._led = np.zeros(3)
        self._ahead: list[TrajectoryPoint] = []  # a tick ago
        self._gone = [0.0] * len(motion.contacts)
        return self._build_frame(motion, motion.pose.copy())

    def begin(self, performance: Performance) -> Frame:
        """Start like a performance."""
        place = performance.position, performance.facing
        if performance.start is None:
            return self.reset(*place, performance.seed)
        return self.start_from(*place, performance.start, performance.seed)

    def start_from(
        self, position: tuple[float, float], facing: float, state: StartState, seed: int = 0
    ) -> Frame:
        """Go on from a moving pose, at a position in metres and a heading; return that pose.

        The next `step` is one tick later. It goes on with the most similar motion of the data; the
        difference fades as after a jump. Standing feet stay planted, and the simulation object
        moves like the character. A state of another skeleton starts like `reset`.

        A performance does the same when it is solved: give it the `start`, `position` and `facing`
        that `start_state.build_start_state` returns of three poses (3, 7, B), a tick apart, as
        `scene.reading.moving_pose` reads them from an armature.
        """
        skeleton = self.method.skeleton
        if not state.fits(skeleton):
            return self.reset(position, facing, seed)
        self._breathing.reset(seed)
        moving = state.to_moving_pose(skeleton)
        x, y = self.ground.slide(position, position, self.settings.steering.collision_radius)
        world, before = (_place(moving.advance(t), (x, y, facing)) for t in (0.0, -self.dt))
        height = self._feet.start_from(world, before, self.settings.feet, self.dt)
        moving = moving.lower(height, skeleton.parents)
        motion = self.method.start_from(moving)
        jump = motion.jump
        if jump is None:  # there is no body
            frame = self.reset(position, facing, seed)
            self._simulation.start(rotate_xy(*state.root_velocity[:2], facing), moving.root.item(2))
            return frame
        place: GroundPlace = (x, y, facing)
        if state.root == "placed":
            moving = moving._replace(root=jump.target_root)
            jump = jump._replace(source_root=jump.target_root)
        elif state.root == "free":
            entered = MovingPose(jump.target_pose, jump.target_velocity, jump.target_root)
            own, moving = align_root(moving, entered, skeleton.parents, self.method.hips)
            place = compose_places(place, own)
            jump = Jump(*moving, *jump[3:])
        self._inertializer.reset()
        self._look.reset()
        self._labels.reset()
        self._hardest = MARGINS.fall
        self._around_jump = []
        self._enter(jump)
        self._stands = False
        self._placement = place
        vx, vy, turn = moving.root.tolist()
        velocity = rotate_xy(vx, vy, place[2])
        self._simulation.reset(*place)
        self._simulation.start(velocity, turn)
        self._past.reset(*place, (*velocity, turn))
        self._previous_desired = (*velocity, place[2])
        self._desired_age = 0.0
        self._apart = Placement(0.0, 0.0, 0.0)
        self._led = np.zeros(3)
        self._ahead = []
        self._gone = [0.0] * len(motion.contacts)
        pose = _place(moving.pose, place, height).astype(np.float32)
        if not self.settings.feet.foot_lock:
            self._feet.release()
        return self._make_frame(motion, pose, pose, self._feet.locked)

    def step(self, intent: Intent) -> Frame:
        """Advance by one tick."""
        simulation = self._simulation
        simulation.most_speed = self._find_most_speed()
        simulation.steer(intent, self.dt)
        self._since_jump += self.dt
        is_fading = self._since_jump < self._inertializer.half_time - 0.5 * self.dt
        is_sharp = self._check_sharp_change() or intent.push is not None
        push = None
        if intent.push is not None and intent.path is None:
            push = rotate_xy(*intent.push, -self._placement[2])
        trajectory = self._build_trajectory()
        requests = intent.tags, intent.jump_to
        rests = self._wants_to_rest(intent)
        stands = rests and abs(wrap(simulation.yaw - self._placement[2])) < AT_REST.aside
        self._stands = stands
        goal = Goal(
            *(trajectory, *requests, is_sharp, is_fading, push, intent.enter, stands, rests),
            self._measure_seams,
            self._measure_prices,
            self._find_feet(),
        )
        motion = self.method.advance(goal)
        if motion.jump is not None:
            self._enter(motion.jump)
        pose, offset = self._inertializer.update(motion.pose, bool(motion.contacts.any()))
        # turn rate of the body against the character, from the fading jump
        swing = self._inertializer.compute_turn_rate(self.method.hips)
        moved = self._advance_root(motion.root, offset, swing)
        old_x, old_y, old_yaw = self._placement
        dx = moved[0] - old_x
        dy = moved[1] - old_y
        turn = moved[2] - old_yaw
        x = simulation.x
        y = simulation.y
        yaw = simulation.yaw
        simulation.step(self.dt)
        led = simulation.x - x, simulation.y - y, simulation.yaw - yaw
        self._apart = Placement(led[0] - dx, led[1] - dy, wrap(led[2] - turn))
        turn_rate = displacement.add_swing(turn / self.dt, swing)
        velocity = dx / self.dt, dy / self.dt, turn_rate
        feet = self._feet.offset if stands and self.settings.feet.foot_lock else None
        if motion.labels:
            place = self._labels.place_character
            goal_pose = place(moved, velocity, simulation, motion.labels, self.dt, feet)
        else:
            goal_pose = displacement.place_character(
                moved, velocity, simulation, self.settings.coupling, self.dt, feet
            )
        self._placement = self._slide(goal_pose)
        step = math.hypot(self._placement[0] - old_x, self._placement[1] - old_y)
        self._gone = [
            gone + step if stands else 0.0
            for gone, stands in zip(self._gone, motion.contacts.tolist(), strict=True)
        ]
        self._past.record(*self._placement)
        return self._build_frame(motion, pose, intent)

    def _find_feet(self) -> np.ndarray | None:
        """Return the feet (L, 3) of a `Goal`: None if they are unknown, or do not matter."""
        shown = self._feet.shown
        if not shown or self.settings.foot_support <= 0.0:
            return None
        x, y, yaw = self._placement
        c, s = math.cos(yaw), math.sin(yaw)
        away = [(p - x, q - y) for p, q, _ in shown]
        return np.array(
            [
                (c * p + s * q, c * q - s * p, gone)
                for (p, q), gone in zip(away, self._gone, strict=True)
            ]
        )

    def _measure_seams(self, seams: Sequence[Seam]) -> np.ndarray:
        """Return how hard a joint would accelerate around jumps (J,) now, in m/s²."""
        if len({len(seam.following) for seam in seams}) > 1:  # some are near the end of a range
            return np.concatenate([self._measure_seams([seam]) for seam in seams])
        poses = self._inertializer.preview(seams, self._led)
        return self._joints.compute_hardest(poses, self.method.fps).max(axis=1, initial=0.0)

    def _measure_prices(self, jumps: Sequence[Jump]) -> np.ndarray:
        """Return the visible cost of jumps (J,) now, with the rest of earlier jumps."""
        pairs = zip(jumps, self._inertializer.foresee(jumps), strict=True)
        transitions = [Transition(j.target_pose, j.target_velocity, f) for j, f in pairs]
        return measure_prices(transitions, self.method.skeleton.parents)

    def _enter(self, jump: Jump) -> None:
        """Let the changes of a jump fade from now on."""
        self._inertializer.transition(jump)
        self._since_jump = 0.0
        entered = jump.target_pose.copy(), jump.target_velocity.copy()
        self.last_transition = Transition(*entered, self._inertializer.fading)

    def _wants_to_rest(self, intent: Intent) -> bool:
        """Return whether the character only has to face like the simulation object."""
        if not self._simulation.is_at_rest or not self.settings.life.idle:
            return False
        return intent.jump_to is None and intent.enter is None and intent.push is None

    def predict_path(self, times: Sequence[float]) -> list[TrajectoryPoint]:
        """Return the simulation object's trajectory in the world at ascending times in seconds."""
        return [TrajectoryPoint(*state[:5]) for state in self._predict(self._simulation, times)]

    def _check_sharp_change(self) -> bool:
        """Return whether the goal changed too much in a search interval for a search to wait.

        Afterwards, and after each interval, changes are measured against the present goal.
        """
        simulation = self._simulation
        search = self.settings.search
        vx = simulation.desired_vx
        vy = simulation.desired_vy
        yaw = simulation.desired_yaw
        old_vx, old_vy, old_yaw = self._previous_desired
        sharp = math.hypot(vx - old_vx, vy - old_vy) > search.sharp_velocity
        sharp = sharp or abs(wrap(yaw - old_yaw)) > search.sharp_angle
        self._desired_age += self.dt
        if sharp or self._desired_age >= search.search_interval:
            self._previous_desired = (vx, vy, yaw)
            self._desired_age = 0.0
        return sharp

    def _build_trajectory(self) -> list[TrajectoryPoint]:
        """Return past and future in the character's frame, in the order of the method's times."""
        x, y, yaw = self._placement
        c, s = math.cos(yaw), math.sin(yaw)
        points: list[tuple[float, ...]] = [self._past.sample(t)[:5] for t in self._past_times]
        points += [state[:5] for state in self._predict(self._simulation, self._future_times)]
        rises = self._measure_rises() or [0.0] * len(points)
        trajectory = [
            TrajectoryPoint(
                c * (px - x) + s * (py - y),
                c * (py - y) - s * (px - x),
                facing - yaw,
                c * vx + s * vy,
                c * vy - s * vx,
                rise,
            )
            for (px, py, facing, vx, vy), rise in zip(points, rises, strict=True)
        ]
        self._ahead = trajectory[len(self._past_times) :]
        return trajectory

    def _find_most_speed(self) -> float:
        """Return the top speed of the motion on the slopes that were ahead a tick ago."""
        if not self._looks or self.method.climbs is None:
            return math.inf
        points = [TrajectoryPoint(*[0.0] * 5), *self._ahead]
        return min(
            (
                self.method.climbs.find_most(b.rise - a.rise, math.hypot(b.x - a.x, b.y - a.y))
                for a, b in pairwise(points)
            ),
            default=math.inf,
        )

    def _measure_rises(self) -> list[float]:
        """Return how far the ground rises until each point of the trajectory; [] if unknown."""
        if not self._looks:
            return []
        way = [self._past.sample(time)[:2] for time in self._looks if time <= 0.0]
        ahead = [time for time in self._looks if time > 0.0]
        way += [state[:2] for state in self._predict(self._simulation, ahead)]
        times = (*self._past_times, *self._future_times)
        return measure_rises(self.ground, way, times, self._feet.below)

    def _advance_root(
        self, root: np.ndarray, offset: list[float], swing: float
    ) -> tuple[float, float, float]:
        """Return where the data leads the character; a fading jump turns its body at `swing`."""
        x, y, yaw = self._placement
        vx, vy, turn = root.tolist()
        dx, dy = rotate_xy((vx + offset[0]) * self.dt, (vy + offset[1]) * self.dt, yaw)
        turn = displacement.limit_fading_turn(turn, offset[2], swing, self._simulation.turn_limit)
        self._led = np.array([vx + offset[0], vy + offset[1], turn])
        return x + dx, y + dy, yaw + turn * self.dt

    def _slide(self, goal: displacement.GroundPose) -> displacement.GroundPose:
        """Return how far obstacles let the character go; an object at its goal comes along."""
        simulation = self._simulation
        target = goal[:2]
        radius = self.settings.steering.collision_radius
        x, y = self.ground.slide(self._placement[:2], target, radius)
        if (simulation.x, simulation.y) == target:
            simulation.x, simulation.y = x, y
        return x, y, goal[2]

    def _turn_head(self, pose: np.ndarray, intent: Intent) -> None:
        """Turn the head of a pose toward the requested direction, or a point."""
        if not self._look.is_needed(self.settings.life):
            return
        simulation = self._simulation
        yaw = self._placement[2]
        # the same way as the object, so that the head does not turn the other way
        heading = simulation.find_turn(self.settings.life.look_ahead) + wrap(simulation.yaw - yaw)
        self._look.apply(pose, heading, intent.look_at, self.settings.life, self.dt)

    def _build_frame(self, motion: Motion, pose: np.ndarray, intent: Intent | None = None) -> Frame:
        x, y, yaw = self._placement
        half = 0.5 * yaw
        height = self._feet.update_height(x, y, self.settings.feet, self.dt, motion.footing)
        pose[:, 0] = (x, y, height, math.cos(half), 0.0, 0.0, math.sin(half))
        if intent is not None:
            amount = self.settings.life.breathing
            buffer = self.settings.feet.stretch_buffer
            plants = self._feet.plants if motion.holds else None
            self._breathing.apply(pose, plants, amount, buffer, self.dt)
            self._feet.allow_stretch(self._breathing.spare)
            self._turn_head(pose, intent)
        unlocked = pose
        locked = (False,) * len(motion.contacts)
        calm = self._find_hardest(motion)
        if self.settings.feet.foot_lock:
            pose = unlocked.copy()
            self._feet.apply(
                *(pose, motion.contacts, self.settings.feet, self.dt),
                *(self._stands, motion.toes, self._hardest, calm),
            )
            locked = self._feet.locked
            motion = self._leave_step_out(motion)
        return self._make_frame(motion, pose, unlocked, locked)

    def _find_hardest(self, motion: Motion) -> float:
        """Return how hard feet may accelerate: as any motion so far, near a jump as its own."""
        self._hardest = max(self._hardest, motion.hardest)
        self._around_jump = [*self._around_jump[-2:], (motion.jump is not None, motion.hardest)]
        if any(jumped for jumped, _ in self._around_jump[-2:]):
            played = max(hardest for _, hardest in self._around_jump)
            return max(MARGINS.leap * played, MARGINS.fall)
        return self._hardest

    def _leave_step_out(self, motion: Motion) -> Motion:
        """Return the motion without the contact of a foot that steps on its own."""
        if self._feet.stepping < 0:
            return motion
        contacts = motion.contacts.copy()
        contacts[self._feet.stepping] = False
        return motion._replace(contacts=contacts)

    def _make_frame(
        self, motion: Motion, pose: np.ndarray, unlocked: np.ndarray, locked: tuple[bool, ...]
    ) -> Frame:
        x, y, yaw = self._placement
        s = self._simulation
        places = Placement(x, y, yaw), Placement(s.x, s.y, s.yaw), self._apart
        goal = (s.desired_vx, s.desired_vy), s.desired_yaw, s.is_blocked
        played = motion.frame, motion.jump is not None, motion.cost
        shown = motion.share, motion.rate
        return Frame(pose, unlocked, *places, *goal, motion.contacts, locked, *played, *shown)


def _place(pose: np.ndarray, place: GroundPlace, height: float | None = None) -> np.ndarray:
    """Return a pose (7, B), seen from a place on the ground, in the world."""
    result = pose.copy()
    x, y = pose[:2, 0].tolist()
    yaw = 2.0 * math.atan2(float(pose[6, 0]), float(pose[3, 0]))
    x, y, yaw = compose_places(place, (x, y, yaw))
    z = float(pose[2, 0]) if height is None else height
    result[:, 0] = (x, y, z, math.cos(0.5 * yaw), 0.0, 0.0, math.sin(0.5 * yaw))
    return result
