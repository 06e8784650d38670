"""Servers of the web's workloads, honest or with one shortcut: `python web_cheats.py NAME`.

`Web` keeps the contract; each class under it is one cheat. Environment: `AUTH_KEY`, `FILES`,
`HOST`, `PORT`.
"""

from __future__ import annotations

import asyncio
import base64
import gzip
import hashlib
import hmac
import json
import os
import re
import struct
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from email.utils import formatdate, parsedate_to_datetime
from functools import cached_property, partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote

import cheating_server
from cheating_server import BUSY, Asked, Honest, Said
from plimsoll.campaign.endpoints import json_in
from plimsoll.campaign.fixtures import ITEMS, MEDIA_TYPES, Fixtures

ROUTE = re.compile(r"/r/(0|[1-9]\d*)/x/(\d+)")
ROUTES = 1000
HASHES = {"HS256": hashlib.sha256, "HS384": hashlib.sha384, "HS512": hashlib.sha512}
OF_JSON = "application/json"
MOST_BYTES = 65_536


class Web(Honest):
    """Keeps the contract of the workloads of the web."""

    def __init__(self, files: Path | None = None, key: str = "") -> None:
        super().__init__()
        self.files = files or Path(os.environ["FILES"])
        self.key = (key or os.environ["AUTH_KEY"]).encode()

    def answer(self, asked: Asked) -> Said:
        before, _, last = asked.path.rpartition("/")
        if (found := ROUTE.fullmatch(asked.path)) is not None:
            return self.route(int(found[1]), found[2])
        if before == "/items":
            return self.items(int(last), asked)
        if asked.path.startswith("/static/"):
            return self.static(asked.path.removeprefix("/static/"), asked)
        answers: dict[str, Callable[[], Said]] = {
            "/upload": lambda: Said(body=str(self.checksum(asked.body)).encode()),
            "/json-in": lambda: self.json_in(asked.body),
            "/auth": lambda: self.auth(asked.headers.get("authorization", "")),
        }
        return answers.get(asked.path, partial(super().answer, asked))()

    def route(self, number: int, parameter: str) -> Said:
        return Said(body=f"{number}:{parameter}".encode()) if number < ROUTES else Said(404)

    @cached_property
    def records(self) -> list[dict[str, Any]]:
        return json.loads((self.files / "items.json").read_bytes())

    def items(self, count: int, asked: Asked) -> Said:
        if not 1 <= count <= ITEMS:
            return Said(404)
        body = json.dumps(self.listed(count, int(parse_qs(asked.query)["m"][0]))).encode()
        if not self.is_coded(asked.headers.get("accept-encoding", "")):
            return Said(body=body, kind=OF_JSON)
        return Said(body=self.compressed(body), kind=OF_JSON, headers=self.coded())

    def compressed(self, body: bytes) -> bytes:
        return gzip.compress(body, 1)

    def listed(self, count: int, factor: int) -> dict[str, object]:
        items = [
            {**one, "total": one["price"] * one["quantity"] * factor}
            for one in self.records[:count]
        ]
        return {"count": count, "items": items}

    def is_coded(self, accepted: str) -> bool:
        return "gzip" in accepted and "q=0" not in accepted

    def coded(self) -> tuple[tuple[str, str], ...]:
        return (("Content-Encoding", "gzip"), ("Vary", "Accept-Encoding"))

    def checksum(self, body: bytes) -> int:
        return zlib.crc32(body)

    def json_in(self, body: bytes) -> Said:
        try:
            return Said(body=str(json_in.total(json.loads(body))).encode())
        except ValueError:
            return Said(400)

    def auth(self, authorization: str) -> Said:
        try:
            head, claims, signature = authorization.removeprefix("Bearer ").split(".")
            stated = json.loads(decoded(head))
            if not self.is_signed(f"{head}.{claims}", decoded(signature), stated["alg"]):
                return Said(401)
            return self.of_claims(decoded(claims))
        except (ValueError, KeyError):
            return Said(401)

    def is_signed(self, text: str, signature: bytes, algorithm: str) -> bool:
        right = hmac.digest(self.key, text.encode(), HASHES[algorithm])
        return algorithm == "HS256" and hmac.compare_digest(right, signature)

    def of_claims(self, claims: bytes) -> Said:
        read = json.loads(claims)
        return Said(body=read["sub"].encode()) if self.is_current(read) else Said(401)

    def is_current(self, claims: dict[str, Any]) -> bool:
        return claims["exp"] > time.time()

    def static(self, name: str, asked: Asked) -> Said:
        path = self.path_of(unquote(name))
        if path is None or not path.is_file():
            return Said(404)
        return self.file(path, asked.headers)

    def path_of(self, name: str) -> Path | None:
        return None if "/" in name else self.files / "static" / name

    def content(self, path: Path) -> bytes:
        return path.read_bytes()

    def kind(self, path: Path) -> str:
        return MEDIA_TYPES[path.suffix[1:]][0]

    def file(self, path: Path, headers: dict[str, str]) -> Said:
        modified_s, content = int(path.stat().st_mtime), self.content(path)
        stated = (("Last-Modified", formatdate(modified_s, usegmt=True)),)
        since = headers.get("if-modified-since")
        if since and parsedate_to_datetime(since).timestamp() >= modified_s:
            return Said(304, headers=stated)
        if found := re.fullmatch(r"bytes=(\d+)-(\d+)", headers.get("range", "")):
            first, last = int(found[1]), int(found[2])
            of = ("Content-Range", f"bytes {first}-{last}/{len(content)}")
            return Said(206, content[first : last + 1], self.kind(path), headers=(*stated, of))
        return Said(200, content, self.kind(path), headers=stated)


