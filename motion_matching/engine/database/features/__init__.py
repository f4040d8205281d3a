"""What frames are compared by: features, and the motion that they are computed from."""

__all__ = ("bone_motion", "features", "kinds", "motion_table", "strokes")
