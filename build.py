#!/usr/bin/env python3
"""One door for people who work on Motion Matching. It needs Python alone; `.venv` gets the rest.

    python3 build.py demo           build and solve the demo, say where the results lie
    python3 build.py test [...]     run the tests, two at a time; what follows goes to pytest
    python3 build.py test --slow    run those that are left out unless files or names are given
    python3 build.py test --fast    run the first case of those that need no Blender, in 100 s
    python3 build.py lint [--fast]  ruff, mypy and the manual; --fast runs ruff alone, --types mypy
    python3 build.py docs           write the manual's tables, build it as a site in `build/site`
    python3 build.py bench [names]  measure building, searching and the tick; all, or those named
    python3 build.py study quality  measure the motion of long takes; --help says more
    python3 build.py study retargeting  measure motion on other characters; --help says more
    python3 build.py study dense  count jumps in more and more frames; --help says more
    python3 build.py study pushes  measure recoveries from pushes; --help says more
    python3 build.py study values  measure control by values and by greed; --help says more
    python3 build.py study search  search in two stages, beside exactly; --help says more
    python3 build.py study director  measure directed scenes; --help says more
    python3 build.py study furniture measure directed scenes among obstacles; --help says more
    python3 build.py study prices  draw the price of jumps; --help says more
    python3 build.py study features  time searches without each feature; --help says more
    python3 build.py study ground  measure walks on slopes and stairs; --help says more
    python3 build.py clips          write the built-in clips, if building/locomotion has changed
    python3 build.py package [...]  make the extension's zips in `dist`; --help says more
    python3 build.py blenders       print the supported Blenders and their Pythons as JSON

The Blender is 5.0, or 5.2 on Python 3.13. After the command's name, '--blender 4.2' chooses one of
4.2, 4.5, 5.0 and 5.2 (lint and docs: 5.0 and 5.2), which has an environment in `.venvs`.
"""

# this file has to start on a Python too old for the project, to say so
from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from building.environments import BuildError, Environment
from building.pins import BLENDERS, LINTED, UNSTEADY

ROOT = Path(__file__).resolve().parent

DEMO = (
    "demo-clips demo/clips",
    "build demo/clips -o demo/walk.npz --mirror",
    "take demo/walk.npz --script figure_eight --seconds 30 --bvh demo/take.bvh "
    "--report demo/take.json -o demo/take.blend",
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
        code = environment.run("motion_matching", *command.split())
        if code != 0:
            return code
    print("\nThe demo's results:")
    for path, what in DEMO_RESULTS:
        print(f"  {ROOT / path}: {what}")
    return 0


# Two workers: with more, tests that measure time fail on small machines. One that crashes fails its
# test and is replaced.
WORKERS = ("--numprocesses=2", "--dist=worksteal")
KINDS = {
    "--fast": ("-m", "not blender and not slow", "--first-cases"),
    "--slow": ("-m", "slow"),
}
CHOICES = ("--lf", "--last-failed", "--ff", "--failed-first")


def chooses_tests(word: str) -> bool:
    """Return whether an argument for pytest says which tests run: a path, words, marks."""
    named = (ROOT / word.partition("::")[0]).exists()
    return named or word in KINDS or word in CHOICES or word[:2] in ("-k", "-m")


def test(environment: Environment, *arguments: str) -> int:
    chosen = [part for word in arguments for part in KINDS.get(word, (word,))]
    if not any(chooses_tests(word) for word in arguments):
        chosen = ["-m", "not slow", *chosen]
    # workers fill the cores: threads of their own would wait for each other
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # some containers set it: then each process compiles the tests and the extension anew
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    return environment.run("pytest", *WORKERS, *chosen)


def lint(environment: Environment, *arguments: str) -> int:
    codes = []
    if "--fast" in arguments or not arguments:
        codes += [
            environment.run("ruff", "check", "."),
            environment.run("ruff", "format", "--check", "."),
        ]
    if "--types" in arguments or not arguments:
        # a cache of its own: each Blender has libraries with other types
        codes.append(
            environment.run("mypy", "--cache-dir", f".mypy_cache/{environment.folder.name}")
        )
    if not arguments:
        codes.append(docs(environment, "--check"))
    return max(codes)


def docs(environment: Environment, *arguments: str) -> int:
    # a notice about MkDocs 2, which is not the one that is pinned
    os.environ["NO_MKDOCS_2_WARNING"] = "1"
    tables = environment.run("building.tables", *arguments)
    return max(tables, environment.run("mkdocs", "build", "--strict", "--quiet"))


def bench(environment: Environment, *names: str) -> int:
    return environment.run("building.benchmarks", *names)


def study(environment: Environment, *arguments: str) -> int:
    return environment.run("building.studies", *arguments)


def clips(environment: Environment) -> int:
    os.environ["NPY_DISABLE_CPU_FEATURES"] = UNSTEADY
    return environment.run("building.locomotion")


def package(environment: Environment, *arguments: str) -> int:
    return environment.run("building.package", *arguments)


def list_blenders() -> str:
    """Return the matrices of the workflows as JSON: the Blenders to `test` and to `lint` with."""
    entries = [{"blender": blender, "python": python} for blender, python in BLENDERS.items()]
    linted = [entry for entry in entries if entry["blender"] in LINTED]
    return json.dumps({"test": entries, "lint": linted})


def main(arguments: list[str]) -> int:
    commands = {run.__name__: run for run in (demo, test, lint, docs, bench, study, clips, package)}
    name, rest = (arguments[0], arguments[1:]) if arguments else ("", [])
    if name in ("-h", "--help"):
        print(__doc__)
        return 0
    if name == "blenders" and not rest:
        print(list_blenders())
        return 0
    blender, supported = "", LINTED if name in ("lint", "docs") else BLENDERS
    if rest[:1] == ["--blender"] and rest[1:] and rest[1] in supported:
        blender, rest = rest[1], rest[2:]
    known = {"demo": [], "docs": [], "clips": [], "lint": ["--fast", "--types"]}.get(name, rest)
    if name not in commands or rest[:1] == ["--blender"] or not set(rest) <= set(known):
        print(__doc__, file=sys.stderr)
        return 2
    environment = Environment(ROOT, blender)
    try:
        environment.set_up()
        return commands[name](environment, *rest)
    except (BuildError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
