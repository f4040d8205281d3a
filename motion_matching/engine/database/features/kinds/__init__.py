"""Define kinds of features, each in one place: its words, values, query and strokes."""

from ....errors import SettingsError
from . import base, bones, fades, paths

__all__ = ("KINDS", "base", "fades", "find_kind", "paths")

KINDS = (*bones.KINDS, *fades.KINDS, *paths.KINDS)  # in the order of menus


def find_kind(name: object, where: str = "the schema") -> base.FeatureKind:
    """Return the kind of that name. SettingsError if `where` asks for another."""
    for kind in KINDS:
        if kind.name == name:
            return kind
    kinds = ", ".join(kind.name for kind in KINDS)
    raise SettingsError(f"{where} has a feature of kind '{name}'; use one of {kinds}.")
