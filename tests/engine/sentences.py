"""Check the sentences of errors."""

from __future__ import annotations

import pytest


def check_sentence(error: pytest.ExceptionInfo[Exception], *names: object) -> str:
    """Check that an error is one sentence on one line that holds all of these names; return it."""
    text = str(error.value)
    assert text.endswith(".")
    assert "\n" not in text
    for name in names:
        assert str(name) in text
    return text
