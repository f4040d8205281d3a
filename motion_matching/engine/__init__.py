"""The algorithms: numpy and scipy only, no Blender."""
