"""Rotations as quaternions, in three layouts, and as Euler angles."""

__all__ = ("component_quat", "euler", "quat", "scalar_quat")
