"""The Character panel."""
