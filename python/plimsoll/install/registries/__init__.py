"""One module per registry: which newer versions it has of what an entry uses, by its own client.

A module has `NAME`; `concerns`, whether an entry uses packages of this registry; and `newer`, which
asks. It reports pinned versions that the registry does not have, too, where its client tells.
Nothing is installed or changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from plimsoll.install.registries import cargo, debian, go, maven, npm, pypi

if TYPE_CHECKING:
    from collections.abc import Iterable

    from plimsoll.install.registries.entry import MissingVersion, NewerVersion, PinnedEntry


class Registry(Protocol):
    """What every module of a registry has."""

    @property
    def NAME(self) -> str:  # noqa: N802 - a constant of the module
        """Name of the registry."""
        ...

    def concerns(self, entry: PinnedEntry, /) -> bool:
        """Whether an entry uses packages of this registry."""
        ...

    def newer(self, entry: PinnedEntry, /) -> Iterable[NewerVersion | MissingVersion]:
        """The packages of an entry of which there are newer versions, or not the one that it uses.

        Raises:
            NotInstalled: The client is not on the PATH.
            RegistryFailed: The client failed.
        """
        ...


REGISTRIES: tuple[Registry, ...] = (cargo, debian, go, maven, npm, pypi)
