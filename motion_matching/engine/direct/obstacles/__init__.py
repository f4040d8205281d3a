"""What stands around a shot, and the way past it."""

__all__ = ("blocked", "body_clearance", "heights", "nearness", "obstruction", "routing")
