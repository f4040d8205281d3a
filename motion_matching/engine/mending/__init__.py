"""Frames that no body can have moved through: found and mended."""

__all__ = ("mending",)
