"""Close a plan on its marks, keep its anchors, and search pieces again."""

__all__ = ("closing", "exact_places", "revising", "tempo")
