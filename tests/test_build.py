"""build.py says which Python it needs, trusts only complete environments, and returns exit codes."""

from __future__ import annotations

import ast
import ensurepip
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

import build
from building import environments, package, pins
from building.environments import Environment
from tests.conftest import CHECKOUT, read_allowed_skips

BUILD = CHECKOUT / "build.py"


def run_as(
    version: tuple[int, ...], *arguments: str, path: str = ""
) -> subprocess.CompletedProcess:
    """Run build.py with arguments, as if this Python had that version, with its own PATH."""
    script = (
        f"import runpy, sys; sys.version_info = {(*version, 0, 'final', 0)!r}; sys.argv = "
        f"['build.py', *{arguments!r}]; runpy.run_path({str(BUILD)!r}, run_name='__main__')"
    )
    return subprocess.run(
        [sys.executable, "-c", script],
        cwd=CHECKOUT,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        timeout=200,
    )


def test_an_old_python_can_read_build():
    for file in (BUILD, *(CHECKOUT / "building").glob("*.py")):
        ast.parse(file.read_text(encoding="utf-8"), str(file), feature_version=(3, 8))


@pytest.mark.parametrize("version", [(3, 8), (3, 12), (3, 14)])
def test_an_unsupported_python_gets_one_sentence(version, tmp_path):
    done = run_as(version, "test", path=str(tmp_path))
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) == 1
    for part in (f"This is Python 3.{version[1]}", "3.11", "3.13"):
        assert part in done.stderr


@pytest.mark.skipif(os.name == "nt", reason="writes a shell script for a Python on PATH")
def test_a_working_python_on_path_is_used(tmp_path, monkeypatch, capsys):
    version = "{}.{}".format(*sys.version_info[:2])
    for name in ("python3.11", "python3.13"):
        found = tmp_path / name
        works = name == f"python{version}"
        found.write_text(
            f"#!/bin/sh\nexec '{sys.executable}' \"$@\"\n" if works else "#!/bin/sh\nexit 127\n"
        )
        found.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "version_info", (3, 12, 0, "final", 0))
    blender, python = environments.choose_python()
    assert (pins.BLENDERS[blender], python) == (version, sys.executable)
    assert f"working with Python {version}" in capsys.readouterr().out


@pytest.mark.skipif(os.name == "nt", reason="writes shell scripts for Pythons on PATH")
def test_a_python_behind_a_pyenv_shim_is_found(tmp_path, monkeypatch):
    version = "{}.{}".format(*sys.version_info[:2])
    found = tmp_path / f"python{version}"
    found.write_text(
        f'#!/bin/sh\n[ "$PYENV_VERSION" = {version} ] && exec \'{sys.executable}\' "$@"\nexit 127\n'
    )
    found.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("PYENV_VERSION", raising=False)
    assert environments.find_python([found.name], version) == sys.executable
    assert environments.find_python([found.name], "3.7") is None


def test_each_blender_gets_the_python_of_its_module():
    for blender, version in pins.BLENDERS.items():
        if version == "{}.{}".format(*sys.version_info[:2]):
            assert environments.choose_python(blender)[0] == blender
    assert set(pins.BLENDERS.values()) == set(pins.SHIPPED_PYTHONS)


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("nonsense",),
        ("lint", "more"),
        ("test", "--blender"),
        ("test", "--blender", "2.79"),
        ("lint", "--blender", "4.2"),
        ("docs", "more"),
        ("docs", "--blender", "4.2"),
        ("blenders", "more"),
    ],
)
def test_an_unknown_command_gets_the_list_of_commands(arguments):
    done = run_as((3, 11), *arguments)
    assert done.returncode == 2
    assert "build.py bench" in done.stderr
    assert "build.py study quality" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        ((), {"ruff", "mypy", "building.tables", "mkdocs"}),
        (("--fast",), {"ruff"}),
        (("--types",), {"mypy"}),
    ],
)
def test_lint_runs_the_parts_that_are_asked_for(arguments, parts, monkeypatch):
    """Every part runs, and one that fails fails lint."""
    ran = []
    monkeypatch.setattr(Environment, "run", lambda _, *words: ran.append(words[0]) or len(ran) % 2)
    assert build.lint(Environment(CHECKOUT), *arguments) == 1
    assert set(ran) == parts


