"""Find what the controls of a rig move."""

__all__ = ("find_controls",)
