"""PyPI, by the report of `pip install --dry-run`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pydantic import BaseModel, ValidationError

from plimsoll.errors import RegistryFailed
from plimsoll.install.registries import client
from plimsoll.install.registries.entry import MissingVersion, NewerVersion

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from plimsoll.install.registries.client import ClientOutput
    from plimsoll.install.registries.entry import PinnedEntry

NAME = "PyPI"
MANIFEST = "requirements*.txt"
REMEDY = "install pip: https://pip.pypa.io/en/stable/installation/"

_PIN = re.compile(
    r"^(?P<name>[\w.-]+)(?:\[[^]]*\])? *== *(?P<version>[\w.!-]+)(?![\w.!*+-])", re.MULTILINE
)
"""A pin of one public version. Version 1.0 of one with a local part, `1.0+a`, is another one."""

_UNMATCHED = re.compile(r"No matching distribution found for ([\w.-]+?)[=>]=")
_NO_VERSIONS = "(from versions: none)"
"""What pip says of a package of which it found nothing at all, also where there is no network."""

_SEPARATORS = re.compile(r"[-_.]+")
_COMMAND = (
    *("pip", "install", "--dry-run", "--ignore-installed", "--no-deps"),
    *("--disable-pip-version-check", "--quiet", "--report", "-"),
)


class PackageMetadata(BaseModel):
    """Name and version of a package."""

    name: str
    version: str


class PlannedPackage(BaseModel):
    """A package that pip would install."""

    metadata: PackageMetadata


class InstallationReport(BaseModel):
    """The report of `pip install`: https://pip.pypa.io/en/stable/reference/installation-report/."""

    install: list[PlannedPackage]


def concerns(entry: PinnedEntry) -> bool:
    """Whether it has a file of requirements."""
    return bool(entry.manifests(MANIFEST))


def newer(entry: PinnedEntry) -> Iterator[NewerVersion | MissingVersion]:
    """Pinned packages, direct or not, of which PyPI has a newer version for the Python of pip."""
    every = (pin for manifest in entry.manifests(MANIFEST) for pin in _pins(manifest))
    pins = dict({normalized(pin[0]): pin for pin in every}.values())
    newest = _found(entry.folder, pins, ">=")
    rest = {name: version for name, version in pins.items() if newest.get(name) != version}
    pinned = _pinned(entry.folder, rest)
    for name, version in rest.items():
        if name not in pinned:
            yield MissingVersion(name, version)
        if name in newest and newest[name] != pinned.get(name):
            yield NewerVersion(name, version, newest[name])


def normalized(name: str) -> str:
    """A name as PyPI compares it.

    Source:
        PyPA, "Names and normalization".
    """
    return _SEPARATORS.sub("-", name).lower()


def _pins(manifest: Path) -> Iterator[tuple[str, str]]:
    for found in _PIN.finditer(manifest.read_text(encoding="utf-8")):
        yield found["name"], found["version"]


def _pinned(folder: Path, pins: Mapping[str, str]) -> Mapping[str, str]:
    """The pinned versions that PyPI has, as pip spells them: 4.16 may be 4.16.0.

    All of them where pip fails for another reason, such as an old package that cannot be built.
    """
    try:
        return _found(folder, pins, "==")
    except RegistryFailed:
        return pins


def _found(folder: Path, pins: Mapping[str, str], relation: str) -> dict[str, str]:
    """What pip would install of each package by a requirement such as `name>=version`.

    Packages are absent of which there are only other versions.
    """
    left = dict(pins)
    while left:
        printed = client.output_of(
            (*_COMMAND, *(f"{name}{relation}{version}" for name, version in left.items())),
            folder,
            remedy=REMEDY,
            codes=(0, 1),
        )
        unmatched = {*_UNMATCHED.findall(printed.stderr)} & {*left}
        if not unmatched or _NO_VERSIONS in printed.stderr:
            planned = _planned(printed)
            return {name: planned[normalized(name)] for name in left if normalized(name) in planned}
        left = {name: version for name, version in left.items() if name not in unmatched}
    return {}


def _planned(printed: ClientOutput) -> dict[str, str]:
    """The versions that pip would install, by normalized names."""
    try:
        report = InstallationReport.model_validate_json(printed.stdout)
    except ValidationError as error:
        complaint = printed.stderr.strip() or "its report cannot be read"
        raise client.failed("pip", complaint) from error
    return {normalized(one.metadata.name): one.metadata.version for one in report.install}
