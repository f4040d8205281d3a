"""Whether a batch writes the same bytes however it is run: whole, in chunks, by workers, by farms.

Takes of three databases by both methods, and scenes of the director, are also done by workers and
tasks that are killed; then no row that was done is done again, and no file is left over.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from building.environments import ROOT
from building.slurm_here import find_missing, requeue, run_slurm, wait_for_jobs
from motion_matching.batch.farms import FarmTask, openjd, slurm
from motion_matching.batch.farms.steps import list_steps, split_rows
from motion_matching.batch.job import Job, load_job
from motion_matching.engine.building.demo_clips import load_demo_clips
from motion_matching.engine.bvh import bvh

DATABASES: Mapping[str, Sequence[str]] = {
    "walk": ("idle", "walk_speeds", "walk_curves", "walk_starts_and_stops"),
    "run": ("idle", "run_speeds", "run_curves", "gait_changes"),
    "strafe": ("idle", "walk_speeds", "strafes", "backwards_and_diagonals"),
}
SCRIPTS = ("figure_eight", "stop_and_go", "random", "turns", "strafe_circle")
PERFORMED_AGAIN = 10
_STATES = 200  # of a field: enough for takes that differ, and trained in a second
_LONGEST_RUN = 7200.0  # seconds of a way to run the batch, before it counts as hung


class Outcome(NamedTuple):
    """What a way to run the batch has left: files that differ from the whole's, that the whole has
    not, that are missing, and the rows that were done again after they had been done."""

    differing: list[str]
    left_over: list[str]
    missing: list[str]
    repeated: list[str]

    @property
    def is_same(self) -> bool:
        return not any(self)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--takes", type=int, default=500, help="how many (%(default)s)")
    parser.add_argument("--scenes", type=int, default=10, help="of the director (%(default)s)")
    parser.add_argument(
        "--longest", type=float, default=20.0, help="seconds of a take (%(default)g)"
    )
    parser.add_argument(
        "--repeats", type=int, default=200, help="of ten performances (%(default)s)"
    )
    parser.add_argument("--kills", type=int, default=10, help="of workers (%(default)s)")
    parser.add_argument(
        "--ways",
        nargs="+",
        choices=WAYS,
        default=list(WAYS),
        help="to run it, beside the whole (%(default)s)",
    )


def run(chosen: argparse.Namespace) -> int:
    """Run the batch in all chosen ways, print what each leaves, and return 1 if one differs."""
    with tempfile.TemporaryDirectory(prefix="batch-") as name:
        folder = Path(name)
        batch = write_batch(folder / "whole", chosen.takes, chosen.scenes, chosen.longest)
        for way in chosen.ways:
            shutil.copytree(folder / "whole", folder / way)
        seconds, _ = _measure(_run_whole, batch, chosen)
        whole = _read(batch.parent)
        print(f"whole: {len(load_job(batch).rows)} rows, {seconds:.0f} s", flush=True)
        outcomes = []
        for way in chosen.ways:
            if reason := _find_reason_against(way):
                print(f"{way}: not run, {reason}", flush=True)
                continue
            path = folder / way / batch.name
            seconds, repeated = _measure(WAYS[way], path, chosen)
            outcome = _compare(whole, _read(path.parent), repeated)
            print(f"{way}: {_describe(outcome)}, {seconds:.0f} s", flush=True)
            outcomes.append(outcome.is_same)
        outcomes.append(_perform_again(batch, folder / "again", chosen.repeats))
    return 0 if all(outcomes) else 1


# ---------------------------------------------------------------- the batch


def write_batch(folder: Path, takes: int, scenes: int, longest: float) -> Path:
    """Write a batch with its clips and scenes into a new folder, and return its file.

    It builds three databases and trains a field on each; takes last from one second to `longest`.
    """
    clips = {clip.name: clip for clip in load_demo_clips()}
    for name, names in DATABASES.items():
        (folder / name).mkdir(parents=True)
        for each in names:
            bvh.save(clips[each], folder / name / f"{each}.bvh")
    (folder / "out").mkdir()
    rng = random.Random(7)
    for number in range(scenes):
        scene = _make_scene(rng, number)
        (folder / f"scene_{number}.json").write_text(json.dumps(scene))
    rows = [
        *({"command": "build", "sources": [name], "output": f"{name}.npz"} for name in DATABASES),
        *(_train(name) for name in DATABASES),
        *(_take(rng, number, longest) for number in range(takes)),
        *(_direct(number) for number in range(scenes)),
    ]
    path = folder / "jobs.json"
    path.write_text(json.dumps({"rows": rows}))
    return path


def _train(name: str) -> dict[str, Any]:
    data = {"database": f"{name}.npz", "output": f"{name}_field.npz"}
    return {"command": "train", **data, "quality": "draft", "states": _STATES}


def _take(rng: random.Random, number: int, longest: float) -> dict[str, Any]:
    """Return a take: the databases take turns, and then the methods."""
    name = list(DATABASES)[number % len(DATABASES)]
    by_field = number // len(DATABASES) % 2
    field = {"controller": "field", "field": f"{name}_field.npz"} if by_field else {}
    return {
        "command": "take",
        "database": f"{name}.npz",
        "script": rng.choice(SCRIPTS),
        "seconds": round(rng.uniform(1.0, longest), 1),
        "seed": number,
        "bvh": f"out/{number:03}.bvh",
        **field,
    }


def _direct(number: int) -> dict[str, Any]:
    files = {"database": "walk.npz", "scene": f"scene_{number}.json", "bvh": f"out/s{number}.bvh"}
    return {"command": "direct", **files, "preview": True}


def _make_scene(rng: random.Random, seed: int) -> dict[str, Any]:
    """Return a scene: a walk to one mark, four to six seconds long."""
    seconds = rng.uniform(4.0, 6.0)
    place = [rng.uniform(-1.0, 1.0), -rng.uniform(1.5, 3.0)]
    marks = [{"time": seconds - 0.5, "position": place, "facing": rng.uniform(-1.0, 1.0)}]
    return {"seconds": seconds, "marks": marks, "seed": seed}


# ---------------------------------------------------------------- ways to run it


def _run_whole(batch: Path, chosen: argparse.Namespace) -> list[str]:
    _run("batch", batch)
    return []


def _run_in_chunks(size: int) -> Callable[[Path, argparse.Namespace], list[str]]:
    """Return a way to run a batch: a process for each chunk of this size."""

    def run_chunks(batch: Path, chosen: argparse.Namespace) -> list[str]:
        for step in list_steps(load_job(batch)):
            for rows in split_rows(step.numbers, size):
                _run("batch", batch, "--only", rows)
        return []

    return run_chunks


def _run_with_workers(batch: Path, chosen: argparse.Namespace) -> list[str]:
    _run("batch", batch, "--workers", 2)
    return []


def _run_and_kill(batch: Path, chosen: argparse.Namespace) -> list[str]:
    """Kill one of two workers each time that a further share of the rows is done."""
    job, rng, done = load_job(batch), random.Random(3), dict[str, int]()
    command = _list_command("batch", batch, "--workers", 2, "--retries", chosen.kills)
    with subprocess.Popen(
        command, cwd=ROOT, env=_environment(), stdout=subprocess.DEVNULL
    ) as process:
        for number in range(chosen.kills):
            share = (number + 0.5) / chosen.kills * len(job.rows)
            while process.poll() is None and len(_read_times(job)) < share:
                time.sleep(0.01)
            time.sleep(rng.uniform(0.0, 0.3))
            if (workers := _list_children(process.pid)) and process.poll() is None:
                done |= _read_times(job)
                os.kill(rng.choice(workers), signal.SIGKILL)
        code = process.wait(_LONGEST_RUN)
    return [*_list_repeated(job, done), *([] if code == 0 else [f"exit code {code}"])]


def _run_openjd(batch: Path, chosen: argparse.Namespace) -> list[str]:
    folder = batch.parent.with_name("bundle")
    _write(folder, openjd.make_files(load_job(batch), FarmTask(sys.executable), folder))
    words = ("--step", "Collect", "--run-dependencies", "-p", f"Jobs={batch}")
    _run_process([sys.executable, "-m", "openjd", "run", folder / "template.json", *words])
    return []


def _run_slurm(batch: Path, chosen: argparse.Namespace) -> list[str]:
    """Submit it, and requeue the takes when a fifth of all rows is done."""
    job, folder = load_job(batch), batch.parent.with_name("scripts")
    _write(folder, slurm.make_files(job, FarmTask(sys.executable), folder))
    with run_slurm() as cluster:
        said = _run_process(["sh", folder / "submit.sh"], cluster)
        takes = said.split()[[step.name for step in list_steps(job)].index("take")]
        end = time.monotonic() + _LONGEST_RUN
        while len(_read_times(job)) < len(job.rows) / 5 and time.monotonic() < end:
            time.sleep(0.02)
        done = _read_times(job)
        requeue(takes, cluster)
        wait_for_jobs(cluster, _LONGEST_RUN)
    return _list_repeated(job, done)


WAYS: Mapping[str, Callable[[Path, argparse.Namespace], list[str]]] = {
    "alone": _run_in_chunks(1),
    "chunks of 7": _run_in_chunks(7),
    "chunks of 50": _run_in_chunks(50),
    "workers": _run_with_workers,
    "killed workers": _run_and_kill,
    "openjd": _run_openjd,
    "slurm": _run_slurm,
}


def _find_reason_against(way: str) -> str:
    """Return why a way cannot be gone on this machine, or nothing."""
    if way == "slurm":
        return find_missing()
    if way == "openjd" and find_spec("openjd") is None:
        return "OpenJD's packages are not installed"
    if way == "killed workers" and not Path("/proc").is_dir():
        return "processes are found in /proc"
    return ""


# ---------------------------------------------------------------- what they leave


def _perform_again(batch: Path, folder: Path, repeats: int) -> bool:
    """Repeat the first takes in one process, print whether all are the same, and return it."""
    takes = [row for row in json.loads(batch.read_text())["rows"] if row["command"] == "take"]
    takes = takes[:PERFORMED_AGAIN]
    rows = []
    for number in range(repeats):
        for index, take in enumerate(takes):
            files = {
                key: str(batch.parent / take[key]) for key in ("database", "field") if key in take
            }
            rows.append({**take, **files, "bvh": f"{index}_{number}.bvh"})
    folder.mkdir()
    (folder / "jobs.json").write_text(json.dumps({"rows": rows}))
    _run("batch", folder / "jobs.json")
    different = sum(
        len({(folder / f"{index}_{number}.bvh").read_bytes() for number in range(repeats)}) - 1
        for index in range(len(takes))
    )
    print(f"{repeats} repeats of {len(takes)} performances: {different} of other bytes", flush=True)
    return different == 0


def _compare(
    whole: Mapping[str, bytes], other: Mapping[str, bytes], repeated: list[str]
) -> Outcome:
    differing = [name for name in whole if name in other and whole[name] != other[name]]
    missing = [name for name in whole if name not in other]
    return Outcome(differing, [name for name in other if name not in whole], missing, repeated)


def _describe(outcome: Outcome) -> str:
    parts = [f"{len(names)} {kind.replace('_', ' ')}" for kind, names in outcome._asdict().items()]
    first = [name for names in outcome for name in names[:3]]
    return ", ".join(parts) + (f" ({', '.join(first)})" if first else "")


def _read(folder: Path) -> dict[str, bytes]:
    """Return the files of a batch by name; of states and logs, which tell times, the names alone."""
    return {
        str(path.relative_to(folder)): b"" if ".row." in path.name else path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def _read_times(job: Job) -> dict[str, int]:
    """Return the rows whose state is written, each with the time of its first output."""
    times = {}
    for row in job.rows:
        if row.state_file.exists() and row.writes[0].exists():
            times[str(row)] = row.writes[0].stat().st_mtime_ns
    return times


def _list_repeated(job: Job, done: Mapping[str, int]) -> list[str]:
    """Return the rows that were done then, and were done again since."""
    now = _read_times(job)
    return [name for name, when in done.items() if now.get(name) != when]


def _list_children(process: int) -> list[int]:
    try:
        return [
            int(word)
            for word in Path(f"/proc/{process}/task/{process}/children").read_text().split()
        ]
    except OSError:  # it has ended
        return []


# ---------------------------------------------------------------- processes and files


def _measure(
    way: Callable[[Path, argparse.Namespace], list[str]], batch: Path, chosen: argparse.Namespace
) -> tuple[float, list[str]]:
    started = time.perf_counter()
    repeated = way(batch, chosen)
    return time.perf_counter() - started, repeated


def _write(folder: Path, files: Mapping[str, str]) -> None:
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text)


def _environment() -> dict[str, str]:
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


def _list_command(*words: object) -> list[str]:
    return [sys.executable, "-m", "motion_matching", *map(str, words)]


def _run(*words: object) -> None:
    _run_process(_list_command(*words))


def _run_process(command: Sequence[object], environment: dict[str, str] | None = None) -> str:
    """Run a command to its end, and return what it prints; RuntimeError if it fails."""
    done = subprocess.run(
        [str(word) for word in command],
        cwd=ROOT,
        env=environment or _environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=_LONGEST_RUN,
    )
    if done.returncode:
        raise RuntimeError(f"{command} ended with {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout
