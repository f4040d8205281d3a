"""What was recorded survives a program that is killed, but for a second; a file that is torn is read up to there."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tests.conftest import CHECKOUT, IN_BLENDER

HEAD = """
import sys
from motion_matching.engine.control import performance, rollout
from motion_matching.engine.errors import MotionMatchingError
from motion_matching.live import recovery
from motion_matching.live.recorder import RecordingPlan
from motion_matching.scene import actions, recording
from tests.live.stage import *
folder = Path(sys.argv[2])
"""

# says how many ticks it has recorded, and goes on until it is killed
KILLED = (
    HEAD
    + """
stage = Stage()
stage.run(15)
stage.session.record(RecordingPlan("Lost", 5.0, 0.8, recovery=folder))
while True:
    stage.run(1)
    print(stage.session._recorder.count, flush=True)
"""
)

RECOVERED = (
    HEAD
    + """
count = int(sys.argv[3])
[path] = recovery.left_over(folder)
found = recovery.read(path)
ticks = found.ticks
assert (found.origin.armature, ticks.name, ticks.fps, ticks.lead_in) == ("Person", "Lost", FPS, 15)
assert count - FPS <= len(ticks.frames) <= count + FPS, (count, len(ticks.frames))
assert np.allclose(ticks.frames, 5.0 + 0.8 * np.arange(len(ticks.frames)))

# the same ticks recorded without an end like that
stage = Stage()
stage.run(15)
stage.session.record(RecordingPlan("Kept", 5.0, 0.8))
poses = [report.frame.pose for report in stage.run(len(ticks.frames))]
kept = bpy.data.actions[stage.session.stop_recording()]
stage.session.stop()
stage.obj.animation_data_clear()
lost = recording.write_take(stage.obj, ticks)
ours, theirs = actions.read_channels(lost), actions.read_channels(kept)
assert ours.keys() == theirs.keys()
assert all(np.array_equal(ours[key], theirs[key]) for key in ours)
[part] = recording.recorded_parts(lost)
take = rollout.solve(new_performer(), performance.from_json(part["performance"], "the take"))
assert take.poses[part["lead_in"]:].tobytes() == np.stack(poses).tobytes()
"""
)

TORN = (
    HEAD
    + """
stage = Stage()
stage.run(3)
stage.session.record(RecordingPlan("Torn", 1.0, 1.0, recovery=folder))
stage.session.apply(SETTINGS.changed({"synchronization": 0.7}))
stage.run(round(3.5 * FPS))
[path] = folder.glob("*.mmrecovery")
assert recovery.left_over(folder) == []  # it is being written
whole = path.read_bytes()
torn = folder / f"torn{recovery.SUFFIX}"
lengths = []
rng = np.random.default_rng(0)
for size in sorted({0, 1, 5, len(whole), *rng.integers(0, len(whole), 60).tolist()}):
    torn.write_bytes(whole[:size])
    try:
        lengths.append(len(recovery.read(torn).ticks.frames))
    except MotionMatchingError as error:
        assert torn.name in str(error) and not lengths
assert lengths[-1] == 3 * FPS and lengths == sorted(lengths) and set(lengths) == {FPS, 2 * FPS, 3 * FPS}
torn.write_bytes(whole[:-20] + bytes([whole[-20] ^ 1]) + whole[-19:])  # a flipped bit in the last second
assert len(recovery.read(torn).ticks.frames) == 2 * FPS
for nonsense in (b"", b"nonsense" * 1000):
    torn.write_bytes(nonsense)
    try:
        recovery.read(torn)
    except MotionMatchingError as error:
        assert torn.name in str(error)
    else:
        raise AssertionError
torn.unlink()
stage.session.stop()  # the take is in the action, and the file is gone
assert list(folder.iterdir()) == []
"""
)

GONE = (
    HEAD
    + """
stage = Stage()
stage.session.record(RecordingPlan("Orphan", 1.0, 1.0, recovery=folder))
stage.run(round(2.2 * FPS))
bpy.data.objects.remove(stage.obj)
[message] = stage.session.stop()
assert "'Person' is gone" in message and "recovery" in message
[path] = recovery.left_over(folder)
assert len(recovery.read(path).ticks.frames) == 2 * FPS

blocked = folder / "file"
blocked.write_text("in the way")
stage = Stage()
stage.run(2)
try:
    stage.session.record(RecordingPlan("Take", 1.0, 1.0, recovery=blocked))
except MotionMatchingError as error:
    assert "recovery file" in str(error)
else:
    raise AssertionError
assert not stage.session.is_recording and [a.name for a in bpy.data.actions] == []
stage.run(2)
stage.session.stop()
"""
)


def test_a_program_that_is_killed_loses_a_second_at_most(
    run_in_blender: Callable[..., str], demo_file: Path, tmp_path: Path
) -> None:
    folder, script = tmp_path / "recovery", tmp_path / "killed.py"
    script.write_text(KILLED, encoding="utf-8")
    command = [sys.executable, "-c", IN_BLENDER, str(script), str(demo_file), str(folder)]
    environment = {
        **os.environ,
        "BLENDER_USER_RESOURCES": str(tmp_path / "user"),
        "PYTHONPATH": str(CHECKOUT),
    }
    count, give_up = 0, time.monotonic() + 90
    with subprocess.Popen(
        command, cwd=CHECKOUT, env=environment, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.strip().isdigit():
                count = int(line)
            if count >= 130 or time.monotonic() > give_up:
                break
        process.kill()  # SIGKILL: nothing can be cleaned up
        # what it had still said
        count = max([count, *(int(line) for line in process.stdout if line.strip().isdigit())])
    assert count >= 130
    run_in_blender(RECOVERED, demo_file, folder, count)


def test_a_torn_file_is_read_up_to_there(
    run_in_blender: Callable[..., str], demo_file: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "recovery"
    run_in_blender(TORN, demo_file, folder)


def test_a_take_without_an_armature_stays_to_be_recovered(
    run_in_blender: Callable[..., str], demo_file: Path, tmp_path: Path
) -> None:
    run_in_blender(GONE, demo_file, tmp_path / "recovery")
