"""What the package imports is declared: an environment may have more than a user installs."""

from __future__ import annotations

import ast
import sys
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import plimsoll

PYPROJECT = Path(__file__).parents[2] / "pyproject.toml"

DEVELOPMENT = {"dev", "dist"}
"""Extras that no part of the package may need."""


def imported(tree: ast.AST) -> Iterator[str]:
    """First names of the modules that are imported at run time."""
    for node in ast.iter_child_nodes(tree):
        match node:
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                yield from (name for one in node.orelse for name in imported(one))
            case ast.Import(names=names):
                yield from (one.name.partition(".")[0] for one in names)
            case ast.ImportFrom(module=str(module), level=0):
                yield module.partition(".")[0]
            case _:
                yield from imported(node)


def declared() -> set[str]:
    """Distributions that the package requires, with those of its extras for users."""
    project = tomllib.loads(PYPROJECT.read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    wanted = [one for extra in extras if extra not in DEVELOPMENT for one in extras[extra]]
    return {canonicalize_name(Requirement(one).name) for one in [*project["dependencies"], *wanted]}


def test_every_module_that_is_imported_is_of_a_declared_distribution() -> None:
    owners = metadata.packages_distributions()
    known = declared()
    undeclared = {
        f"{name} in {path.name}"
        for path in Path(plimsoll.__file__).parent.rglob("*.py")
        if "bundled" not in path.parts
        for name in set(imported(ast.parse(path.read_text("utf-8"))))
        if name not in sys.stdlib_module_names and name != "plimsoll"
        if known.isdisjoint(map(canonicalize_name, owners.get(name, [])))
    }
    assert undeclared == set()
