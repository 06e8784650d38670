"""What all tests of this folder share."""

from __future__ import annotations

import pytest

from plimsoll.intake import limits


@pytest.fixture(autouse=True)
def from_1970(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Instants of tests are small numbers, to be read; a test of limits wants the real ones."""
    if request.node.get_closest_marker("real_limits") is None:
        monkeypatch.setattr(limits, "EARLIEST_NS", 0)
