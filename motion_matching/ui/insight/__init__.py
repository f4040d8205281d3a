"""The Insight panel."""
