"""Make data sets: takes and scenes drawn from seeds, with shares of motion as asked for."""

__all__ = ("card", "data_set", "wants")
