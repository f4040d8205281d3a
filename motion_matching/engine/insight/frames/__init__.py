"""Inspect frames as the search sees them, and watch performances tick by tick."""

__all__ = ("feature_strokes", "frame_inspector", "watching")
