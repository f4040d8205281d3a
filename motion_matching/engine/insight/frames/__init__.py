"""Frames as the search sees them, and performances watched tick by tick."""

__all__ = ("feature_strokes", "frame_inspector", "watching")
