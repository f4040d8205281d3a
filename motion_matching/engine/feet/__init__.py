"""Feet: contacts, landings, and the numbers that live feet and bakes share."""

__all__ = ("contact_ranges", "live", "numbers", "planting", "played_toes")
