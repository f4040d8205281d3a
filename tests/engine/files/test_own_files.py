"""What nobody named is removed, moved or written over only if it is the program's own."""

from __future__ import annotations

import ast
import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from motion_matching.engine.building.build import BuildSettings, build
from motion_matching.engine.database import database as databases
from motion_matching.engine.database.database import Database
from motion_matching.engine.direct.footage import jump_table
from motion_matching.engine.direct.footage.footage import make_footage
from motion_matching.engine.files import own_files
from motion_matching.engine.files.own_files import DATABASE, EMPTY, FIELD, JUMPS, NOTE
from motion_matching.engine.sources.sources import Source
from tests.demo import generate_clips

PACKAGE = Path(own_files.__file__).resolve().parents[2]
BEFORE = Path(__file__).parents[2] / "data" / "before"
KEY = "0123456789abcdef" * 2


@pytest.fixture(scope="module")
def small() -> Database:
    return build([Source(clip=clip) for clip in generate_clips()[:2]], BuildSettings())[0]


@pytest.fixture(params=["text", "amass", "compressed", "header"])
def foreign(request: pytest.FixtureRequest, tmp_path: Path) -> bytes:
    """The content of a file that is none of ours."""
    if request.param == "text":
        return b"notes of my thesis"
    file = tmp_path / "made.npz"
    if request.param == "header":
        np.savez(file, header=np.frombuffer(b'{"format": "another"}', np.uint8))
    else:
        save = np.savez if request.param == "amass" else np.savez_compressed
        save(file, poses=np.zeros((30, 156)), key=np.zeros(64, np.uint8))
    content = file.read_bytes()
    file.unlink()
    return content


def test_each_kind_is_recognised_by_its_content(small: Database, tmp_path: Path):
    path = tmp_path / "any name"
    databases.save(small, path)
    assert own_files.find_kind(path) == DATABASE
    whole = path.read_bytes()
    for length in (len(whole) // 2, 3000):  # a copy that was cut off is ours still
        path.write_bytes(whole[:length])
        assert own_files.find_kind(path) == DATABASE
    footage = make_footage(small)
    jump_table.save_table(jump_table.build_table(footage), footage, path)
    assert own_files.find_kind(path) == JUMPS
    for name, kind in (
        ("curves.npz", DATABASE),
        ("curves_field.npz", FIELD),
        ("cut_off.mmrecovery", own_files.RECORDING),
        ("curves.bvh", ""),
        ("take.bvh", ""),
        ("performance.json", ""),
    ):
        assert own_files.find_kind(BEFORE / name) == kind, name
    path.write_text(KEY)
    assert own_files.find_kind(path) == NOTE
    path.write_text(f"{KEY} and more")
    assert own_files.find_kind(path) == ""
    path.write_bytes(b"")
    assert own_files.find_kind(path) == EMPTY
    assert own_files.find_kind(tmp_path) == own_files.find_kind(tmp_path / "missing") == ""
    assert own_files.find_kind(Path("/dev/zero")) == ""


def test_what_is_not_ours_is_neither_removed_nor_written_over(foreign: bytes, tmp_path: Path):
    for name in (f"{KEY}.npz", f"{KEY}.base", f"field-{KEY}.npz", f"{KEY}.jumps.npz", "x.lock"):
        path = tmp_path / name
        path.write_bytes(foreign)
        assert own_files.find_kind(path) == ""
        assert not own_files.remove(path)
        for kind in (DATABASE, FIELD, JUMPS, NOTE):
            assert not own_files.is_free(path, kind)
        assert own_files.list_stored(tmp_path) == []
        for number in (1, 2):
            own_files.make_way(path, DATABASE)
            aside = path.with_name(f"{name}.kept{number}")
            assert aside.read_bytes() == foreign
            assert not path.exists()
            path.write_bytes(foreign)
        path.unlink()


def test_a_library_holds_what_is_named_by_a_key_and_of_the_kind_it_says(tmp_path: Path):
    database, field = (BEFORE / name for name in ("curves.npz", "curves_field.npz"))
    contents = {
        f"{KEY}.npz": database.read_bytes(),
        f"field-{KEY}.npz": field.read_bytes(),
        f"field-{KEY}.stopped.npz": field.read_bytes(),
        f"{KEY}.base": KEY.encode(),
    }
    others = {  # by name or by kind
        "walk.npz": database.read_bytes(),
        "a-field.npz": field.read_bytes(),
        f"{KEY[:-1]}.npz": database.read_bytes(),
        f"{KEY.upper()}.npz": database.read_bytes(),
        f"field-{KEY[::-1]}.npz": database.read_bytes(),
        f"{KEY[::-1]}.npz": field.read_bytes(),
        "notes.base": KEY.encode(),
        f"{KEY[::-1]}.base": b"notes",
        f"{KEY}.npz.kept1": database.read_bytes(),
    }
    for name, content in (contents | others).items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / f"{KEY[1:]}0.npz").mkdir()
    assert {path.name for path in own_files.list_stored(tmp_path)} == set(contents)
    assert own_files.list_stored(tmp_path / "missing") == []


