"""URLs as they are typed: their parts, what is asked for, and the one server behind them."""

from __future__ import annotations

import re
import string
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, quote, urlsplit

from plimsoll.errors import CampaignError, Problem

if TYPE_CHECKING:
    from collections.abc import Sequence

PORTS = {"http": 80}
"""Schemes that can be measured, and the port of each where a URL names none."""

_WHERE = "URL"


def parts(text: str) -> SplitResult:
    """The parts of a URL; without a scheme it is http, without a host it is this one.

    Raises:
        CampaignError: It is no address that load can be put on.
    """
    if any(character <= " " for character in text):
        raise _wrong(f"`{text}` holds white space", "write a space as `%20`")
    try:
        url = urlsplit(quote(_whole(text), safe=string.printable))
    except ValueError as error:
        raise _no_address(text) from error
    if url.scheme not in PORTS:
        hint = "put the load on a port of the server that speaks plain `http`"
        raise _wrong(f"`{url.scheme}` cannot be measured yet, only `http` can", hint)
    if not _names_a_host(url):
        raise _no_address(text)
    if "@" in url.netloc:
        hint = "take it out, and send it with `-H 'Authorization: …'`"
        raise _wrong("a name or password in a URL is not sent", hint)
    return url


def require_one_server(urls: Sequence[SplitResult]) -> None:
    """Does nothing when all of some URLs lead to the same server.

    Raises:
        CampaignError: Two of them do not.
    """
    for url in urls[1:]:
        if _server(url) != _server(urls[0]):
            message = f"`{urls[0].netloc}` and `{url.netloc}` are two servers; a load is put on one"
            raise _wrong(message, "start one `plimsoll load` for each server")


def target(url: SplitResult) -> str:
    """What a request asks for: path and query."""
    path = url.path or "/"
    return f"{path}?{url.query}" if url.query else path


def address(url: SplitResult) -> str:
    """Host and port as numbers; the first address that the name has.

    Raises:
        CampaignError: The name has no address.
    """
    import socket  # noqa: PLC0415 - help does without it

    host, port = _server(url)
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no name of a host"
        hint = "look at the name, or use an address"
        raise _wrong(f"`{host}` has no address: {reason}", hint) from error
    numbers = str(found[0][4][0])
    return f"[{numbers}]:{port}" if ":" in numbers else f"{numbers}:{port}"


def _whole(text: str) -> str:
    """A URL with what was left out: `:8080/a` is `http://127.0.0.1:8080/a`."""
    if "://" in text:
        return text
    return f"http://127.0.0.1{text}" if re.match(r":\d", text) else f"http://{text}"


def _names_a_host(url: SplitResult) -> bool:
    try:
        return bool(url.hostname) and url.port != 0
    except ValueError:
        return False


def _server(url: SplitResult) -> tuple[str, int]:
    """Host, in small letters, and port of the server."""
    return url.hostname or "", url.port or PORTS[url.scheme]


def _no_address(text: str) -> CampaignError:
    return _wrong(f"`{text}` is no address", "write it as http://127.0.0.1:8080/path")


def _wrong(message: str, hint: str) -> CampaignError:
    return CampaignError([Problem(_WHERE, message, hint)])
