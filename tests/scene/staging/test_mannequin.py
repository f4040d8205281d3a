"""The mannequin stands on the ground, has distinct sides, bends without collapsing, and disturbs
nothing.
"""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from building.locomotion.humanoid import build_humanoid_skeleton
from building.mannequin.lofts import Surface
from building.mannequin.shape import MOST_WEIGHTS, sculpt_mannequin
from motion_matching.engine.errors import RigError
from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.skeleton.skeleton import Skeleton
from motion_matching.scene.blender.animation import actions, playback
from motion_matching.scene.rig.armature import create_armature
from motion_matching.scene.staging import demo
from motion_matching.scene.staging.mannequin import is_demo_skeleton
from motion_matching.scene.staging.take_file import build_scene
from tests.demo import generate_clips
from tests.scene.bodies import make_walk
from tests.scene.motions import assert_moves_like, fit_bones, to_basis

SKELETON = build_humanoid_skeleton()


@pytest.fixture(scope="module")
def shape() -> Surface:
    return sculpt_mannequin(SKELETON)


def make_triangles(shape: Surface) -> np.ndarray:
    return np.concatenate([shape.quads[:, [0, 1, 2]], shape.quads[:, [0, 2, 3]], shape.triangles])


def find_parts(shape: Surface) -> np.ndarray:
    """Return the connected part of every point (V,)."""
    corners = make_triangles(shape)
    links = coo_array(
        (np.ones(len(corners)), (corners[:, 0], corners[:, 1])), shape=(len(shape.points),) * 2
    )
    links = links + coo_array(
        (np.ones(len(corners)), (corners[:, 1], corners[:, 2])), shape=(len(shape.points),) * 2
    )
    return connected_components(links, directed=False)[1]


def compute_area_vectors(shape: Surface) -> np.ndarray:
    """Return the area vectors (F, 3) of the faces, quads before triangles."""
    quads = shape.points[shape.quads]
    corners = shape.points[shape.triangles]
    return 0.5 * np.concatenate(
        [
            np.cross(quads[:, 2] - quads[:, 0], quads[:, 3] - quads[:, 1]),
            np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]),
        ]
    )


def find_bones_of_faces(shape: Surface) -> np.ndarray:
    """Return the names (F,) of the bones with the highest weight at the faces' first points."""
    first = np.concatenate([shape.quads[:, 0], shape.triangles[:, 0]])
    return np.array(SKELETON.names)[np.argmax(shape.weights[first], axis=1)]


def measure_accent(shape: Surface, faces: np.ndarray) -> float:
    area = np.linalg.norm(compute_area_vectors(shape), axis=-1)
    return float(np.sum(area[faces & shape.accent]) / np.sum(area[faces]))


def test_every_point_follows_at_most_four_bones(shape: Surface) -> None:
    assert 3000 < len(shape.points) < 8000
    assert np.all(shape.weights >= 0.0)
    np.testing.assert_allclose(shape.weights.sum(axis=1), 1.0, atol=1e-6)
    assert np.max(np.count_nonzero(shape.weights, axis=1)) <= MOST_WEIGHTS
    unmoved = {
        SKELETON.names[bone] for bone in np.flatnonzero(~np.any(shape.weights > 0.5, axis=0))
    }
    assert unmoved <= {"LeftShoulder", "RightShoulder"}  # they only share the chest
    assert np.all(np.any(shape.weights > 0.3, axis=0))


def test_every_part_is_closed_and_faces_outward(shape: Surface) -> None:
    edges = np.concatenate(
        [
            np.stack([f, np.roll(f, -1, axis=1)], axis=-1).reshape(-1, 2)
            for f in (shape.quads, shape.triangles)
        ]
    )
    there = edges[:, 0] * len(shape.points) + edges[:, 1]
    back = edges[:, 1] * len(shape.points) + edges[:, 0]
    assert len(np.unique(there)) == len(there)  # each edge once in each direction
    np.testing.assert_array_equal(np.sort(there), np.sort(back))
    corners, labels = make_triangles(shape), find_parts(shape)
    a, b, c = (shape.points[corners[:, corner]] for corner in range(3))
    volumes = np.bincount(labels[corners[:, 0]], np.sum(a * np.cross(b, c), axis=-1) / 6.0)
    assert np.all(volumes > 0.0)
    assert 0.05 < volumes.sum() < 0.09  # cubic metres of a slender person
    assert np.min(np.linalg.norm(compute_area_vectors(shape), axis=-1)) > 1e-9


