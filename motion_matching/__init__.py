"""Motion Matching for Blender: motion capture in, a controller-driven performance out."""


def register() -> None:
    """Add everything the extension offers to Blender."""
    from . import registration

    registration.register()


def unregister() -> None:
    """Take back everything that `register` added."""
    from . import registration

    registration.unregister()
