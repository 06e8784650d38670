"""Counterparts: what is measured here in place of what a document measured.

They stand in a table of published figures (`published/readers/table.py`), so that a report on a
campaign that names the file can set the two beside each other:

```toml
[here]
baseline = "go"                             # framework to which all others are set in relation
load = "climb"                              # load of these campaigns; left out where any will do

[here.subjects]                             # frameworks by what the document calls them
golang = "go"
"golang on one core" = { framework = "go", load = "one-core" }
"Django, Apache" = "django:apache-fcgi"

[here.endpoints]                            # only those that are not `/` and our name
"" = "plaintext"
"/2048 Heavy" = { endpoint = "2048", load = "heavy" }
```

A subject without a counterpart is not set beside anything.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from plimsoll.errors import CampaignError, Problem

_KEYS = ("baseline", "load", "subjects", "endpoints")
_HINT = "docs/audit.md shows how `[here]` is written"


@dataclass(frozen=True)
class Place:
    """Where a result of a document would stand among ours.

    Attributes:
        framework: Framework, with its variant: `django:apache-fcgi`.
        endpoint: Name of the endpoint; empty for any.
        load: Name of the load; empty for any.
    """

    framework: str
    endpoint: str
    load: str = ""


@dataclass(frozen=True)
class _Name:
    """One of our names, and the load that goes with it; empty for that of the file."""

    name: str
    load: str = ""


@dataclass(frozen=True)
class Counterparts:
    """What stands here for what of a document.

    Attributes:
        baseline: Framework to which all others are set in relation; empty leaves it to the figures.
        load: Name of the load of all that names none; empty for any.
        subjects: Framework by what the document calls it.
        endpoints: Endpoint by what the document calls it, where that is not `/` and our name.
    """

    baseline: str = ""
    load: str = ""
    subjects: Mapping[str, _Name] = field(default_factory=dict[str, _Name])
    endpoints: Mapping[str, _Name] = field(default_factory=dict[str, _Name])

    def place(self, subject: str, endpoint: str) -> Place | None:
        """Where a result would stand among ours; None when its subject is not measured here.

        Args:
            subject: What the document calls the server.
            endpoint: What it calls what was asked for; may be empty.
        """
        framework = self.subjects.get(subject)
        if framework is None:
            return None
        asked = self.endpoints.get(endpoint, _Name(endpoint.removeprefix("/")))
        return Place(framework.name, asked.name, framework.load or asked.load or self.load)

    def everywhere(self, subject: str) -> Place | None:
        """Where a server stands among ours at any endpoint; None when it is not measured here.

        Args:
            subject: What the document calls the server.
        """
        framework = self.subjects.get(subject)
        return framework and Place(framework.name, "", framework.load or self.load)


def read(text: str, name: str) -> Counterparts:
    """The counterparts in a table of published figures; none where it has no `[here]`.

    Args:
        text: The table, as TOML.
        name: Name of the file, for places in messages.

    Raises:
        CampaignError: A key is unknown, or a value is of another kind; every one of them is told.
    """
    table: Mapping[str, Any] = tomllib.loads(text).get("here", {})
    problems = [Problem(f"{name}: here", problem, _HINT) for problem in _problems(table)]
    if problems:
        raise CampaignError(problems)
    return Counterparts(
        table.get("baseline", ""),
        table.get("load", ""),
        {subject: _name(value, "framework") for subject, value in _part(table, "subjects")},
        {endpoint: _name(value, "endpoint") for endpoint, value in _part(table, "endpoints")},
    )


def _part(table: Mapping[str, Any], key: str) -> list[tuple[str, Any]]:
    return list(table.get(key, {}).items())


def _name(value: str | Mapping[str, str], key: str) -> _Name:
    return _Name(value) if isinstance(value, str) else _Name(value[key], value.get("load", ""))


def _problems(table: Mapping[str, Any]) -> Iterator[str]:
    yield from (f"there is no key `{key}`" for key in table if key not in _KEYS)
    for key in ("baseline", "load"):
        if not isinstance(table.get(key, ""), str):
            yield f"`{key}` must be text in quotes"
    for key, name in (("subjects", "framework"), ("endpoints", "endpoint")):
        part = table.get(key, {})
        if not isinstance(part, dict):
            yield f"`{key}` must be a table"
            continue
        for of, value in cast("dict[str, Any]", part).items():
            if not _is_name(value, name):
                yield f"`{of}` of `{key}` must be a name, or a table of `{name}` and `load`"


def _is_name(value: Any, key: str) -> bool:
    if isinstance(value, str):
        return bool(value)
    if not isinstance(value, dict):
        return False
    given = cast("dict[str, Any]", value)
    texts = all(isinstance(one, str) for one in given.values())
    return bool(given.get(key)) and texts and given.keys() <= {key, "load"}