def test_left_mirrors_right_in_shape_and_weights(shape: Surface) -> None:
    away, other = cKDTree(shape.points).query(shape.points * [-1.0, 1.0, 1.0])
    assert np.max(away) < 1e-6
    swap = {"Left": "Right", "Right": "Left"}
    mirrored = [
        next((b + n[len(a) :] for a, b in swap.items() if n.startswith(a)), n)
        for n in SKELETON.names
    ]
    opposite = [SKELETON.index(name) for name in mirrored]
    np.testing.assert_allclose(shape.weights[other], shape.weights[:, opposite], atol=1e-6)


@pytest.mark.parametrize("size", [1.0, 0.6])
def test_it_stands_on_the_ground_as_tall_as_its_skeleton(size: float) -> None:
    scaled = scale_skeleton(size)
    assert is_demo_skeleton(scaled)
    points, weights = sculpt_mannequin(scaled).points, sculpt_mannequin(scaled).weights
    for side in ("Left", "Right"):
        foot = points[weights[:, scaled.index(f"{side}Foot")] > 0.9]
        toes = points[weights[:, scaled.index(f"{side}Toe")] > 0.9]
        assert abs(foot[:, 2].min()) < 1e-6
        assert abs(toes[:, 2].min()) < 0.005 * size
        assert toes[:, 1].min() < foot[:, 1].min() < foot[:, 1].max()  # faces -Y, heel behind
    assert points[:, 2].min() >= 0.0
    assert abs(points[:, 2].max() - 1.75 * size) < 0.01 * size
    assert abs(np.ptp(points[:, 0]) - 1.75 * size) < 0.05 * size  # a T-pose is as wide as tall


def test_left_and_right_and_front_and_back_differ(shape: Surface) -> None:
    bones, area = find_bones_of_faces(shape), compute_area_vectors(shape)
    for limb in ("Arm", "ForeArm", "Hand", "UpLeg", "Leg", "Foot"):
        assert measure_accent(shape, bones == f"Left{limb}") > 0.6, limb
        assert measure_accent(shape, bones == f"Right{limb}") < 0.4, limb
    ahead = -area[:, 1] / np.linalg.norm(area, axis=-1)
    first = np.concatenate([shape.quads[:, 0], shape.triangles[:, 0]])
    for bone, low, high in (("Head", 1.6, 1.75), ("UpperChest", 1.3, 1.45)):  # without the neck
        piece = (bones == bone) & (low < shape.points[first, 2]) & (shape.points[first, 2] < high)
        assert measure_accent(shape, piece & (ahead > 0.8)) > 0.3, bone
        assert measure_accent(shape, piece & (ahead < -0.5)) == 0.0, bone


def scale_skeleton(size: float) -> Skeleton:
    positions = (size * SKELETON.rest_positions).astype(np.float32)
    ends = tuple((bone, tuple(size * x for x in tip)) for bone, tip in SKELETON.end_sites)
    return Skeleton(SKELETON.names, SKELETON.parents, positions, SKELETON.rest_rotations, ends)


def test_it_fits_only_the_demo_skeleton() -> None:
    assert not is_demo_skeleton(SKELETON.with_names(("Pelvis", *SKELETON.names[1:])))
    long_arms = scale_skeleton(1.0)
    long_arms.rest_positions[SKELETON.index("LeftForeArm"), 0] += 0.05
    assert not is_demo_skeleton(long_arms)


skeleton = build_humanoid_skeleton()


def evaluate_body(armature):
    bpy.context.view_layer.update()
    body = armature.children[0].evaluated_get(bpy.context.evaluated_depsgraph_get())
    return np.array([vertex.co for vertex in body.data.vertices])


def read_weights(body):
    result = np.zeros((len(body.data.vertices), skeleton.bone_count))
    for vertex in body.data.vertices:
        for entry in vertex.groups:
            result[vertex.index, skeleton.index(body.vertex_groups[entry.group].name)] = (
                entry.weight
            )
    return result


def turn_bone(armature, bone, axis, degrees):
    rotations = np.array(skeleton.rest_rotations, dtype=float)
    rotations[skeleton.index(bone)] = quat.from_angle_axis(
        np.radians(degrees), np.eye(3)["XYZ".index(axis)]
    )
    fitted = fit_bones(armature, skeleton)
    turned, _ = to_basis(fitted, rotations, skeleton.rest_positions)
    for name, rotation in zip(fitted.bones, turned, strict=False):
        armature.pose.bones[name].rotation_quaternion = rotation


