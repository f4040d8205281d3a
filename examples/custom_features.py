"""Compare the shipped features with a set of your own, by how the same take comes out.

    python examples/custom_features.py [clips] [--script flips] [--seconds 10]

CLIPS is a folder with BVH files; without it, the built-in clips are used. The set here adds the
hands and looks less far ahead. The script also reads the features as an array, to show how much
each of them varies.
"""

import argparse
from pathlib import Path

import numpy as np
from find_api import find_api

api = find_api()


def make_schema():
    """Return feet, hands, velocities, and the trajectory 0.2 s and 0.5 s ahead as features."""
    limbs = [
        api.Feature("bone_position", bone)
        for bone in ("left_foot", "right_foot", "LeftHand", "RightHand")
    ]
    speeds = [api.Feature("bone_velocity", bone) for bone in ("left_foot", "right_foot", "hips")]
    ahead = (0.2, 0.5)
    trajectory = [
        api.Feature("trajectory_position", times=ahead, axes="xy", weight=1.5),
        api.Feature("trajectory_direction", times=ahead, axes="xy"),
    ]
    return api.Schema((*limbs, *speeds, *trajectory))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("clips", type=Path, nargs="?")
    parser.add_argument("--script", default="flips")
    parser.add_argument("--seconds", type=float, default=10.0)
    arguments = parser.parse_args()

    built = api.build(arguments.clips or api.make_demo_clips(), api.BuildSettings(mirror=True))
    # the same poses with other features: nothing is built again
    databases = {"default": built, "custom": built.with_schema(make_schema())}
    for name, database in databases.items():
        schema = database.schema
        take = api.perform(database, arguments.script, seconds=arguments.seconds)
        measures = api.measure(take, database)["take"]
        print(
            f"{name}: {schema.dimensions} dimensions, {measures['speed_mean']:.2f} m/s "
            f"on average, {100 * measures['foot_slide_mann']:.1f} cm/s foot slide"
        )
        for feature, dimensions in zip(schema.features, schema.slices, strict=True):
            deviation = np.std(database.features[dimensions], axis=1).mean()  # (D, N), raw
            print(f"  {feature.label:42s} weight {feature.weight:3.1f}  deviation {deviation:.3f}")


if __name__ == "__main__":
    main()
