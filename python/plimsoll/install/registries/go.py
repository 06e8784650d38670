"""The proxy of Go modules, by `go list -m -u`. A new major version is another module to Go."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.install.registries import client
from plimsoll.install.registries.entry import NewerVersion

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plimsoll.install.registries.entry import PinnedEntry

NAME = "Go modules"
MANIFEST = "go.mod"
REMEDY = "install Go: https://go.dev/doc/install"

_DIRECT = (
    "{{if not (or .Main .Indirect)}}{{with .Update}}{{$.Path}} {{$.Version}} {{.Version}}"
    "{{end}}{{end}}"
)
"""A line for each direct dependency that has an update, an empty one for each other module."""


def concerns(entry: PinnedEntry) -> bool:
    """Whether it is a Go module."""
    return bool(entry.manifests(MANIFEST))


def newer(entry: PinnedEntry) -> Iterator[NewerVersion]:
    """Direct dependencies that have a newer version within their major version."""
    for manifest in entry.manifests(MANIFEST):
        command = ("go", "list", "-m", "-u", "-f", _DIRECT, "all")
        for line in client.output_of(command, manifest.parent, remedy=REMEDY).stdout.splitlines():
            if line:
                yield NewerVersion(*line.split())
