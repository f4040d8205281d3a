"""Provide the material of a director: frames, their jumps, and their scale."""

__all__ = ("footage", "jump_table", "scaling")
