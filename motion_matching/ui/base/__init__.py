"""What panels and operators share."""

__all__ = (
    "colors",
    "drawing",
    "operator_base",
    "panel_base",
    "property_updates",
    "typed_properties",
    "whole_names",
)
