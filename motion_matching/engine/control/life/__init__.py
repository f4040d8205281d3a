"""Add life to a character: it breathes, idles and looks about."""

__all__ = ("breathing", "idling", "looking")
