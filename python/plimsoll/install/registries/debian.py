"""Debian's archive, by `apt-cache policy`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from plimsoll.install.registries import client
from plimsoll.install.registries.entry import NewerVersion

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plimsoll.install.registries.entry import PinnedEntry

NAME = "Debian"
REMEDY = "install apt; `apt-get update` renews its lists"

_PACKAGE = re.compile(
    r"^(?P<package>\S+):\n +Installed: (?P<installed>\S+)\n +Candidate: (?P<candidate>\S+)$",
    re.MULTILINE,
)
_NONE = "(none)"


def concerns(entry: PinnedEntry) -> bool:
    """Whether it needs Debian packages."""
    return bool(entry.debian_packages)


def newer(entry: PinnedEntry) -> Iterator[NewerVersion]:
    """Installed packages of which the lists of this host have another version to install."""
    command = ("apt-cache", "policy", *entry.debian_packages)
    for found in _PACKAGE.finditer(client.output_of(command, entry.folder, remedy=REMEDY).stdout):
        package, installed, candidate = found.groups()
        if _NONE not in (installed, candidate) and installed != candidate:
            yield NewerVersion(package, installed, candidate)
