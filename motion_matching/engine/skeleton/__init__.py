"""Skeletons, and the meaning of bone names."""

__all__ = ("bone_names", "skeleton")
