"""Feet: when they stand, where they land, and the numbers both live feet and bakes use."""

__all__ = ("contact_ranges", "live", "numbers", "planting", "played_toes")
