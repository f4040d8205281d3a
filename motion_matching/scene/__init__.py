"""Blender data in and out; no operators, no drawing."""
