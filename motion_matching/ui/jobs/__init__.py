"""The sub-panel Batch of the panel Takes."""
