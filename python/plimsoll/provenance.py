"""Provenance: what ran in a trial, part by part, and how two trials differ.

A digest alone shows that two trials ran different programs. The parts show why: `app.py` changed,
the start command changed, bottle 0.13.2 → 0.13.4.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

Kind = Literal["file", "command", "variable", "version", "program", "definition", "setting"]

KINDS: tuple[Kind, ...] = (
    *("version", "file", "command", "variable", "program", "definition", "setting"),
)
"""The kinds of parts, the most informative first."""

ID_LENGTH = 8
"""Hexadecimal digits of a displayed id."""

PART_LENGTH = 16
"""Hexadecimal digits of the digest of one file: 64 bits."""

MOST_NAMED = 3
"""Differences that one sentence names."""

STATED = "framework"
"""Name of the part that is the version a framework states of itself, its runtime and the packages
that it is made of."""


@dataclass(frozen=True)
class Part:
    """One part of what ran.

    Attributes:
        kind: `file`, `program` and `definition` (of endpoint or load) have a digest as value, the
            others a text: a command, an environment variable, a version, a setting of the
            measurement.
        name: The file's path in the framework's folder, or another name: `start`.
        value: Digest or text; secrets are replaced.
    """

    kind: Kind
    name: str
    value: str


@dataclass(frozen=True)
class Provenance:
    """What ran in a trial.

    Attributes:
        application: The server: sources, commands, environment, versions and programs. Only the
            program for a server that was not started by Plimsoll; empty if nothing is known.
        measurement: The measurement: driver and engine, endpoint, load, cores, kernel.
    """

    application: tuple[Part, ...] = ()
    measurement: tuple[Part, ...] = ()

    @property
    def application_id(self) -> str:
        """Short id of the application: `3f9c2ab1`; empty if nothing is known of it."""
        return short_id(self.application)

    @property
    def measurement_id(self) -> str:
        """Short id of the measurement; empty if nothing is known of it."""
        return short_id(self.measurement)


def digest(content: bytes) -> str:
    """Digest of one part, 64 bits of its SHA-256 in hexadecimal."""
    return hashlib.sha256(content).hexdigest()[:PART_LENGTH]


def short_id(parts: Iterable[Part]) -> str:
    """Id of some parts in any order; empty when there are none."""
    return id_of(parts)[:ID_LENGTH]


def id_of(parts: Iterable[Part]) -> str:
    """The same in full, for programs: equal ids are those of equal parts."""
    listed = sorted(astuple(part) for part in parts)
    return hashlib.sha256(json.dumps(listed).encode()).hexdigest() if listed else ""


def differences(before: Iterable[Part], now: Iterable[Part]) -> tuple[str, ...]:
    """What differs between two lists of parts, each in a few words: `app.py` changed.

    Args:
        before: The parts as they were.
        now: The parts as they are.

    Returns:
        Nothing when both have the same id.
    """
    return tuple(_differences(_by_key(before), _by_key(now)))


def named(found: Sequence[str]) -> str:
    """Some differences for use in a sentence; at most `MOST_NAMED` are named, the rest counted."""
    more = len(found) - MOST_NAMED
    shown = list(found[:MOST_NAMED])
    return ", ".join([*shown, f"and {more} more"] if more > 0 else shown)


_Key = tuple[Kind, str]


def _by_key(parts: Iterable[Part]) -> dict[_Key, str]:
    return {(part.kind, part.name): part.value for part in parts}


def _differences(before: dict[_Key, str], now: dict[_Key, str]) -> Iterator[str]:
    for kind, name in sorted({*before, *now}, key=lambda key: (KINDS.index(key[0]), key[1])):
        old, new = before.get((kind, name)), now.get((kind, name))
        if old != new:
            yield _sentence(kind, name, old, new)


def _sentence(kind: Kind, name: str, old: str | None, new: str | None) -> str:
    what = _called(kind, name)
    if old is None or new is None:
        return f"{what} was {'added' if old is None else 'removed'}"
    if kind in ("version", "setting"):
        return f"{what} {old} → {new}"
    return f"{what} changed"


def _called(kind: Kind, name: str) -> str:
    """Name of a part in a sentence."""
    if kind == "command":
        return f"the {name} command"
    if kind == "definition":
        return f"the {name}"
    if kind == "variable":
        return f"the variable `{name}`"
    if kind == "program":
        return f"the program `{name}`"
    return f"`{name}`" if kind == "file" else name
