"""The command of the study of retargeting: measure all pairs, print them and write the page."""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from . import peers
from . import retargeting_report as report
from .bodies import DATA, TARGETS, find_data, find_targets, save_rigify
from .report import format_figures
from .retargeting import Cell, Measures, measure_cell
from .running import Results, add_output_arguments, end_when_interrupted
from .sheets import SHEETS, draw_sheet
from .stand_ins import study_stand_ins


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--data", nargs="+", choices=DATA, help="which; all that is here by default"
    )
    parser.add_argument("--targets", nargs="+", choices=TARGETS, help="which characters")
    add_output_arguments(parser, report.DOCUMENT, "all is")
    parser.add_argument(
        "--sheets", type=Path, help="a folder for pictures of sources beside targets, and no more"
    )


def run(chosen: argparse.Namespace) -> int:
    """Return 0 once everything is measured, whether it reaches its figures or not."""
    cells = _list_cells(chosen.data or find_data(), chosen.targets or find_targets())
    try:
        with tempfile.TemporaryDirectory() as folder:
            if chosen.sheets:
                return _draw_sheets(Path(folder), chosen.sheets)
            rows = _measure(cells, Path(folder), chosen.workers)
            whole = cells == _list_cells(DATA, TARGETS)
            ours = peers.measure_ours(Path(folder)) if whole else None
    except RuntimeError as error:  # Rigify failed
        print(error, file=sys.stderr)
        return 1
    print(f"\n{format_figures(rows, report.FIGURES)}\n")
    output = chosen.output or (report.DOCUMENT if whole else None)
    if output:
        page = report.format_page(rows, study_stand_ins() if whole else (), ours)
        output.write_text(page, encoding="utf-8")
        print(f"Written to {output}.")
    else:
        print(f"Nothing was written: {report.DOCUMENT.name} needs all data and characters.")
    return 0


def _list_cells(data: Sequence[str] | dict, targets: Sequence[str] | dict) -> list[Cell]:
    """Return the pairs of data and characters that go on as many legs."""
    return [
        Cell(name, target)
        for name in data
        for target in targets
        if DATA[name].four_legged == TARGETS[target].four_legged
    ]


def _measure(cells: Sequence[Cell], folder: Path, workers: int) -> dict[Cell, Measures]:
    """Measure all cells, and print each as it is done; Rigify's rigs are generated first."""
    told = Results(len(cells))
    results: dict[Cell, Measures] = {}
    pool = ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), end_when_interrupted)
    try:
        kinds = {TARGETS[cell.target].rigify: None for cell in cells}
        list(pool.map(save_rigify, *zip(*((kind, folder) for kind in kinds if kind), strict=True)))
        for future in as_completed(pool.submit(measure_cell, cell, folder) for cell in cells):
            cell, results_of_cell = future.result()
            results[cell] = results_of_cell
            told.say(_summarize(cell, results_of_cell))
    finally:
        pool.shutdown(cancel_futures=True)
    return {cell: results[cell] for cell in cells}


def _summarize(cell: Cell, measures: Measures) -> str:
    return (
        f"{' onto '.join(cell):32} found {measures['found']:.0%}, slide {measures['slide']:.2f} "
        f"({measures['source_slide']:.2f}), legs {measures['legs']:.1f}°, "
        f"{measures['against']:.0f} against, {measures['seconds']:.2f} s"
    )


def _draw_sheets(folder: Path, output: Path) -> int:
    output.mkdir(parents=True, exist_ok=True)
    for name in SHEETS:
        path = draw_sheet(name, folder, output)
        print(f"Written to {path}.")
    return 0
