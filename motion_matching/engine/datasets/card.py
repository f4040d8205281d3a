"""The card of a data set: from which data it is and how it was made, what it holds, and how to read
it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..errors import MotionDataError, MotionMatchingError, SettingsError
from ..files import file_paths, json_files
from ..takes.take_files import ARRAYS, GROUND_ARRAYS, VERSION, StoredTakes
from .data_set import DataSet, ShardPlan
from .numbers import NUMBERS

FORMAT = "motion-matching data set"
NAMES = ("card.json", "card.md")
_LICENCE = (
    "This motion is made of the clips below. Their own licences apply to it: what these ask for or "
    "forbid holds for this data set, too."
)
_READING = """import json
import numpy as np
data = np.load("{file}")
header = json.loads(bytes(data["header"]))
first = slice(data["take_starts"][0], data["take_stops"][0])
joints = data["joint_positions"][first]  # frames, bones, x y z"""


def make_card(data_set: DataSet, folder: Path) -> dict[str, Any]:
    """Return the card of the files that are in a folder, as JSON data."""
    made = list(data_set.find_made(folder))
    database = data_set.database
    return {
        "format": FORMAT,
        "version": VERSION,
        "database": {
            "name": data_set.name,
            "sha256": data_set.digest,
            "frames": database.frame_count,
            "fps": database.fps,
            "clips": sorted({origin.clip for origin in database.ranges}),
        },
        "licence": _LICENCE,
        "made_with": {
            **asdict(data_set.order),
            "feet": data_set.feet,
            "wants": {want.name: want.share for want in data_set.wants},
            "settings": dict(data_set.changes),
        },
        "files": [_describe_file(*each) for each in made],
        "missing": len(data_set.list_shards()) - len(made),
        "takes": _count("takes", made),
        "scenes": _count("scenes", made),
        "coverage": _describe_coverage(data_set, made),
        "arrays": {name: kind.to_dict() for name, kind in {**ARRAYS, **GROUND_ARRAYS}.items()},
    }


def _describe_file(plan: ShardPlan, stored: StoredTakes) -> dict[str, Any]:
    frames = len(stored.arrays["frames"])
    return {"file": plan.name, "takes": stored.count, "frames": frames}


def _count(kind: str, made: Sequence[tuple[ShardPlan, StoredTakes]]) -> dict[str, Any]:
    """Return how much there is of a kind, the shares of its frames, and how much was refused."""
    shards = [stored for plan, stored in made if plan.kind == kind]
    frames = sum(len(stored.arrays["frames"]) for stored in shards)
    told = [stored.header["data_set"] for stored in shards]
    contents = Counter[str]()
    for each in told:
        contents.update(each["contents"])
    refused = [one for each in told for one in each["refused"]]
    measures = Counter(measure for one in refused for measure in one["unlike"])
    counted = {
        "asked": sum(plan.takes for plan, _ in made if plan.kind == kind),
        "count": sum(stored.count for stored in shards),
        "minutes": round(sum(len(s.arrays["frames"]) / s.header["fps"] for s in shards) / 60.0, 3),
        "contents": {name: round(count / frames, 4) for name, count in contents.items()},
        "refused": len(refused),
        "refused_by": dict(sorted(measures.items())),
    }
    if kind == "scenes":
        marks = [take["marks"] for stored in shards for take in stored.header["takes"]]
        counted["marks"] = {n: sum(mark[n] for mark in marks) for n in ("asked", "reached")}
    return counted


def _describe_coverage(
    data_set: DataSet, made: Sequence[tuple[ShardPlan, StoredTakes]]
) -> list[dict[str, Any]]:
    """Return each share that was asked for, and what of it is reached."""
    contents = _count("takes", made)["contents"]
    rows = []
    for want in data_set.wants if contents else ():
        off = contents[want.name] - want.share
        rows.append(
            {
                "motion": want.name,
                "asked": want.share,
                "reached": contents[want.name],
                "is_reached": abs(off) <= NUMBERS.near,
            }
        )
    return rows


