"""Search for the frames of a shot, by its guide, its costs, and its beam."""

__all__ = ("beam", "frame_costs", "guide", "reach", "side_steps")
