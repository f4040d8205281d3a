"""The same commands write the same files in another process, folder and order of hashes."""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path

import pytest

from motion_matching import api
from motion_matching.engine.bvh import bvh
from tests.demo import generate_clips
from tests.processes import run_process

CHECKOUT = Path(__file__).resolve().parents[1]
CLIPS = ("idle", "walk_curves")
SCENE = """{"start": {"position": [0, 0], "facing": 0}, "seconds": 2, "gait": "walk",
"marks": [{"time": 2, "position": [0.3, -1.2]}]}"""
COMMANDS = """
build clips -o walk.npz --mirror --auto-tags --save-tags tags.json
take walk.npz --script random --seconds 2 --bvh take.bvh -o take.blend --report take.json
take walk.npz --script square --seconds 1 --save-performance p.json --save-contacts c.json
take walk.npz --script p.json --preview take.png --preview-size 320x180 --feet live
inspect walk.npz --performance p.json --report inspect.json --plot inspect.svg
inspect walk.npz --frame walk_curves:50 --wish 1 --report frame.json
train walk.npz -o field.npz --quality draft --states 100
direct walk.npz scene.json --preview --bvh direct.bvh --report direct.json
retarget take.bvh --onto take.blend -o hero.blend --report retarget.json
prune walk.npz -o small.npz --performance p.json --seconds 1 --report prune.json
"""
# all commands in one process: starting Blender's module takes longer than they do
SCRIPT = """
import sys
from motion_matching.cli import main
for line in sys.argv[1].strip().splitlines():
    assert main([*line.split(), "--quiet"]) == 0, line
"""


def make_files(folder: Path, seed: int) -> dict[str, Path]:
    """Run the commands in a folder, in a process of its own; return what they wrote, by name."""
    (folder / "clips").mkdir(parents=True)
    for clip in generate_clips():
        if clip.name in CLIPS:
            bvh.save(clip, folder / "clips" / f"{clip.name}.bvh")
    (folder / "scene.json").write_text(SCENE)
    environment = {**os.environ, "PYTHONHASHSEED": str(seed), "PYTHONPATH": str(CHECKOUT)}
    environment["HOME"] = environment["BLENDER_USER_RESOURCES"] = str(folder / "home")
    command = [sys.executable, "-c", SCRIPT, COMMANDS]
    run_process(command, folder, environment, 400, "the commands")
    return {path.name: path for path in folder.iterdir() if path.is_file()}


@pytest.mark.slow
def test_the_same_commands_write_the_same_files(tmp_path):
    first = make_files(tmp_path / "a", 1)
    second = make_files(tmp_path / "another folder" / "deeper", 2)
    assert first.keys() == second.keys()
    assert {path.suffix for path in first.values()} == {
        *(".npz", ".bvh", ".blend", ".json", ".svg", ".png")
    }
    differences = {name: api.compare(path, second[name]) for name, path in first.items()}
    assert {name: text for name, text in differences.items() if text} == {}
    assert all(api.digest(path) == api.digest(second[name]) for name, path in first.items())
    # no folder and no machine is named; short names of machines occur by chance
    told = [name for name in (str(tmp_path), platform.node()) if len(name) > 4]
    contents = {path: path.read_bytes() for path in first.values() if path.suffix != ".blend"}
    assert [path for path, data in contents.items() for name in told if name.encode() in data] == []
