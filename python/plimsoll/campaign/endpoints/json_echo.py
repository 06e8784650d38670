"""`POST /json`: a person is decoded and encoded again."""

from __future__ import annotations

import json
import string
from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.campaign.requests import (
    Answer,
    Endpoint,
    Exchange,
    Expected,
    Request,
    first_problem,
    of_type,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

Person = dict[str, int | str]
"""`id`, `firstName` and `lastName`."""

UNDER_LOAD: Person = {"id": 1876, "firstName": "Samuel", "lastName": "Plimsoll"}
"""The person sent under load."""

_HEADERS = (("Content-Type", "application/json"),)
_REFUSED = (400, 499)
_SMALLEST_ID = 2
"""Not 1, which Python takes for equal to `true`."""

_LARGEST_ID = 2**31 - 1
_LETTERS = string.ascii_letters + " '-éßŁ中😀\"\\/\n\t"
_SHORT_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t"}


@dataclass(frozen=True)
class Spelling:
    r"""One of many ways to write the same JSON.

    Attributes:
        name: What a message calls it.
        gap: White space between the tokens.
        escaped: Share of the characters that are written as `\u` escapes.
    """

    name: str
    gap: str
    escaped: float


_SPELLINGS = (
    Spelling("in UTF-8", "", 0.0),
    Spelling("with white space", " \r\n\t", 0.0),
    Spelling("with escapes", "", 1.0),
    Spelling("in a mixed spelling", "\n ", 0.3),
)


def _probes(random: Random) -> tuple[Exchange, ...]:
    spelled = (_spelled_probe(random, spelling) for spelling in _SPELLINGS)
    return (*spelled, _refused("broken JSON", _broken(random)), _refused("an empty body", b""))


def _spelled_probe(random: Random, spelling: Spelling) -> Exchange:
    person = _drawn(random)
    members = list(person.items())
    random.shuffle(members)
    body = _spelled(dict(members), spelling, random).encode()
    return _echo(f"json {spelling.name}", person, body)


def _drawn(random: Random) -> Person:
    first, last = ("".join(random.choices(_LETTERS, k=random.randint(1, 30))) for _ in range(2))
    return {"id": random.randint(_SMALLEST_ID, _LARGEST_ID), "firstName": first, "lastName": last}


def _broken(random: Random) -> bytes:
    """The beginning of a right body: no beginning of an object is whole."""
    whole = json.dumps(_drawn(random)).encode()
    return whole[: random.randint(1, len(whole) - 1)]


def _echo(name: str, person: Person, body: bytes) -> Exchange:
    return Exchange(
        Request(name, "POST", "/json", _HEADERS, body),
        Expected(check=first_problem(of_type("application/json"), _equal_to(person))),
    )


def _refused(name: str, body: bytes) -> Exchange:
    return Exchange(Request(name, "POST", "/json", _HEADERS, body), Expected(status=_REFUSED))


def _equal_to(person: Person) -> Callable[[Answer], str | None]:
    def check(answer: Answer) -> str | None:
        try:
            said: object = json.loads(answer.body)
        except ValueError:
            return "the body is not JSON"
        if said != person:
            return f"the body is not equal to `{json.dumps(person, ensure_ascii=False)}`"
        return None

    return check


def _spelled(person: Person, spelling: Spelling, random: Random) -> str:
    gap = spelling.gap
    members = f",{gap}".join(
        f"{_text(name, spelling, random)}{gap}:{gap}{_value(value, spelling, random)}"
        for name, value in person.items()
    )
    return f"{gap}{{{gap}{members}{gap}}}{gap}"


def _value(value: int | str, spelling: Spelling, random: Random) -> str:
    return _text(value, spelling, random) if isinstance(value, str) else str(value)


def _text(text: str, spelling: Spelling, random: Random) -> str:
    characters = (
        _escape(character) if random.random() < spelling.escaped else _plain(character)
        for character in text
    )
    return f'"{"".join(characters)}"'


def _plain(character: str) -> str:
    return _SHORT_ESCAPES.get(character, character)


def _escape(character: str) -> str:
    r"""A character as `\u` escapes: two of them, a surrogate pair, beyond the basic plane."""
    units = character.encode("utf-16-be")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))


ENDPOINTS = (
    Endpoint(
        name="json",
        summary="a JSON body is decoded and encoded again; 200, `application/json`, equal as JSON",
        exchanges=(_echo("json", UNDER_LOAD, json.dumps(UNDER_LOAD).encode()),),
        probes=_probes,
    ),
)
"""`json`."""
