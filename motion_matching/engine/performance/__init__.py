"""What a performer is asked to do: intents, scripts, settings, labels, and where it starts."""

__all__ = ("intent", "labels", "performance", "published", "scripts", "settings", "start_state")
