"""*Other Tempos* of a source adds its copies to the database of a character."""

from __future__ import annotations

import bpy
import pytest

from motion_matching.app.database import frame_numbers, status
from motion_matching.app.database.content import compute_key
from motion_matching.app.database.library import get_library
from motion_matching.app.insight import inspected_frames
from motion_matching.app.runtime import runtime
from motion_matching.engine.bvh import bvh
from tests.demo import generate_clips
from tests.steps import run_steps
from tests.ui.characters import create_character

ops = bpy.ops.motion_matching


def test_copies_belong_to_their_source(tmp_path):
    clip = next(c for c in generate_clips(fps=24) if c.name == "walk_speeds")
    bvh.save(clip, tmp_path / "walk.bvh")
    obj = create_character()
    ops.add_files(filepath=str(tmp_path / "walk.bvh"), mirror=False)
    source = obj.motion_matching.sources[0]
    plain = compute_key(obj)
    ops.edit_sources(edit="tempo")
    assert source.tempo
    assert compute_key(obj) != plain
    assert ops.build() == {"FINISHED"}
    status.refresh(obj)
    database = get_library().load(status.get_status(obj).key)
    labels = ["walk", "walk at 0.9x", "walk at 1.1x"]
    assert [origin.label for origin in database.ranges] == labels
    assert set(frame_numbers.find_first_frames(obj, database)) == {0}
    for index, tempo in enumerate((1.0, 0.9, 1.1)):
        frame = int(database.starts[index]) + 100
        found = run_steps(inspected_frames.find_source_steps(obj, database, frame))
        assert found.source_index == 0
        assert found.frame == round(100 * database.ranges[index].source_frames_per_frame)
        assert found.step == pytest.approx(tempo * database.ranges[0].source_frames_per_frame)
    # the inspector shows the clip itself
    assert ops.preview_source() == {"FINISHED"}
    obj.motion_matching.insight.inspect = "source"
    bpy.context.scene.frame_set(60)
    assert ops.inspect_frame() == {"FINISHED"}
    seen = runtime.inspector
    assert seen.inspected is not None, seen.problem
    assert int(database.range_of_frame[seen.inspected.frame]) == 0
    ops.edit_sources(edit="no_tempo")
    assert compute_key(obj) == plain
