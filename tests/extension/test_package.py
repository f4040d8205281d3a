"""The zips that users install hold their platform's wheels, the whole package and a correct
manifest.
"""

from __future__ import annotations

import ast
import hashlib
import re
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hosts import build_zip, get_platform

from building import package, pins
from tests.conftest import CHECKOUT

SDL = "PySDL2-0.9.17-py3-none-any.whl"
TQDM = "tqdm-4.70.1-py3-none-any.whl"
EXPECTED = {
    "windows-x64": {
        SDL,
        TQDM,
        "pysdl2_dll-2.32.10-py2.py3-none-win_amd64.whl",
        "scipy-1.15.3-cp311-cp311-win_amd64.whl",
        "scipy-1.15.3-cp313-cp313-win_amd64.whl",
    },
    "macos-arm64": {
        SDL,
        TQDM,
        "pysdl2_dll-2.32.10-py2.py3-none-macosx_11_0_universal2.whl",
        "scipy-1.15.3-cp311-cp311-macosx_12_0_arm64.whl",
        "scipy-1.15.3-cp313-cp313-macosx_12_0_arm64.whl",
    },
    "macos-x64": {
        SDL,
        TQDM,
        "pysdl2_dll-2.32.10-py2.py3-none-macosx_10_11_x86_64.whl",
        "scipy-1.15.3-cp311-cp311-macosx_10_13_x86_64.whl",
        "scipy-1.15.3-cp313-cp313-macosx_10_13_x86_64.whl",
    },
    "linux-x64": {
        SDL,
        TQDM,
        "pysdl2_dll-2.32.10-py2.py3-none-manylinux2014_x86_64.whl",
        "scipy-1.15.3-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl",
        "scipy-1.15.3-cp313-cp313-manylinux_2_17_x86_64.manylinux2014_x86_64.whl",
    },
}
MANIFEST = tomllib.loads((CHECKOUT / "blender_manifest.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def zips(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The built and validated zip of each platform."""
    made = build_zip(tmp_path_factory.mktemp("dist"))
    return {
        platform: next(zipped for zipped in made if platform in zipped.name)
        for platform in pins.PLATFORMS
    }


@pytest.mark.timeout(1200)  # the first run downloads 300 MB of wheels
@pytest.mark.parametrize("platform", EXPECTED)
def test_a_zip_holds_only_the_wheels_of_its_platform(zips, platform):
    with zipfile.ZipFile(zips[platform]) as archive:
        held = {
            name.removeprefix("wheels/") for name in archive.namelist() if name.endswith(".whl")
        }
        manifest = tomllib.loads(archive.read("blender_manifest.toml").decode())
    assert held == EXPECTED[platform]
    assert {wheel.removeprefix("./wheels/") for wheel in manifest["wheels"]} == EXPECTED[platform]
    assert manifest["platforms"] == [platform]
    assert set(pins.PLATFORMS) == set(EXPECTED)


def test_a_zip_holds_the_whole_package_and_nothing_else(zips):
    ours = CHECKOUT / "motion_matching"
    expected = {
        str(file.relative_to(ours).as_posix())
        for file in ours.rglob("*")
        if file.suffix in (".py", ".typed", ".npz", ".json", ".js", ".license")
    }
    expected.remove("__main__.py")  # which only a checkout runs
    expected |= {
        str(file.relative_to(CHECKOUT).as_posix())
        for file in (CHECKOUT / "presets").rglob("*.json")
    }
    expected |= {"LICENSE", "blender_manifest.toml"}
    for zipped in zips.values():
        with zipfile.ZipFile(zipped) as archive:
            names = {name for name in archive.namelist() if not name.endswith(("/", ".whl"))}
        assert names == expected


def test_a_zips_manifest_adds_platform_and_wheels_to_ours(zips):
    for zipped in zips.values():
        with zipfile.ZipFile(zipped) as archive:
            manifest = tomllib.loads(archive.read("blender_manifest.toml").decode())
        assert {
            **MANIFEST,
            "platforms": manifest["platforms"],
            "wheels": manifest["wheels"],
        } == manifest
        assert MANIFEST["version"] in zipped.name


def test_a_zip_runs_no_text_traces_nothing_and_joins_its_threads(zips):
    """Code that runs texts, traces, or goes on after a disabled extension is refused in reviews."""
    with zipfile.ZipFile(zips["linux-x64"]) as archive:
        found = [
            f"{name}:{problem}"
            for name in sorted(archive.namelist())
            if name.endswith(".py")
            for problem in find_reviewed(ast.parse(archive.read(name)))
        ]
    assert found == []


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("exec('1')", ["1 exec"]),
        ("import builtins\nbuiltins.eval('1')", ["2 eval"]),
        ("import sys\nsys.settrace(None)", ["2 settrace"]),
        ("if __name__ == '__main__':\n    pass", ["1 __main__"]),
        ("def run():\n    Thread(target=print).start()", ["2 Thread without join"]),
        ("def run():\n    t = threading.Timer(1, print)\n    t.start()", ["2 Timer without join"]),
        ("def run():\n    t = Thread(target=print)\n    t.start()\n    t.join()", []),
        ("def run():\n    ','.join(Thread(target=print))", ["2 Thread without join"]),
        ("def run():\n    with ThreadPoolExecutor() as pool:\n        pool.map(print, ())", []),
        ("POOL = ThreadPoolExecutor()", ["1 ThreadPoolExecutor without join"]),
    ],
)
def test_what_a_review_refuses_is_found(code, found):
    assert list(find_reviewed(ast.parse(code))) == found


