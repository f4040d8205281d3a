"""The Features panel."""
