"""The packaged extension in a Blender with a window: steer, record, and end in every way.

`build.py test tests/gui --blender-program "…" --blender-window "…"` takes two commands that run the
same Blender, without and with a window. On Linux without a screen, the second may be `xvfb-run -a
blender`. Without them the tests are skipped.
"""

from __future__ import annotations

import os
import shlex
import shutil
from pathlib import Path

import pytest
from hosts import Host

from tests.processes import run_process

TESTS = Path(__file__).parent.parent
PLAYED = "played to its end"

pytestmark = pytest.mark.timeout(
    900
)  # without graphics hardware, Blender draws only a few frames a second


@pytest.fixture(scope="session")
def user_with_extension(program: str, extension_zip: Path, tmp_path_factory) -> Path:
    """A user folder that the extension is installed in, of which every test has a copy."""
    host = Host(program, tmp_path_factory.mktemp("installed"))
    host.command("extension", "install-file", "-r", "user_default", "--enable", extension_zip)
    return host.user


@pytest.fixture
def window(request: pytest.FixtureRequest, host: Host, tmp_path: Path):
    """Return `play(script) -> str`, which plays a scenario in a Blender with a window and returns
    its output.

    Everything it needs is copied to a folder without the checkout, so only the installed extension
    is found.
    """
    command = shlex.split(request.config.getoption("--blender-window"))
    if not (command and host.program):
        pytest.skip("no --blender-window is given")
    # not before a window is sure: packaging takes time
    shutil.copytree(request.getfixturevalue("user_with_extension"), host.user)
    scripts = tmp_path / "scripts"
    scripts.mkdir()
    for file in (
        *(TESTS / "gui").glob("*.py"),
        *TESTS.glob("traces*.py"),
        TESTS / "live" / "virtual_pad.py",
    ):
        shutil.copy(file, scripts)

    def play(script: str) -> str:
        arguments = ["--factory-startup", "--enable-event-simulate", "-P", scripts / script]
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith("PYTHON")
        }
        environment |= {
            "BLENDER_USER_RESOURCES": str(host.user),
            "MOTION_MATCHING_TEST_FOLDER": str(tmp_path),
        }
        printed = run_process([*command, *arguments], tmp_path, environment, 600, script)
        assert PLAYED in printed, printed
        return printed

    return play


@pytest.mark.parametrize(
    "script",
    [
        "first_hour.py",
        "own_rig.py",
        "slow_rig.py",
        "strip.py",
        "steer.py",
        "author.py",
        "directing.py",
        "directing_again.py",
        "dragging_marks.py",
        "sources.py",
        "insight.py",
        "preview.py",
        "climbing.py",
        "beside.py",
        "field.py",
        "pad.py",
        "grasp.py",
        "keys.py",
        "endings.py",
        "files_and_windows.py",
    ],
)
def test_a_live_session_in_a_window(window, script: str):
    print(window(script))


def test_a_recording_cut_off_by_quitting_is_offered_at_the_next_start(window):
    print(window("quit.py"))
    print(window("recover.py"))
