"""URLs as they are typed: their parts, the request target, and the one server behind them."""

from __future__ import annotations

import re
import socket
import string
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, quote, urlsplit

from plimsoll.errors import InputError, NotResponding, Problem

if TYPE_CHECKING:
    from collections.abc import Sequence

PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}
"""Supported schemes and their default ports."""

SECURED = ("https", "wss")
"""Schemes over TLS."""

OF_WEBSOCKET = ("ws", "wss")
"""Schemes of WebSocket; RFC 6455, section 3."""

_WHERE = "url"

_NUMBERS = re.compile(r"(0x[0-9a-f]*|[0-9]+)(\.(0x[0-9a-f]*|[0-9]+))*\.?", re.IGNORECASE)
"""What `inet_aton(3)` takes for an IPv4 address: also `18080`, which is 0.0.70.160."""

_DOTTED = re.compile(r"(0|[1-9][0-9]{0,2})(\.(0|[1-9][0-9]{0,2})){3}")
"""An IPv4 address as people write it, in four decimal numbers (RFC 6943, 3.1.1)."""

_EXAMPLE = "write it as http://127.0.0.1:8080/path"

_OTHER_NAME = "check the host name, or use an IP address"

_FOUR = "write an IPv4 address as four decimal numbers, such as 127.0.0.1"


def parts(text: str) -> SplitResult:
    """The parts of a URL; the scheme defaults to http, the host to 127.0.0.1.

    Raises:
        InputError: The URL is invalid or not supported.
    """
    if any(character <= " " for character in text):
        raise _wrong(f"`{text}` contains white space", "write a space as `%20`")
    try:
        url = urlsplit(quote(_whole(text), safe=string.printable))
    except ValueError as error:
        raise _no_address(text) from error
    if url.scheme not in PORTS:
        known = ", ".join(f"`{scheme}`" for scheme in PORTS)
        message = f"scheme `{url.scheme}` is not supported, only {known} are"
        raise _wrong(message, "use a port on which the server speaks HTTP or WebSocket")
    is_scheme_alone = "://" not in text and url.hostname in PORTS
    if not url.hostname or is_scheme_alone:
        raise _no_address(text)
    if not _has_port(url):
        raise _wrong(f"the port in `{text}` is not a number from 1 to 65535", _EXAMPLE)
    if _NUMBERS.fullmatch(url.hostname or "") and not _DOTTED.fullmatch(url.hostname or ""):
        a_number = f"for a port of this machine write `:{text}`, for a rate `rate_per_s={text}`"
        hint = a_number if text.isdigit() else _FOUR
        raise _wrong(f"`{url.hostname}` is an ambiguous IPv4 address, not a host name", hint)
    if "@" in url.netloc:
        hint = "remove them from the URL and send an `Authorization` header"
        raise _wrong("a user name or password in the URL is not supported", hint)
    return url


def several(given: Sequence[str]) -> tuple[SplitResult, ...]:
    """The parts of some URLs.

    Args:
        given: The URLs.

    Raises:
        InputError: One is invalid or not supported, or there is none.
    """
    if not given:
        raise _wrong("no URL is given", "write one as http://127.0.0.1:8080/path")
    return tuple(map(parts, given))


def require_one_server(urls: Sequence[SplitResult]) -> None:
    """Requires that all URLs are on the same server.

    Raises:
        InputError: They are not.
    """
    for url in urls[1:]:
        if (url.scheme, _server(url)) != (urls[0].scheme, _server(urls[0])):
            message = f"the URLs are on two servers, `{urls[0].netloc}` and `{url.netloc}`"
            raise _wrong(message, "run `plimsoll load` once per server")


def target(url: SplitResult) -> str:
    """The request target: path and query."""
    path = url.path or "/"
    return f"{path}?{url.query}" if url.query else path


def address(url: SplitResult) -> str:
    """Host and port as numbers; the first address that the name has.

    Raises:
        NotResponding: The name has no address.
        InputError: It is no name.
    """
    host, port = _server(url)
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except UnicodeError as error:
        raise _wrong(f"`{host}` is not a valid host name", _OTHER_NAME) from error
    except OSError as error:
        raise NotResponding(f"cannot resolve `{host}`: {error.strerror}", _OTHER_NAME) from error
    numbers = str(found[0][4][0])
    return f"[{numbers}]:{port}" if ":" in numbers else f"{numbers}:{port}"


def _whole(text: str) -> str:
    """A URL with defaults filled in: `:8080/a` is `http://127.0.0.1:8080/a`."""
    if "://" in text:
        return text
    return f"http://127.0.0.1{text}" if re.match(r":\d", text) else f"http://{text}"


def _has_port(url: SplitResult) -> bool:
    """Whether its port, if it names one, can be connected to."""
    try:
        return url.port != 0
    except ValueError:
        return False


def _server(url: SplitResult) -> tuple[str, int]:
    """Host, in small letters, and port of the server."""
    return url.hostname or "", url.port or PORTS[url.scheme]


def _no_address(text: str) -> InputError:
    return _wrong(f"`{text}` is not a valid URL", _EXAMPLE)


def _wrong(message: str, hint: str) -> InputError:
    return InputError([Problem(_WHERE, message, hint)])
