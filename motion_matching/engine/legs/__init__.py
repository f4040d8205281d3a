"""Legs and joints: measures from the data, and two-bone inverse kinematics."""

__all__ = ("bending", "joints", "legs", "numbers", "two_bones")
