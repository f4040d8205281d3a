"""Takes up stairs in what animators have: linked characters, imported and mapped rigs, recordings."""

from __future__ import annotations

from collections.abc import Iterator

import bpy
import numpy as np
import pytest

from building.locomotion.climbs import find_climb
from motion_matching.app.database import status
from motion_matching.app.live import host, performing
from motion_matching.engine.bvh import bvh
from motion_matching.live.inputs.devices.keyboard import Keyboard
from motion_matching.live.inputs.devices.steering import SteeringInput
from motion_matching.scene.rig.armature import create_armature
from tests.demo import generate_clips
from tests.engine import characters
from tests.engine.performance.test_start_state import measure_accelerations
from tests.scene import rigify
from tests.steps import run_steps
from tests.ui.characters import create_character, override_character
from tests.ui.climbing import RISER, add_stairs, find_height

ops = bpy.ops.motion_matching
CLIPS = ("idle", "walk_speeds", "walk_starts_and_stops", "stairs_up_15", "stairs_up_17")
FPS = 24
HUMANOID = "Hips", ("LeftToe", "RightToe")

pytestmark = pytest.mark.slow


def read_joints(obj, frames, names=HUMANOID) -> tuple[np.ndarray, np.ndarray]:
    """Return hips (F, 3) and toes (F, 2, 3) in the world as Blender shows them at frames."""
    hips, toes = [], []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        shown = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
        place, bones = shown.matrix_world, shown.pose.bones
        hips.append((place @ bones[names[0]].head)[:])
        toes.append([(place @ bones[name].head)[:] for name in names[1]])
    return np.array(hips), np.array(toes)


def check_climb(obj, seconds, names=HUMANOID, toe_height=0.0, least=2 * RISER):
    """Check that a character of a take goes up stairs, with its feet on them and not in them."""
    hips, toes = read_joints(obj, range(1, round(seconds * FPS), 2), names)
    assert hips[-1, 2] - hips[0, 2] > least - 0.01
    floor = np.array([[find_height(-y) for _, y, _ in row] for row in toes.tolist()])
    above = toes[..., 2] - floor - toe_height
    assert above.min() > -0.02
    still = np.linalg.norm(np.diff(toes, axis=0), axis=-1) < 0.002
    assert still.any(axis=0).all()
    assert np.percentile(above[1:][still], 95) < 0.05


def bake(obj, seconds=6.0):
    obj.motion_matching.obstacles = add_stairs()
    options = {"script": "stop_and_go", "seconds": seconds, "frame_start": 1}
    assert ops.bake_script(**options) == {"FINISHED"}


def create_climber():
    obj = create_character(clips=CLIPS)
    assert ops.add_actions(mirror=True) == {"FINISHED"}
    return obj


def write_files(folder) -> list:
    files = []
    flat = [clip for clip in generate_clips(fps=FPS) if clip.name in CLIPS]
    for clip in [*flat, *(find_climb(name).pose(FPS) for name in CLIPS[3:])]:
        bvh.save(clip, folder / f"{clip.name}.bvh")
        files.append(folder / f"{clip.name}.bvh")
    return files


def add_files(files):
    names = [{"name": file.name} for file in files]
    assert ops.add_files(directory=str(files[0].parent), files=names) == {"FINISHED"}


def test_a_linked_character_climbs(tmp_path):
    create_climber()
    obj = override_character(str(tmp_path / "hero.blend"))
    bake(obj)
    check_climb(obj, 6.0)
    source = next(one for one in obj.motion_matching.sources if one.action.name == CLIPS[4])
    source.ground = "LEVEL"
    assert status.refresh(obj).kind == "stale", "an override can be corrected, too"


def test_an_imported_character_climbs(tmp_path):
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    bpy.context.view_layer.objects.active = None
    add_files(write_files(tmp_path))
    obj = bpy.context.object
    bake(obj)
    check_climb(obj, 6.0)