@pytest.mark.parametrize(
    ("arguments", "passed"),
    [
        ((), ("-m", "not slow")),
        (("-n0", "--durations", "5"), ("-m", "not slow", "-n0", "--durations", "5")),
        (("--slow",), ("-m", "slow")),
        (
            ("--fast", "tests/live"),
            ("-m", "not blender and not slow", "--first-cases", "tests/live"),
        ),
        (("tests/live",), ("tests/live",)),
        (("tests/test_build.py::test_it",), ("tests/test_build.py::test_it",)),
        (("-k", "legs"), ("-k", "legs")),
        (("-klegs",), ("-klegs",)),
        (("-m", "blender"), ("-m", "blender")),
        (("--last-failed",), ("--last-failed",)),
    ],
)
def test_slow_tests_are_left_out_unless_they_are_asked_for(arguments, passed, monkeypatch):
    ran = []
    monkeypatch.setattr(Environment, "run", lambda _, *words: ran.extend(words) or 0)
    assert build.test(Environment(CHECKOUT), *arguments) == 0
    assert tuple(ran[-len(passed) :]) == passed
    assert ran.count("-m") == passed.count("-m")


def test_tests_are_compiled_once_whatever_a_container_sets(monkeypatch):
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    found = []
    monkeypatch.setattr(
        Environment, "run", lambda *_: found.append("PYTHONDONTWRITEBYTECODE" in os.environ) or 0
    )
    assert build.test(Environment(CHECKOUT)) == 0
    assert found == [False]


def test_workflow_matrices_match_the_pins_without_a_set_up(tmp_path):
    done = run_as((3, 8), "blenders", path=str(tmp_path))
    assert done.returncode == 0
    printed = json.loads(done.stdout)
    assert {entry["blender"]: entry["python"] for entry in printed["test"]} == pins.BLENDERS
    assert [entry["blender"] for entry in printed["lint"]] == list(pins.LINTED)


def test_every_pin_covers_each_blender():
    needed = {"bpy", "numpy", "scipy", "pytest", "pytest-timeout", "pytest-xdist"}
    for blender in pins.BLENDERS:
        assert needed <= {pin.partition("==")[0] for pin in environments.list_requirements(blender)}
        assert f"bpy=={blender}." in " ".join(environments.list_requirements(blender))
    assert len({environments.make_stamp(blender) for blender in pins.BLENDERS}) == len(
        pins.BLENDERS
    )
    assert all(why for _, _, why in pins.PINS)


@pytest.fixture
def empty_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Environment:
    """An environment in an empty folder, with one pin that every Python has: no network is needed."""
    version = ensurepip.version()
    monkeypatch.setattr(
        environments, "PINS", (("pip", dict.fromkeys(pins.BLENDERS, version), "comes with venv"),)
    )
    monkeypatch.setattr(build, "ROOT", tmp_path)
    return Environment(tmp_path)


@pytest.mark.slow
def test_an_interrupted_set_up_is_repaired_and_a_complete_one_kept(
    empty_environment, monkeypatch, capsys
):
    blender, _ = environments.choose_python()
    leftover = empty_environment.folder / "half-unpacked"
    run_quietly = environments.run_quietly

    def interrupt(command, advice):
        if "pip" in command:
            leftover.write_text("x")
            raise KeyboardInterrupt
        run_quietly(command, advice)

    monkeypatch.setattr(environments, "run_quietly", interrupt)
    assert build.main(["lint"]) == 130
    assert leftover.exists()
    assert not empty_environment.is_complete(blender)

    monkeypatch.setattr(environments, "run_quietly", run_quietly)
    empty_environment.set_up()
    assert empty_environment.is_complete(blender)
    assert not leftover.exists()
    assert capsys.readouterr().out.count("Setting up") == 2
    command = [empty_environment.python, "-c", "import sys; print(sys.prefix)"]
    assert Path(subprocess.check_output(command, text=True).strip()) == empty_environment.folder

    leftover.write_text("kept by a run that finds everything in place")
    empty_environment.set_up()
    assert leftover.exists()
    assert capsys.readouterr().out == ""

    empty_environment.python.unlink()
    assert not empty_environment.is_complete(blender), "the Python it was made from may be gone"