def check_folder(folder: Path) -> None:
    """Raise SettingsError if a card that is there is of something else."""
    path = folder / NAMES[0]
    if not path.exists() and not (folder / NAMES[1]).exists():
        return
    try:
        card = json_files.read(path, "card")
    except MotionMatchingError:
        card = None
    if not isinstance(card, dict) or card.get("format") != FORMAT:
        raise SettingsError(
            f"{folder} has a {' or '.join(NAMES)} of something else; choose another folder."
        )


def write_card(data_set: DataSet, folder: Path) -> dict[str, Any]:
    """Write the card of the files in a folder, as JSON and for people, and return it.

    Without files there is none. Raises MotionDataError if it cannot be written.
    """
    while (card := make_card(data_set, folder))["files"]:
        text = json.dumps(card, indent=1)
        file_paths.write_text(folder / NAMES[0], f"{text}\n", MotionDataError)
        file_paths.write_text(folder / NAMES[1], write_page(card), MotionDataError)
        there = [plan.name for plan in data_set.list_shards() if (folder / plan.name).exists()]
        # another process may have finished a file meanwhile
        if there == [one["file"] for one in card["files"]]:
            break
    return card


def write_page(card: Mapping[str, Any]) -> str:
    """Return a card as a page of Markdown."""
    database = card["database"]
    options = {name: value for name, value in card["made_with"].items() if value != {}}
    files = [[one["file"], one["takes"], one["frames"]] for one in card["files"]]
    arrays = [
        [
            f"`{name}`",
            kind["dtype"],
            ", ".join(map(str, kind["shape"])),
            kind["unit"],
            kind["meaning"],
        ]
        for name, kind in card["arrays"].items()
    ]
    parts = [
        f"# Motion made from {database['name'] or 'a database'}",
        *summarize(card),
        "## Source",
        f"{database['frames']} frames at {database['fps']:g} a second of the database "
        f"`{database['name']}` (SHA-256 of its content: `{database['sha256']}`).",
        card["licence"],
        "\n".join(f"- {clip}" for clip in database["clips"]),
        "## How it was made",
        "`motion_matching generate`, with these options; the same ones make the same bytes again.",
        _write_table(["option", "value"], [[n, json.dumps(v)] for n, v in options.items()]),
        "## Contents",
        *(_write_contents(kind, card[kind]) for kind in ("takes", "scenes") if card[kind]["count"]),
        "## Files",
        _write_table(["file", "takes", "frames"], files),
        "## Arrays",
        f"Version {card['version']}. K takes, F frames, B bones, L feet.",
        _write_table(["array", "type", "shape", "unit", "what it holds"], arrays),
        "```python",
    ]
    reading = _READING.format(file=card["files"][0]["file"] if card["files"] else "takes_0001.npz")
    return "\n\n".join(parts) + f"\n{reading}\n```\n"


def _write_contents(kind: str, counted: Mapping[str, Any]) -> str:
    rows = [[name, f"{100 * share:.1f} %"] for name, share in counted["contents"].items()]
    return _write_table([f"of the frames of {kind}", "share"], rows)


def _write_table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(str(cell) for cell in row)} |" for row in lines)


def summarize(card: Mapping[str, Any]) -> list[str]:
    """Return sentences on how much there is, what was asked for, and what was refused."""
    lines = []
    for kind in ("takes", "scenes"):
        counted = card[kind]
        if not counted["count"]:
            continue
        of = "" if counted["count"] == counted["asked"] else f" of {counted['asked']}"
        line = f"{counted['count']}{of} {kind} of {counted['minutes']:.1f} minutes"
        if kind == "scenes":
            line += ", with {reached} of {asked} marks met".format(**counted["marks"])
        if counted["refused"]:
            by = ", ".join(
                f"{n} by {name.replace('_', ' ')}" for name, n in counted["refused_by"].items()
            )
            line += f"; {counted['refused']} more were unlike the frames they play ({by})"
        lines.append(f"{line}.")
    for row in card["coverage"]:
        text = (
            f"{row['motion']}: {100 * row['reached']:.1f} % of {100 * row['asked']:g} % asked for"
        )
        off = 100 * (row["reached"] - row["asked"])
        lines.append(
            text + ("." if row["is_reached"] else f", not reached by {abs(off):.1f} points.")
        )
    if card["missing"]:
        lines.append(f"{card['missing']} files are not made yet.")
    return lines
