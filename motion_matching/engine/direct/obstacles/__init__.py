"""Keep a character clear of obstacles, and find the way round them."""

__all__ = ("body_clearance", "heights", "obstruction", "routing")
