#!/usr/bin/env python3
"""One door for people who work on Motion Matching. It needs Python alone and sets up the rest in `.venv`.

    python3 build.py demo            build and solve the demo, say where the results lie
    python3 build.py test [...]      run the tests; what follows goes to pytest
    python3 build.py lint            ruff and mypy
    python3 build.py bench [names]   measure building, searching and the tick; all benchmarks, or those named
    python3 build.py package [...]   make the extension's zips in `dist`; --help says more

The Blender is 5.0, or 5.2 on Python 3.13. After the command's name, '--blender 4.2' chooses one of 4.2, 4.5, 5.0 and
5.2 (lint: 5.0 and 5.2), which gets a virtual environment of its own in `.venvs`.
"""

from __future__ import (
    annotations,
)  # this file has to start on a Python too old for the project, to say so

import sys
from pathlib import Path

from building.environments import Environment, SetUpError
from building.pins import BLENDERS, LINTED

ROOT = Path(__file__).resolve().parent

DEMO = (
    ("demo-clips", "demo/clips"),
    ("build", "demo/clips", "-o", "demo/walk.npz", "--mirror"),
    (
        "take",
        "demo/walk.npz",
        "--script",
        "figure_eight",
        "--seconds",
        "30",
        "--bvh",
        "demo/take.bvh",
        "--report",
        "demo/take.json",
        "-o",
        "demo/take.blend",
    ),
)
DEMO_RESULTS = (
    ("demo/clips/", "the generated motion capture"),
    ("demo/walk.npz", "the database built from it"),
    ("demo/take.bvh", "the take, as motion capture"),
    ("demo/take.json", "what the take measures, beside its sources"),
    ("demo/take.blend", "the take, as an action on a character: open it in Blender and press play"),
)


# Commands: each takes the environment and what follows its name, and returns an exit code


def demo(environment: Environment) -> int:
    for command in DEMO:
        code = environment.run("motion_matching", *command)
        if code != 0:
            return code
    print("\nThe demo's results:")
    for path, what in DEMO_RESULTS:
        print(f"  {ROOT / path}: {what}")
    return 0


def test(environment: Environment, *arguments: str) -> int:
    return environment.run("pytest", "--ignore=tests/benchmarks", *arguments)


def lint(environment: Environment) -> int:
    codes = [environment.run("ruff", "check", "."), environment.run("mypy")]
    return max(codes)


def bench(environment: Environment, *names: str) -> int:
    return environment.run("tests.benchmarks", *names)


def package(environment: Environment, *arguments: str) -> int:
    return environment.run("building.package", *arguments)


def main(arguments: list[str]) -> int:
    commands = {"demo": demo, "test": test, "lint": lint, "bench": bench, "package": package}
    name, rest = (arguments[0], arguments[1:]) if arguments else ("", [])
    if name in ("-h", "--help"):
        print(__doc__)
        return 0
    blender = ""
    if (
        rest[:1] == ["--blender"]
        and len(rest) > 1
        and rest[1] in (LINTED if name == "lint" else BLENDERS)
    ):
        blender, rest = rest[1], rest[2:]
    if name not in commands or (rest and name in ("demo", "lint")) or rest[:1] == ["--blender"]:
        print(__doc__, file=sys.stderr)
        return 2
    environment = Environment(ROOT, blender)
    try:
        environment.set_up()
        return commands[name](environment, *rest)
    except (SetUpError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
