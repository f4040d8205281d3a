"""The extension as users install it: for each platform a zip with the wheels of that platform
alone.

Blender wants `__init__.py` beside the manifest, so the contents of `motion_matching/` are staged
next to it, with `presets/`, the licence and the wheels, and the extension tool inside Blender's
module builds and validates the zip.
"""

from __future__ import annotations

import argparse
import fnmatch
import hashlib
import importlib.util
import json
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from .pins import PLATFORMS, SHIPPED_PYTHONS, WHEELS

ROOT = Path(__file__).resolve().parent.parent
CACHE = ROOT / "build" / "wheels"


class PackageError(Exception):
    """No zip can be made; the message says what to do."""


def main(arguments: list[str] | None = None) -> int:
    """Make the zips that are asked for, and say what they hold."""
    parser = argparse.ArgumentParser(prog="build.py package", description=__doc__.splitlines()[0])
    parser.add_argument(
        "--platform",
        default=",".join(PLATFORMS),
        help="which platforms, all unless given: %(default)s",
    )
    parser.add_argument(
        "--python",
        default=",".join(SHIPPED_PYTHONS),
        metavar="3.11,3.13",
        help="for Blenders that run on these Pythons; without it, those of Blender's own builds, "
        "%(default)s; distributions run Blender on their own, such as 3.14",
    )
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        default=ROOT / "dist",
        metavar="FOLDER",
        help="where to put the zips",
    )
    asked = parser.parse_args(arguments)
    try:
        for platform in asked.platform.split(","):
            made = package(platform, tuple(asked.python.split(",")), asked.output)
            print(
                f"{made}: {made.stat().st_size / 1e6:.1f} MB, {', '.join(wheels_in(made))}",
                flush=True,
            )
    except (PackageError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def package(platform: str, pythons: tuple[str, ...], output: Path) -> Path:
    """Return the path of the zip for a platform and Pythons, built and validated, in the folder
    `output`.
    """
    wheels = [fetch(name) for name in wheels_for(platform, pythons)]
    output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".unfinished-", dir=output) as folder:
        staged = Path(folder) / "extension"
        version = stage(staged, platform, wheels)
        others = "" if pythons == SHIPPED_PYTHONS else "-python" + "-".join(pythons)
        unfinished = Path(folder) / f"motion_matching-{version}-{platform}{others}.zip"
        extension_tool("build", "--source-dir", str(staged), "--output-filepath", str(unfinished))
        extension_tool("validate", str(unfinished))
        return unfinished.replace(output / unfinished.name)


def wheels_for(platform: str, pythons: tuple[str, ...]) -> list[str]:
    """Return the names of the wheels for a platform and Pythons."""
    if platform not in PLATFORMS:
        raise PackageError(
            f"There is no platform {platform!r}; give one of {', '.join(PLATFORMS)}."
        )
    for python in pythons:
        if not any(name.split("-")[2] == tag(python) for name in WHEELS):
            raise PackageError(
                f"There are no wheels for Python {python!r}; pin them in building/pins.py, or "
                "leave it out."
            )
    return [name for name in WHEELS if any(fits(name, platform, python) for python in pythons)]


def fits(wheel: str, platform: str, python: str) -> bool:
    """Tell by its name whether a wheel is for this platform and this Python."""
    its_python, _, its_platform = wheel[: -len(".whl")].split("-")[-3:]
    return (its_python == tag(python) or "py3" in its_python.split(".")) and any(
        fnmatch.fnmatch(its_platform, pattern) for pattern in ("any", *PLATFORMS[platform])
    )


def tag(python: str) -> str:
    return "cp" + python.replace(".", "")


def fetch(wheel: str) -> Path:
    """Return the path of a wheel as it is pinned, from the cache or from the package index."""
    file = CACHE / wheel
    if not (file.exists() and digest(file) == WHEELS[wheel]):
        name, version, its_python, _, its_platform = wheel[: -len(".whl")].split("-")
        python = its_python[2:] if its_python.startswith("cp") else tag(SHIPPED_PYTHONS[0])[2:]
        CACHE.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".unfinished-", dir=CACHE) as folder:
            run(
                [
                    sys.executable,
                    "-m",
                    "pip",
                    "download",
                    "--quiet",
                    "--disable-pip-version-check",
                    "--no-input",
                    "--no-deps",
                    "--only-binary=:all:",
                    "--implementation",
                    "cp",
                    "--python-version",
                    python,
                    "--platform",
                    its_platform.split(".")[0],
                    "--dest",
                    folder,
                    f"{name}=={version}",
                ],
                f"{wheel} could not be downloaded: see that the network is there, and run this "
                "again.",
            )
            found = Path(folder) / wheel
            if not (found.exists() and digest(found) == WHEELS[wheel]):
                raise PackageError(
                    f"The package index has another {wheel} than the one in building/pins.py: "
                    "check the pin."
                )
            found.replace(file)  # whole or not at all: another build.py may be at it too
    return file


def stage(folder: Path, platform: str, wheels: list[Path]) -> str:
    """Lay out in `folder` what the zip of a platform holds; return the extension's version."""
    shutil.copytree(
        ROOT / "motion_matching",
        folder,
        ignore=shutil.ignore_patterns("__pycache__", "*.py[cod]", ".*"),
    )
    shutil.copytree(
        ROOT / "presets", folder / "presets", ignore=shutil.ignore_patterns("__pycache__", ".*")
    )
    shutil.copy(ROOT / "LICENSE", folder)
    (folder / "wheels").mkdir()
    for wheel in wheels:
        shutil.copy(wheel, folder / "wheels")
    text = (ROOT / "blender_manifest.toml").read_text(encoding="utf-8")
    head, table, rest = text.partition(
        "[permissions]"
    )  # keys of the manifest itself have to come before its tables
    listed = "".join(f"    {json.dumps('./wheels/' + wheel.name)},\n" for wheel in wheels)
    generated = f'platforms = ["{platform}"]\nwheels = [\n{listed}]\n\n'
    (folder / "blender_manifest.toml").write_text(head + generated + table + rest, encoding="utf-8")
    return next(line.split('"')[1] for line in head.splitlines() if line.startswith("version ="))


def extension_tool(*arguments: str) -> None:
    """Run the command-line tool for extensions that Blender's module brings along."""
    module = importlib.util.find_spec("bpy")
    if module is None or not module.origin:
        raise PackageError(
            "The extension tool comes with Blender's module bpy, which this Python lacks: "
            "run 'python3 build.py package' instead."
        )
    scripts = next(Path(module.origin).parent.glob("*/scripts"))
    tool = scripts / "addons_core" / "bl_pkg" / "cli" / "blender_ext.py"
    tags = scripts / "modules" / "_bpy_internal" / "extensions" / "tags.py"
    command, *rest = arguments
    run(
        [sys.executable, str(tool), command, *rest, "--valid-tags", str(tags)],
        "Blender's extension tool refuses it: see the lines above.",
    )


def wheels_in(zipped: Path) -> list[str]:
    """Return the names of the wheels that a zip of the extension holds, sorted."""
    with zipfile.ZipFile(zipped) as archive:
        return sorted(Path(name).name for name in archive.namelist() if name.endswith(".whl"))


def digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def run(command: list[str], advice: str) -> None:
    """Run a step; where it fails, raise PackageError with its last lines and the advice."""
    done = subprocess.run(
        command,
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    if done.returncode != 0:
        raise PackageError("\n".join([*done.stdout.splitlines()[-12:], advice]))


if __name__ == "__main__":
    sys.exit(main())
