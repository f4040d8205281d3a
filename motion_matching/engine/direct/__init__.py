"""Direct shots: hit marks on time by a search over the whole shot."""

__all__ = ("conduct", "director", "footage", "improving", "shot", "sketch", "variations")
