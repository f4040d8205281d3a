"""A killed program loses at most a second of a recording; a torn file is read up to the tear."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import time
import zlib
from pathlib import Path

import bpy
import numpy as np
import pytest

from motion_matching.engine.control import rollout
from motion_matching.engine.errors import MotionMatchingError
from motion_matching.engine.performance import performance
from motion_matching.live import recovery
from motion_matching.live.recorder import RecordingPlan
from motion_matching.scene.writing import recording
from tests.conftest import CHECKOUT, IN_BLENDER
from tests.demo import demo_settings
from tests.live.stage import FPS, Stage, make_performer
from tests.scene.keys import read_channels

HEAD = """
import sys
from pathlib import Path
import bpy
import numpy as np
from motion_matching.engine.performance import performance
from motion_matching.engine.control import rollout
from motion_matching.engine.errors import MotionMatchingError
from motion_matching.live import recovery
from motion_matching.live.recorder import RecordingPlan
from motion_matching.scene.blender.animation import actions
from motion_matching.scene.writing import recording
from tests.live.stage import *
folder = Path(sys.argv[2])
"""

# prints how many ticks it has recorded, until it is killed
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


def check_recovered(demo_file, folder, count):
    count = count
    [path] = recovery.find_unfinished(folder)
    found = recovery.read(path)
    ticks = found.ticks
    assert (found.origin.armature, ticks.name, ticks.fps, ticks.lead_in) == (
        "Person",
        "Lost",
        FPS,
        15,
    )
    assert count - FPS <= len(ticks.frames) <= count + FPS, (count, len(ticks.frames))
    assert np.allclose(ticks.frames, 5.0 + 0.8 * np.arange(len(ticks.frames)))

    # the same ticks in a recording that ended normally
    stage = Stage()
    stage.run(15)
    stage.session.record(RecordingPlan("Kept", 5.0, 0.8))
    poses = [report.frame.pose for report in stage.run(len(ticks.frames))]
    kept = bpy.data.actions[stage.session.stop_recording()]
    stage.session.stop()
    stage.obj.animation_data_clear()
    lost = recording.write_take(stage.obj, ticks)
    ours, theirs = read_channels(lost), read_channels(kept)
    assert ours.keys() == theirs.keys()
    assert all(np.array_equal(ours[key], theirs[key]) for key in ours)
    [part] = recording.read_recorded_parts(lost)
    take = rollout.solve(make_performer(), performance.from_json(part["performance"], "the take"))
    assert take.poses[part["lead_in"] :].tobytes() == np.stack(poses).tobytes()


@pytest.mark.slow
def test_a_killed_program_loses_at_most_a_second(demo_file: Path, tmp_path: Path) -> None:
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
        process.kill()  # SIGKILL: no clean-up is possible
        # its last output
        count = max([count, *(int(line) for line in process.stdout if line.strip().isdigit())])
    assert count >= 130
    check_recovered(demo_file, folder, count)


def test_a_torn_file_is_read_up_to_the_tear(tmp_path: Path) -> None:
    folder = tmp_path / "recovery"
    stage = Stage()
    stage.run(3)
    stage.session.record(RecordingPlan("Torn", 1.0, 1.0, recovery=folder))
    stage.session.apply(demo_settings().with_changes({"synchronization": 0.7}))
    stage.run(round(3.5 * FPS))
    [path] = folder.glob("*.mmrecovery")
    assert recovery.find_unfinished(folder) == []  # it is being written
    whole = path.read_bytes()
    torn = folder / f"torn{recovery.SUFFIX}"
    lengths, errors = [], []
    rng = np.random.default_rng(0)
    for size in sorted({0, 1, 5, len(whole), *rng.integers(0, len(whole), 60).tolist()}):
        torn.write_bytes(whole[:size])
        try:
            lengths.append(len(recovery.read(torn).ticks.frames))
        except MotionMatchingError as error:
            errors.append(str(error))
            assert not lengths, "a longer piece is read once a shorter one was"
    assert errors
    assert all(torn.name in error for error in errors)
    assert lengths[-1] == 3 * FPS
    assert lengths == sorted(lengths)
    assert set(lengths) == {FPS, 2 * FPS, 3 * FPS}
    torn.write_bytes(whole[:-20] + bytes([whole[-20] ^ 1]) + whole[-19:])
    assert len(recovery.read(torn).ticks.frames) == 2 * FPS
    for nonsense in (b"", b"nonsense" * 1000):
        torn.write_bytes(nonsense)
        with pytest.raises(MotionMatchingError) as caught:
            recovery.read(torn)
        assert torn.name in str(caught.value)
    torn.unlink()
    stage.session.stop()  # the take becomes an action, and the file is deleted
    assert list(folder.iterdir()) == []


def test_a_take_without_an_armature_can_still_be_recovered(tmp_path: Path) -> None:
    folder = tmp_path / "recovery"

    stage = Stage()
    stage.session.record(RecordingPlan("Orphan", 1.0, 1.0, recovery=folder))
    stage.run(round(2.2 * FPS))
    bpy.data.objects.remove(stage.obj)
    [message] = stage.session.stop()
    assert "'Person' was deleted" in message
    assert "recovery" in message
    [path] = recovery.find_unfinished(folder)
    assert len(recovery.read(path).ticks.frames) == 2 * FPS

    blocked = folder / "file"
    blocked.write_text("in the way")
    stage = Stage()
    stage.run(2)
    with pytest.raises(MotionMatchingError) as caught:
        stage.session.record(RecordingPlan("Take", 1.0, 1.0, recovery=blocked))
    assert "recovery file" in str(caught.value)
    assert not stage.session.is_recording
    assert [a.name for a in bpy.data.actions] == []
    stage.run(2)
    stage.session.stop()


def fail(*_: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("part", ["_lock", "_write_all"])
def test_a_recovery_file_that_cannot_be_created_leaves_nothing(
    part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = Stage()
    with monkeypatch.context() as full:
        full.setattr(recovery, part, fail)
        with pytest.raises(MotionMatchingError, match="No space left"):
            stage.session.record(RecordingPlan("Take", 1.0, 1.0, recovery=tmp_path))
    assert list(tmp_path.iterdir()) == []
    stage.session.stop()


def test_a_full_disk_does_not_lock_a_recovery_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = Stage()
    stage.session.record(RecordingPlan("Take", 1.0, 1.0, recovery=tmp_path))
    stage.run(round(1.5 * FPS))
    with monkeypatch.context() as full:
        full.setattr(recovery, "_write_all", fail)
        with pytest.raises(MotionMatchingError, match="No space left"):
            stage.run(round(FPS))
        with pytest.raises(MotionMatchingError, match="No space left"):
            stage.session.leave_recording()
    [path] = tmp_path.iterdir()  # without a lock
    assert len(recovery.read(path).ticks.frames) == FPS
    stage.session.stop()


STRANGE_HEADERS = (
    "[" * 100_000,
    "5",
    "{}",
    {"armature": 5},
    {"armature": "w\ud800", "alone": 1},
    {"file": 5},
    {"name": ""},
    {"scaled": "Hips"},
    {"fps": float("nan")},
    {"fps": 0},
    {"lead_in": 10**6},
    {"lead_in": -1},
    {"collection": 5},
    {"frame": 1e300},
    {"frame_step": 0},
    {"channels": "x"},
    {"channels": 10**9},
    {"tracks": 5},
    {"tracks": [{}]},
)
STRANGE_TRACKS = (
    {"path": "data.name"},
    {"free": [9]},
    {"rest": [0.0]},
    {"rest": ["x"] * 3},
    {"start": 10**9},
    {"start": -1},
    {"group": 5},
    {"optional": "yes"},
    {"colour": "red"},
)


def write_with_header(path: Path, whole: bytes, header: object) -> None:
    text = header if isinstance(header, str) else json.dumps(header)
    payload = text.encode()
    (_, length, _) = recovery._RECORD.unpack_from(whole)
    rest = whole[recovery._RECORD.size + length :]
    head = recovery._RECORD.pack(b"H", len(payload), zlib.crc32(payload))
    path.write_bytes(head + payload + rest)


def test_a_strange_recovery_file_is_refused_and_stays(tmp_path: Path) -> None:
    stage = Stage()
    stage.run(3)
    stage.session.record(RecordingPlan("Odd", 1.0, 1.0, recovery=tmp_path))
    stage.run(round(1.5 * FPS))
    [path] = tmp_path.glob("*.mmrecovery")
    whole = path.read_bytes()
    stage.session.stop()
    records = list(recovery._iterate_records(whole))
    header = json.loads(records[0][1])
    odd = tmp_path / f"odd{recovery.SUFFIX}"
    write_with_header(odd, whole, header)
    assert len(recovery.read(odd).ticks.frames) == FPS
    track = header["tracks"][0]
    strange = [h if isinstance(h, str) else header | h for h in STRANGE_HEADERS]
    strange += [header | {"tracks": [track | change]} for change in STRANGE_TRACKS]
    for each in strange:
        write_with_header(odd, whole, each)
        recovery.read_origin(odd)
        with pytest.raises(MotionMatchingError, match="odd"):
            recovery.read(odd)
    assert odd.exists()
    # poses that are no numbers, or far away
    for number in ("nan", "inf", "-2e9", "2e9"):
        payload = records[1][1][:-4] + np.float32(number).tobytes()
        head = recovery._RECORD.pack(b"T", len(payload), zlib.crc32(payload))
        first = len(whole) - len(records[1][1]) - recovery._RECORD.size
        odd.write_bytes(whole[:first] + head + payload)
        with pytest.raises(MotionMatchingError, match="odd"):
            recovery.read(odd)


def test_only_recordings_are_listed_and_locks_of_others_stay(tmp_path: Path) -> None:
    (tmp_path / f"mine{recovery.SUFFIX}").write_text("Has notes of mine")
    (tmp_path / "2026.lock").write_text("mine too")
    stage = Stage()
    stage.run(3)
    stage.session.record(RecordingPlan("Odd", 1.0, 1.0, recovery=tmp_path))
    stage.run(round(1.5 * FPS))
    [path] = (each for each in tmp_path.glob("2*") if each.suffix == recovery.SUFFIX)
    cut_off = tmp_path / f"2026{recovery.SUFFIX}"
    cut_off.write_bytes(path.read_bytes())
    stage.session.stop()
    assert recovery.find_unfinished(tmp_path) == [cut_off]
    assert (tmp_path / "2026.lock").read_text() == "mine too"
    assert (tmp_path / f"mine{recovery.SUFFIX}").read_text() == "Has notes of mine"
