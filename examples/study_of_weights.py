"""Perform a take at several weights of the trajectory, and plot its speed and its foot slide.

    python examples/study_of_weights.py --database walk.npz --plot weights.svg --weights 0.5 1 2 4

Without a database, one is built from the built-in clips. The plot is an SVG picture, which any
browser shows.
"""

import argparse
from pathlib import Path

from find_api import find_api

api = find_api()
CURVES = {
    "achieved_speed": ("#3b6ea8", "achieved speed, share of what was desired"),
    "foot_slide_mann": ("#e08a1e", "foot slide, share of the largest"),
}
WIDTH, HEIGHT, MARGIN = 560, 320, 50


def study(database, weights, script, seconds):
    """Return the measures of a take at each weight of the trajectory's features."""
    features = database.schema.features
    rows = []
    for weight in weights:
        every = [f.weight * (weight if f.kind.startswith("trajectory") else 1.0) for f in features]
        take = api.perform(database, script, seconds=seconds, settings={"weights": every})
        rows.append(api.measure(take, database)["take"])
        if rows[-1]["desired_speed"] is None:
            raise SystemExit(f"'{script}' keeps no goal for a second; choose another --script.")
        print(
            f"weight {weight:5.2f}: {rows[-1]['achieved_speed']:.2f} of "
            f"{rows[-1]['desired_speed']:.2f} m/s, "
            f"{100 * rows[-1]['foot_slide_mann']:.1f} cm/s foot slide"
        )
    return rows


def draw(weights, rows) -> str:
    """Return an SVG picture of the curves, each as a share, over the weights at even distances."""
    largest = max(row["foot_slide_mann"] for row in rows)
    shares = {
        "achieved_speed": [row["achieved_speed"] / row["desired_speed"] for row in rows],
        "foot_slide_mann": [row["foot_slide_mann"] / largest for row in rows],
    }
    step = (WIDTH - 2 * MARGIN) / max(len(weights) - 1, 1)
    parts = [
        f'<text x="{MARGIN + k * step:g}" y="{HEIGHT - 30}">{weight:g}</text>'
        for k, weight in enumerate(weights)
    ]
    for line, (name, (color, label)) in enumerate(CURVES.items()):
        points = " ".join(
            f"{MARGIN + k * step:.1f},{HEIGHT - MARGIN - 200 * share:.1f}"
            for k, share in enumerate(shares[name])
        )
        parts.append(f'<polyline points="{points}" fill="none" stroke="{color}" stroke-width="2"/>')
        parts.append(f'<text x="{MARGIN}" y="{20 + 16 * line}" fill="{color}">{label}</text>')
    size = f'width="{WIDTH}" height="{HEIGHT}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="12">'
        f'<rect width="100%" height="100%" fill="#fff"/>{"".join(parts)}'
        f'<text x="{MARGIN}" y="{HEIGHT - 10}">weight of the trajectory</text></svg>\n'
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--database", type=Path)
    parser.add_argument("--plot", type=Path, default=Path("weights.svg"))
    parser.add_argument("--weights", type=float, nargs="+", default=[0.25, 0.5, 1.0, 2.0, 4.0])
    parser.add_argument("--script", default="square")
    parser.add_argument("--seconds", type=float, default=20.0)
    arguments = parser.parse_args()

    if arguments.database:
        database = api.open(arguments.database)
    else:
        database = api.build(api.make_demo_clips(), api.BuildSettings(mirror=True))
    rows = study(database, arguments.weights, arguments.script, arguments.seconds)
    arguments.plot.write_text(draw(arguments.weights, rows), encoding="utf-8")
    print(f"Written: {arguments.plot}.")


if __name__ == "__main__":
    main()
