"""Which frameworks are tested for every change: a few of all kinds, and those that changed."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

import pytest

FRAMEWORKS = Path(__file__).resolve().parents[1] / "frameworks"

ALWAYS = {"fastapi", "go", "node", "php", "reference", "vertx"}
"""One of each kind of runtime."""

LESS_OFTEN = {"fastapi:granian"}
"""Variants of these that are another kind of server, but install as much as a framework does."""


BY_PLAIN_HTTP = {"vertx"}
"""Those whose every start takes seconds of processor time; `go` and `node` have their services."""


@cache
def changed() -> frozenset[str]:
    """Frameworks in which a file differs from the commit before this one.

    Where there is no such commit, or no git, nothing has changed.
    """
    commands = (
        ("diff", "--name-only", "--relative", "HEAD~1"),
        ("ls-files", "--others", "--exclude-standard"),
    )
    files: list[str] = []
    for command in commands:
        ran = subprocess.run(
            ["git", *command], cwd=FRAMEWORKS, capture_output=True, text=True, check=False
        )
        files += ran.stdout.splitlines()
    return frozenset(file.partition("/")[0] for file in files)


def is_spared(name: str) -> bool:
    """Whether `make thorough` alone starts a framework by its further services."""
    return name in BY_PLAIN_HTTP - changed()


def marks(name: str, root: str = "", variant: str = "") -> list[pytest.MarkDecorator]:
    """Marks of the tests of a framework: its name, and whether `make thorough` alone runs them.

    Args:
        name: Its name.
        root: Its root, `debian:trixie`, which is large and takes minutes; empty for the host's.
        variant: The name of the variant; empty for the framework itself.
    """
    own = getattr(pytest.mark, name)
    is_always = name in ALWAYS and f"{name}:{variant}" not in LESS_OFTEN
    is_tested = (is_always or name in changed()) and not root
    return [own] if is_tested else [own, pytest.mark.thorough]
