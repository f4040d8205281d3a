"""Perform all scripts, lively and calm, and write each take as BVH with a table of measures.

    python examples/batch_of_takes.py clips takes --seconds 20

CLIPS is a folder with BVH files; without it, the built-in clips are used. TAKES is the folder to
write to.
"""

import argparse
import csv
from pathlib import Path

from find_api import find_api

api = find_api()
SCRIPTS = (
    "figure_eight",
    "square",
    "stop_and_go",
    "flips",
    "strafe_circle",
    "random",
    "turns",
    "pushes",
)
TEMPERS = {
    "lively": {"velocity_halflife": 0.15, "rotation_halflife": 0.15},
    "calm": {"velocity_halflife": 0.4},
}
MEASURES = (
    "seconds",
    "achieved_speed",
    "response_time_median",
    "foot_slide_mann",
    "jumps_per_second",
)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("clips", type=Path, nargs="?")
    parser.add_argument("takes", type=Path, nargs="?", default=Path("takes"))
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--scripts", nargs="+", default=SCRIPTS)
    arguments = parser.parse_args()

    database = api.build(arguments.clips or api.make_demo_clips(), api.BuildSettings(mirror=True))
    arguments.takes.mkdir(parents=True, exist_ok=True)
    rows = []
    for script in arguments.scripts:
        for temper, settings in TEMPERS.items():
            take = api.perform(database, script, seconds=arguments.seconds, settings=settings)
            api.write_bvh(take, arguments.takes / f"{script}_{temper}.bvh")
            measures = api.measure(take, database)["take"]
            row = {"take": f"{script}_{temper}"} | {name: measures[name] for name in MEASURES}
            rows.append(row)
            slide = 100 * measures["foot_slide_mann"]
            print(f"{script:14s} {temper:7s} {slide:5.1f} cm/s foot slide")
    with open(arguments.takes / "takes.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, ["take", *MEASURES])
        writer.writeheader()
        writer.writerows(rows)
    print(f"{len(rows)} takes and takes.csv are in {arguments.takes}.")


if __name__ == "__main__":
    main()
