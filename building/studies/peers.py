"""Retargeting beside Rokoko's retargeter: its figures, and ours on the same frames.

Rokoko's were taken once, as it needs another Blender; ours are measured anew with each study.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from building.benchmarks.report import format_columns
from motion_matching.engine.retargeting.result.report import measure_retargeted
from motion_matching.engine.retargeting.retarget import Retargeter

from .bodies import DATA, TARGETS, get_roles, load_target
from .retargeting import study_body

_FRAMES = 600  # of LAFAN1's take, whose first frame is a T-pose


class Figures(NamedTuple):
    """How fast planted feet slide in cm/s, how far legs are off in degrees, and hinges against."""

    slide: float
    legs: float
    against: int


# Rokoko's add-on 1.4.2, its operators unmodified, in Blender 4.4, with the bones of both mapped by
# hand: "Use Pose: Current" with the source in its T-pose, and automatic scaling
ROKOKO = {
    "Mixamo": Figures(4.01, 8.9, 231),
    "Unreal": Figures(4.37, 9.0, 230),
    "MPFB": Figures(3.72, 8.9, 234),
    "Rigify human": Figures(5.61, 7.6, 388),
    "child": Figures(2.64, 7.0, 221),
    "giant": Figures(6.42, 8.9, 221),
    "no toes": Figures(4.12, 8.9, 202),
}
_OWN_MAPPING = {
    "Mixamo": "refused",
    "Unreal": "19 of 22, slide 4.52",
    "MPFB": "21 of 22, slide 3.40",
    "Rigify human": "slide 7.36",
    "child": "as by hand",
    "giant": "as by hand",
    "no toes": "refused",
}
TEXT = (
    "[Rokoko's retargeter](https://github.com/Rokoko/rokoko-studio-live-blender) 1.4.2 was run "
    f"with its own, unmodified operators in Blender 4.4 on the first {_FRAMES} frames of LAFAN1's "
    "push1, onto the same characters. Its bones were mapped by hand from the true parts, the "
    "source stood in the T-pose of its first frame, and scaling was automatic. *its mapping* says "
    "what it did by itself: how many bones it found and how planted feet slide then, or that it "
    "refused. Ours got no help. There is one measure for all, that of the tables above: *slide* in "
    "cm/s beside the source's, the mean error of *legs* in degrees, and in how many frames a knee "
    "or elbow is bent *against* the source's. Rokoko asks for both characters in a T-pose: those "
    "that rest in an A-pose and are posed by hand get better arms from it, and hardly better feet. "
    "Its figures were taken once, of its actions in November 2026; ours are taken anew with each "
    "study, of the frames that are written. On a walk of Bandai-Namco's, whose file has no T-pose, "
    "feet slid by 14.7, 21.1 and 8.0 cm/s with it on Mixamo, Rigify's human and the child, with legs "
    "off by 21° to 23°; with ours by 2.33, 2.75 and 1.05 cm/s, as the source's, and by 0.7° to 2.9°."
)


def measure_ours(folder: Path) -> dict[str, tuple[Figures, float]]:
    """Return our figures, and the source's slide, by character; Rigify's rigs are in `folder`."""
    data = DATA["lafan1"]
    clips, character = data.load(Path(os.environ["MOTION_MATCHING_MOCAP"]) / data.folder)
    clip = clips[0].crop(0, _FRAMES)
    source = study_body(clip.skeleton, get_roles(character), [clip])
    result = {}
    for name in ROKOKO:
        made = load_target(name, folder)
        target = study_body(made.skeleton, get_roles(made))
        moved = Retargeter(source.found, target.found).retarget(clip)
        found = measure_retargeted(clip, moved, source.truth, target.truth)
        slides = [found[key] / TARGETS[name].unit for key in ("slide", "source_slide")]
        result[name] = Figures(slides[0], found["legs"], int(found["against"])), slides[1]
    return result


def format_table(ours: Mapping[str, tuple[Figures, float]]) -> str:
    """Return the table of both by character."""
    rows = []
    for name, (own, slide) in ours.items():
        peer = ROKOKO[name]
        cells = [_format(own), _format(peer)]
        pairs = zip(*cells, strict=True)
        rows.append(
            (name, f"{slide:.2f}", *(text for pair in pairs for text in pair), _OWN_MAPPING[name])
        )
    kinds = ("slide", "legs", "against")
    headings = (
        "onto",
        "source's slide",
        *(f"{k}, {who}" for k in kinds for who in ("ours", "Rokoko's")),
        "its mapping",
    )
    return format_columns(list(zip(headings, *rows, strict=True)), ("onto", "its mapping"))


def _format(figures: Figures) -> tuple[str, ...]:
    return f"{figures.slide:.2f}", f"{figures.legs:.1f}", str(figures.against)
