"""The shape of the mannequin: hard shells over ball joints, sized by the demo skeleton, with the weights of its bones.

Every joint is a ball whose weights go over from one bone to the next. Turned with preserved volume, a ball about its
joint stays one, so shells neither collapse nor wring out; they only slide over it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from ..engine.maths import quat
from ..engine.motion.humanoid import humanoid_skeleton
from ..engine.motion.skeleton import Skeleton
from .lofts import Array, Ring, Surface, angles, ball, cross_sections, join, panel_angles, shell, skin

Relief = Callable[[Array, Array], Array]  # of heights and angles, in metres of the figure

STATURE = 1.75  # metres: the figure that the measures below are those of
FORWARD, UP = np.array([0.0, -1.0, 0.0]), np.array([0.0, 0.0, 1.0])
RIM = 0.007  # radius of a shell's edge
SUNK = 0.0025  # depth of a panel
MOST_WEIGHTS = 4  # bones that move a point


def fits(skeleton: Skeleton) -> bool:
    """Whether a skeleton is the demo's in its rest pose, of any size, whatever bones it may have above the hips."""
    demo = humanoid_skeleton()
    if not set(demo.names) <= set(skeleton.names):
        return False
    bones = [skeleton.index(name) for name in demo.names]
    above = [skeleton.names[parent] if parent >= 0 else "" for parent in skeleton.parents[bones]]
    if above[1:] != [demo.names[parent] for parent in demo.parents[1:]] or not _tips(demo).keys() <= _tips(skeleton).keys():
        return False
    (turns, heads), (_, wanted) = skeleton.rest_world(), demo.rest_world()
    size = heads[bones[0], 2] / wanted[0, 2]
    return bool(size > 0.0 and np.allclose(heads[bones], size * wanted, atol=1e-3 * size)
                and np.allclose(np.abs(turns[bones, 0]), 1.0, atol=1e-4))


def mannequin_shape(skeleton: Skeleton) -> Surface:
    """The mannequin around a skeleton that `fits`, its weights (V, B) for the skeleton's bones."""
    return _Sculptor(skeleton).all_parts()


