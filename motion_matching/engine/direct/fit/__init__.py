"""Close a plan on its marks, keep what it has to hold, and search pieces again."""

__all__ = ("closing", "exact_places", "revising", "tempo")