def test_a_child_climbs_with_motion_of_an_adult(tmp_path):
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    child = characters.make_child()
    obj = create_armature(child.skeleton, "Child")
    bpy.context.view_layer.objects.active = obj
    obj.select_set(True)
    add_files(write_files(tmp_path))
    bake(obj, 8.0)
    roles = status.refresh(obj).roles
    names = roles["hips"], (roles["left_toe"], roles["right_toe"])
    low = min(obj.data.bones[name].head_local.z for name in names[1])
    check_climb(obj, 8.0, names, low, RISER)  # its steps are short


def test_rigify_climbs_on_its_controls(tmp_path):
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    obj = rigify.create_rigify_rig("basic_human")
    bpy.context.view_layer.objects.active = obj
    obj.select_set(True)
    add_files(write_files(tmp_path))
    bake(obj)
    names = "DEF-spine", ("DEF-toe.L", "DEF-toe.R")
    check_climb(obj, 6.0, names, obj.data.bones[names[1][0]].head_local.z)


class Session:
    """A live session up the stairs, of which the test controls the time."""

    def __init__(self, obj) -> None:
        ready, self.keyboard, self.now = run_steps(performing.prepare_steps(obj)), Keyboard(), 0.0
        self.fps = ready[0].fps
        steering = SteeringInput(self.keyboard)
        self.live = performing.start(obj, *ready, self.keyboard, steering, self.now)

    def run(self, ticks: int) -> None:
        for _ in range(ticks):
            self.now += 1.0 / self.fps
            self.live.tick(self.now, 0.0)

    def record(self, ticks: int) -> None:
        self.live.toggle_recording()
        self.run(ticks)
        self.live.toggle_recording()


@pytest.fixture
def recorded() -> Iterator[bpy.types.Object]:
    """A character with a recording of it walking up stairs from frame 1 on."""
    obj = create_climber()
    obj.motion_matching.obstacles = add_stairs()
    bpy.context.scene.frame_set(1)
    bpy.ops.ed.undo_push(message="Before")
    session = Session(obj)
    session.keyboard.handle("W", "PRESS")
    session.record(6 * FPS)
    host.end()
    bpy.ops.ed.undo_push(message="Recorded")
    yield obj
    if host.runtime.live:
        host.end()


def test_a_recording_climbs_and_undo_takes_it_back(recorded):
    check_climb(recorded, 6.0)
    assert len(recorded.motion_matching.takes) == 1
    bpy.ops.ed.undo()
    obj = bpy.data.objects["Hero"]
    assert not obj.motion_matching.takes
    assert ops.build() == {"FINISHED"}
    hips, _ = read_joints(obj, (1, 60))
    assert np.ptp(hips[:, 2]) < 0.01
    bpy.ops.ed.undo_push(message="Built")


def test_a_recording_over_a_take_goes_on_from_where_it_has_climbed(recorded):
    obj = recorded
    take = obj.animation_data.action
    before, _ = read_joints(obj, range(1, 6 * FPS))
    middle = 4 * FPS
    bpy.context.scene.frame_set(middle)
    obj.motion_matching.play.mode = "overwrite"
    session = Session(obj)
    session.run(10)
    session.keyboard.handle("W", "PRESS")
    session.record(2 * FPS + FPS // 2)
    host.end()
    assert obj.animation_data.action == take
    after, toes = read_joints(obj, range(1, 6 * FPS))
    np.testing.assert_allclose(after[: middle - 1], before[: middle - 1], atol=1e-3)
    assert after[middle - 1 : middle + 4, 2] == pytest.approx(before[middle - 2, 2], abs=0.1)
    floor = np.array([[find_height(-y) for _, y, _ in row] for row in toes.tolist()])
    assert (toes[..., 2] - floor).min() > -0.03
    joints = np.concatenate([after[:, None], toes], axis=1)[middle - 8 : middle + 8]
    assert measure_accelerations(joints, FPS).max() < 150.0