def test_databases_that_a_user_puts_into_a_library_are_none_of_it(small: Database, tmp_path: Path):
    """Neither one that was built as a file of its own, nor a copy under another key."""
    stored, copied, built = (tmp_path / f"{key}.npz" for key in (KEY, KEY[::-1], "0" * 32))
    databases.save(small, stored, KEY)
    copied.write_bytes(stored.read_bytes())
    databases.save(small, built)
    assert own_files.list_stored(tmp_path) == [stored]
    assert databases.load(stored).frame_count == small.frame_count


def test_only_old_files_that_are_half_written_are_swept(tmp_path: Path):
    def make(name: str, age: float) -> Path:
        path = tmp_path / name
        path.write_bytes(b"half")
        os.utime(path, (time.time() - age,) * 2)
        return path

    left = [f".{KEY}.unfinished-0123abcd.npz", f".field-{KEY}.stopped.unfinished-0123abcd.npz"]
    left += [f".{KEY}.npz.part", f".{KEY}.base.part"]
    mine = [".notes.npz", f"{KEY}.txt", ".walk.unfinished-0123abcd.npz", f".{KEY}"]
    files = [make(name, 7200.0) for name in (*left, *mine)]
    young = make(f".{KEY}.unfinished-ffffffff.npz", 60.0)
    assert own_files.sweep(tmp_path) == 4 * len(left)
    assert [path.exists() for path in files] == [False] * len(left) + [True] * len(mine)
    assert young.exists()


