"""What a director asks for, and its file."""

__all__ = ("from_performance", "shot", "shot_file")
