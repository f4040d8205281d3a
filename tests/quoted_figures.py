"""The figures that the manual's prose quotes, and those that its studies write.

A paragraph, an item or a row that names a set of motion, links to what a study writes, or stands in
the same section, tells of a measurement.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from building.tables import DOCS

_NUMBER = r"\d[\d,]*(?:\.\d+)?"
_UNITS = r"%|°/s|°|(?:cm|m)/s²?|rad/s|cm·s|cm|mm|min|ms|µs|m|s|times"
_JOINED = rf"(?:{_NUMBER}(?: to |, | and | or | instead of | against ))*{_NUMBER}"
_OF_ALL = re.compile(r"\b(\d+ of \d+)\b")
_FIGURE = re.compile(rf"(?<![\w.*`])({_JOINED}) ?({_UNITS})(?![\w/²·])")
_DECIMAL = re.compile(r"(?<![\w.])\d+\.\d+(?![\w.])")
_SETS = re.compile(r"Bandai-Namco's|LAFAN1|\bthe demo\b|\bgenerated clips\b|\bdogs?\b")
_PART = re.compile(r"<!-- (study|table): [^>]*-->\n(.*?)<!-- end of (?:study|table) -->", re.DOTALL)
_CODE = re.compile(r"^ *```.*?^ *```$", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"\]\(([\w-]+\.md)?(?:#([\w-]+))?\)")
_WRITTEN = re.compile(r"^(?:Written by `python3|Measured on ).*$", re.MULTILINE)


class Figure(NamedTuple):
    """A number as it is written, with its unit, if any."""

    number: str
    unit: str = ""

    def is_told_by(self, other: Figure) -> bool:
        """Return whether another figure is this one, or would be if rounded as much."""
        if self.unit != other.unit:
            return False
        if " of " in self.number:
            return self.number == other.number
        digits = len(self.number.partition(".")[2])
        theirs = other.number.replace(",", "")
        if " of " in theirs or len(theirs.partition(".")[2]) < digits:
            return False
        return f"{abs(float(theirs)):.{digits}f}" == self.number.replace(",", "")


class Section(NamedTuple):
    """A heading with what stands below it, deeper headings included."""

    anchor: str
    text: str


def read_page(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def is_written(text: str) -> bool:
    """Return whether a study writes a whole page."""
    return bool(re.match(r"# .*\n\nWritten by `python3", text))


@cache
def list_sections(name: str) -> tuple[Section, ...]:
    """Return the sections of a page, the whole page first."""
    text = read_page(name)
    headings = list(re.finditer(r"^(#+) (.*)$", _CODE.sub(_blank, text), re.MULTILINE))
    sections = []
    for k, heading in enumerate(headings):
        depth = len(heading[1])
        after = (h.start() for h in headings[k + 1 :] if len(h[1]) <= depth)
        anchor = re.sub(r"[^\w -]", "", heading[2].lower()).strip().replace(" ", "-")
        sections.append(Section(anchor, text[heading.start() : next(after, len(text))]))
    return tuple(sections)


def _blank(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", found[0])


def find_figures(text: str) -> Iterator[Figure]:
    """Find numbers with a unit, counts of all, and decimals without a unit."""
    for found in _OF_ALL.finditer(text):
        yield Figure(found[1])
    rest = _OF_ALL.sub(" ", text)
    for found in _FIGURE.finditer(rest):
        unit = "" if found[2] == "times" else found[2]
        yield from (Figure(number.strip(","), unit) for number in re.findall(_NUMBER, found[1]))
    yield from (Figure(number) for number in _DECIMAL.findall(_FIGURE.sub(" ", rest)))


@cache
def list_written(name: str, anchor: str = "") -> frozenset[Figure]:
    """Return the figures that studies write into a page, or into one of its sections."""
    sections = list_sections(name)
    if is_written(read_page(name)):
        text = next((s.text for s in sections if s.anchor == anchor), sections[0].text)
        return frozenset(read_written(text))
    inside = [s.text for s in sections if s.anchor == anchor] if anchor else [sections[0].text]
    parts = (found for text in inside for found in _PART.finditer(text) if found[1] == "study")
    return frozenset(figure for part in parts for figure in read_written(part[2]))


def read_written(text: str) -> Iterator[Figure]:
    """Read the figures of prose and tables; a unit is that of the cell, its column or its row."""
    units: list[str] = []
    lines = _WRITTEN.sub("", text).split("\n")
    yield from find_figures(" ".join(line for line in lines if not line.startswith("|")))
    for line in lines:
        if not line.startswith("|"):
            units = []
            continue
        cells = [cell.strip().strip("*") for cell in line.strip("|").split("|")]
        if not units:
            units = [_find_unit(cell) for cell in cells]
            continue
        for cell, unit in zip(cells, units, strict=True):
            yield from _read_cell(cell, unit or _find_unit(cells[0]))


def _read_cell(cell: str, unit: str) -> Iterator[Figure]:
    own = list(find_figures(cell))
    if any(figure.unit or " of " in figure.number for figure in own):
        yield from own
        return
    yield from (Figure(number, unit) for number in re.findall(_NUMBER, cell))


def _find_unit(heading: str) -> str:
    """Return the unit that a heading ends with: `answer, s`."""
    last = heading.rpartition(", ")[2]
    return last if re.fullmatch(_UNITS, last) else ""


class Passage(NamedTuple):
    """A piece of prose that tells of a measurement, and what studies write about it."""

    page: str
    text: str
    written: frozenset[Figure]

    def find_unwritten(self) -> list[Figure]:
        """Return the figures that no study writes."""
        return [
            figure
            for figure in find_figures(self.text)
            if not any(figure.is_told_by(other) for other in self.written)
        ]


def list_passages(page: str) -> Iterator[Passage]:
    """Find what tells of measurements in a page that is written by hand."""
    text = read_page(page)
    if is_written(text):
        return
    prose = _CODE.sub(_blank, _PART.sub(_blank, text))
    anchor, told = "", frozenset[Figure]()
    for piece in re.split(r"\n\s*\n|\n(?=\s*(?:- |\d+\. |\||#))", prose):
        if heading := re.match(r"#+ (.*)", piece):
            anchor = re.sub(r"[^\w -]", "", heading[1].lower()).strip().replace(" ", "-")
        written = list_written(page, anchor) if anchor else frozenset()
        for name, place in _LINK.findall(piece):
            if name or place:
                written |= list_written(name or page, place)
        if piece.lstrip().startswith("- "):  # items are about what the paragraph before links to
            written |= told
        else:
            told = written if piece.rstrip().endswith(":") else frozenset()
        if written or _SETS.search(piece):
            yield Passage(page, " ".join(re.sub(r"\]\([^)]*\)", "]", piece).split()), written)
