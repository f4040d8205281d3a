"""Fixtures of all test folders: Blender in this process and in others, and allowed skips."""

from __future__ import annotations

import os
import re
import signal
import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import Phase, settings

from building.pins import UNSTEADY
from tests.blender import reset_blender
from tests.processes import run_process
from tests.run_files import get_run_folder

if TYPE_CHECKING:
    from hosts import Host
    from xdist.workermanage import WorkerController

    from motion_matching.engine.database.database import Database

CHECKOUT = Path(__file__).resolve().parent.parent
ALLOWED_SKIPS = CHECKOUT / ".ci" / "allowed_skips"

# Properties are tested with the same few examples in every run. What explains a failure takes minutes.
settings.register_profile(
    "few",
    max_examples=25,
    derandomize=True,
    deadline=None,
    database=None,
    phases=set(Phase) - {Phase.explain},
)
settings.load_profile("few")

# Set before numpy is loaded, which conftests of folders do: with these, the last bits of the same
# computation may change from one time to the next, and tests compare bits.
os.environ.setdefault("NPY_DISABLE_CPU_FEATURES", UNSTEADY)

# Tests in these folders use Blender, unless their file imports nothing of it. The second kind
# installs the extension and is slow too.
BLENDER_FOLDERS = ("scene", "live", "app", "ui", "test_files_of_the_version_before.py")
INSTALLED_FOLDERS = ("extension", "gui")
IMPORTS_BLENDER = re.compile(
    r"^\s*(import|from)\s.*\b(bpy|mathutils|scene|ui|app|stage|hero|characters)\b", re.MULTILINE
)

# Runs a script with bpy loaded and unregisters whatever it registered: Blender 4.2 and 4.5 crash or
# hang at exit if a class, timer or handler is left.
IN_BLENDER = """
import sys
import bpy
import motion_matching
sys.argv = sys.argv[1:]
source = open(sys.argv[0], encoding="utf-8").read()
try:
    exec(compile(source, sys.argv[0], "exec"), {"__name__": "__main__", "__file__": sys.argv[0], "bpy": bpy})
finally:
    motion_matching.unregister()
"""


@pytest.fixture(autouse=True)
def fresh_blender(request: pytest.FixtureRequest) -> None:
    """Reset Blender before each test that uses it."""
    if needs_blender(request.path) and get_folder(request.path) in BLENDER_FOLDERS:
        request.getfixturevalue("registered")
        reset_blender()


@pytest.fixture(scope="session")
def registered() -> Iterator[None]:
    """Unregister the extension at the end: Blender 4.2 and 4.5 crash at exit while its classes are
    registered.
    """
    import motion_matching

    yield
    motion_matching.unregister()


@pytest.fixture(scope="session")
def demo_database() -> Database:
    """The database of the built-in clips and their mirror images, with the shipped settings."""
    from tests.demo import load_demo

    return load_demo()


