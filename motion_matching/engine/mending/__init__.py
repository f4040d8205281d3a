"""Find and mend frames that no body can have moved through."""

__all__ = ("mending", "source_doctor")
