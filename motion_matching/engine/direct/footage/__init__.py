"""What a director cuts from: frames, their jumps, and their scale."""

__all__ = ("footage", "jump_table", "scaling")