def list_corners(mesh):
    mesh.calc_loop_triangles()
    return np.array([triangle.vertices for triangle in mesh.loop_triangles])


def compute_volume(points, faces):
    a, b, c = (points[faces[:, corner]] for corner in range(3))
    return np.sum(a * np.cross(b, c)) / 6.0


@pytest.fixture
def joints():
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    return dict(zip(skeleton.names, skeleton.compute_rest_world()[1].astype(float), strict=False))


def test_joints_bend_and_twist_without_losing_their_shape(joints) -> None:
    armature = demo.add_performer()
    body, rest = armature.children[0], evaluate_body(armature)
    owners, faces = read_weights(body), list_corners(body.data)
    for above, bone, axis, degrees in (
        ("LeftUpLeg", "LeftLeg", "X", 90),
        ("RightUpLeg", "RightLeg", "X", 120),
        ("LeftArm", "LeftForeArm", "Z", -90),
        ("RightArm", "RightForeArm", "Z", 130),
        ("LeftArm", "LeftForeArm", "X", 90),
        ("Neck", "Head", "Z", 70),
        ("LeftFoot", "LeftToe", "X", -40),
    ):
        turn_bone(armature, bone, axis, degrees)
        bent = evaluate_body(armature)
        first, second = skeleton.index(above), skeleton.index(bone)
        both = (owners[:, first] > 0.01) & (owners[:, second] > 0.01)
        assert np.count_nonzero(both) > 20, bone
        # points between two bones keep their distance to the joint: no collapse, no candy wrapper
        before = np.linalg.norm(rest[both] - joints[bone], axis=1)
        after = np.linalg.norm(bent[both] - joints[bone], axis=1)
        np.testing.assert_allclose(after, before, rtol=0.03, err_msg=bone)

        # the closed part around it keeps its volume, compared with its slice about the joint
        part = owners[:, first] + owners[:, second] > 0.5
        chosen = faces[np.all(part[faces], axis=1)]
        axis_of_limb = int(np.argmax(np.abs(joints[bone] - joints[above])))
        slab = rest.copy()
        middle = joints[bone][axis_of_limb]
        slab[:, axis_of_limb] = np.clip(slab[:, axis_of_limb], middle - 0.06, middle + 0.06)
        around = compute_volume(slab, chosen)
        assert around > 0.0
        loss = abs(compute_volume(bent, chosen) - compute_volume(rest, chosen)) / around
        assert loss < 0.15, (bone, loss)
        turn_bone(armature, bone, axis, 0)

    # a far bent shin enters the back of the thigh, but does not come out at its front
    turn_bone(armature, "LeftLeg", "X", 120)
    bent = evaluate_body(armature)
    shin = owners[:, skeleton.index("LeftLeg")] > 0.99
    height = joints["LeftLeg"][2] + 0.06
    front = rest[
        (owners[:, skeleton.index("LeftUpLeg")] > 0.99) & (abs(rest[:, 2] - height) < 0.03), 1
    ].min()
    behind = bent[shin & (bent[:, 2] > height)]
    assert len(behind) == 0 or behind[:, 1].min() > front + 0.02, (front, behind[:, 1].min())
    turn_bone(armature, "LeftLeg", "X", 0)

    # a limb turns in its socket: the body stays, and the limb keeps its shape
    for bone, axis, degrees in (
        ("LeftArm", "Y", 78),
        ("LeftArm", "Y", -85),
        ("LeftUpLeg", "X", -100),
    ):
        turn_bone(armature, bone, axis, degrees)
        bent = evaluate_body(armature)
        chain = [
            skeleton.index(bone),
            *(
                b
                for b in range(skeleton.bone_count)
                if skeleton.index(bone) in skeleton.get_ancestors(b)
            ),
        ]
        moved = owners[:, chain].sum(axis=1) > 0.5
        np.testing.assert_allclose(bent[~moved], rest[~moved], atol=1e-5)
        np.testing.assert_allclose(
            np.linalg.norm(bent[moved] - joints[bone], axis=1),
            np.linalg.norm(rest[moved] - joints[bone], axis=1),
            atol=1e-5,
        )
        turn_bone(armature, bone, axis, 0)


