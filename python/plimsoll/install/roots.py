"""Roots of Debian, in which frameworks are built and run: which, where, and what is in them.

A root is a folder with a Debian of its own: `root = "debian:trixie"` in a `framework.toml`. It has
the packages that the framework needs, and what these depend on. Frameworks that name the same suite
and packages share it; nothing writes into it once it is made.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll.campaign.places import user_cache
from plimsoll.provenance import digest

if TYPE_CHECKING:
    from plimsoll.campaign.framework import Installable

_VERSIONS = "packages"
_SEPARATOR = "="


@dataclass(frozen=True)
class DebianRoot:
    """A root, whether it is made or not.

    Attributes:
        suite: The suite of Debian: `trixie`.
        packages: The packages that it is made for, by name.
    """

    suite: str
    packages: tuple[str, ...]

    @property
    def name(self) -> str:
        """Its name in a `framework.toml`."""
        return f"debian:{self.suite}"

    @property
    def folder(self) -> Path:
        """Its folder in the user's cache, with its log, its versions and the root itself."""
        mark = hashlib.sha256(" ".join(self.packages).encode()).hexdigest()[:8]
        return user_cache() / "roots" / f"debian-{self.suite}-{mark}"

    @property
    def path(self) -> Path:
        """The root itself."""
        return self.folder / "root"

    @property
    def is_made(self) -> bool:
        """Whether it is made."""
        return (self.folder / _VERSIONS).is_file()

    @property
    def digest(self) -> str:
        """Digest of the names and versions of all its packages; empty if it is not made."""
        try:
            return digest((self.folder / _VERSIONS).read_bytes())
        except OSError:
            return ""

    def versions(self) -> dict[str, str]:
        """Version of each of its packages by name, with those that others depend on."""
        try:
            lines = (self.folder / _VERSIONS).read_text().splitlines()
        except OSError:
            return {}
        return dict(line.split(_SEPARATOR, 1) for line in lines)

    def set_versions(self, versions: dict[str, str]) -> None:
        """Stores the versions of its packages, which makes it count as made."""
        lines = [f"{name}{_SEPARATOR}{version}\n" for name, version in sorted(versions.items())]
        aside = self.folder / f"{_VERSIONS}.new"
        aside.write_text("".join(lines))
        aside.replace(self.folder / _VERSIONS)


def of(framework: Installable) -> DebianRoot | None:
    """The root of a framework; None if it runs in that of the host."""
    if not framework.root:
        return None
    packages = {need.name for need in framework.needs if need.kind == "apt"}
    return DebianRoot(framework.root.removeprefix("debian:"), tuple(sorted(packages)))
