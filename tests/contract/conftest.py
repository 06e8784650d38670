"""The name of each framework is a marker: `pytest -m go` runs what concerns `go`."""

from pathlib import Path

import pytest

from plimsoll.campaign.framework import find

FRAMEWORKS = Path(__file__).resolve().parents[2] / "frameworks"


def pytest_configure(config: pytest.Config) -> None:
    for folder in find(FRAMEWORKS):
        config.addinivalue_line("markers", f"{folder.name}: the framework of this name")
