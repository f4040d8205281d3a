"""Pairs of bones of two bodies, found and set by hand."""

__all__ = ("bone_mapping", "mapping_preset")
