"""The Takes panel."""
