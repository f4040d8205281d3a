"""What frames are compared by: features, and the motion that they are computed from."""

__all__ = ("fade_features", "features", "motion_table")