@pytest.fixture(scope="session")
def demo_file(demo_database: Database, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo database as a file, for other processes."""
    from motion_matching.engine.database import database

    path = tmp_path_factory.mktemp("demo") / "demo.npz"
    database.save(demo_database, path)
    return path


@pytest.fixture(scope="session")
def mocap() -> Path:
    """The folder with real motion capture (`bandai-namco/`, `lafan1/`), which may not be shipped."""
    folder = os.environ.get("MOTION_MATCHING_MOCAP")
    if not folder:
        pytest.skip("MOTION_MATCHING_MOCAP is not set")
    return Path(folder)


@pytest.fixture
def run_in_blender(tmp_path: Path) -> Callable[..., str]:
    """Return `run(script, *args, timeout=200, python=sys.executable) -> str`, which runs a script
    in a new process with bpy loaded.

    The script finds `bpy` imported, its arguments in `sys.argv[1:]`, the checkout as its working
    folder, and an empty user folder. What it registered is unregistered at its end, also after an
    error. Its output is returned. A failed assertion, another exception, a crash or a timeout
    (seconds) fails the test with the script's last output.
    """

    def run(
        script: str, *args: object, timeout: float = 200, python: Path | str = sys.executable
    ) -> str:
        file = tmp_path / "in_blender.py"
        file.write_text(script, encoding="utf-8")
        command = [str(python), "-X", "faulthandler", "-c", IN_BLENDER, str(file), *args]
        environment = {**os.environ, "BLENDER_USER_RESOURCES": str(tmp_path / "blender_user")}
        environment.pop("OCIO", None)  # 5.2 sets it, and prints that it found it
        return run_process(command, CHECKOUT, environment, timeout, "the script in Blender")

    return run


@pytest.fixture(scope="session")
def program(request: pytest.FixtureRequest) -> str:
    """The command of the Blender that the extension is installed into; empty for this Python's bpy
    module.
    """
    return request.config.getoption("--blender-program")


@pytest.fixture(scope="session")
def extension_zip(program: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The packaged extension for this platform and the tested Blender's Python."""
    from hosts import Host, build_zip_for

    return build_zip_for(
        Host(program, tmp_path_factory.mktemp("asking")), tmp_path_factory.mktemp("zip")
    )


@pytest.fixture
def host(program: str, tmp_path: Path) -> Host:
    """A Blender to install into, with an empty user folder."""
    from hosts import Host

    return Host(program, tmp_path)


class SkipGuard:
    """With CI=true, fail a run that skips a test for a reason that is not in `.ci/allowed_skips`."""

    def __init__(self, allowed: list[str]) -> None:
        self.allowed = allowed
        self.offending: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.skipped and not hasattr(report, "wasxfail"):
            self.check(report.nodeid, report.longrepr)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.skipped:
            self.check(report.nodeid, report.longrepr)

    def check(self, test: str, skip: object) -> None:
        reason = str(skip[2] if isinstance(skip, tuple) else skip).removeprefix("Skipped: ")
        if not any(text in reason for text in self.allowed):
            self.offending.add(f"{test}: {reason}")

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.offending and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self.offending:
            terminalreporter.section("skips that .ci/allowed_skips does not list", red=True)
            for line in sorted(self.offending):
                terminalreporter.line(line)


class LeftOut:
    """Tell in the last line how many slow tests `-m "not slow"` has left out, as workers count."""

    def __init__(self) -> None:
        self.count = 0

    def pytest_deselected(self, items: Sequence[pytest.Item]) -> None:
        self.count += sum(item.get_closest_marker("slow") is not None for item in items)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: WorkerController) -> None:
        # one that crashed has told nothing
        self.count = max(self.count, getattr(node, "workeroutput", {}).get("left_out", 0))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Generator[None, object, object]:
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput["left_out"] = self.count
            return (yield)
        result = yield
        if self.count:
            print(f"{self.count} slow tests were left out: 'build.py test --slow' runs them.")
        return result


def read_allowed_skips(text: str) -> list[str]:
    """Return the reasons listed in `.ci/allowed_skips`; entries that do not say why are ignored."""
    entries = [line.partition(" — ") for line in text.splitlines() if not line.startswith("#")]
    return [reason.strip() for reason, _, why in entries if reason.strip() and why.strip()]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--blender-program",
        default="",
        metavar="COMMAND",
        help="install the packaged extension into this Blender instead of this Python's module bpy",
    )
    parser.addoption(
        "--blender-window",
        default="",
        metavar="COMMAND",
        help="the same Blender with a window, for tests/gui",
    )
    parser.addoption(
        "--first-cases",
        action="store_true",
        help="of each test that needs no Blender, run the first of its cases alone",
    )


def pytest_configure(config: pytest.Config) -> None:
    get_run_folder()  # before workers start, which inherit it
    # a shell lets what runs in the background ignore Ctrl-C, as would what tests start and interrupt
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if os.environ.get("CI") == "true":
        config.pluginmanager.register(
            SkipGuard(read_allowed_skips(ALLOWED_SKIPS.read_text(encoding="utf-8")))
        )
    if "not slow" in config.option.markexpr:
        config.pluginmanager.register(LeftOut())


@pytest.hookimpl(trylast=True)  # after those that `-m` and `-k` deselect
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With `--first-cases`, deselect all cases but the first of tests that need no Blender."""
    if not config.option.first_cases:
        return
    seen: set[str] = set()
    kept: list[pytest.Item] = []
    deselected: list[pytest.Item] = []
    for item in items:
        test = item.nodeid.partition("[")[0]
        repeated = test in seen and item.get_closest_marker("blender") is None
        (deselected if repeated else kept).append(item)
        seen.add(test)
    if deselected:
        config.hook.pytest_deselected(items=deselected)
        items[:] = kept


def get_folder(path: Path) -> str:
    return path.relative_to(CHECKOUT / "tests").parts[0]


@cache
def needs_blender(path: Path) -> bool:
    folder = get_folder(path)
    return folder in INSTALLED_FOLDERS or (
        folder in BLENDER_FOLDERS and bool(IMPORTS_BLENDER.search(path.read_text(encoding="utf-8")))
    )


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not collect files that import Blender if tests with Blender are deselected."""
    is_test = collection_path.name.startswith("test_") and collection_path.suffix == ".py"
    if is_test and "not blender" in config.option.markexpr and needs_blender(collection_path):
        return True
    return None


def pytest_itemcollected(item: pytest.Item) -> None:
    fixtures = getattr(item, "fixturenames", ())
    if needs_blender(item.path) or {"run_in_blender", "host", "extension_zip"} & set(fixtures):
        item.add_marker("blender")
    if get_folder(item.path) in INSTALLED_FOLDERS or "mocap" in fixtures:
        item.add_marker("slow")
