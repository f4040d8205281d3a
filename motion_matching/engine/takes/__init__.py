"""Takes: solve a performance, plant its feet for a bake, and measure the result."""

__all__ = ("baking", "comparison", "joining", "performers", "pruning", "take_files", "takes")
