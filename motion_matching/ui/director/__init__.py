"""The Direct panel."""