@pytest.mark.usefixtures("joints")
def test_adding_a_performer_adds_nothing_else_to_the_scene() -> None:
    scene = bpy.context.scene

    mesh = bpy.data.meshes.new("Mine")
    mine = bpy.data.objects.new("Mine", mesh)
    scene.collection.objects.link(mine)
    mine.select_set(True)
    scene.frame_set(7)
    kinds = (
        "objects",
        "meshes",
        "materials",
        "actions",
        "collections",
        "worlds",
        "lights",
        "cameras",
        "images",
        "armatures",
        "scenes",
    )
    before = {kind: len(getattr(bpy.data, kind)) for kind in kinds}
    armature = demo.add_performer()
    [body] = armature.children
    added = {kind: len(getattr(bpy.data, kind)) - before[kind] for kind in kinds}
    added = {kind: count for kind, count in added.items() if count}
    assert added == {"objects": 2, "meshes": 1, "materials": 2, "armatures": 1}, added
    assert armature.name == "Performer"
    assert scene.frame_current == 7
    assert bpy.context.mode == "OBJECT"
    assert bpy.context.view_layer.objects.active == armature
    assert bpy.context.selected_objects == [armature]
    assert armature.animation_data is None
    assert not body.data.validate()
    assert armature.matrix_world == body.matrix_world
    assert armature.matrix_world.to_translation().length == 0.0
    for slot in body.material_slots:  # same colours in solid view as in a render
        shown = slot.material.diffuse_color[:3]
        shader = slot.material.node_tree.nodes["Principled BSDF"]
        np.testing.assert_allclose(shader.inputs["Base Color"].default_value[:3], shown)
    assert len({polygon.material_index for polygon in body.data.polygons}) == 2
    assert all(polygon.use_smooth for polygon in body.data.polygons)

    second = demo.add_performer("Understudy")
    assert [slot.material for slot in second.children[0].material_slots] == [
        slot.material for slot in body.material_slots
    ]
    assert second.name == "Understudy"
    assert len(bpy.data.materials) == before["materials"] + 2

    for obj in bpy.context.selected_objects:
        obj.select_set(False)
    bpy.context.view_layer.objects.active = mine
    mine.select_set(True)
    bpy.ops.object.mode_set(mode="EDIT")
    third = demo.add_performer()
    assert third.name == "Performer.001"
    assert mine.mode == "EDIT"
    assert bpy.context.view_layer.objects.active == mine


@pytest.mark.usefixtures("joints")
def test_demo_clips_become_actions_with_the_same_motion() -> None:
    scene = bpy.context.scene

    armature = demo.add_performer()
    scene.render.fps = 30
    clips = generate_clips()[:2]
    made = demo.add_demo_actions(armature, clips)
    assert [action.name for action in made] == [clip.name for clip in clips]
    assert all(action.use_fake_user for action in made)
    assert armature.animation_data is None  # nothing is assigned
    assert {action.name for action in actions.find_actions(armature)} == {
        clip.name for clip in clips
    }
    with playback.preserve_animation(armature):
        playback.play(armature, made[1], actions.find_slot(made[1], armature))
        assert_moves_like(armature, clips[1], skeleton, 1.0 + np.arange(clips[1].frame_count))
        bpy.context.view_layer.update()

    stranger = create_armature(
        skeleton.with_names(tuple("x" + name for name in skeleton.names)), "Stranger"
    )
    count = len(bpy.data.actions)
    with pytest.raises(RigError) as caught:
        demo.add_demo_actions(stranger, clips)
    assert "Stranger" in str(caught.value)
    assert len(bpy.data.actions) == count
    assert stranger.animation_data is None


@pytest.mark.slow
@pytest.mark.usefixtures("joints")
def test_a_demo_take_keeps_the_mannequins_soles_on_the_ground() -> None:
    clip = make_walk()  # with a simulation bone
    armature = build_scene(clip, "Walk")
    [body] = armature.children
    assert [slot.material.name for slot in body.material_slots] == ["Mannequin", "Mannequin Accent"]
    frames = 1.0 + np.arange(clip.frame_count)
    assert_moves_like(armature, clip, clip.skeleton, frames)
    scene = bpy.context.scene
    lowest = []
    for frame in range(1, clip.frame_count + 1):
        scene.frame_set(frame)
        found = evaluate_body(armature)
        lowest.append(found[:, 2].min())
    assert np.min(lowest) > -0.02, lowest
    assert np.median(np.abs(lowest)) < 0.01, lowest  # the soles touch the ground
