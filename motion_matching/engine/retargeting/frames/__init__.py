"""Find anatomical frames of bones that mean the same on two bodies."""

__all__ = (
    "end_frames",
    "finger_frames",
    "frame_axes",
    "neutral_pose",
    "partial_pose",
    "soles",
    "trunk_stance",
)
