"""The strip above all panels: the current state, the next step, and warnings."""
