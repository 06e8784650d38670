"""The 26 arguments that three endpoints send, each in its own encoding.

An application answers with the total length of the decoded values, so values are drawn here that
come out at another length when they are decoded wrongly, twice or not at all.
"""

from __future__ import annotations

import string
from typing import TYPE_CHECKING

from plimsoll.campaign.requests import Answer, Expected

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

_BODY = b"A" * 2048
_LETTERS = string.ascii_letters + string.digits
_SPELLED_OUT_RATIO = 0.1


def drawn(random: Random, telling: tuple[str, ...], longest: int) -> Arguments:
    """The arguments with drawn values, in a drawn order.

    Args:
        random: Draws them.
        telling: Values of which each occurs at least once; at most 26.
        longest: The most characters in each of the other values.

    Returns:
        All 26 arguments.
    """
    characters = [*_LETTERS, *(value for value in telling if len(value) == 1)]
    lengths = [random.randint(0, longest) for _ in NAMES[len(telling) :]]
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
    """Arguments as a query or a form has them.

    Args:
        arguments: Names and values.
        random: Draws among the spellings that mean the same; None takes the shortest.

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
    """The answer that all three endpoints owe to some arguments."""
    right = str(decoded_bytes(arguments))

    def check(answer: Answer) -> str | None:
        said = answer.header("decoded-bytes")
        if said is None:
            return f"the header `decoded-bytes` is absent, it should be `{right}`"
        if said.strip() != right:
            return f"`decoded-bytes` is `{said}`, it should be `{right}`"
        return None

    return Expected(length_bytes=len(_BODY), body=_BODY, check=check)


def _spelled(character: str, random: Random | None) -> str:
    """One character, encoded."""
    if random is None:
        plain, upper, plus = character in _LETTERS, True, True
    else:
        plain = character in _LETTERS and random.random() >= _SPELLED_OUT_RATIO
        upper, plus = random.random() < 0.5, random.random() < 0.5  # noqa: PLR2004  a fair coin
    if plain:
        return character
    if character == " " and plus:
        return "+"
    digits = "".join(f"%{byte:02x}" for byte in character.encode())
    return digits.upper() if upper else digits
