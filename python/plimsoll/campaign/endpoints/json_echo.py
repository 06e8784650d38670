"""`POST /json`: the application decodes a person and encodes it again."""

from __future__ import annotations

import json
import re
import string
from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.campaign.bodies import equal_as_json
from plimsoll.campaign.requests import (
    CACHE_NOT_EXCLUDED,
    Endpoint,
    Exchange,
    Expected,
    HttpResponse,
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
"""Not 1: with another range, a seed would draw other persons than it always did."""

_LARGEST_ID = 2**31 - 1
_LONGEST = 30
_LENGTH_UNDER_LOAD = 8
_LETTERS = string.ascii_letters + " '-éßŁ中😀\"\\/\n\t"
_SHORT_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t"}


@dataclass(frozen=True)
class JsonSpelling:
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
    JsonSpelling("in UTF-8", "", 0.0),
    JsonSpelling("with white space", " \r\n\t", 0.0),
    JsonSpelling("with escapes", "", 1.0),
    JsonSpelling("in a mixed spelling", "\n ", 0.3),
)
_UNDER_LOAD = JsonSpelling("under load", "\n", 0.0)


_BREAKS: tuple[tuple[str, str, str], ...] = (
    ("two commas", ",", ",,"),
    ("no comma between members", ",", " "),
    ("no colon", ":", " "),
    ("no value", r":[^,}]+", ":"),
    ("a bare word for a value", r":[^,}]+", ":nothing"),
    ("a name without quotes", r'"id"', "id"),
    ("a name in single quotes", r'"id"', "'id'"),
    ("`]` for `}`", "}", "]"),
    ("no opening brace", r"\{", ""),
)
"""Mistakes for a valid body: a name, a pattern whose first match is replaced, and the replacement.

Only what every decoder rejects when used as documented: some accept a comma before the end,
characters after it, control characters in strings, wrong types, or absent or duplicate members.
"""


def _probes(random: Random) -> tuple[Exchange, ...]:
    spelled = (_spelled_probe(random, spelling) for spelling in _SPELLINGS)
    broken = (
        _refused(f"broken JSON ({name})", _broken(random, old, new)) for name, old, new in _BREAKS
    )
    return (
        *spelled,
        _refused("broken JSON (cut off)", _cut_off(random)),
        *broken,
        _refused("an empty body", b""),
    )


def _spelled_probe(random: Random, spelling: JsonSpelling) -> Exchange:
    person = _person(random, _LETTERS, random.randint(1, _LONGEST))
    members = list(person.items())
    random.shuffle(members)
    body = _spelled(dict(members), spelling, random).encode()
    return _echo(f"json {spelling.name}", person, body)


def _drawn(random: Random, count: int) -> tuple[Exchange, ...]:
    """Persons of equal length, in a spelling that is cheap to decode and that no encoder writes."""
    persons = (_person(random, _LETTERS, _LENGTH_UNDER_LOAD) for _ in range(count))
    return tuple(
        _echo("json", person, _spelled(person, _UNDER_LOAD, random).encode()) for person in persons
    )


def _person(random: Random, characters: str, length: int) -> Person:
    first, last = ("".join(random.choices(characters, k=length)) for _ in range(2))
    return {"id": random.randint(_SMALLEST_ID, _LARGEST_ID), "firstName": first, "lastName": last}


def _cut_off(random: Random) -> bytes:
    """The beginning of a valid body, which is never a complete object."""
    whole = _compact(_person(random, _LETTERS, _LONGEST))
    return whole[: random.randint(1, len(whole) - 1)].encode()


def _broken(random: Random, old: str, new: str) -> bytes:
    whole = _compact(_person(random, string.ascii_letters, _LENGTH_UNDER_LOAD))
    return re.sub(old, new, whole, count=1).encode()


def _compact(person: Person) -> str:
    return json.dumps(person, separators=(",", ":"))


def _echo(name: str, person: Person, body: bytes) -> Exchange:
    checks = [of_type("application/json")]
    if _is_odd(body):
        checks.append(_other_than(body))
    return Exchange(
        Request(name, "POST", "/json", _HEADERS, body),
        Expected(check=first_problem(*checks), check_body=equal_as_json(person)),
    )


def _refused(name: str, body: bytes) -> Exchange:
    return Exchange(Request(name, "POST", "/json", _HEADERS, body), Expected(status=_REFUSED))


def _is_odd(body: bytes) -> bool:
    """Whether no encoder writes JSON this way: a line end or tab, or an escaped letter."""
    return re.search(rb"[\t\r\n]|\\u00[67]", body) is not None


def _other_than(body: bytes) -> Callable[[HttpResponse], str | None]:
    def check(response: HttpResponse) -> str | None:
        if response.body == body:
            return "the body is that of the request, byte for byte: it was not encoded again"
        return None

    return check


def _spelled(person: Person, spelling: JsonSpelling, random: Random) -> str:
    gap = spelling.gap
    members = f",{gap}".join(
        f"{_text(name, spelling, random)}{gap}:{gap}{_value(value, spelling, random)}"
        for name, value in person.items()
    )
    return f"{gap}{{{gap}{members}{gap}}}{gap}"


def _value(value: int | str, spelling: JsonSpelling, random: Random) -> str:
    return _text(value, spelling, random) if isinstance(value, str) else str(value)


def _text(text: str, spelling: JsonSpelling, random: Random) -> str:
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
        drawn=_drawn,
        not_proven=CACHE_NOT_EXCLUDED,
    ),
)
"""`json`."""
