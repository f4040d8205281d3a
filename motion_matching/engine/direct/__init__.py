"""Direct shots: marks that are hit on time, from a search that knows all of the shot."""

__all__ = ("conduct", "director", "footage", "improving", "shot", "sketch", "variations")
