"""The Motion panel: sources, builds, the simulation bone."""
