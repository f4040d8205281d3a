"""Write pictures of one size, two in a row, as one SVG file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

from ..errors import SettingsError
from ..files import file_paths
from .numbers import NUMBERS

WIDTH = NUMBERS.width
HEIGHT = NUMBERS.height
MARGIN = NUMBERS.margin
_STYLE = (
    "text{font:12px sans-serif;fill:#222}.big{font-size:15px;font-weight:bold}"
    ".small{font-size:10px}polyline{fill:none;stroke-width:1;opacity:.5}"
    ".hole{fill:none;stroke:#d33;stroke-width:2}.data{fill:#3b6ea8}"
    ".simulation{fill:none;stroke:#e08a1e;stroke-width:2}"
)


def make_picture(name: str, title: str, parts: Iterable[str]) -> str:
    """Return one picture made of SVG elements, in units from its upper left corner."""
    heading = f'<text class="big" x="{MARGIN:g}" y="28">{escape(title)}</text>'
    return f'{heading}<g id="{name}">{"".join(parts)}</g>'


def make_label(x: float, y: float, text: str, style: str = "") -> str:
    """Return a line of small text as an SVG element, with `style` as further attributes."""
    return f'<text class="small" x="{round(x, 1):zg}" y="{round(y, 1):zg}"{style}>{text}</text>'


def write_pictures(pictures: Sequence[str], path: Path | str) -> None:
    """Write pictures as one SVG file. Raises SettingsError if that fails."""
    columns = min(len(pictures), 2)
    width, height = columns * WIDTH, -(-len(pictures) // columns) * HEIGHT
    body = [
        f'<g transform="translate({WIDTH * (k % columns):g} {HEIGHT * (k // columns):g})">'
        f"{picture}</g>"
        for k, picture in enumerate(pictures)
    ]
    size = f'viewBox="0 0 {width:g} {height:g}" width="{width:g}"'
    text = (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size}><style>{_STYLE}</style>'
        f'<rect width="100%" height="100%" fill="#fff"/>{"".join(body)}</svg>\n'
    )
    file_paths.write_text(path, text, SettingsError)
