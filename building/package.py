"""The extension as users install it: for each platform a zip with its wheels alone.

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
import sys
import tempfile
import zipfile
from pathlib import Path

from .environments import PIP, ROOT, BuildError, run_quietly
from .pins import PLATFORMS, SHIPPED_PYTHONS, WHEELS

CACHE = ROOT / "build" / "wheels"


def main(arguments: list[str] | None = None) -> int:
    """Make the zips that the arguments choose, and print what they hold."""
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
    options = parser.parse_args(arguments)
    try:
        for platform in options.platform.split(","):
            made = package(platform, tuple(options.python.split(",")), options.output)
            size, wheels = made.stat().st_size / 1e6, ", ".join(list_wheels(made))
            print(f"{made}: {size:.1f} MB, {wheels}", flush=True)
    except (BuildError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def package(platform: str, pythons: tuple[str, ...], output: Path) -> Path:
    """Build and validate the zip for a platform and Pythons in the folder `output`; return it."""
    wheels = [fetch(name) for name in choose_wheels(platform, pythons)]
    output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".unfinished-", dir=output) as folder:
        staged = Path(folder) / "extension"
        version = stage(staged, platform, wheels)
        others = "" if pythons == SHIPPED_PYTHONS else "-python" + "-".join(pythons)
        unfinished = Path(folder) / f"motion_matching-{version}-{platform}{others}.zip"
        to_build = "--source-dir", str(staged), "--output-filepath", str(unfinished)
        run_extension_tool("build", *to_build)
        run_extension_tool("validate", str(unfinished))
        return unfinished.replace(output / unfinished.name)


def choose_wheels(platform: str, pythons: tuple[str, ...]) -> list[str]:
    """Return the names of the wheels for a platform and Pythons."""
    if platform not in PLATFORMS:
        raise BuildError(f"There is no platform {platform!r}; give one of {', '.join(PLATFORMS)}.")
    for python in pythons:
        if not any(name.split("-")[2] == make_tag(python) for name in WHEELS):
            raise BuildError(
                f"There are no wheels for Python {python!r}; pin them in building/pins.py, or "
                "leave it out."
            )
    return [name for name in WHEELS if any(fits(name, platform, python) for python in pythons)]


def fits(wheel: str, platform: str, python: str) -> bool:
    """Return whether a wheel is for this platform and this Python, by its name."""
    its_python, _, its_platform = wheel[: -len(".whl")].split("-")[-3:]
    patterns = ("any", *PLATFORMS[platform])
    runs = its_python == make_tag(python) or "py3" in its_python.split(".")
    return runs and any(fnmatch.fnmatch(its_platform, pattern) for pattern in patterns)


def make_tag(python: str) -> str:
    """Return the tag of a Python in the names of wheels, such as 'cp311'."""
    return "cp" + python.replace(".", "")


def fetch(wheel: str) -> Path:
    """Return the path of a wheel as it is pinned, from the cache or from the package index."""
    file = CACHE / wheel
    if not is_pinned(file):
        name, version, its_python, _, its_platform = wheel[: -len(".whl")].split("-")
        tag = its_python if its_python.startswith("cp") else make_tag(SHIPPED_PYTHONS[0])
        CACHE.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".unfinished-", dir=CACHE) as folder:
            command = [sys.executable, *PIP, "download", "--no-deps", "--only-binary=:all:"]
            command += ["--implementation", "cp", "--python-version", tag[2:]]
            command += ["--platform", its_platform.split(".")[0]]
            run_quietly(
                [*command, "--dest", folder, f"{name}=={version}"],
                f"{wheel} could not be downloaded: see that the network is there, and run this "
                "again.",
            )
            found = Path(folder) / wheel
            if not is_pinned(found):
                raise BuildError(
                    f"The package index has another {wheel} than the one in building/pins.py: "
                    "check the pin."
                )
            found.replace(file)  # whole or not at all: another build.py may be at it too
    return file


def stage(folder: Path, platform: str, wheels: list[Path]) -> str:
    """Lay out in `folder` what the zip of a platform holds; return the extension's version."""
    ignore = shutil.ignore_patterns("__pycache__", "*.py[cod]", ".*")
    # Blender runs commands by itself, without what `python -m` runs
    left_out = shutil.ignore_patterns("__pycache__", "*.py[cod]", ".*", "__main__.py")
    shutil.copytree(ROOT / "motion_matching", folder, ignore=left_out)
    shutil.copytree(ROOT / "presets", folder / "presets", ignore=ignore)
    shutil.copy(ROOT / "LICENSE", folder)
    (folder / "wheels").mkdir()
    for wheel in wheels:
        shutil.copy(wheel, folder / "wheels")
    text = (ROOT / "blender_manifest.toml").read_text(encoding="utf-8")
    # keys of the manifest itself have to come before its tables
    head, table, rest = text.partition("[permissions]")
    listed = "".join(f"    {json.dumps('./wheels/' + wheel.name)},\n" for wheel in wheels)
    generated = f'platforms = ["{platform}"]\nwheels = [\n{listed}]\n\n'
    (folder / "blender_manifest.toml").write_text(head + generated + table + rest, encoding="utf-8")
    return next(line.split('"')[1] for line in head.splitlines() if line.startswith("version ="))


def run_extension_tool(*arguments: str) -> None:
    """Run the command-line tool for extensions that Blender's module brings along."""
    module = importlib.util.find_spec("bpy")
    if module is None or not module.origin:
        raise BuildError(
            "The extension tool comes with Blender's module bpy, which this Python lacks: "
            "run 'python3 build.py package' instead."
        )
    scripts = next(Path(module.origin).parent.glob("*/scripts"))
    tool = scripts / "addons_core" / "bl_pkg" / "cli" / "blender_ext.py"
    tags = scripts / "modules" / "_bpy_internal" / "extensions" / "tags.py"
    run_quietly(
        [sys.executable, str(tool), *arguments, "--valid-tags", str(tags)],
        "Blender's extension tool refuses it: see the lines above.",
    )


def list_wheels(zipped: Path) -> list[str]:
    """Return the names of the wheels that a zip of the extension holds, sorted."""
    with zipfile.ZipFile(zipped) as archive:
        return sorted(Path(name).name for name in archive.namelist() if name.endswith(".whl"))


def is_pinned(file: Path) -> bool:
    """Return whether a wheel is there and is the one that is pinned."""
    return file.exists() and hashlib.sha256(file.read_bytes()).hexdigest() == WHEELS[file.name]


if __name__ == "__main__":
    sys.exit(main())
