"""`POST /json-in`: a large document of JSON is decoded; the sum of some of its numbers returned."""

from __future__ import annotations

import json
import re
import string
from typing import TYPE_CHECKING, cast

from plimsoll.campaign.requests import Endpoint, Exchange, Expected, Request, of_type

if TYPE_CHECKING:
    from random import Random

LENGTH_BYTES = 1_000_000
"""Length of a document under load: below 1 MiB, where some frameworks refuse bodies by default."""

DRAWN = 8
"""The most different documents under load, since all of them are in memory."""

_HEADERS = (("Content-Type", "application/json"),)
_REFUSED = (400, 499)
_BLOCK_BYTES = 40_000
_DEEPEST = 12
_LARGEST = 1_000_000
_SMALL_BYTES = 8_000
_NAMES = ("amount", "children", "label", "values", "Value", "val", "text", "items")
"""Names of members other than `value`, some of them like it."""

_TRICKS = (
    r'{"a":"\"value\":5","value":3}',
    r'{"\u0076alue":4,"a":{"valu\u0065":6}}',
    '{"name":"value","value" :\n 7, "x":{"value":8}}',
    '{"value":-9,"list":[[{"value":20}],{"values":[1,2],"other":{"value":0}}]}',
    r'{"value\\":1,"a":{"value":2}}',
)
"""Documents in which only a JSON decoder finds every member `value`."""

_BROKEN = (
    ("truncated", r"\]\}$", ""),
    ("no comma between members", '","value"', '""value"'),
    ("a name without quotes", '"value":', "value:"),
    ("more after its end", "$", "]"),
)
"""What breaks a document, and as which substitution near its end."""


def total(decoded: object) -> int:
    """The sum of the values of all members `value` of a document, wherever they are."""
    if isinstance(decoded, list):
        return sum(map(total, cast("list[object]", decoded)))
    if not isinstance(decoded, dict):
        return 0
    return sum(
        value if name == "value" and isinstance(value, int) else total(value)
        for name, value in cast("dict[str, object]", decoded).items()
    )


def _exchange(body: bytes, expected: int, name: str = "json-in") -> Exchange:
    digits = str(expected).encode()
    return Exchange(
        Request(name, "POST", "/json-in", _HEADERS, body),
        Expected(length_bytes=len(digits), body=digits, check=of_type("text/plain")),
    )


def _block(random: Random, length_bytes: int) -> tuple[str, int]:
    """Members of an array with about that many bytes together; and the sum of their values."""
    nodes: list[str] = []
    summed, length = 0, 0
    while length < length_bytes:
        node = _node(random, random.randint(1, _DEEPEST))
        nodes.append(json.dumps(node, separators=(",", ":")))
        summed += total(node)
        length += len(nodes[-1]) + 1
    return ",".join(nodes), summed


def _node(random: Random, depth: int) -> dict[str, object]:
    """An object with a text before its `value`, and others in it."""
    label = "".join(random.choices(string.ascii_letters, k=random.randint(4, 24)))
    node: dict[str, object] = {
        random.choice(_NAMES[:3]): random.randint(0, _LARGEST),
        "label": label,
    }
    if random.random() < 2 / 3:
        node["value"] = random.randint(0, _LARGEST)
    if depth > 1:
        within = _node(random, depth - 1)
        node[random.choice(_NAMES[3:])] = [within] if random.random() < 1 / 2 else within
    return node


def _document(random: Random, length_bytes: int) -> tuple[bytes, int]:
    """A document of exactly that length: one drawn block several times, a text, and one more."""
    block, summed = _block(random, min(length_bytes // 4, _BLOCK_BYTES))
    last, last_summed = _block(random, min(length_bytes // 8, _BLOCK_BYTES))
    frame = '{{"blocks":[{}],"text":"{}","end":[{}]}}'
    times = (length_bytes - len(last) - len(frame)) // (len(block) + 1)
    blocks = ",".join([block] * times)
    padding = length_bytes - len(frame.format(blocks, "", last))
    text = frame.format(blocks, "x" * padding, last)
    return text.encode(), summed * times + last_summed


def _probes(random: Random) -> tuple[Exchange, ...]:
    """Small documents with tricks, a large one, and broken ones."""
    small = (_document(random, _SMALL_BYTES + 100 * at) for at in range(2))
    tricks = (_exchange(text.encode(), total(json.loads(text))) for text in _TRICKS)
    large = _exchange(*_document(random, LENGTH_BYTES))
    return (*(_exchange(*one) for one in small), *tricks, large, *_broken(random))


def _broken(random: Random) -> tuple[Exchange, ...]:
    """Documents that are broken near their end only."""
    return tuple(
        Exchange(
            Request(
                f"a broken document ({kind})",
                "POST",
                "/json-in",
                _HEADERS,
                _substituted(_breakable(random), old, new).encode(),
            ),
            Expected(status=_REFUSED),
        )
        for kind, old, new in _BROKEN
    )


def _breakable(random: Random) -> str:
    """A document that ends with a member for each way to break one."""
    text, _ = _document(random, 4 * _SMALL_BYTES)
    return f'{text.decode()[:-2]},{{"label":"a","value":1}}]}}'


def _substituted(text: str, old: str, new: str) -> str:
    """A text in which the last match of an expression is replaced."""
    found = list(re.finditer(old, text))[-1]
    return text[: found.start()] + new + text[found.end() :]


def _drawn(random: Random, count: int) -> tuple[Exchange, ...]:
    documents = (_document(random, LENGTH_BYTES) for _ in range(min(count, DRAWN)))
    return tuple(_exchange(*one) for one in documents)


def _fixed() -> Exchange:
    """The document under load if values are fixed: 10,000 times the same object."""
    node, times = (
        '{"label":"abcdefghij","amount":1,"in":[{"x":{"value":12345}}],"value":678}',
        10_000,
    )
    return _exchange(f"[{','.join([node] * times)}]".encode(), (12_345 + 678) * times)


ENDPOINTS = (
    Endpoint(
        name="json-in",
        summary="`POST /json-in` decodes a document of about 1 MB with any nesting; 200, "
        "`text/plain`, the sum of the values of all its members `value`, in decimal; a status from "
        "400 to 499 if it is malformed",
        exchanges=(_fixed(),),
        probes=_probes,
        drawn=_drawn,
        not_proven=f"that every document was decoded: under load there are {DRAWN} of them",
    ),
)
"""`json-in`."""
