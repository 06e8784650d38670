"""crates.io, by `cargo update --dry-run`."""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING

from plimsoll.install.registries import client
from plimsoll.install.registries.entry import NewerVersion

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from plimsoll.install.registries.entry import PinnedEntry

NAME = "crates.io"
MANIFEST = "Cargo.toml"
REMEDY = "install Rust: https://rustup.rs"

_LINE = re.compile(
    r"^\s*(?:Updating|Unchanged) (?P<package>\S+) v(?P<version>\S+)"
    r"(?: -> v(?P<compatible>[^\s,)]+))?(?: \((?:available: )?v(?P<available>[^\s,)]+).*\))?$",
    re.MULTILINE,
)
"""A package in the report of `cargo update --verbose`; the last part is beyond what it may take."""


def concerns(entry: PinnedEntry) -> bool:
    """Whether it is a package of Cargo."""
    return bool(entry.manifests(MANIFEST))


def newer(entry: PinnedEntry) -> Iterator[NewerVersion]:
    """Direct dependencies of which crates.io has a newer version."""
    for manifest in entry.manifests(MANIFEST):
        direct = _direct(manifest)
        command = ("cargo", "update", "--dry-run", "--verbose")
        report = client.output_of(command, manifest.parent, remedy=REMEDY).stderr
        for found in _LINE.finditer(report):
            newest = found["available"] or found["compatible"]
            if newest and found["package"] in direct:
                yield NewerVersion(found["package"], found["version"], newest)


def _direct(manifest: Path) -> frozenset[str]:
    """Names of the dependencies that a manifest has itself."""
    return frozenset(tomllib.loads(manifest.read_text(encoding="utf-8")).get("dependencies", {}))
