"""Bring motion of one body onto another."""

__all__ = ("bodies", "frames", "loose_hips", "pairs", "result", "settings")
