"""An entry as registries see it: a folder with manifests, and Debian packages."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from plimsoll.install import sources

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class PinnedEntry:
    """A framework with all of its variants.

    Attributes:
        name: Its name.
        folder: Its folder.
        debian_packages: Debian packages that its variants need on the host.
    """

    name: str
    folder: Path
    debian_packages: tuple[str, ...] = ()

    @cached_property
    def _files(self) -> tuple[Path, ...]:
        """Its files, looked for once, in the order of their paths."""
        return tuple(sorted(sources.found(self.folder)))

    def manifests(self, pattern: str) -> tuple[Path, ...]:
        """Its files of a name, which may have `*`, in the order of their paths."""
        return tuple(file for file in self._files if file.match(pattern))


@dataclass(frozen=True, order=True)
class MissingVersion:
    """A package whose version its registry does not have.

    Attributes:
        package: Its name, as the registry has it.
        version: The version that the entry uses.
    """

    package: str
    version: str


@dataclass(frozen=True, order=True)
class NewerVersion:
    """A package of which there is a newer version.

    The newest version is that of the package alone. Other packages of the entry may not allow it.

    Attributes:
        package: Its name, as the registry has it.
        version: The version that the entry uses.
        newest: The newest one that is no preview.
    """

    package: str
    version: str
    newest: str
