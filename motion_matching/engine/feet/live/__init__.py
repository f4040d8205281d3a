"""Place the feet of a tick: locked toes, steps, landings, and one leg bent at a time."""

__all__ = ("contact_lock", "feet_apart", "foot_lock", "knee_limit")
