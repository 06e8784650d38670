"""Fixtures: what a server is given at its start, drawn from a seed, so that the check knows it too.

They are different for every start: a table in the source code of an application is of no use.
"""

from __future__ import annotations

import base64
import json
import string
from dataclasses import dataclass
from functools import lru_cache
from random import Random
from typing import TypedDict

ITEMS = 50
"""Records of `items.json`."""

ITEMS_FILE = "items.json"

STATIC_FOLDER = "static"

SMALLEST_BYTES = 200
LARGEST_BYTES = 200_000
"""Lengths of the smallest and the largest static file."""

_STATIC_FILES = 20

MEDIA_TYPES: dict[str, tuple[str, ...]] = {
    "html": ("text/html",),
    "css": ("text/css",),
    "js": ("text/javascript", "application/javascript"),
    "json": ("application/json",),
    "svg": ("image/svg+xml",),
    "png": ("image/png",),
    "txt": ("text/plain",),
    "woff2": ("font/woff2",),
}
"""Extensions of the static files, with the registered types of each.

Source:
    IANA's registry of media types; `application/javascript` is its obsolete alias (RFC 9239, 6).
"""

_BINARY = ("png", "woff2")
_EARLIEST_S = 1_577_836_800
_YEAR_S = 31_536_000
_KEY_CHARACTERS = 32
_WORDS = ("anchor", "beacon", "cargo", "draught", "ebb", "fathom", "gunwale", "hull", "keel", "lee")
_CATEGORIES = ("chandlery", "charts", "engines", "rigging", "safety", "sails")


class Rating(TypedDict):
    """The rating of an item."""

    score: float
    count: int


class Item(TypedDict):
    """A record of `items.json`."""

    id: int
    name: str
    category: str
    price: int
    quantity: int
    active: bool
    tags: list[str]
    rating: Rating


@dataclass(frozen=True)
class ServedFile:
    """A file in the folder of a server.

    Attributes:
        path: Its path in the folder: `static/a7f3.css`.
        content: Its bytes.
        modified_s: When it was changed last, in seconds since 1970.
    """

    path: str
    content: bytes
    modified_s: int

    @property
    def name(self) -> str:
        """Its name without folder."""
        return self.path.rpartition("/")[2]

    @property
    def media_types(self) -> tuple[str, ...]:
        """The registered types of its extension."""
        return MEDIA_TYPES[self.name.rpartition(".")[2]]


@dataclass(frozen=True)
class Fixtures:
    """What a server is given at its start.

    Attributes:
        seed: What it was drawn from.
        items: The records of `items.json`.
        static: The static files, the smallest first.
        key: The key of tokens, of 32 letters and digits, which HS256 takes as it is.
    """

    seed: int
    items: tuple[Item, ...]
    static: tuple[ServedFile, ...]
    key: str

    @staticmethod
    @lru_cache(maxsize=4)
    def drawn(seed: int) -> Fixtures:
        """The fixtures of a seed."""
        random = Random(f"{seed}/fixtures")  # noqa: S311  a seed makes it repeatable
        key = "".join(random.choices(string.ascii_letters + string.digits, k=_KEY_CHARACTERS))
        items = tuple(_item(random, place) for place in range(1, ITEMS + 1))
        return Fixtures(seed, items, tuple(_static(random)), key)

    @property
    def files(self) -> tuple[ServedFile, ...]:
        """Every file of the folder."""
        items = json.dumps(self.items, ensure_ascii=False, indent=1).encode()
        return (ServedFile(ITEMS_FILE, items, _EARLIEST_S), *self.static)


def other_content(random: Random, file: ServedFile) -> ServedFile:
    """A file with other bytes, another length and a later time of its last change."""
    length_bytes = len(file.content) + random.randint(1, SMALLEST_BYTES)
    content = _content(random, file.name, length_bytes)
    return ServedFile(file.path, content, file.modified_s + random.randint(1, _YEAR_S))


def _item(random: Random, place: int) -> Item:
    """A record whose numbers and texts have the same lengths in all records but for `id`."""
    return {
        "id": place,
        "name": f"{random.choice(_WORDS)} {random.choice(_WORDS)} №{random.randint(100, 999)}",
        "category": random.choice(_CATEGORIES),
        "price": random.randint(100, 999),
        "quantity": random.randint(10, 99),
        "active": random.choice((True, False)),
        "tags": random.sample(_WORDS, 3),
        "rating": {"score": random.randint(11, 49) / 10, "count": random.randint(100, 999)},
    }


def _static(random: Random) -> list[ServedFile]:
    """Files whose lengths grow by the same factor from one to the next."""
    factor = (LARGEST_BYTES / SMALLEST_BYTES) ** (1 / (_STATIC_FILES - 1))
    extensions = [*MEDIA_TYPES] * (_STATIC_FILES // len(MEDIA_TYPES) + 1)
    random.shuffle(extensions)
    files: list[ServedFile] = []
    for place, extension in enumerate(extensions[:_STATIC_FILES]):
        name = f"{random.getrandbits(32):08x}.{extension}"
        content = _content(random, name, round(SMALLEST_BYTES * factor**place))
        modified_s = _EARLIEST_S + random.randrange(5 * _YEAR_S)
        files.append(ServedFile(f"{STATIC_FOLDER}/{name}", content, modified_s))
    return files


def _content(random: Random, name: str, length_bytes: int) -> bytes:
    """Bytes that no other file has: text in lines, unless the extension is of a binary format."""
    drawn = random.randbytes(length_bytes)
    if name.endswith(_BINARY):
        return drawn
    return base64.encodebytes(drawn)[:length_bytes]
