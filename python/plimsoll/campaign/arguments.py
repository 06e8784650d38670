"""The 26 arguments that four endpoints send, each in its own encoding.

An application returns the total length of the decoded values, or their checksum. The values drawn
here change their length when they are decoded wrongly, twice or not at all.
"""

from __future__ import annotations

import string
from typing import TYPE_CHECKING

from plimsoll.campaign.requests import Expected, HttpResponse

if TYPE_CHECKING:
    from random import Random

Arguments = tuple[tuple[str, str], ...]
"""Names and values, in the order in which they are sent."""

NAMES = tuple(f"abc{letter}" for letter in string.ascii_lowercase)
"""Names of the arguments: `abca` to `abcz`."""

UNDER_LOAD: Arguments = tuple((name, string.ascii_lowercase) for name in NAMES)
"""The arguments sent under load: each is the alphabet."""

TELLING = ("", " ", "+", "%", "%41", "&", "=", "é", "😀")
"""Values that a shortcut gets wrong, in every encoding."""

LINE_ENDS = ("\r\n", "\n", "one\r\ntwo", "\r\n--")
"""Values that a careless reader of multipart bodies gets wrong."""

DRAWS = 3
"""How many times the arguments are drawn for one check of the contract."""

NOT_PROVEN = "that arguments were decoded: their bytes can be counted without it; `args` proves it"
"""What correct responses of the study's three endpoints do not prove."""

_BODY = b"A" * 2048
_LETTERS = string.ascii_letters + string.digits
_SPELLED_OUT_RATIO = 0.1


def drawn(random: Random, telling: tuple[str, ...], longest: int, shortest: int = 0) -> Arguments:
    """The arguments with drawn values, in a drawn order.

    Args:
        random: Draws them.
        telling: Values of which each occurs at least once; at most 26.
        longest: The most characters in each of the other values.
        shortest: The fewest.

    Returns:
        All 26 arguments.
    """
    characters = [*_LETTERS, *(value for value in telling if len(value) == 1)]
    lengths = [random.randint(shortest, longest) for _ in NAMES[len(telling) :]]
    free = ["".join(random.choices(characters, k=length)) for length in lengths]
    values = [*telling, *free]
    random.shuffle(values)
    pairs = list(zip(NAMES, values, strict=True))
    random.shuffle(pairs)
    return tuple(pairs)


def decoded_bytes(arguments: Arguments) -> int:
    """Total length of the values in bytes, in UTF-8."""
    return sum(len(value.encode()) for _, value in arguments)


def url_encoded(arguments: Arguments, random: Random | None = None) -> str:
    """Arguments encoded for a query or a form.

    Args:
        arguments: Names and values.
        random: Selects among equivalent encodings; None takes the shortest.

    Returns:
        ASCII text.

    Source:
        WHATWG URL, section 5, application/x-www-form-urlencoded.
    """
    return "&".join(
        f"{name}=" + "".join(_spelled(character, random) for character in value)
        for name, value in arguments
    )


def expected(arguments: Arguments) -> Expected:
    """The correct response of the study's three endpoints to some arguments."""
    right = str(decoded_bytes(arguments))

    def check(response: HttpResponse) -> str | None:
        stated = response.header("decoded-bytes")
        if stated is None:
            return f"the header `decoded-bytes` is missing, expected `{right}`"
        if stated.strip() != right:
            return f"`decoded-bytes` is `{stated}`, expected `{right}`"
        return None

    return Expected(length_bytes=len(_BODY), body=_BODY, check=check)


def _spelled(character: str, random: Random | None) -> str:
    """One character, encoded."""
    if character in _LETTERS and (random is None or random.random() >= _SPELLED_OUT_RATIO):
        return character
    upper, plus = (random is None or random.random() < 0.5 for _ in range(2))  # noqa: PLR2004  a fair coin
    if character == " " and plus:
        return "+"
    digits = "".join(f"%{byte:02x}" for byte in character.encode())
    return digits.upper() if upper else digits