def test_each_blender_has_its_own_environment(tmp_path):
    folders = {Environment(tmp_path, blender).folder for blender in ("", *pins.BLENDERS)}
    assert len(folders) == 1 + len(pins.BLENDERS)


def test_changed_pins_make_a_set_up_incomplete(empty_environment, monkeypatch):
    empty_environment.python.parent.mkdir(parents=True)
    empty_environment.python.write_text("")
    empty_environment.stamp.write_text(environments.make_stamp("5.0"))
    assert empty_environment.is_complete("5.0")
    assert not empty_environment.is_complete("5.2")
    monkeypatch.setattr(
        environments, "PINS", (("pip", dict.fromkeys(pins.BLENDERS, "1.0"), "another"),)
    )
    assert not empty_environment.is_complete("5.0")


def test_two_runs_at_once_set_up_once(empty_environment, monkeypatch, capsys):
    made = []
    first_is_in, second_waits = threading.Event(), threading.Event()

    def make(environment, blender, python):
        made.append(blender)
        first_is_in.set()
        second_waits.wait(30)

    monkeypatch.setattr(Environment, "make", make)
    monkeypatch.setattr(
        Environment, "is_complete", lambda environment, blender: second_waits.is_set()
    )
    monkeypatch.setattr(environments.time, "sleep", lambda seconds: second_waits.set())
    first = threading.Thread(target=empty_environment.set_up)
    first.start()
    assert first_is_in.wait(30)
    empty_environment.set_up()
    first.join(30)
    assert len(made) == 1
    assert "waiting" in capsys.readouterr().out


@pytest.mark.skipif(
    os.name == "nt", reason="writes a shell script that stands for a Python without venv"
)
def test_a_python_without_venv_gets_the_missing_packages_name(empty_environment):
    python = empty_environment.root / "python"
    python.write_text("#!/bin/sh\nexit 1\n")
    python.chmod(0o755)
    with pytest.raises(environments.BuildError, match=r"install the package python3\.11-venv"):
        empty_environment.make("5.0", str(python))
    assert not empty_environment.is_complete("5.0")


def test_a_failed_step_prints_its_last_lines_and_one_sentence():
    failing = "print('\\n'.join(map(str, range(100)))); raise SystemExit(1)"
    with pytest.raises(environments.BuildError) as failed:
        environments.run_quietly([sys.executable, "-c", failing], "Do this.")
    lines = str(failed.value).splitlines()
    assert lines[-2:] == ["99", "Do this."]
    assert len(lines) < 20


def test_exit_codes_are_forwarded(empty_environment, monkeypatch):
    monkeypatch.setattr(
        Environment, "set_up", lambda environment: setattr(environment, "python", sys.executable)
    )
    (empty_environment.root / "building").mkdir()
    (empty_environment.root / "building" / "benchmarks.py").write_text(
        "import sys; sys.exit(len(sys.argv))"
    )
    assert build.main(["bench"]) == 1
    assert build.main(["bench", "search", "tick"]) == 3
    if os.name != "nt":
        (empty_environment.root / "building" / "benchmarks.py").write_text(
            "import os; os.kill(os.getpid(), 9)"
        )
        assert build.main(["bench"]) == 137


def test_an_allowed_skip_needs_a_reason():
    text = "# a comment — of two parts\n\nno device — there is none here\nbecause\n — why\n"
    assert read_allowed_skips(text) == ["no device"]


SKIPPING = """
import pytest
def test_one(): pytest.skip("no device here")
@pytest.mark.skip(reason="the moon is full")
def test_two(): pass
@pytest.mark.xfail
def test_three(): assert False
def test_four(): pass
"""


