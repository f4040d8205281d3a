"""Databases of sources with several skeletons: all become motion of one character."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from motion_matching.engine.building.build import BuildSettings, build
from motion_matching.engine.errors import RigError
from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.motion.clip import Clip
from motion_matching.engine.sources.skeletons import Character, compute_signature
from motion_matching.engine.sources.sources import Source, find_sources
from tests.demo import generate_clips
from tests.engine import characters


@pytest.fixture(scope="module")
def walks() -> list[Clip]:
    return generate_clips()[:3]


def scale_bones(clip: Clip, names: tuple[str, ...], factor: float) -> Clip:
    """Return a clip of a performer some of whose bones are longer; its hips are as high above."""
    bones = [clip.skeleton.index(name) for name in names]
    positions, rest = clip.positions.copy(), clip.skeleton.rest_positions.copy()
    positions[:, bones] *= np.float32(factor)
    rest[bones] *= np.float32(factor)
    return replace(clip, positions=positions, skeleton=replace(clip.skeleton, rest_positions=rest))


def find_part(database, name: str) -> slice:
    [number] = [k for k, r in enumerate(database.ranges) if r.clip == name]
    return slice(int(database.starts[number]), int(database.stops[number]))


def test_a_performer_with_longer_shins_is_used_as_well(walks):
    """The others stay as they are, and planted feet of the taller one neither sink nor float."""
    taller = scale_bones(walks[2], ("LeftFoot", "RightFoot"), 1.06)
    alone, _ = build([Source(clip=clip) for clip in walks[:2]], BuildSettings())
    database, report = build([Source(clip=clip) for clip in (*walks[:2], taller)], BuildSettings())
    assert [note.kind for note in report.mapped] == ["mapped"]
    assert report.mapped[0].source == taller.name
    assert report.skipped == ()
    np.testing.assert_allclose(database.poses[: alone.frame_count], alone.poses, atol=1e-4)
    toe = [database.skeleton.index(name) for name in ("LeftToe", "RightToe")]
    part = database.poses[find_part(database, taller.name)]
    heights = database.skeleton.compute_bone_positions(toe, part)[..., 2]
    expected = alone.skeleton.compute_bone_positions(toe, alone.poses)[..., 2]
    assert abs(np.percentile(heights, 5) - np.percentile(expected, 5)) < 0.01


def rename_hand(clip: Clip) -> Clip:
    names = tuple("Paw" if name == "LeftHand" else name for name in clip.skeleton.names)
    return replace(clip, skeleton=clip.skeleton.with_names(names))


def hang_head_on_chest(clip: Clip) -> Clip:
    """Return the same motion of a body whose head has no neck below it."""
    head, neck = (clip.skeleton.index(name) for name in ("Head", "Neck"))
    parents = clip.skeleton.parents.copy()
    parents[head] = parents[neck]
    rotations, positions = clip.compute_world()
    local = quat.ik(rotations.astype(np.float64), positions.astype(np.float64), parents)
    rest = quat.ik(*clip.skeleton.compute_rest_world(), parents)
    skeleton = replace(
        clip.skeleton, parents=parents, rest_rotations=rest[0], rest_positions=rest[1]
    )
    turned, moved = (part.astype(np.float32) for part in local)
    return replace(clip, skeleton=skeleton, rotations=turned, positions=moved)


def shorten_thigh(clip: Clip) -> Clip:
    return scale_bones(clip, ("LeftLeg", "RightLeg"), 0.9)


@pytest.mark.parametrize("change", [rename_hand, hang_head_on_chest, shorten_thigh])
def test_bones_of_other_names_parents_and_lengths_become_the_most_common_ones(walks, change):
    """What another body does, the character does: the head is where it was over the hips."""
    other = replace(change(walks[2]), name="other")
    sources = [Source(clip=clip) for clip in (other, *walks)]
    database, report = build(sources, BuildSettings())
    assert [note.source for note in report.mapped] == ["other"]
    bones = [database.skeleton.index(name) for name in ("Hips", "Head", "LeftHand")]
    places = [
        database.skeleton.compute_bone_positions(bones, database.poses[find_part(database, name)])
        for name in ("other", walks[2].name)
    ]
    from_hips = [place[:, 1:] - place[:, :1] for place in places]
    assert np.abs(from_hips[0] - from_hips[1]).max() < 0.06


@pytest.mark.slow
def test_a_retargeted_clip_brought_back_is_the_same_motion(walks):
    """From a skeleton of other names and rest pose, the same walk has the same features."""
    there, _ = build(
        [Source(clip=clip) for clip in walks],
        BuildSettings(character=Character(characters.make_mixamo().skeleton)),
    )
    assert there.skeleton.names[1:] == characters.make_mixamo().skeleton.names
    clip = there_clip(there, walks[0])
    back, report = build([Source(clip=walks[1]), Source(clip=clip)], BuildSettings())
    assert len(report.mapped) == 1
    plain, _ = build([Source(clip=walks[1]), Source(clip=walks[0])], BuildSettings())
    assert back.frame_count == plain.frame_count
    moved = plain.skeleton.compute_bone_positions(range(plain.skeleton.bone_count), plain.poses)
    again = back.skeleton.compute_bone_positions(range(plain.skeleton.bone_count), back.poses)
    body = [plain.skeleton.index(name) for name in ("LeftLeg", "LeftFoot", "Head", "RightHand")]
    assert np.abs(moved - again)[:, body].max() < 0.03


def there_clip(database, clip: Clip) -> Clip:
    """Return a source of a database as it is in it, as a clip of the character."""
    part = database.poses[find_part(database, clip.name)].astype(np.float64)
    positions, rotations = part[:, :3].transpose(0, 2, 1), part[:, 3:].transpose(0, 2, 1)
    rotations = quat.unroll(quat.normalize(rotations)).astype(np.float32)
    bones = database.skeleton
    return Clip("again", bones, positions.astype(np.float32), rotations, database.fps)


def test_the_key_knows_the_character_and_what_was_chosen(walks):
    plain = BuildSettings()
    mixamo = Character(characters.make_mixamo().skeleton)
    signature = compute_signature(walks[0].skeleton)
    contents = [
        plain.get_content(),
        replace(plain, character=mixamo).get_content(),
        replace(plain, character=Character(characters.make_child().skeleton)).get_content(),
        replace(plain, character=replace(mixamo, roles={"head": "Head"})).get_content(),
        replace(
            plain, character=replace(mixamo, source_roles={signature: {"head": "Head"}})
        ).get_content(),
    ]
    assert "mapping" not in contents[0], "databases of earlier versions are still found"
    assert all(one != other for k, one in enumerate(contents) for other in contents[:k])


def test_bones_that_were_chosen_by_hand_are_used(walks):
    """Without a head in the source, the character's head does not nod on its neck."""
    mixamo = characters.make_mixamo()
    chosen = {compute_signature(walks[0].skeleton): {"head": "", "neck": ""}}
    characters_with = [
        Character(mixamo.skeleton),
        Character(mixamo.skeleton, source_roles=chosen),
    ]
    head = mixamo.list_chains()["head"][0]
    nods, counts = [], []
    for character in characters_with:
        database, report = build([Source(clip=walks[0])], BuildSettings(character=character))
        nods.append(np.ptp(database.poses[:, 3:, head], axis=0).max())
        counts.append(int(report.mapped[0].text.split()[0]))
    assert nods[0] > 0.01
    assert nods[1] < 1e-5
    assert counts[1] < counts[0]


