"""Parts of the manual's pages that studies write, between two comments."""

from __future__ import annotations

import re
from pathlib import Path


def replace_part(document: Path, study: str, part: str) -> None:
    """Put what a study found into its part of a page. Raises ValueError if that has no such part."""
    text = document.read_text(encoding="utf-8")
    pattern = rf"(<!-- study: {re.escape(study)} -->\n).*?(<!-- end of study -->)"
    text, count = re.subn(
        pattern, lambda found: f"{found[1]}\n{part}\n{found[2]}", text, flags=re.DOTALL
    )
    if count != 1:
        raise ValueError(f"{document} has {count} parts '<!-- study: {study} -->'; it needs one")
    document.write_text(text, encoding="utf-8")


def publish(document: Path, study: str, part: str, *, complete: bool) -> None:
    """Print what a study found, and put it into its part of a page if it is `complete`."""
    print(f"\n{part}")
    if complete:
        replace_part(document, study, part)
        print(f"Written to {document}.")
    else:
        print("Nothing was written: the manual needs all sets.")