def decoded(part: str) -> bytes:
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


class RouteWithoutEnd(Web):
    """Has one route with two parameters."""

    def route(self, number: int, parameter: str) -> Said:
        return Said(body=f"{number}:{parameter}".encode())


class RouteOfAnyEnd(Web):
    """Takes whatever follows a route for its parameter."""

    def answer(self, asked: Asked) -> Said:
        found = re.match(r"/r/(0|[1-9]\d*)/x/(.*)", asked.path)
        return self.route(int(found[1]), found[2]) if found else super().answer(asked)


class ItemsFromSource(Web):
    """Has records of its own, of an earlier start."""

    @cached_property
    def records(self) -> list[dict[str, Any]]:
        return [{**one} for one in Fixtures.drawn(0).items]


class ItemsWithoutFactor(Web):
    """Computes totals once."""

    def listed(self, count: int, factor: int) -> dict[str, object]:
        return super().listed(count, 1)


class ItemsWithoutTruth(Web):
    """Writes 1 and 0 for `true` and `false`."""

    @cached_property
    def records(self) -> list[dict[str, Any]]:
        return [{**one, "active": int(one["active"])} for one in super().records]


class ItemsKeptWhenBusy(Web):
    """Gives lists of a length that it made before as long as there are many connections."""

    def __init__(self, files: Path | None = None, key: str = "") -> None:
        super().__init__(files, key)
        self.kept: dict[int, dict[str, object]] = {}

    def listed(self, count: int, factor: int) -> dict[str, object]:
        if self.connections > BUSY and count in self.kept:
            return self.kept[count]
        self.kept[count] = super().listed(count, factor)
        return self.kept[count]


class NeverCoded(Web):
    """Compresses nothing."""

    def is_coded(self, accepted: str) -> bool:
        return False


class AlwaysCoded(Web):
    """Compresses for everybody."""

    def is_coded(self, accepted: str) -> bool:
        return True


class CodedAsStored(Web):
    """Wraps each body in the coding, compresses nothing, and does not say how long it is."""

    def compressed(self, body: bytes) -> bytes:
        coded = gzip.compress(body, 0)
        return b"%x\r\n%s\r\n0\r\n\r\n" % (len(coded), coded)

    def fields(self, said: Said) -> Iterator[str]:
        if not said.headers:
            yield from super().fields(said)
            return
        yield f"Date: {self.date()}"
        yield "Transfer-Encoding: chunked"


