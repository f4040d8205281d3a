"""Bring hands, feet and hips to their marks: poses, leans, palms, and places to stand."""

__all__ = ("body_parts", "limb_marks", "mark_poses", "palms", "standing_places")
