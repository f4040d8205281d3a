"""What retargeted motion became, measured and judged."""

__all__ = ("report", "result_check", "result_measure")
