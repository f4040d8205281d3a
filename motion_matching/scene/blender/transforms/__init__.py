"""Transforms and rotation modes."""

__all__ = ("rotation_modes", "transforms")
