"""Describe what a director asks for, and read and write it."""

__all__ = ("from_performance", "mark", "shot", "shot_file")
