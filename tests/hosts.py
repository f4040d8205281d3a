"""Blenders that the packaged extension is installed into: this Python's bpy module, or a Blender
program.
"""

from __future__ import annotations

import os
import platform
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from building.pins import SHIPPED_PYTHONS
from tests.conftest import CHECKOUT
from tests.processes import run_process

# Blender has neither scipy nor SDL, so the ones of the tests' Python must not replace the
# extension's.
IN_MODULE = """
import sys
from importlib.machinery import PathFinder
sys.argv = sys.argv[1:]
before = [entry for entry in sys.path if entry]

class OnlyFromTheExtension:
    def find_spec(name, path=None, target=None):
        if name not in ("scipy", "sdl2", "sdl2dll"):
            return None
        found = PathFinder.find_spec(name, [entry for entry in sys.path if entry not in before], target)
        if found is None:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return found

sys.meta_path.insert(0, OnlyFromTheExtension)
import bpy
import addon_utils
source = open(sys.argv[0], encoding="utf-8").read()
try:
    exec(compile(source, sys.argv[0], "exec"), {"__name__": "__main__", "__file__": sys.argv[0]})
finally:
    addon_utils.disable_all()
"""

PACKAGE = "bl_ext.user_default.motion_matching"

# The start of a script for a Blender with the extension: names, and checks while it is enabled.
IN_EXTENSION = (
    f"""
import pathlib
import sys
import bpy

PACKAGE = {PACKAGE!r}
arguments = sys.argv[sys.argv.index("--") + 1:]
user = pathlib.Path(bpy.utils.resource_path("USER")).resolve()
"""
    """
def lies_in_user_folder(module):
    return user in pathlib.Path(module.__file__).resolve().parents

def modules():
    return [module for name, module in sys.modules.items() if name == PACKAGE or name.startswith(PACKAGE + ".")]

def check_enabled():
    assert PACKAGE in bpy.context.preferences.addons
    assert modules()
    assert "motion_matching" not in sys.modules
    assert not {"scipy", "sdl2", "sdl2dll"} & set(sys.modules), "registering loads what only commands need"

def check_wheels():
    import numpy
    import scipy
    import sdl2
    assert lies_in_user_folder(scipy) and lies_in_user_folder(sdl2)
    assert not lies_in_user_folder(numpy), "numpy is Blender's own"
    assert sdl2.SDL_Init(0) == 0
    print("scipy", scipy.__version__, "numpy", numpy.__version__, "Python", sys.version.split()[0])

def check_modules():
    assert all(lies_in_user_folder(module) for module in modules())

def remove_extension():
    repositories = bpy.context.preferences.extensions.repos
    place = next(index for index, repository in enumerate(repositories) if repository.module == "user_default")
    bpy.ops.extensions.package_uninstall(repo_index=place, pkg_id="motion_matching")
"""
)


class Host:
    """A Blender with its own, initially empty user folder, started in a folder without the
    checkout.
    """

    def __init__(self, program: str, folder: Path) -> None:
        self.program = shlex.split(program)
        self.folder = folder
        self.user = folder / "blender user"
        (folder / "work").mkdir()

    def run(self, script: str, *arguments: object, timeout: float = 300) -> str:
        """Run a script with `bpy` loaded and its arguments after `--` in `sys.argv`; return its
        output.
        """
        file = self.folder / "script.py"
        file.write_text(script, encoding="utf-8")
        given = ["--", *map(str, arguments)]
        if not self.program:
            return self._run(
                [sys.executable, "-I", "-X", "faulthandler", "-c", IN_MODULE, str(file), *given],
                timeout,
            )
        return self._run(
            [*self.program, "-b", "--python-exit-code", "3", "--python", str(file), *given], timeout
        )

    def command(self, *arguments: object, timeout: float = 300) -> str:
        """Run `blender --command …`, which the module cannot; return its output."""
        return self._run([*self.program, "--command", *map(str, arguments)], timeout)

    def _run(self, command: list[str], timeout: float) -> str:
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith("PYTHON")
        }
        environment["BLENDER_USER_RESOURCES"] = str(self.user)
        return run_process(command, self.folder / "work", environment, timeout, "Blender")


def get_platform() -> str:
    """Return Blender's name of this platform."""
    system = {"Windows": "windows", "Darwin": "macos"}.get(platform.system(), "linux")
    return f"{system}-{'arm64' if platform.machine().lower() in ('arm64', 'aarch64') else 'x64'}"


def build_zip(folder: Path, *arguments: str) -> list[Path]:
    """Package the extension into a folder as `build.py package` does; return the zips."""
    command = [sys.executable, "-m", "building.package", "-o", str(folder), *arguments]
    done = subprocess.run(
        command,
        cwd=CHECKOUT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=1200,
    )
    if done.returncode != 0:
        pytest.fail(f"packaging ended with code {done.returncode}\n{done.stdout}\n{done.stderr}")
    return sorted(folder.glob("*.zip"))


def build_zip_for(host: Host, folder: Path) -> Path:
    """Return the zip for the Python of a Blender: the zip for all Pythons, or the one for
    distributions.
    """
    printed = host.run("import sys; print('PYTHON', '{}.{}'.format(*sys.version_info))")
    python = printed.partition("PYTHON ")[2].split()[0]
    pythons = SHIPPED_PYTHONS if python in SHIPPED_PYTHONS else (SHIPPED_PYTHONS[-1], python)
    return build_zip(folder, "--platform", get_platform(), "--python", ",".join(pythons))[0]
