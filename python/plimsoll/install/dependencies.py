"""The versions of dependencies that a build installed.

A build without exact versions installs others next year. Package managers log what they installed;
these logs are read from the build folder, and no program is started. Languages that link everything
into one program need none of this: the digest of that program changes.
"""

from __future__ import annotations

import json
from itertools import chain
from typing import TYPE_CHECKING, Any, cast

from plimsoll.provenance import Part

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_PYTHON = ("*.dist-info", "*/*.dist-info", "*/lib/python*/site-packages/*.dist-info")
_GEMS = ("specifications/*.gemspec", "*/*/*/specifications/*.gemspec")
_NPM = "node_modules/.package-lock.json"
_COMPOSER = ("vendor/composer/installed.json", "*/vendor/composer/installed.json")


def resolved(*folders: Path) -> tuple[Part, ...]:
    """Name and version of each dependency in some folders.

    Args:
        folders: Build folder and source folder of the framework.

    Source:
        The "Recording installed projects" specification of PyPA (`NAME-VERSION.dist-info`); npm's
        hidden lock file; Composer's `installed.json`; RubyGems' `NAME-VERSION.gemspec`.
    """
    found = chain.from_iterable(
        read(folder) for folder in folders for read in (_python, _ruby, _npm, _composer)
    )
    return tuple(Part("version", name, version) for name, version in sorted(set(found)))


def _python(folder: Path) -> Iterator[tuple[str, str]]:
    for pattern in _PYTHON:
        yield from (_split(path.name, ".dist-info") for path in folder.glob(pattern))


def _ruby(folder: Path) -> Iterator[tuple[str, str]]:
    for pattern in _GEMS:
        yield from (_split(path.name, ".gemspec") for path in folder.glob(pattern))


def _npm(folder: Path) -> Iterator[tuple[str, str]]:
    packages = _json(folder / _NPM).get("packages", {})
    for path, package in packages.items():
        yield path.removeprefix("node_modules/"), str(package.get("version", ""))


def _composer(folder: Path) -> Iterator[tuple[str, str]]:
    for pattern in _COMPOSER:
        for path in folder.glob(pattern):
            for package in _json(path).get("packages", []):
                yield str(package.get("name", "")), str(package.get("version", ""))


def _split(name: str, ending: str) -> tuple[str, str]:
    """Name and version from `NAME-VERSION` with a suffix."""
    package, _, version = name.removesuffix(ending).rpartition("-")
    return package, version


def _json(path: Path) -> dict[str, Any]:
    """A file of a package manager; empty if it does not exist or has an unknown format."""
    try:
        content: Any = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return cast("dict[str, Any]", content) if isinstance(content, dict) else {}
