"""Measure and judge retargeted motion."""

__all__ = ("report", "result_check", "result_measure")
