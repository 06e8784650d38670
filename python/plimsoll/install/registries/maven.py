"""Maven Central, by the Versions plugin of Maven."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from plimsoll.install.registries import client
from plimsoll.install.registries.entry import NewerVersion

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plimsoll.install.registries.entry import PinnedEntry

NAME = "Maven Central"
MANIFEST = "pom.xml"
REMEDY = "apt-get install maven"

_PLUGIN = "org.codehaus.mojo:versions-maven-plugin:2.19.1"
_COMMAND = (
    *("mvn", "--batch-mode", f"{_PLUGIN}:display-parent-updates"),
    *(f"{_PLUGIN}:display-dependency-updates", "-DprocessDependencyManagement=false"),
    r"-Dmaven.version.ignore=(?i).*[-.](alpha|beta|m|rc|cr|pre|snapshot)[-.\d]*",
)
_UPDATE = re.compile(r"(?P<package>[\w.-]+:[\w.-]+) (?:\.+ )?(?P<version>\S+) -> (?P<newest>\S+)")
"""`GROUP:NAME ...... OLD -> NEW`; Maven puts the versions of a long name on another line."""


def concerns(entry: PinnedEntry) -> bool:
    """Whether it is a Maven project."""
    return bool(entry.manifests(MANIFEST))


def newer(entry: PinnedEntry) -> Iterator[NewerVersion]:
    """The parent and the dependencies of which Maven Central has a newer release."""
    for manifest in entry.manifests(MANIFEST):
        report = client.output_of(_COMMAND, manifest.parent, remedy=REMEDY).stdout
        for found in _UPDATE.finditer(" ".join(report.replace("[INFO]", " ").split())):
            yield NewerVersion(*found.groups())
