"""Counterparts of a document's servers and endpoints in this repository.

They are part of a table of published figures (`tool_output/readers/table.py`), and let the report
on a campaign that names the file compare published with measured figures:

```toml
[here]
baseline = "go"                             # ratios are relative to this framework
load = "climb"                              # load of these campaigns; default: any

[here.subjects]                             # the document's names of frameworks
golang = "go"
"golang on one core" = { framework = "go", load = "one-core" }
"Django, Apache" = "django:apache-fcgi"

[here.endpoints]                            # only those that are not `/` and the name used here
"" = "plaintext"
"/2048 Heavy" = { endpoint = "2048", load = "heavy" }
```

A subject without a counterpart is not compared.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import cast

from plimsoll.errors import InputError, Problem

_KEYS = ("baseline", "load", "subjects", "endpoints")
_HINT = "see docs/audit.md for `[here]`"

_Given = str | Mapping[str, str]
"""A name, or a table with a name and a load."""


@dataclass(frozen=True)
class CounterpartPlace:
    """Framework, endpoint and load of a counterpart.

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
    """A name of this repository, and its load; empty for that of the file."""

    name: str
    load: str = ""


@dataclass(frozen=True)
class Counterparts:
    """The counterparts of a document.

    Attributes:
        baseline: Framework to which ratios are relative; empty for the best of the document.
        load: Default load; empty for any.
        subjects: Framework by its name in the document.
        endpoints: Endpoint by its name in the document, unless that is `/` and the name used here.
    """

    baseline: str = ""
    load: str = ""
    subjects: Mapping[str, _Name] = field(default_factory=dict[str, _Name])
    endpoints: Mapping[str, _Name] = field(default_factory=dict[str, _Name])

    def place(self, subject: str, endpoint: str) -> CounterpartPlace | None:
        """The counterpart of a result; None if its subject has none.

        Args:
            subject: Name of the server in the document.
            endpoint: Name of the endpoint in the document; may be empty.
        """
        framework = self.subjects.get(subject)
        if framework is None:
            return None
        requested = self.endpoints.get(endpoint, _Name(endpoint.removeprefix("/")))
        return CounterpartPlace(
            framework.name, requested.name, framework.load or requested.load or self.load
        )

    def everywhere(self, subject: str) -> CounterpartPlace | None:
        """The counterpart of a server at any endpoint; None if it has none.

        Args:
            subject: Name of the server in the document.
        """
        framework = self.subjects.get(subject)
        return framework and CounterpartPlace(framework.name, "", framework.load or self.load)


def read(text: str, name: str) -> Counterparts:
    """The counterparts in a table of published figures; none without `[here]`.

    Args:
        text: The table, as TOML.
        name: Name of the file, for places in messages.

    Raises:
        InputError: A key is unknown, or a value has the wrong type; contains every mistake.
    """
    table: Mapping[str, object] = tomllib.loads(text).get("here", {})
    problems = [Problem(f"{name}: here", problem, _HINT) for problem in _problems(table)]
    if problems:
        raise InputError(problems)
    return Counterparts(
        str(table.get("baseline", "")),
        str(table.get("load", "")),
        {subject: _name(value, "framework") for subject, value in _part(table, "subjects")},
        {endpoint: _name(value, "endpoint") for endpoint, value in _part(table, "endpoints")},
    )


def _part(table: Mapping[str, object], key: str) -> Iterable[tuple[str, _Given]]:
    return cast("Mapping[str, _Given]", table.get(key, {})).items()


def _name(value: _Given, key: str) -> _Name:
    return _Name(value) if isinstance(value, str) else _Name(value[key], value.get("load", ""))


def _problems(table: Mapping[str, object]) -> Iterator[str]:
    yield from (f"unknown key `{key}`" for key in table if key not in _KEYS)
    for key in ("baseline", "load"):
        if not isinstance(table.get(key, ""), str):
            yield f"`{key}` must be a quoted string"
    for key, name in (("subjects", "framework"), ("endpoints", "endpoint")):
        part = table.get(key, {})
        if not isinstance(part, dict):
            yield f"`{key}` must be a table"
            continue
        for of, value in cast("dict[str, object]", part).items():
            if not _is_name(value, name):
                yield f"`{of}` of `{key}` must be a name, or a table of `{name}` and `load`"


def _is_name(value: object, key: str) -> bool:
    if isinstance(value, str):
        return bool(value)
    if not isinstance(value, dict):
        return False
    given = cast("dict[str, object]", value)
    texts = all(isinstance(one, str) for one in given.values())
    return bool(given.get(key)) and texts and given.keys() <= {key, "load"}
