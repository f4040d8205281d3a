"""What a character does by itself: it breathes and looks about."""

__all__ = ("breathing", "idling", "looking")
