"""Play a plan, and put pieces of one take into another."""

__all__ = ("part_tracks", "playing", "seams")
