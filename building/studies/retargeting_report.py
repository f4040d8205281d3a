"""The study of retargeting as a page of the manual."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from building.benchmarks.report import CHECKOUT, describe_machine, format_columns

from . import peers, stand_ins
from .bodies import DATA, TARGETS
from .figures import Figure, Row, fix
from .report import format_figures
from .retargeting import Cell, Measures

DOCUMENT = CHECKOUT / "docs" / "retargeting-quality.md"
_BONES, _SECONDS = (65.0, 160.0), (0.7, 1.2)


def _limit_found(row: Row, _: Measures) -> float:
    return TARGETS[row[1]].found


def _limit_legs(row: Row, _: Measures) -> float:
    return TARGETS[row[1]].legs


def _limit_seconds(_: Row, measures: Measures) -> float:
    """Return the seconds for 10,000 frames, which grow evenly with the number of bones."""
    rate = np.diff(_SECONDS)[0] / np.diff(_BONES)[0]
    return float(_SECONDS[0] + rate * max(measures["bones"] - _BONES[0], 0.0))


FIGURES = (
    Figure("parts found, %", "at least 95; Rigify's wolf, horse and cat 17 of 19", "found", _limit_found, 100, 0, least=True),
    Figure("slide added, cm/s", "0.1", "added_slide", fix(0.1)),
    Figure("planted height, cm", "1", "height", fix(1.0)),
    Figure("hips' height, away from 1", "0.02", "off_hips", fix(0.02), digits=3),
    Figure("legs, degrees", "3 adults, 6 child and giant, 10 animals", "legs", _limit_legs, digits=1),
    Figure("torso, degrees", "3", "torso", fix(3.0), digits=1),
    Figure("fingers, degrees", "10", "fingers", fix(10.0), digits=1),
    Figure("roll of feet, toes and hands, degrees", "8", "roll", fix(8.0), digits=1),
    Figure("parts beyond a limit of the check", "0", "wrong", fix(0.0), digits=0),
    Figure("hinges against", "0", "against", fix(0.0), digits=0),
    Figure("there and back, cm", "0.5", "back_cm", fix(0.5)),
    Figure("there and back, degrees", "2", "back_degrees", fix(2.0), digits=1),
    Figure("s for 10,000 frames", "0.7 with 65 bones, 1.2 with 160", "seconds", _limit_seconds),
)  # fmt: skip
_BY_KEY = {figure.key: figure for figure in FIGURES}


class _Column(NamedTuple):
    """A column of measures; bold where the figure `bound` is missed, `text` explains it."""

    heading: str
    key: str
    text: str
    bound: str = ""
    form: Callable[[float], str] = "{:.2f}".format


_COLUMNS = (
    _Column("bones", "bones", "how many the character has", form="{:.0f}".format),
    _Column("parts", "parts", "how many parts of the body source and character both have", form="{:.0f}".format),
    _Column("found %", "found", "the share of them whose bones, all of a part, were found in both skeletons without help", "found", lambda share: f"{100 * share:.0f}"),
    _Column("slide", "slide", "how fast the balls of planted feet slide over the ground, in cm/s", "added_slide"),
    _Column("source's", "source_slide", "the same of the source, scaled by the length of the legs"),
    _Column("height", "height", "how far planted balls are from the height that they should have, in cm", "height"),
    _Column("hips", "hips", "the height of the hips above flat ankles, beside the source's scaled by the legs; 1 is right", "off_hips", "{:.3f}".format),
    _Column("legs", "legs", "the mean angle in degrees between thighs and shins and the source's", "legs", "{:.1f}".format),
    _Column("95 %", "legs_p95", "95 % of these angles are below that", form="{:.1f}".format),
    _Column("torso", "torso", "the mean angle in degrees between the way from the hips to the shoulders and the source's", "torso", "{:.1f}".format),
    _Column("fingers", "fingers", "how far the bones of fingers point off the source's in degrees, in 95 % of the frames of the worst bone; joint by joint from the knuckle", "fingers", "{:.1f}".format),
    _Column("roll", "roll", "how far feet, toes and hands are rolled about their length against the source's, in degrees, in 95 % of the frames of the worst of them", "roll", "{:.1f}".format),
    _Column("wrong", "wrong", "the parts that are beyond the limits by which [results are checked](retargeting.md#the-result), in all clips", "wrong", "{:.0f}".format),
    _Column("against", "against", "in how many frames a knee or elbow is bent to the other side than the source's", "against", "{:.0f}".format),
    _Column("back cm", "back_cm", "how far joints of limbs are off once the motion is brought back onto the source, where the character has all its bones", "back_cm"),
    _Column("back °", "back_degrees", "how far these bones are turned then, in degrees", "back_degrees", "{:.1f}".format),
    _Column("s", "seconds", "seconds of the processor that 10,000 frames take", "seconds"),
)  # fmt: skip
_INTRODUCTION = (
    "How well [retargeting](retargeting.md) brings motion of several skeletons onto several "
    "characters. No bone is set by hand: all parts are found by names, shape and motion. Then the "
    "motion is measured with the true parts of both, so that a part that was mistaken shows in all "
    "columns. What misses its bound is bold."
)
_RUNNING = (
    "The command needs a folder with Bandai-Namco's and LAFAN1's files (in `bandai-namco` and "
    "`lafan1`), named by `MOTION_MATCHING_MOCAP`; without it, it measures the generated motion and "
    "writes nothing. `--data generated --targets child` measures one pair, and `--output FILE` "
    "writes the page of whatever is measured."
)
_STAND_INS = (
    "The same motion on skeletons as other programs write them. A built-in clip is put on such a "
    "skeleton, brought onto Mixamo's *as source*, and compared with the clip itself, so that what is "
    "right is known exactly. *As character*, the skeleton gets the clip. No bone is set by hand. "
    "Figures are degrees: legs in half of the frames, all others in one of twenty, of the worst part. "
    "*torn* is how many centimetres a bone is away from where it rests in its parent, and *wrong* how "
    "many parts are beyond their limit."
)
# headings, and the largest values that are right
_STRANGE = {
    "lean": ("trunk", 10.0),
    "legs": ("legs", 5.0),
    "arms": ("arms", 5.0),
    "fingers": ("fingers", 10.0),
    "pitch": ("pitch", 24.0),
    "yaw": ("yaw", 8.0),
    "roll": ("roll", 8.0),
    "torn": ("torn", 0.0),
    "wrong": ("wrong", 0.0),
}
_FIGURES_TEXT = (
    "*worst* is of the pair furthest beyond its bound, *of the bound* its share of that (of parts, "
    "what is missing to 1 is compared), and *reached* counts the pairs that keep to it."
)


def format_page(
    rows: Mapping[Cell, Measures],
    strange: Sequence[stand_ins.Row] = (),
    ours: Mapping[str, tuple[peers.Figures, float]] | None = None,
) -> str:
    """Return the page of a study, with the rows of stand-ins, and ours of the table of peers."""
    data, targets = (list(dict.fromkeys(names)) for names in zip(*rows, strict=True))
    parts = [
        "# Retargeting quality",
        f"Written by `python3 build.py study retargeting`.\n{describe_machine()}",
        textwrap.fill(_INTRODUCTION, 118),
        textwrap.fill(_RUNNING, 118),
        "## Figures to reach",
        textwrap.fill(_FIGURES_TEXT, 118),
        format_figures(rows, FIGURES),
        "## Characters",
        _list_texts({name: TARGETS[name].text for name in targets}),
        "## What the columns mean",
        _list_texts({column.heading: column.text for column in _COLUMNS}),
    ]
    for name in data:
        own = {cell.target: measures for cell, measures in rows.items() if cell.data == name}
        parts += [
            f"## From {name}",
            textwrap.fill(f"The source is {DATA[name].text}.", 118),
            format_table(name, own),
        ]
    if strange:
        kinds = {kind: one.text for kind, one in stand_ins.STAND_INS.items()}
        parts += [
            "## Kinds of skeletons",
            textwrap.fill(_STAND_INS, 118),
            _list_texts(kinds),
            _format_stand_ins(strange),
        ]
    if ours:
        parts += ["## Beside Rokoko", textwrap.fill(peers.TEXT, 118), peers.format_table(ours)]
    return "\n\n".join(parts) + "\n"


def _format_stand_ins(rows: Sequence[stand_ins.Row]) -> str:
    lines = []
    for row in rows:
        cells = (_format_strange(row, key, limit) for key, (_, limit) in _STRANGE.items())
        lines.append((row.kind, row.use, *cells, row.refusal))
    headings = ("kind", "as", *(heading for heading, _ in _STRANGE.values()), "refused")
    return format_columns(list(zip(headings, *lines, strict=True)), ("kind", "as", "refused"))


def _format_strange(row: stand_ins.Row, key: str, limit: float) -> str:
    value = row.figures.get(key)
    if value is None:
        return ""
    text = f"{value:.0f}" if key == "wrong" else f"{value:.1f}"
    return f"**{text}**" if value > limit else text


def _list_texts(texts: Mapping[str, str]) -> str:
    lines = [f"- *{name}*: {text}" for name, text in texts.items()]
    return "\n".join("\n".join(textwrap.wrap(line, 118, subsequent_indent="  ")) for line in lines)


def format_table(data: str, rows: Mapping[str, Measures]) -> str:
    """Return the table of characters by name that one kind of data was brought onto."""
    cells = [
        (
            column.heading,
            *(_format_cell(column, Cell(data, name), rows[name]) for name in rows),
        )
        for column in _COLUMNS
    ]
    return format_columns([("onto", *rows), *cells], ("onto",))


def _format_cell(column: _Column, row: Cell, measures: Measures) -> str:
    if measures[column.key] is None:
        return ""
    text = column.form(measures[column.key])
    excess = _BY_KEY[column.bound].compute_excess(row, measures) if column.bound else None
    return f"**{text}**" if excess is not None and excess > 0.0 else text
