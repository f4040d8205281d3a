"""What a field knows: its states, their neighbours and gaits, tasks and values."""

__all__ = ("entries", "gaits", "neighbours", "poses", "states", "tasks", "value_function")
