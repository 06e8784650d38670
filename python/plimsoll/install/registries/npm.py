"""The npm registry, by `npm outdated`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel, TypeAdapter, ValidationError

from plimsoll.install.registries import client
from plimsoll.install.registries.entry import NewerVersion

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from plimsoll.install.registries.entry import PinnedEntry

NAME = "npm"
MANIFEST = "package.json"
REMEDY = "install Node.js: https://nodejs.org/en/download"


class OutdatedPackage(BaseModel):
    """A package as `npm outdated --json` has it; `wanted` is what its manifest allows."""

    wanted: str
    latest: str


class NpmComplaint(BaseModel):
    """What npm says when it fails."""

    summary: str


_REPORT = TypeAdapter(dict[str, OutdatedPackage])
_COMPLAINT = TypeAdapter(dict[str, NpmComplaint])


def concerns(entry: PinnedEntry) -> bool:
    """Whether it is a package of npm."""
    return bool(entry.manifests(MANIFEST))


def newer(entry: PinnedEntry) -> Iterator[NewerVersion]:
    """Direct dependencies of which npm has a newer version."""
    for manifest in entry.manifests(MANIFEST):
        for name, package in _outdated(manifest.parent).items():
            if package.wanted != package.latest:
                yield NewerVersion(name, package.wanted, package.latest)


def _outdated(folder: Path) -> dict[str, OutdatedPackage]:
    """What npm reports; its exit code is 1 with outdated packages, and when it fails."""
    command = ("npm", "outdated", "--json")
    report = client.output_of(command, folder, remedy=REMEDY, codes=(0, 1)).stdout.strip() or "{}"
    try:
        return _REPORT.validate_json(report)
    except ValidationError as error:
        raise client.failed("npm", _complaint(report)) from error


def _complaint(report: str) -> str:
    """Why npm failed, by its own words; else what it printed."""
    try:
        return " ".join(one.summary for one in _COMPLAINT.validate_json(report).values())
    except ValidationError:
        return report
