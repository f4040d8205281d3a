"""Compute the features that frames are compared by, and the motion that they need."""

__all__ = ("bone_motion", "features", "kinds", "motion_table", "strokes")
