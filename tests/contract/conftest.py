"""Marks of the tests of frameworks.

The name of each framework is a marker: `pytest -m go` runs what concerns `go`.
"""

from pathlib import Path

import pytest

import tested_frameworks
from plimsoll.campaign.framework import Framework, find

FRAMEWORKS = Path(__file__).resolve().parents[2] / "frameworks"


def pytest_configure(config: pytest.Config) -> None:
    for folder in find(FRAMEWORKS):
        config.addinivalue_line("markers", f"{folder.name}: the framework of this name")


def pytest_itemcollected(item: pytest.Item) -> None:
    """`make test` starts frameworks that start slowly by none of their further services."""
    if not isinstance(item, pytest.Function) or not hasattr(item, "callspec"):
        return
    framework = item.callspec.params.get("framework")
    if "service" not in item.callspec.params or not isinstance(framework, Framework):
        return
    if tested_frameworks.is_spared(framework.name):
        item.add_marker(pytest.mark.thorough)