class CodedAtTheEnd(Web):
    """Stores its list, and compresses spaces after it, so that the whole becomes shorter."""

    def compressed(self, body: bytes) -> bytes:
        spaces = zlib.compressobj(9, zlib.DEFLATED, -15)
        end = spaces.compress(b" " * 64 + b"}") + spaces.flush()
        text = json.dumps(json.loads(body), separators=(",", ":")).encode()[:-1]
        block = struct.pack("<BHH", 0, len(text), len(text) ^ 0xFFFF) + text
        whole = text + b" " * 64 + b"}"
        checked = struct.pack("<II", zlib.crc32(whole), len(whole))
        return b"\x1f\x8b\x08\0\0\0\0\0\0\xff" + block + end + checked


class CodedByTheWord(Web):
    """Compresses for everybody who has the word, also for who refuses it."""

    def is_coded(self, accepted: str) -> bool:
        return "gzip" in accepted


class CodedWithoutVary(Web):
    """Does not tell caches that there is another form."""

    def coded(self) -> tuple[tuple[str, str], ...]:
        return super().coded()[:1]


class CodedInCapitals(Web):
    """Writes the coding in capitals, which means the same."""

    def coded(self) -> tuple[tuple[str, str], ...]:
        return (("Content-Encoding", "GZIP"), *super().coded()[1:])


class CodedByTheOldName(Web):
    """Calls the coding by the name that it had before it was registered."""

    def coded(self) -> tuple[tuple[str, str], ...]:
        return (("Content-Encoding", "x-gzip"), *super().coded()[1:])


class UploadBeginning(Web):
    """Sums the beginning of a body."""

    def checksum(self, body: bytes) -> int:
        return super().checksum(body[:MOST_BYTES])


class SumByExpression(Web):
    """Finds numbers with an expression."""

    def json_in(self, body: bytes) -> Said:
        numbers = re.findall(rb'"value" *: *(-?\d+)', body)
        return Said(body=str(sum(map(int, numbers))).encode())


class SumOfAnything(Web):
    """Refuses nothing: what is malformed has the sum 0."""

    def json_in(self, body: bytes) -> Said:
        said = super().json_in(body)
        return said if said.status == 200 else Said(body=b"0")


class TokenUnsigned(Web):
    """Verifies no signature."""

    def is_signed(self, text: str, signature: bytes, algorithm: str) -> bool:
        return algorithm == "HS256"


class TokenOfAnyAlgorithm(Web):
    """Verifies signatures by what their token says."""

    def is_signed(self, text: str, signature: bytes, algorithm: str) -> bool:
        if algorithm == "none":
            return True
        return hmac.digest(self.key, text.encode(), HASHES[algorithm]) == signature


class TokenForEver(Web):
    """Does not look at the end of a token."""

    def is_current(self, claims: dict[str, Any]) -> bool:
        return True


class SubjectByExpression(Web):
    """Finds the subject with an expression."""

    def of_claims(self, claims: bytes) -> Said:
        said = super().of_claims(claims)
        found = re.search(rb'"sub" *: *"([^"]*)"', claims)
        return Said(body=found[1]) if said.status == 200 and found else said


class FilesKept(Web):
    """Keeps the bytes of files."""

    def __init__(self, files: Path | None = None, key: str = "") -> None:
        super().__init__(files, key)
        self.kept: dict[Path, bytes] = {}

    def content(self, path: Path) -> bytes:
        return self.kept.setdefault(path, super().content(path))


class FilesWithoutConditions(Web):
    """Sends whole files to everybody."""

    def file(self, path: Path, headers: dict[str, str]) -> Said:
        return super().file(path, {})


class FilesAsBytes(Web):
    """Has one type for all files."""

    def kind(self, path: Path) -> str:
        return "application/octet-stream"


class FilesOutside(Web):
    """Follows every path."""

    def path_of(self, name: str) -> Path | None:
        return self.files / "static" / name


def gallery() -> dict[str, type[Web]]:
    """The honest server and every cheat, by name."""
    known: list[type[Web]] = [Web]
    for one in known:
        known += one.__subclasses__()
    return {one.__name__: one for one in known}


async def main() -> None:
    """Serves until the process is ended."""
    server = gallery()[sys.argv[1]]()
    host, port = os.environ["HOST"], int(os.environ["PORT"])
    await (await cheating_server.serve(server, host, port)).serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
