"""The npm registry, by `npm outdated`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pydantic import BaseModel, TypeAdapter, ValidationError

from plimsoll.install.registries import client
from plimsoll.install.registries.entry import MissingVersion, NewerVersion

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from plimsoll.install.registries.entry import PinnedEntry

NAME = "npm"
MANIFEST = "package.json"
INSTALLED = "node_modules"
REMEDY = "install Node.js: https://nodejs.org/en/download"


class OutdatedPackage(BaseModel):
    """A package as `npm outdated --json` has it; `wanted` is what its manifest allows."""

    wanted: str
    latest: str


class PackageManifest(BaseModel):
    """A manifest; a dependency may be an address or a range, too."""

    dependencies: dict[str, str] = {}


class NpmComplaint(BaseModel):
    """What npm says when it fails."""

    summary: str


_VERSION = re.compile(r"\d+\.\d+\.\d+(?:[-+][\w.+-]+)?")
_REPORT = TypeAdapter(dict[str, OutdatedPackage])
_COMPLAINT = TypeAdapter(dict[str, NpmComplaint])


def concerns(entry: PinnedEntry) -> bool:
    """Whether it is a package of npm."""
    return bool(entry.manifests(MANIFEST))


def newer(entry: PinnedEntry) -> Iterator[NewerVersion | MissingVersion]:
    """Direct dependencies of which npm has a newer version."""
    for manifest in entry.manifests(MANIFEST):
        outdated = _outdated(manifest.parent)
        for name, package in outdated.items():
            if _is_older(package.wanted, package.latest):
                yield NewerVersion(name, package.wanted, package.latest)
        for name, version in _pins(manifest).items():
            # npm reports what is not installed, but for versions that the registry does not have.
            if name not in outdated and not (manifest.parent / INSTALLED / name).exists():
                yield MissingVersion(name, version)


def _pins(manifest: Path) -> dict[str, str]:
    """The direct dependencies that are pinned to one version."""
    try:
        package = PackageManifest.model_validate_json(manifest.read_bytes())
    except ValidationError as error:
        raise client.failed("npm", f"`{manifest.name}` cannot be read") from error
    return {name: spec for name, spec in package.dependencies.items() if _VERSION.fullmatch(spec)}


def _is_older(one: str, other: str) -> bool:
    """Whether a version precedes another; what npm has in place of versions precedes nothing."""
    if not (_VERSION.fullmatch(one) and _VERSION.fullmatch(other)):
        return False
    return _order(one) < _order(other)


def _order(version: str) -> tuple[object, ...]:
    """A key that sorts versions.

    Source:
        Semantic Versioning 2.0.0, 11.
    """
    release, _, preview = version.partition("+")[0].partition("-")
    numbers = tuple(int(part) for part in release.split("."))
    words = tuple(
        (not one.isdigit(), int(one) if one.isdigit() else one) for one in preview.split(".")
    )
    return numbers, not preview, words


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
