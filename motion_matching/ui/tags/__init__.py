"""The Tags panel."""