RUNS_TEXT = {"exec", "eval", "compile", "settrace", "setprofile"}
STARTS_THREADS = {"Thread", "Timer", "ThreadPoolExecutor", "ProcessPoolExecutor"}


def find_reviewed(tree: ast.Module) -> Iterator[str]:
    """Yield line and kind of what reviewers of extensions refuse in a module."""
    joined, managed = set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.With):
            managed |= {id(item.context_expr) for item in node.items}
        elif isinstance(node, ast.FunctionDef):
            joins = {
                call.func.value.id
                for call in find_calls(node)
                if isinstance(call.func, ast.Attribute)
                and call.func.attr == "join"
                and isinstance(call.func.value, ast.Name)
            }
            joined |= {
                id(assigned.value)
                for assigned in ast.walk(node)
                if isinstance(assigned, ast.Assign)
                and isinstance(assigned.targets[0], ast.Name)
                and assigned.targets[0].id in joins
            }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and node.value == "__main__":
            yield f"{node.lineno} __main__"
    for call in find_calls(tree):
        is_method = isinstance(call.func, ast.Attribute)
        name = call.func.attr if is_method else getattr(call.func, "id", "")
        if name in RUNS_TEXT and not (name == "compile" and is_method):  # patterns are compiled
            yield f"{call.lineno} {name}"
        if name in STARTS_THREADS and id(call) not in joined | managed:
            yield f"{call.lineno} {name} without join"


def find_calls(tree: ast.AST) -> list[ast.Call]:
    """Return all calls in a tree."""
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call)]


def test_each_platform_and_python_gets_one_wheel_of_each_kind():
    for platform in pins.PLATFORMS:
        for python in ("3.11", "3.13", "3.14"):
            chosen = package.choose_wheels(platform, (python,))
            assert sorted(name.split("-")[0] for name in chosen) == [
                "PySDL2",
                "pysdl2_dll",
                "scipy",
                "tqdm",
            ]
        assert len(package.choose_wheels(platform, ("3.13", "3.14"))) == 5


def test_the_zip_for_distributions_is_named_so(tmp_path):
    (zipped,) = build_zip(tmp_path, "--platform", get_platform(), "--python", "3.13,3.14")
    assert zipped.stem.endswith("-python3.13-3.14")
    pythons = {
        wheel.split("-")[2] for wheel in package.list_wheels(zipped) if wheel.startswith("scipy")
    }
    assert pythons == {"cp313", "cp314"}


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--python", "3.12"), "There are no wheels for Python '3.12'"),
        (("--platform", "amiga"), "There is no platform 'amiga'"),
    ],
)
def test_packaging_errors_are_one_sentence(tmp_path, capsys, arguments, told):
    assert package.main(["-o", str(tmp_path), *arguments]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(told)
    assert line.endswith(".")
    assert not list(tmp_path.iterdir())


def test_a_tampered_wheel_is_not_shipped(tmp_path, monkeypatch):
    monkeypatch.setattr(package, "CACHE", tmp_path)
    (tmp_path / SDL).write_bytes(b"something else")

    def download(command: list[str], advice: str) -> None:
        (Path(command[command.index("--dest") + 1]) / SDL).write_bytes(b"something else again")

    monkeypatch.setattr(package, "run_quietly", download)
    with pytest.raises(package.BuildError, match="another PySDL2"):
        package.fetch(SDL)


def test_the_cache_never_holds_part_of_a_wheel(tmp_path, monkeypatch):
    """Several suites may package at once, and none may see a partly written wheel."""
    monkeypatch.setattr(package, "CACHE", tmp_path / "wheels")
    monkeypatch.setitem(pins.WHEELS, SDL, hashlib.sha256(b"a wheel").hexdigest())

    def download(command: list[str], advice: str) -> None:
        (Path(command[command.index("--dest") + 1]) / SDL).write_bytes(b"a wheel")
        assert not (tmp_path / "wheels" / SDL).exists()

    monkeypatch.setattr(package, "run_quietly", download)
    assert package.fetch(SDL).read_bytes() == b"a wheel"
    assert [file.name for file in (tmp_path / "wheels").iterdir()] == [SDL]


def test_manifest_and_changelog_have_the_same_version():
    newest = re.search(
        r"^## (\d\S*)", (CHECKOUT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert newest
    assert newest[1] == MANIFEST["version"]


def test_the_manifest_meets_the_extension_guidelines():
    assert len(MANIFEST["tagline"]) <= 64
    assert MANIFEST["tagline"][-1].isalnum()
    assert set(MANIFEST["permissions"]) == {"files"}
    assert all(
        len(reason) <= 64 and reason[-1].isalnum() for reason in MANIFEST["permissions"].values()
    )
    assert MANIFEST["license"] == ["SPDX:GPL-3.0-or-later", "SPDX:CC0-1.0"]
    assert MANIFEST["copyright"] == ["2026 The Motion Matching for Blender authors"]


NETWORK = {
    "socket",
    "ssl",
    "http",
    "urllib",
    "requests",
    "ftplib",
    "smtplib",
    "socketserver",
    "webbrowser",
}


def test_the_code_needs_only_the_declared_permissions():
    """Blender's guidelines require declared network access, relative imports, and an unchanged
    sys.path.
    """
    for file in sorted((CHECKOUT / "motion_matching").rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module or ""]
            assert not NETWORK & {name.partition(".")[0] for name in names}, file
            assert not any(name.partition(".")[0] == "motion_matching" for name in names), file
            if (
                isinstance(node, ast.Attribute)
                and node.attr == "path"
                and isinstance(node.value, ast.Name)
            ):
                assert node.value.id != "sys", file
