"""Skeletons, and what the names of bones say."""

__all__ = ("bone_names", "skeleton")
