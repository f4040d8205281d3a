"""The shape of the mannequin: hard shells over ball joints, sized and moved by the demo skeleton.

Every joint is a ball whose weights go over from one bone to the next. Turned with preserved volume,
a ball about its joint stays one, so shells neither collapse nor wring out; they only slide over it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from motion_matching.engine.maths.easing import smoothstep
from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.skeleton.skeleton import Skeleton

from .lofts import (
    Array,
    Ring,
    Surface,
    build_ball,
    build_cross_sections,
    build_shell,
    build_skin,
    compute_angles,
    compute_panel_angles,
    join,
)

Relief = Callable[[Array, Array], Array]  # of heights and angles, in metres of the figure

STATURE = 1.75  # metres: the figure that the measures below are those of
FORWARD, UP = np.array([0.0, -1.0, 0.0]), np.array([0.0, 0.0, 1.0])
RIM = 0.007  # radius of a shell's edge
SUNK = 0.0025  # depth of a panel
MOST_WEIGHTS = 4  # bones that move a point


def sculpt_mannequin(skeleton: Skeleton) -> Surface:
    """Return the mannequin, with weights (V, B), of a skeleton that `is_demo_skeleton` accepts."""
    return _Sculptor(skeleton).build_all()


class _Sculptor:
    """Builds parts around a skeleton's joints; those with a side are mirrored from the left.

    Parts are made for a figure of the `STATURE` and scaled together in the end, so all measures are
    in its metres.
    """

    def __init__(self, skeleton: Skeleton) -> None:
        self.skeleton = skeleton
        self.size = float(_find_tips(skeleton)["Head"][2]) / STATURE
        heads = skeleton.compute_rest_world()[1].astype(np.float64) / self.size
        self.joints = dict(zip(skeleton.names, heads, strict=True))
        self.tips = {name: tip / self.size for name, tip in _find_tips(skeleton).items()}

    def build_all(self) -> Surface:
        sided = join([*self.build_arm(), *self.build_hand(), *self.build_leg(), *self.build_foot()])
        names = self.skeleton.names
        other = {"Left": "Right", "Right": "Left"}
        swapped = [
            next((names.index(b + n[len(a) :]) for a, b in other.items() if n.startswith(a)), i)
            for i, n in enumerate(names)
        ]
        right = sided.mirrored(np.array(swapped))
        left = replace(sided, accent=~sided.accent)
        whole = join([*self.build_torso(), *self.build_neck(), *self.build_head(), left, right])
        return replace(whole, points=self.size * whole.points)

    def compute_weights(self, rings: list[Ring], *bones: str) -> Array:
        """Return weights (R, B) of rings by their shares along a chain of bones.

        A share of 1.25 is three parts the second bone, one part the third.
        """
        share = np.array([ring.share for ring in rings])
        result = np.zeros((len(rings), self.skeleton.bone_count))
        for number, bone in enumerate(bones):
            result[:, self.skeleton.index(bone)] = np.clip(1.0 - np.abs(share - number), 0.0, 1.0)
        return result

    def build_loft(
        self, rings: list[Ring], path: list[Array], forward: Array, columns: int, *bones: str
    ) -> Surface:
        """Return a part of rings along a path of joints, moved by a chain of bones."""
        accent = np.repeat([[r.accent] for r in rings], columns, axis=1)
        around = compute_angles(len(rings), columns)
        points = build_cross_sections(rings, np.array(path), forward, around)
        weights = self.compute_weights(rings, *bones)
        return build_skin(points, np.concatenate([accent, accent[-1:]]), weights)

    # ------------------------------------------------------------ limbs

    def build_leg(self) -> list[Surface]:
        path = [self.joints[name] for name in ("LeftUpLeg", "LeftLeg", "LeftFoot")]
        knee = float(np.linalg.norm(path[1] - path[0]))
        ankle = knee + float(np.linalg.norm(path[2] - path[1]))
        thigh = [
            (0.008, 0.085, 0.087, 0.086),
            (0.07, 0.083, 0.089, 0.087),
            (0.17, 0.076, 0.088, 0.080),
            (0.30, 0.063, 0.072, 0.065),
            (knee - 0.024, 0.055, 0.059, 0.054),
        ]
        calf = [
            (knee + 0.026, 0.051, 0.053, 0.050),
            (knee + 0.06, 0.055, 0.050, 0.060),
            (knee + 0.12, 0.058, 0.047, 0.069),
            (knee + 0.21, 0.050, 0.043, 0.059),
            (knee + 0.31, 0.038, 0.038, 0.042),
            (ankle - 0.022, 0.035, 0.037, 0.039),
        ]
        rings = build_ball(0.0, 0.081, -0.080, 0.008, 7)
        rings += build_shell(thigh, np.linspace(0.05, 0.36, 6), (RIM, RIM), slant=(0.0, 0.016))
        rings += build_ball(knee, 0.052, -0.024, 0.026, 7, share=(0.0, 1.0), slant=(0.016, -0.016))
        rings += build_shell(
            calf, knee + np.linspace(0.045, 0.35, 8), (RIM, RIM), slant=(-0.016, 0.0), share=1.0
        )
        rings += build_ball(ankle, 0.041, -0.022, 0.034, 5, share=(1.0, 1.0))
        return [self.build_loft(rings, path, FORWARD, 18, "LeftUpLeg", "LeftLeg")]

    def build_arm(self) -> list[Surface]:
        path = [self.joints[name] for name in ("LeftArm", "LeftForeArm", "LeftHand")]
        elbow = float(np.linalg.norm(path[1] - path[0]))
        wrist = elbow + float(np.linalg.norm(path[2] - path[1]))
        upper = [
            (0.0, 0.0585, 0.0585, 0.0585),
            (0.05, 0.056, 0.055, 0.056),
            (0.11, 0.047, 0.048, 0.050),
            (0.19, 0.040, 0.042, 0.043),
            (elbow - 0.019, 0.037, 0.038, 0.039),
        ]
        fore = [
            (elbow + 0.019, 0.036, 0.037, 0.037),
            (elbow + 0.055, 0.040, 0.042, 0.042),
            (elbow + 0.10, 0.038, 0.042, 0.040),
            (elbow + 0.17, 0.029, 0.034, 0.033),
            (wrist - 0.020, 0.024, 0.029, 0.028),
        ]
        rings = build_ball(0.0, 0.056, -0.055, 0.0, 6)
        rings += build_shell(upper, np.linspace(0.03, 0.22, 6), (RIM, RIM))
        rings += build_ball(elbow, 0.037, -0.019, 0.019, 7, share=(0.0, 1.0))
        rings += build_shell(fore, elbow + np.linspace(0.035, 0.21, 6), (RIM, RIM), share=1.0)
        rings += build_ball(wrist, 0.0265, -0.020, 0.020, 5, share=(1.0, 1.0))
        return [self.build_loft(rings, path, FORWARD, 16, "LeftArm", "LeftForeArm")]

    def build_hand(self) -> list[Surface]:
        wrist, tip = self.joints["LeftHand"], self.tips["LeftHand"]
        palm = [
            (0.012, 0.016, 0.022, 0.022),
            (0.03, 0.017, 0.030, 0.030),
            (0.06, 0.017, 0.041, 0.038),
            (0.085, 0.015, 0.042, 0.040),
            (0.098, 0.011, 0.041, 0.039),
        ]
        rings = build_shell(
            [(*row, 0.0, 2.6) for row in palm], np.linspace(0.02, 0.09, 6), (0.006, 0.006)
        )
        parts = [self.build_loft(rings, [wrist, tip], FORWARD, 14, "LeftHand")]
        for y, length, radius in (
            (-0.0305, 0.070, 0.0110),
            (-0.0100, 0.079, 0.0114),
            (0.0105, 0.073, 0.0110),
            (0.0295, 0.058, 0.0098),
        ):
            steps = np.array([0.0, 0.36, 0.68, 1.0])
            bend = np.radians([0.0, 8.0, 22.0, 38.0])
            joints = [np.array([0.082, y, -0.001])]
            for step, angle in zip(np.diff(steps) * length, bend[1:], strict=True):
                joints.append(joints[-1] + step * np.array([np.cos(angle), 0.0, -np.sin(angle)]))
            parts.append(self.build_finger(wrist, np.array(joints), radius))
        thumb = np.array(
            [
                [0.028, -0.020, -0.004],
                [0.052, -0.047, -0.012],
                [0.078, -0.060, -0.018],
                [0.100, -0.066, -0.022],
            ]
        )
        parts.append(self.build_finger(wrist, thumb, 0.0135))
        return parts

    def build_finger(self, origin: Array, joints: Array, radius: float) -> Surface:
        """Return a tube with round ends about joints (J, 3) from an origin."""
        tangents = np.gradient(joints, axis=0)
        tangents /= np.linalg.norm(tangents, axis=-1, keepdims=True)
        radii = radius * np.linspace(1.0, 0.84, len(joints))
        last, end = radii[-1], tangents[-1]
        places = list(zip(joints[:-1], tangents[:-1], radii[:-1], strict=True))
        places += [
            (joints[-1] - last * (1.0 - np.sin(a)) * end, end, last * np.cos(a))
            for a in np.radians([0, 30, 55, 78])
        ]
        around = compute_angles(1, 8)[0][:, None]
        rings = []
        for place, tangent, wide in places:
            side = np.cross(tangent, UP)
            side /= np.linalg.norm(side)
            rings.append(
                place + wide * (np.cos(around) * side + np.sin(around) * np.cross(side, tangent))
            )
        rigid = self.compute_weights([Ring(0.0, 0.0, 0.0, 0.0)] * len(rings), "LeftHand")
        return build_skin(origin + np.array(rings), np.zeros((len(rings) + 1, 8), bool), rigid)

    def build_foot(self) -> list[Surface]:
        ankle, toe, tip = self.joints["LeftFoot"], self.joints["LeftToe"], self.tips["LeftToe"]
        ahead, end = ankle[1] - toe[1], ankle[1] - tip[1]
        # along, half width, top; the sole is flat on the ground
        stations = [
            (-0.072, 0.014, 0.022),
            (-0.069, 0.025, 0.040),
            (-0.060, 0.033, 0.062),
            (-0.040, 0.039, 0.086),
            (-0.010, 0.041, 0.094),
            (0.02, 0.041, 0.088),
            (0.055, 0.043, 0.070),
            (ahead - 0.03, 0.047, 0.055),
            (ahead, 0.049, 0.046),
            (ahead + 0.03, 0.047, 0.039),
            (end - 0.015, 0.038, 0.032),
            (end - 0.004, 0.028, 0.025),
            (end, 0.016, 0.017),
        ]
        rows = [
            (along, wide, 0.6 * top, 0.5 * top, 0.4 * top, 2.5) for along, wide, top in stations
        ]
        at = np.concatenate(
            [
                [row[0] for row in rows[:4]],
                np.linspace(-0.015, ahead - 0.022, 6),
                ahead + np.array([-0.012, -0.004, 0.004, 0.012]),
                np.linspace(ahead + 0.025, end - 0.02, 2),
                [row[0] for row in rows[-3:]],
            ]
        )
        at[0], at[-1] = at[0] + 1e-5, at[-1] - 1e-5
        rings = [
            replace(
                ring,
                accent=bool(abs(ring.along - ahead) < 0.009),
                share=float(np.clip(0.5 + (ring.along - ahead) / 0.024, 0.0, 1.0)),
            )
            for ring in build_shell(rows, at)
        ]
        ground = np.array([ankle[0], ankle[1], 0.0])
        foot = self.build_loft(
            rings, [ground, ground + end * FORWARD], UP, 18, "LeftFoot", "LeftToe"
        )
        np.maximum(foot.points[:, 2], 0.0, out=foot.points[:, 2])  # the sole
        return [foot]

    # ------------------------------------------------------------ trunk and head

    def build_torso(self) -> list[Surface]:
        spine, chest, upper = (self.joints[name][2] for name in ("Spine", "Chest", "UpperChest"))
        pelvis = [
            (spine - 0.204, 0.016, 0.026, 0.026),
            (spine - 0.200, 0.028, 0.040, 0.042),
            (spine - 0.187, 0.048, 0.064, 0.070, 0.0, 2.2),
            (spine - 0.160, 0.084, 0.084, 0.096, 0.0, 2.3),
            (spine - 0.125, 0.126, 0.096, 0.113, 0.0, 2.4),
            (spine - 0.080, 0.146, 0.096, 0.110, 0.0, 2.4),
            (spine - 0.030, 0.139, 0.088, 0.094, 0.0, 2.3),
            (spine + 0.010, 0.124, 0.080, 0.080, 0.0, 2.2),
        ]
        thorax = [
            (spine + 0.088, 0.124, 0.083, 0.078, 0.002, 2.2),
            (chest + 0.01, 0.137, 0.096, 0.089, 0.002, 2.3),
            (chest + 0.07, 0.153, 0.110, 0.103, 0.002, 2.4),
            (upper, 0.166, 0.115, 0.113, 0.0, 2.4),
            (upper + 0.045, 0.172, 0.110, 0.116, -0.002, 2.4),
            (upper + 0.085, 0.169, 0.094, 0.110, -0.006, 2.3),
            (upper + 0.117, 0.161, 0.077, 0.098, -0.008, 2.2),
            (upper + 0.140, 0.141, 0.064, 0.082, -0.008, 2.1),
            (upper + 0.156, 0.101, 0.056, 0.069, -0.008),
            (upper + 0.168, 0.072, 0.051, 0.061, -0.007),
            (upper + 0.178, 0.060, 0.050, 0.058, -0.007),
        ]
        plate = [
            (upper - 0.105, 0.10),
            (upper - 0.095, 0.20),
            (upper - 0.07, 0.36),
            (upper - 0.03, 0.54),
            (upper + 0.02, 0.68),
            (upper + 0.05, 0.72),
            (upper + 0.068, 0.69),
            (upper + 0.078, 0.60),
            (upper + 0.083, 0.48),
        ]
        hips_at = np.array(
            [-0.2039, -0.200, -0.194, -0.184, -0.170, -0.155, -0.138, -0.12, -0.095, -0.065, -0.035]
        )
        chest_at = np.concatenate(
            [
                [spine + 0.100, spine + 0.12, chest, upper - 0.110, upper - 0.105, upper - 0.095],
                upper + np.linspace(-0.08, 0.055, 8),
                upper
                + np.array(
                    [0.068, 0.078, 0.083, 0.088, 0.103, 0.117, 0.130, 0.142, 0.152, 0.161, 0.170]
                ),
            ]
        )
        rings = build_shell(pelvis, spine + hips_at, (0.0, RIM), slant=(0.0, -0.020))
        rings += self.build_bellows(spine + 0.011, spine + 0.087, 3)
        rings += build_shell(thorax, chest_at, (RIM, 0.004), slant=(0.028, 0.0))
        relief = partial(_compute_muscle_relief, upper)
        surface = self.build_panelled(rings, np.zeros(3), 28, 5, plate, "UpperChest", relief)
        return [replace(surface, weights=self.compute_trunk_weights(surface.points))]

    def build_panelled(
        self,
        rings: list[Ring],
        base: Array,
        columns: int,
        edge: int,
        borders: list[tuple[float, float]],
        bone: str,
        relief: Relief,
    ) -> Surface:
        """Return an upright part with a sunken, accented panel, `edge` columns to each side."""
        along = np.array([ring.along for ring in rings])
        around = compute_panel_angles(along, columns, edge, borders, 0.035)
        points = build_cross_sections(rings, np.array([base, base + UP]), FORWARD, around)
        outward = (
            np.sin(around)[..., None] * np.cross(UP, FORWARD) + np.cos(around)[..., None] * FORWARD
        )
        inside = (along > borders[0][0] - 1e-4) & (along < borders[-1][0] + 1e-4)
        column = (np.arange(columns) + columns // 2) % columns - columns // 2
        points += relief(along[:, None], around)[..., None] * outward
        points -= SUNK * (inside[:, None] & (np.abs(column) <= edge))[..., None] * outward
        accent = np.repeat([[ring.accent] for ring in rings], columns, axis=1)
        accent[1:] |= (inside[1:] & inside[:-1])[:, None] & ((column >= -edge) & (column < edge))
        weights = self.compute_weights(rings, bone)
        return build_skin(points, np.concatenate([accent, accent[-1:]]), weights)

    def build_bellows(self, low: float, high: float, folds: int) -> list[Ring]:
        """Return rings of the soft waist between two heights."""
        rings = []
        for part in np.linspace(0.0, 1.0, 4 * folds + 1):
            fold = -0.0022 * np.cos(2.0 * np.pi * folds * part)
            slim = 0.006 * np.sin(np.pi * part)
            rings.append(
                Ring(
                    low + part * (high - low),
                    0.1165 + fold - slim,
                    0.075 + fold,
                    0.072 + fold,
                    0.002,
                    2.2,
                    slant=-0.020 + 0.048 * part,
                    accent=True,
                )
            )
        return rings

    def compute_trunk_weights(self, points: Array) -> Array:
        """Return weights (V, B) by height along the spine, which go over about each joint.

        Below the neck the shoulders share at the sides.
        """
        result = np.zeros((len(points), self.skeleton.bone_count))
        before = np.ones(len(points))
        for bone, following in (
            ("Hips", "Spine"),
            ("Spine", "Chest"),
            ("Chest", "UpperChest"),
            ("UpperChest", ""),
        ):
            height = (
                points[:, 2] - self.joints[following][2]
                if following
                else np.full(len(points), -np.inf)
            )
            after = smoothstep(height / 0.09 + 0.5)
            result[:, self.skeleton.index(bone)] = before - after
            before = after
        top = self.skeleton.index("UpperChest")
        part = (
            0.7
            * smoothstep((np.abs(points[:, 0]) - 0.05) / 0.10)
            * smoothstep((points[:, 2] - self.joints["LeftShoulder"][2]) / 0.08 + 0.9)
        )
        for bone, side in (("LeftShoulder", points[:, 0] > 0), ("RightShoulder", points[:, 0] < 0)):
            result[:, self.skeleton.index(bone)] = result[:, top] * part * side
        result[:, top] *= 1.0 - part
        return result

    def build_neck(self) -> list[Surface]:
        low, high = self.joints["Neck"], self.joints["Head"]
        length = float(np.linalg.norm(high - low))
        top = length
        table = [
            (0.0, 0.054, 0.046, 0.056, -0.006),
            (0.035, 0.050, 0.046, 0.053, -0.002),
            (0.065, 0.0475, 0.046, 0.051, 0.002),
            (top + 0.025, 0.047, 0.046, 0.050, 0.004),
        ]
        rings = []
        for ring in build_shell(table, np.linspace(0.001, top + 0.024, 7), accent=True):
            part = np.array((ring.along - 0.015) / (length - 0.01))
            rings.append(replace(ring, share=2.0 * float(smoothstep(part))))
        return [self.build_loft(rings, [low, high], FORWARD, 20, "UpperChest", "Neck", "Head")]

    def build_head(self) -> list[Surface]:
        base = self.joints["Head"]
        top = float(self.tips["Head"][2] - base[2])
        rows = [
            (-0.0300, 0.012, 0.010, 0.014, 0.068),
            (-0.026, 0.026, 0.020, 0.040, 0.066),
            (-0.015, 0.038, 0.028, 0.070, 0.062),
            (0.0, 0.047, 0.042, 0.095, 0.050),
            (0.02, 0.055, 0.058, 0.100, 0.035),
            (0.045, 0.062, 0.073, 0.104, 0.022),
            (0.075, 0.068, 0.0835, 0.108, 0.012),
            (0.105, 0.0725, 0.088, 0.108, 0.006),
            (0.130, 0.073, 0.086, 0.103, 0.002),
            (0.152, 0.068, 0.077, 0.092, -0.002),
            (0.171, 0.056, 0.062, 0.074, -0.006),
            (0.184, 0.038, 0.043, 0.050, -0.010),
            (0.192, 0.020, 0.023, 0.027, -0.011),
            (top - 0.0005, 0.007, 0.008, 0.009, -0.011),
        ]
        plate = [
            (-0.009, 0.30),
            (-0.004, 0.44),
            (0.01, 0.60),
            (0.04, 0.80),
            (0.08, 0.92),
            (0.11, 0.91),
            (0.122, 0.85),
            (0.131, 0.73),
            (0.137, 0.56),
            (0.140, 0.36),
        ]
        at = np.concatenate(
            [
                [-0.0299, -0.026, -0.020, -0.013, -0.009, -0.004],
                np.linspace(0.008, 0.110, 9),
                [
                    0.122,
                    0.131,
                    0.137,
                    0.140,
                    0.144,
                    0.153,
                    0.163,
                    0.173,
                    0.182,
                    0.189,
                    top - 0.0006,
                ],
            ]
        )
        rings = build_shell([(*row, 2.2) for row in rows], at)
        return [self.build_panelled(rings, base, 28, 5, plate, "Head", relief=_compute_face_relief)]


def _compute_muscle_relief(chest: float, height: Array, around: Array) -> Array:
    """Return how far a trunk stands out about its chest: breast, shoulder blades and spine."""
    side, above = np.abs(around), height - chest
    breast = 0.011 * np.exp(-(((side - 0.55) / 0.38) ** 2) - ((above - 0.010) / 0.045) ** 2)
    breastbone = -0.005 * np.exp(-((side / 0.16) ** 2) - ((above - 0.01) / 0.06) ** 2)
    blades = 0.012 * np.exp(-(((side - 2.50) / 0.30) ** 2) - ((above - 0.045) / 0.05) ** 2)
    spine = -0.007 * np.exp(-(((np.pi - side) / 0.04) ** 2) - ((above + 0.02) / 0.10) ** 2)
    return breast + breastbone + blades + spine


def _compute_face_relief(height: Array, around: Array) -> Array:
    """Return how far a face stands out: a nose's ridge, and eyes' hollows beside it."""
    nose = 0.013 * np.exp(-((around / 0.16) ** 2) - ((height - 0.045) / 0.024) ** 2)
    bridge = 0.005 * np.exp(-((around / 0.14) ** 2) - ((height - 0.085) / 0.03) ** 2)
    eyes = 0.009 * np.exp(
        -(((np.abs(around) - 0.42) / 0.22) ** 2) - ((height - 0.078) / 0.018) ** 2
    )
    return nose + bridge - eyes


def _find_tips(skeleton: Skeleton) -> dict[str, Array]:
    """Return ends (3,) of the bones that have end sites, in the rest pose."""
    turns, heads = skeleton.compute_rest_world()
    return {
        skeleton.names[bone]: heads[bone] + quat.mul_vec(turns[bone], np.array(offset))
        for bone, offset in skeleton.end_sites
    }