def run_pytest_on(
    source: str, folder: Path, *options: str, ci: str = "", before: Sequence[str] = ()
) -> subprocess.CompletedProcess:
    """Run a file of tests in a folder, with this checkout's `conftest.py`; words go before it."""
    tests = folder / "tests"
    tests.mkdir()
    for name in ("conftest.py", "blender.py", "processes.py", "run_files.py"):
        shutil.copy(CHECKOUT / "tests" / name, tests)
    (folder / "building").mkdir()
    shutil.copy(CHECKOUT / "building" / "pins.py", folder / "building")
    (tests / "test_given.py").write_text(source)
    words = [*before, sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"]
    return subprocess.run(
        [*words, *options],
        cwd=folder,
        env={**os.environ, "CI": ci},
        capture_output=True,
        text=True,
        timeout=200,
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ci", "listed", "code"),
    [
        ("true", "", 1),
        ("true", "no device — there is none here\n", 1),
        ("true", "no device — there is none here\nthe moon — it is what it is\n", 0),
        ("", "", 0),
    ],
)
def test_on_ci_only_listed_skips_pass(ci, listed, code, tmp_path):
    (tmp_path / ".ci").mkdir()
    (tmp_path / ".ci" / "allowed_skips").write_text(listed, encoding="utf-8")
    done = run_pytest_on(SKIPPING, tmp_path, ci=ci)
    assert done.returncode == code, done.stdout
    assert ("test_two: the moon is full" in done.stdout) == (code == 1)
    assert "2 skipped" in done.stdout.splitlines()[-1]


CASES = """
import pytest
@pytest.mark.parametrize("case", [1, 2, 3])
def test_numbers(case): pass
@pytest.mark.parametrize("case", [1, 2])
@pytest.mark.blender
def test_in_blender(case): pass
def test_alone(): pass
"""


@pytest.mark.slow
def test_first_cases_are_chosen_among_those_selected_and_where_no_blender_is_needed(tmp_path):
    done = run_pytest_on(CASES, tmp_path, "--first-cases", "-vv", "-k", "not numbers or not 1")
    ran = [line.split("::")[1].split()[0] for line in done.stdout.splitlines() if "::" in line]
    assert ran == ["test_numbers[2]", "test_in_blender[1]", "test_in_blender[2]", "test_alone"]


SLOW = """
import pytest
@pytest.mark.slow
@pytest.mark.parametrize("case", [1, 2, 3])
def test_slowly(case): pass
def test_fast(): pass
"""


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["0", "1"])
def test_the_last_line_tells_how_many_slow_tests_were_left_out(workers, tmp_path):
    done = run_pytest_on(SLOW, tmp_path, "-m", "not slow", "-n", workers)
    assert "1 passed" in done.stdout.splitlines()[-2]
    assert done.stdout.splitlines()[-1].startswith("3 slow tests were left out")


@pytest.mark.slow
def test_the_extension_runs_no_code_from_texts(tmp_path):
    package.stage(tmp_path / "staged", next(iter(pins.PLATFORMS)), [])
    files = list((tmp_path / "staged").rglob("*.py"))
    assert files
    for file in files:
        calls = (
            node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Call)
        )
        names = {each.func.id for each in calls if isinstance(each.func, ast.Name)}
        assert not names & {"exec", "eval", "compile"}, file


INTERRUPTED = """
import signal, subprocess, sys
import pytest
def test_here():
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
def test_in_a_process():
    code = "import signal; signal.raise_signal(signal.SIGINT)"
    assert subprocess.run([sys.executable, "-c", code], stderr=subprocess.DEVNULL).returncode == -signal.SIGINT
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="writes a shell script that ignores Ctrl-C")
def test_tests_that_press_ctrl_c_run_where_the_shell_ignores_it(tmp_path):
    """Shells let processes in the background ignore Ctrl-C, which is inherited."""
    words = ["sh", "-c", 'trap "" INT; exec "$@"', "sh"]
    done = run_pytest_on(INTERRUPTED, tmp_path, before=words)
    assert done.returncode == 0, done.stdout