def test_skeletons_without_a_body_are_named(walks):
    """A rig without legs is left out, or ends the build with a sentence that names it."""
    [plain] = walks[:1]
    bones = [b for b, name in enumerate(plain.skeleton.names) if "Leg" not in name][:4]
    skeleton = replace(
        plain.skeleton,
        names=tuple(f"Part{k}" for k in range(4)),
        parents=np.arange(-1, 3),
        rest_positions=plain.skeleton.rest_positions[bones],
        rest_rotations=plain.skeleton.rest_rotations[bones],
        end_sites=(),
        in_files=None,
    )
    tentacle = Clip(
        "tentacle", skeleton, plain.positions[:, bones], plain.rotations[:, bones], plain.fps
    )
    sources = [Source(clip=walks[0]), Source(clip=walks[1]), Source(clip=tentacle)]
    with pytest.raises(RigError, match="tentacle"):
        build(sources, BuildSettings())
    _, report = build(sources, BuildSettings(), skip_broken=True)
    assert [(note.source, note.kind) for note in report.skipped] == [("tentacle", "skeleton")]


def test_recorded_files_become_motion_of_any_character(mocap: Path):
    """Two sorts of files make one database; feet rest on the ground, and it walks its own size."""
    files = find_sources(
        [mocap / "bandai-namco" / f"dataset-1_walk_normal_00{n}.bvh" for n in (1, 2)]
    )
    take = replace(find_sources([mocap / "lafan1"])[0], start=0, stop=600)
    child = characters.make_child()
    database, report = build([*files, take], BuildSettings(character=Character(child.skeleton)))
    assert len(report.mapped) == 3
    toes = [database.skeleton.names[leg.toe] for leg in database.roles.legs]
    bones = [database.skeleton.index(name) for name in toes]
    heights = database.skeleton.compute_bone_positions(bones, database.poses)[..., 2]
    rest = child.skeleton.compute_rest_world()[1][[child.skeleton.index(n) for n in toes], 2]
    assert abs(np.median(heights[database.contacts > 0.5]) - rest.mean()) < 0.015
