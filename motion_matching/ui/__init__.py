"""What Blender shows: settings, operators, lists and panels. Nothing here computes; it asks the scene and the engine."""