class _Sculptor:
    """Joints of a skeleton, and the parts around them; those with a side are made for the left and mirrored.

    Parts are made for a figure of the `STATURE` and scaled together in the end, so all measures are in its metres.
    """

    def __init__(self, skeleton: Skeleton) -> None:
        self.skeleton = skeleton
        self.size = float(_tips(skeleton)["Head"][2]) / STATURE
        heads = skeleton.rest_world()[1].astype(np.float64) / self.size
        self.joints = dict(zip(skeleton.names, heads, strict=True))
        self.tips = {name: tip / self.size for name, tip in _tips(skeleton).items()}

    def all_parts(self) -> Surface:
        sided = join([*self.arm(), *self.hand(), *self.leg(), *self.foot()])
        names = self.skeleton.names
        other = {"Left": "Right", "Right": "Left"}
        swapped = [next((names.index(b + n[len(a):]) for a, b in other.items() if n.startswith(a)), i)
                   for i, n in enumerate(names)]
        right = sided.mirrored(np.array(swapped))
        left = replace(sided, accent=~sided.accent)
        whole = join([*self.torso(), *self.neck(), *self.head(), left, right])
        return replace(whole, points=self.size * whole.points)

    def weights(self, rings: list[Ring], *bones: str) -> Array:
        """Weights (R, B) of rings by their shares along a chain of bones: 1.25 is three parts the second, one the third."""
        share = np.array([ring.share for ring in rings])
        result = np.zeros((len(rings), self.skeleton.bone_count))
        for number, bone in enumerate(bones):
            result[:, self.skeleton.index(bone)] = np.clip(1.0 - np.abs(share - number), 0.0, 1.0)
        return result

    def lofted(self, rings: list[Ring], path: list[Array], forward: Array, columns: int, *bones: str) -> Surface:
        """A part of rings along a path of joints, moved by a chain of bones."""
        accent = np.repeat([[r.accent] for r in rings], columns, axis=1)
        points = cross_sections(rings, np.array(path), forward, angles(len(rings), columns))
        return skin(points, np.concatenate([accent, accent[-1:]]), self.weights(rings, *bones))

    # ------------------------------------------------------------ limbs

    def leg(self) -> list[Surface]:
        path = [self.joints[name] for name in ("LeftUpLeg", "LeftLeg", "LeftFoot")]
        knee = float(np.linalg.norm(path[1] - path[0]))
        ankle = knee + float(np.linalg.norm(path[2] - path[1]))
        thigh = [(.008, .085, .087, .086), (.07, .083, .089, .087), (.17, .076, .088, .080), (.30, .063, .072, .065),
                 (knee - .024, .055, .059, .054)]
        calf = [(knee + .026, .051, .053, .050), (knee + .06, .055, .050, .060), (knee + .12, .058, .047, .069),
                (knee + .21, .050, .043, .059), (knee + .31, .038, .038, .042), (ankle - .022, .035, .037, .039)]
        rings = ball(0.0, .081, -.080, .008, 7)
        rings += shell(thigh, np.linspace(.05, .36, 6), (RIM, RIM), slant=(0.0, .016))
        rings += ball(knee, .052, -.024, .026, 7, share=(0.0, 1.0), slant=(.016, -.016))
        rings += shell(calf, knee + np.linspace(.045, .35, 8), (RIM, RIM), slant=(-.016, 0.0), share=1.0)
        rings += ball(ankle, .041, -.022, .034, 5, share=(1.0, 1.0))
        return [self.lofted(rings, path, FORWARD, 18, "LeftUpLeg", "LeftLeg")]

    def arm(self) -> list[Surface]:
        path = [self.joints[name] for name in ("LeftArm", "LeftForeArm", "LeftHand")]
        elbow = float(np.linalg.norm(path[1] - path[0]))
        wrist = elbow + float(np.linalg.norm(path[2] - path[1]))
        upper = [(.0, .0585, .0585, .0585), (.05, .056, .055, .056), (.11, .047, .048, .050), (.19, .040, .042, .043),
                 (elbow - .019, .037, .038, .039)]
        fore = [(elbow + .019, .036, .037, .037), (elbow + .055, .040, .042, .042), (elbow + .10, .038, .042, .040),
                (elbow + .17, .029, .034, .033), (wrist - .020, .024, .029, .028)]
        rings = ball(0.0, .056, -.055, 0.0, 6)
        rings += shell(upper, np.linspace(.03, .22, 6), (RIM, RIM))
        rings += ball(elbow, .037, -.019, .019, 7, share=(0.0, 1.0))
        rings += shell(fore, elbow + np.linspace(.035, .21, 6), (RIM, RIM), share=1.0)
        rings += ball(wrist, .0265, -.020, .020, 5, share=(1.0, 1.0))
        return [self.lofted(rings, path, FORWARD, 16, "LeftArm", "LeftForeArm")]

    def hand(self) -> list[Surface]:
        wrist, tip = self.joints["LeftHand"], self.tips["LeftHand"]
        palm = [(.012, .016, .022, .022), (.03, .017, .030, .030), (.06, .017, .041, .038), (.085, .015, .042, .040),
                (.098, .011, .041, .039)]
        rings = shell([(*row, 0.0, 2.6) for row in palm], np.linspace(.02, .09, 6), (.006, .006))
        parts = [self.lofted(rings, [wrist, tip], FORWARD, 14, "LeftHand")]
        for y, length, radius in ((-.0305, .070, .0110), (-.0100, .079, .0114), (.0105, .073, .0110), (.0295, .058, .0098)):
            steps = np.array([0.0, .36, .68, 1.0])
            bend = np.radians([0.0, 8.0, 22.0, 38.0])
            joints = [np.array([.082, y, -.001])]
            for step, angle in zip(np.diff(steps) * length, bend[1:], strict=True):
                joints.append(joints[-1] + step * np.array([np.cos(angle), 0.0, -np.sin(angle)]))
            parts.append(self.finger(wrist, np.array(joints), radius))
        thumb = np.array([[.028, -.020, -.004], [.052, -.047, -.012], [.078, -.060, -.018], [.100, -.066, -.022]])
        parts.append(self.finger(wrist, thumb, .0135))
        return parts

    def finger(self, origin: Array, joints: Array, radius: float) -> Surface:
        """A tube with round ends about joints (J, 3) from an origin."""
        tangents = np.gradient(joints, axis=0)
        tangents /= np.linalg.norm(tangents, axis=-1, keepdims=True)
        radii = radius * np.linspace(1.0, .84, len(joints))
        last, end = radii[-1], tangents[-1]
        places = list(zip(joints[:-1], tangents[:-1], radii[:-1], strict=True))
        places += [(joints[-1] - last * (1.0 - np.sin(a)) * end, end, last * np.cos(a)) for a in np.radians([0, 30, 55, 78])]
        around = angles(1, 8)[0][:, None]
        rings = []
        for place, tangent, wide in places:
            side = np.cross(tangent, UP)
            side /= np.linalg.norm(side)
            rings.append(place + wide * (np.cos(around) * side + np.sin(around) * np.cross(side, tangent)))
        rigid = self.weights([Ring(0.0, 0.0, 0.0, 0.0)] * len(rings), "LeftHand")
        return skin(origin + np.array(rings), np.zeros((len(rings) + 1, 8), bool), rigid)

    def foot(self) -> list[Surface]:
        ankle, toe, tip = self.joints["LeftFoot"], self.joints["LeftToe"], self.tips["LeftToe"]
        ahead, end = ankle[1] - toe[1], ankle[1] - tip[1]
        # along, half width, top; the sole is flat on the ground
        stations = [(-.072, .014, .022), (-.069, .025, .040), (-.060, .033, .062), (-.040, .039, .086), (-.010, .041, .094),
                    (.02, .041, .088), (.055, .043, .070), (ahead - .03, .047, .055), (ahead, .049, .046),
                    (ahead + .03, .047, .039), (end - .015, .038, .032), (end - .004, .028, .025), (end, .016, .017)]
        rows = [(along, wide, .6 * top, .5 * top, .4 * top, 2.5) for along, wide, top in stations]
        at = np.concatenate([[row[0] for row in rows[:4]], np.linspace(-.015, ahead - .022, 6),
                             ahead + np.array([-.012, -.004, .004, .012]), np.linspace(ahead + .025, end - .02, 2),
                             [row[0] for row in rows[-3:]]])
        at[0], at[-1] = at[0] + 1e-5, at[-1] - 1e-5
        rings = [replace(ring, accent=bool(abs(ring.along - ahead) < .009),
                         share=float(np.clip(0.5 + (ring.along - ahead) / .024, 0.0, 1.0))) for ring in shell(rows, at)]
        ground = np.array([ankle[0], ankle[1], 0.0])
        foot = self.lofted(rings, [ground, ground + end * FORWARD], UP, 18, "LeftFoot", "LeftToe")
        np.maximum(foot.points[:, 2], 0.0, out=foot.points[:, 2])  # the sole
        return [foot]

    # ------------------------------------------------------------ trunk and head

    def torso(self) -> list[Surface]:
        spine, chest, upper = (self.joints[name][2] for name in ("Spine", "Chest", "UpperChest"))
        pelvis = [(spine - .204, .016, .026, .026), (spine - .200, .028, .040, .042),
                  (spine - .187, .048, .064, .070, 0.0, 2.2), (spine - .160, .084, .084, .096, 0.0, 2.3),
                  (spine - .125, .126, .096, .113, 0.0, 2.4), (spine - .080, .146, .096, .110, 0.0, 2.4),
                  (spine - .030, .139, .088, .094, 0.0, 2.3), (spine + .010, .124, .080, .080, 0.0, 2.2)]
        thorax = [(spine + .088, .124, .083, .078, .002, 2.2), (chest + .01, .137, .096, .089, .002, 2.3),
                  (chest + .07, .153, .110, .103, .002, 2.4), (upper, .166, .115, .113, 0.0, 2.4),
                  (upper + .045, .172, .110, .116, -.002, 2.4), (upper + .085, .169, .094, .110, -.006, 2.3),
                  (upper + .117, .161, .077, .098, -.008, 2.2), (upper + .140, .141, .064, .082, -.008, 2.1),
                  (upper + .156, .101, .056, .069, -.008), (upper + .168, .072, .051, .061, -.007),
                  (upper + .178, .060, .050, .058, -.007)]
        plate = [(upper - .105, .10), (upper - .095, .20), (upper - .07, .36), (upper - .03, .54), (upper + .02, .68),
                 (upper + .05, .72), (upper + .068, .69), (upper + .078, .60), (upper + .083, .48)]
        hips_at = np.array([-.2039, -.200, -.194, -.184, -.170, -.155, -.138, -.12, -.095, -.065, -.035])
        chest_at = np.concatenate([
            [spine + .100, spine + .12, chest, upper - .110, upper - .105, upper - .095], upper + np.linspace(-.08, .055, 8),
            upper + np.array([.068, .078, .083, .088, .103, .117, .130, .142, .152, .161, .170])])
        rings = shell(pelvis, spine + hips_at, (0.0, RIM), slant=(0.0, -.020))
        rings += self.bellows(spine + .011, spine + .087, 3)
        rings += shell(thorax, chest_at, (RIM, .004), slant=(.028, 0.0))
        surface = self.panelled(rings, np.zeros(3), 28, 5, plate, "UpperChest", relief=partial(_muscles, upper))
        return [replace(surface, weights=self.trunk_weights(surface.points))]

    def panelled(self, rings: list[Ring], base: Array, columns: int, edge: int, borders: list[tuple[float, float]],
                 bone: str, relief: Relief) -> Surface:
        """An upright part with a sunken, accented panel at its front, its border `edge` columns from the middle."""
        along = np.array([ring.along for ring in rings])
        around = panel_angles(along, columns, edge, borders, .035)
        points = cross_sections(rings, np.array([base, base + UP]), FORWARD, around)
        outward = np.sin(around)[..., None] * np.cross(UP, FORWARD) + np.cos(around)[..., None] * FORWARD
        inside = (along > borders[0][0] - 1e-4) & (along < borders[-1][0] + 1e-4)
        column = (np.arange(columns) + columns // 2) % columns - columns // 2
        points += relief(along[:, None], around)[..., None] * outward
        points -= SUNK * (inside[:, None] & (np.abs(column) <= edge))[..., None] * outward
        accent = np.repeat([[ring.accent] for ring in rings], columns, axis=1)
        accent[1:] |= (inside[1:] & inside[:-1])[:, None] & ((column >= -edge) & (column < edge))
        return skin(points, np.concatenate([accent, accent[-1:]]), self.weights(rings, bone))

    def bellows(self, low: float, high: float, folds: int) -> list[Ring]:
        """The soft waist between two heights."""
        rings = []
        for part in np.linspace(0.0, 1.0, 4 * folds + 1):
            fold = -.0022 * np.cos(2.0 * np.pi * folds * part)
            slim = .006 * np.sin(np.pi * part)
            rings.append(Ring(low + part * (high - low), .1165 + fold - slim, .075 + fold, .072 + fold, .002, 2.2,
                              slant=-.020 + .048 * part, accent=True))
        return rings

    def trunk_weights(self, points: Array) -> Array:
        """By height along the spine, going over about each joint; below the neck the shoulders share at the sides."""
        result = np.zeros((len(points), self.skeleton.bone_count))
        before = np.ones(len(points))
        for bone, following in (("Hips", "Spine"), ("Spine", "Chest"), ("Chest", "UpperChest"), ("UpperChest", "")):
            height = points[:, 2] - self.joints[following][2] if following else np.full(len(points), -np.inf)
            after = _smoothstep(height / (.09) + 0.5)
            result[:, self.skeleton.index(bone)] = before - after
            before = after
        top = self.skeleton.index("UpperChest")
        part = .7 * _smoothstep((np.abs(points[:, 0]) - .05) / .10) * _smoothstep(
            (points[:, 2] - self.joints["LeftShoulder"][2]) / (.08) + 0.9)
        for bone, side in (("LeftShoulder", points[:, 0] > 0), ("RightShoulder", points[:, 0] < 0)):
            result[:, self.skeleton.index(bone)] = result[:, top] * part * side
        result[:, top] *= 1.0 - part
        return result

    def neck(self) -> list[Surface]:
        low, high = self.joints["Neck"], self.joints["Head"]
        length = float(np.linalg.norm(high - low))
        top = length
        table = [(0.0, .054, .046, .056, -.006), (.035, .050, .046, .053, -.002), (.065, .0475, .046, .051, .002),
                 (top + .025, .047, .046, .050, .004)]
        rings = []
        for ring in shell(table, np.linspace(.001, top + .024, 7), accent=True):
            part = np.array((ring.along - .015) / (length - .01))
            rings.append(replace(ring, share=2.0 * float(_smoothstep(part))))
        return [self.lofted(rings, [low, high], FORWARD, 20, "UpperChest", "Neck", "Head")]

    def head(self) -> list[Surface]:
        base = self.joints["Head"]
        top = float(self.tips["Head"][2] - base[2])
        rows = [(-.0300, .012, .010, .014, .068), (-.026, .026, .020, .040, .066), (-.015, .038, .028, .070, .062),
                (0.0, .047, .042, .095, .050), (.02, .055, .058, .100, .035), (.045, .062, .073, .104, .022),
                (.075, .068, .0835, .108, .012), (.105, .0725, .088, .108, .006), (.130, .073, .086, .103, .002),
                (.152, .068, .077, .092, -.002), (.171, .056, .062, .074, -.006), (.184, .038, .043, .050, -.010),
                (.192, .020, .023, .027, -.011), (top - .0005, .007, .008, .009, -.011)]
        plate = [(-.009, .30), (-.004, .44), (.01, .60), (.04, .80), (.08, .92), (.11, .91), (.122, .85),
                 (.131, .73), (.137, .56), (.140, .36)]
        at = np.concatenate([[-.0299, -.026, -.020, -.013, -.009, -.004], np.linspace(.008, .110, 9),
                             [.122, .131, .137, .140, .144, .153, .163, .173, .182, .189, top - .0006]])
        rings = shell([(*row, 2.2) for row in rows], at)
        return [self.panelled(rings, base, 28, 5, plate, "Head", relief=_features)]


def _muscles(chest: float, height: Array, around: Array) -> Array:
    """How far a trunk stands out about the height of its chest: breast, shoulder blades, spine."""
    side, above = np.abs(around), height - chest
    breast = .011 * np.exp(-((side - .55) / .38) ** 2 - ((above - .010) / .045) ** 2)
    breastbone = -.005 * np.exp(-(side / .16) ** 2 - ((above - .01) / .06) ** 2)
    blades = .012 * np.exp(-((side - 2.50) / .30) ** 2 - ((above - .045) / .05) ** 2)
    spine = -.007 * np.exp(-((np.pi - side) / .04) ** 2 - ((above + .02) / .10) ** 2)
    return breast + breastbone + blades + spine


def _features(height: Array, around: Array) -> Array:
    """How far a face stands out: a nose's ridge, and eyes' hollows beside it."""
    nose = .013 * np.exp(-(around / .16) ** 2 - ((height - .045) / .024) ** 2)
    bridge = .005 * np.exp(-(around / .14) ** 2 - ((height - .085) / .03) ** 2)
    eyes = .009 * np.exp(-((np.abs(around) - .42) / .22) ** 2 - ((height - .078) / .018) ** 2)
    return nose + bridge - eyes


def _tips(skeleton: Skeleton) -> dict[str, Array]:
    """Ends (3,) of the bones that have end sites, in the rest pose."""
    turns, heads = skeleton.rest_world()
    return {skeleton.names[bone]: heads[bone] + quat.mul_vec(turns[bone], np.array(offset))
            for bone, offset in skeleton.end_sites}


def _smoothstep(x: Array) -> Array:
    x = np.clip(x, 0.0, 1.0)
    return x * x * (3.0 - 2.0 * x)