def test_temporary_folders_that_killed_programs_left_go_after_a_day(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    old = []
    for age in (0.0, 50.0 * 3600.0):
        with suppress(FileNotFoundError), own_files.make_temporary_folder() as folder:
            moved = folder.rename(tmp_path / f"away{age:g}")
        moved.rename(folder)  # as if the program had been killed
        (folder / "take.blend").write_bytes(b"half")
        for path in (folder / "take.blend", folder):
            os.utime(path, (time.time() - age,) * 2)
        old.append(folder)
    mine = tmp_path / "motion-matching-abcdefgh"  # with a training that was saved there
    mine.mkdir()
    os.utime(mine, (0, 0))
    with own_files.make_temporary_folder() as folder:
        assert [path.exists() for path in old] == [True, False]
        (folder / "take.bvh").write_text("whole")
    assert not folder.exists()
    assert mine.exists()


# ---------------------------------------------------------------- every writer and every remover

# Files of the package that remove, rename or open for writing by themselves, and why they may
PRIMITIVE = {
    "engine/files/own_files.py": "holds the rule",
    "engine/files/file_paths.py": "a temporary file, made under a new name, replaces what the caller names",
    "engine/files/array_files.py": "writes into the temporary file of `replacing`",
    "engine/insight/raster.py": "writes into the temporary file of `replacing`",
    "engine/bvh/bvh.py": "writes into the temporary file of `replacing`",
    "engine/silence.py": "opens the system's null device",
    "cli.py": "opens the system's null device",
    "app/jobs/exporting.py": "removes the temporary file of `replacing`, which Blender makes anew",
    "batch/run.py": "writes a row's log, and removes temporary files of rows and empty folders it made",
    "batch/workers.py": "writes logs of rows, and files in its temporary folder",
    "commands/train.py": "makes a folder with a new name for a training that is told where it is",
    "live/recovery.py": "makes a file only where there is none, and removes that one itself",
    "scene/blender/files.py": "writes the temporary file of `replacing`",
    "scene/reading/gltf_skins.py": "writes into its temporary folder",
    "scene/library/library.py": "writes the temporary file of `replacing`",
    "scene/library/library_moving.py": "copies ours to names that are free, and takes that back",
    "ui/presets.py": "moves presets to the bin under a new name, and writes that of `replacing`",
}
# Files that write through these, by who names what is written
NAMED = {
    "api": "the script that calls it",
    "app/jobs/exporting.py": "the folder of a job, which is empty, new, or held a job before",
    "batch/state.py": "the state of a row, beside the output that it names",
    "batch/farms/writing.py": "--template, --slurm and --flamenco, and what it names is no file of others",
    "commands/batch.py": "--collect",
    "commands/build.py": "-o and --save-tags",
    "commands/blend.py": "-o",
    "commands/checks.py": "options",
    "commands/inspect.py": "--plot and --report",
    "commands/prune.py": "-o, --save-tags and --report",
    "commands/retarget.py": "-o and --report",
    "commands/take.py": "its options",
    "engine": "the caller",
    "scene/blender/files.py": "the caller",
    "scene/retargeting/onto.py": "-o",
    "scene/staging/take_file.py": "-o",
    "ui/insight/operators.py": "the file browser, which asks before it replaces",
    "ui/presets.py": "the user, and what had that name goes to the bin",
}
UNNAMED = {  # these follow the rule
    "app/controller/training.py",
    "commands/demo_clips.py",
    "commands/direct.py",
    "commands/train.py",
    "scene/library/library.py",
}
_REMOVING = {"unlink", "rmtree", "renames", "rmdir", "removedirs", "truncate"}
_RAW = {"write_text", "write_bytes", "savez", "savez_compressed", "mkstemp", "mkdtemp", "copyfile"}
_RAW |= {"copy2", "copytree", "symlink", "hardlink_to", "symlink_to", "tofile"}
_RAW |= {"TemporaryDirectory", "NamedTemporaryFile", "save_as_mainfile", "write_still", "copystat"}
_SAVING = {"replacing", "save_arrays", "write_together", "save_after", "write_text", "save_table"}
_SAVING |= {"write_bvh", "write_report", "save_tags", "write_blend", "render"}


def _iterate_calls(file: Path) -> Iterator[tuple[ast.Call, str, str]]:
    """Yield each call with the name of what is called, and that of what it is an attribute of."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            yield node, node.func.attr, ast.unparse(node.func.value)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield node, node.func.id, ""


def _is_primitive(call: ast.Call, name: str, owner: str) -> bool:
    """Return whether a call removes, renames or writes a file by itself."""
    if name == "replace":  # not that of texts, which takes two, nor that of dataclasses
        return owner == "os" or (bool(owner) and len(call.args) == 1 and not call.keywords)
    if name in ("remove", "move", "link", "rename"):  # not that of lists, objects and texts
        return owner in ("os", "shutil") or (name == "rename" and bool(owner))
    if name == "open":
        words = [ast.unparse(each) for each in (*call.args, *(k.value for k in call.keywords))]
        is_writing = any(word[0] in "'\"" and set(word) & set("wax+") for word in words[-2:])
        return is_writing or (owner == "os" and "O_WRONLY" in str(words))
    if name == "write_text" and owner == "file_paths":
        return False
    if name == "save":
        return owner in ("np", "numpy")
    return name in _REMOVING or name in _RAW


def _is_saving(name: str, owner: str) -> bool:
    """Return whether a call writes a file whole, at a path that it is given."""
    return name in _SAVING or (name == "save" and owner not in ("np", "numpy"))


def _is_listed(module: str, listed: object) -> bool:
    folders = [module, *(str(parent) for parent in Path(module).parents)]
    return any(each in listed for each in folders)


@pytest.mark.slow
def test_files_are_removed_and_written_where_the_rule_allows_it():
    """Only the rule removes them, but for those that say why; what nobody named follows it."""
    removing, saving = set(), set()
    for file in PACKAGE.rglob("*.py"):
        module = file.relative_to(PACKAGE).as_posix()
        for call, name, owner in _iterate_calls(file):
            if _is_primitive(call, name, owner):
                removing.add(module)
            if _is_saving(name, owner):
                saving.add(module)
    assert removing == set(PRIMITIVE)
    assert [each for each in saving if not _is_listed(each, {*NAMED, *UNNAMED})] == []
    for module in UNNAMED:
        text = (PACKAGE / module).read_text(encoding="utf-8")
        assert any(word in text for word in ("own_files.", "can_keep_table")), module


@pytest.mark.parametrize(
    "line",
    [
        *("path.unlink()", "os.remove(path)", "os.replace(a, b)", "a.replace(b)", "a.rename(b)"),
        *("shutil.rmtree(a)", "open(a, 'w')", "open(a, mode='ab')", "a.open('xb')", "a.rmdir()"),
        *("np.savez(a, b=c)", "np.save(a, b)", "a.write_text('b')", "shutil.move(a, b)"),
    ],
)
def test_a_remover_is_noticed(line: str, tmp_path: Path):
    (tmp_path / "a.py").write_text(line)
    assert any(_is_primitive(*call) for call in _iterate_calls(tmp_path / "a.py"))


@pytest.mark.parametrize(
    "line", ["a.replace('b', 'c')", "replace(a, b=c)", "open(a)", "a.open('rb')", "list.remove(a)"]
)
def test_what_removes_nothing_is_none(line: str, tmp_path: Path):
    (tmp_path / "a.py").write_text(line)
    assert not any(_is_primitive(*call) for call in _iterate_calls(tmp_path / "a.py"))
