"""Feet: when they stand, where they land, and the numbers both live feet and bakes use."""

__all__ = ("contact_ranges", "foot_rules", "live", "planting", "played_toes")
