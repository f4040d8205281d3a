"""Motion of one body brought onto another."""

__all__ = ("bodies", "frames", "loose_hips", "pairs", "result", "settings")
