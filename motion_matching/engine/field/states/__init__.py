"""States of a field: their neighbours, gaits, tasks and values."""

__all__ = ("gaits", "neighbours", "poses", "states", "tasks", "value_function")
