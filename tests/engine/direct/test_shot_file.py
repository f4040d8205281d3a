"""Scenes as JSON files."""

from __future__ import annotations

import json

import pytest

from motion_matching.engine.direct.shot import shot_file
from motion_matching.engine.direct.shot.shot import ForbiddenJump, Mark, Shot, TimedPath
from motion_matching.engine.errors import SettingsError
from motion_matching.engine.ground.ground import Box
from tests.engine.sentences import check_sentence

SCENE = {
    "start": {"position": [0, 0], "facing": 0},
    "seconds": 20,
    "gait": "walk",
    "marks": [
        {"time": 4.0, "position": [1.5, -3.0], "facing": 1.57, "hold": 1.0},
        {"time": 9.0, "frame": "walk_speeds:150"},
        {"time": 12.0, "gait": "run", "tags": ["brave"]},
        {"time": 13.0, "tags": []},
    ],
    "paths": [{"times": [14.0, 15.0], "positions": [[6, -12], [7, -12]], "yaws": [1.5, 1.6]}],
    "pins": [{"limb": "left_hand", "start": 6.0, "stop": 7.5, "position": [0.4, -3.2, 1.0]}],
    "forbid": [{"from": "walk:3", "to": "run:5"}],
    "seed": 2,
}


def write(folder, **changes):
    path = folder / "scene.json"
    path.write_text(json.dumps(SCENE | changes))
    return path


def test_a_scene_is_read_whole(tmp_path):
    shot = shot_file.load(write(tmp_path))
    assert shot == Shot(
        20.0,
        marks=(
            Mark(4.0, (1.5, -3.0), 1.57, 1.0),
            Mark(9.0, frame="walk_speeds:150"),
            Mark(12.0, gait="run", tags=("brave",)),
            Mark(13.0, tags=()),
            Mark.from_pin("left_hand", 6.0, 7.5, (0.4, -3.2, 1.0)),
        ),
        paths=(TimedPath((14.0, 15.0), ((6.0, -12.0), (7.0, -12.0)), (1.5, 1.6)),),
        forbidden=(ForbiddenJump("walk:3", "run:5"),),
        seed=2,
    )
    assert shot.name == "scene"


def test_what_is_written_is_read_again(tmp_path):
    shot = shot_file.load(
        write(
            tmp_path,
            obstacles=[{"center": [1, 2], "size": [1, 1]}],
            walls=[[[0, 1], [2, 3]]],
            name="Enter Left",
        )
    )
    assert shot.obstacles == (Box((1.0, 2.0), (1.0, 1.0)),)
    shot_file.save(shot, tmp_path / "again.json")
    again = shot_file.load(tmp_path / "again.json")
    assert again == shot
    assert again.name == "Enter Left"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"seconds": None}, ("'seconds'",)),
        ({"seconds": 601}, ("'seconds'", "600")),
        ({"marks": [{"time": -1}]}, ("'time' of mark 1",)),
        ({"marks": [{"time": 1}, {"time": 21}]}, ("'time' of mark 2", "21")),
        ({"marks": [{"time": 1, "position": [0]}]}, ("'position' of mark 1",)),
        ({"marks": [{"time": 1, "positon": [0, 0]}]}, ("mark 1", "positon")),
        ({"marks": [{"time": 1, "gait": "fly"}]}, ("'gait' of mark 1", "fly")),
        ({"paths": [{"times": [2, 1], "positions": [[0, 0], [1, 1]]}]}, ("path 1", "ascend")),
        ({"marks": [{"time": 1, "leads": 0}]}, ("'leads' of mark 1",)),
        ({"pins": [SCENE["pins"][0] | {"stop": 5.0}]}, ("pin 1", "stop")),
        ({"forbid": [{"from": "a:1"}]}, ("'to' of entry of 'forbid' 1",)),
        ({"camera": 1}, ("camera",)),
    ],
)
def test_a_wrong_entry_is_named(tmp_path, changes, words):
    path = write(tmp_path, **changes)
    with pytest.raises(SettingsError) as error:
        shot_file.load(path)
    check_sentence(error, path, *words)


def test_a_number_that_is_none_is_named(tmp_path):
    path = tmp_path / "scene.json"
    path.write_text('{"seconds": 5, "marks": [{"time": NaN}]}')
    with pytest.raises(SettingsError) as error:
        shot_file.load(path)
    check_sentence(error, path, "'time' of mark 1")
