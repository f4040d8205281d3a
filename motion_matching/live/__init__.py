"""A running session: devices in, a character that moves, keys out. Plain Python; Blender's data is the scene's."""
