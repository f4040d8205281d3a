"""Pair the bones of two bodies, automatically and by hand."""

__all__ = ("bone_mapping", "mapping_preset")
