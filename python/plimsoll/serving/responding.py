"""Whether a server that was already running responds at all, checked with one request.

The request goes the way of the load: where that is TLS, its certificate is verified here first.

Under load a wrong port costs the whole load, and shows as failures without number. One
request before it finds what no load can mend: nothing listens, the host cannot be reached, every
connection is closed, or what is spoken is not the load's protocol. Any response will do, whatever
its status. A server that is merely slow is no error: it may take as long as a request of the load.
One that sends nothing in that time would let every request run into its timeout.
"""

from __future__ import annotations

import errno
import json
import os
import re
import select
import socket
import sys
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Timer
from typing import TYPE_CHECKING, TypeGuard

from plimsoll import _engine, addresses
from plimsoll.campaign.requests import (
    EVENT_STREAM,
    HttpResponse,
    Request,
    of_type,
    render,
    upgrade_request,
)
from plimsoll.errors import InputError, NotResponding, Problem
from plimsoll.wording import seconds

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from plimsoll.campaign.load import Protocol
    from plimsoll.campaign.tls import Tls

WAIT_S = 0.5
"""How long a connection, and then a complete response, is waited for, in seconds."""

TOLD_AFTER_S = 2.0
"""From when on it is told that a server is waited for, in seconds: many take half a second."""

PROMPT_S = 0.05
"""How long a TLS handshake is waited for before the port is compared with plain HTTP, in seconds.

Servers of plain HTTP wait for the end of a request where a handshake comes.
"""

SLOWER = 4
"""How many times as long as plain HTTP a handshake takes at most, with as many round trips."""

TRIES = 3
"""Connections that must all be closed without a response before a server counts as one that fails.

A server that closes one connection now and then is measured under load.
"""

SAFE = ("GET", "HEAD", "OPTIONS")
"""Methods that change nothing on a server; RFC 9110, section 9.2.1."""

_UNREACHABLE = {
    errno.ECONNREFUSED: (
        "`{address}` refuses connections: nothing listens there",
        "start the server, or check the host and port",
    ),
    errno.EHOSTUNREACH: ("`{address}` cannot be reached: {reason}", "check the host's address"),
    errno.ENETUNREACH: ("`{address}` cannot be reached: {reason}", "check the host's address"),
}
"""Errors of connecting that a load cannot change, with their hints; others are left to the load."""

_CHECK_PATH = "check the path of `unix_socket=`"

_NO_SOCKET = {
    errno.ENOENT: ("there is no socket `{path}`", f"start the server, or {_CHECK_PATH}"),
    errno.ENOTDIR: ("there is no socket `{path}`", _CHECK_PATH),
    errno.ECONNREFUSED: ("no server listens at `{path}`", "start the server"),
    errno.EACCES: (
        "this user may not connect to `{path}`",
        "allow this user to write to the socket and to enter its folders",
    ),
    errno.EPROTOTYPE: ("`{path}` is a socket without streams", _CHECK_PATH),
    errno.ELOOP: ("`{path}` is a loop of symbolic links", _CHECK_PATH),
}
"""Errors of connecting to a Unix socket, with their hints."""

_NUMBER = re.compile(r"os error (?P<errno>\d+)")
"""How Rust writes the error number of a failed connection."""

_USE_TLS = "write the URL with `{secured}://`, or use a port without TLS"
_USE_PLAIN = "write the URL with `{plain}://`, or use a port on which the server speaks TLS"
_INSECURE = "accept any certificate with `insecure=True`"
_CERTIFICATE = "if the server asks for a certificate, give one with `cert=` and `key=`"
_NO_HTTP2 = "remove `http2=True`, or use a port on which the server speaks HTTP/2"
_NO_WEBSOCKET = "check the path of the URL, or use a server that speaks WebSocket there"
_UPGRADED = 101
_NO_EVENTS = "check the path of the URL, or remove `events=True`"
_OTHER_PORT = "check the port: it may serve another protocol"
_INVALID = "inspect the bytes that the server sends"
_NO_HEAD = "the head is not one of HTTP/1"
"""Why a response is none of HTTP at all; others begin as one."""

_NO_PROTOCOL = "NoApplicationProtocol"
"""The alert of a server that speaks none of the protocols offered by ALPN; RFC 7301, 3.2."""

_TLS_WAIT_S = 0.6
"""How long each step of a handshake is waited for: some servers pause after what is no TLS."""

_SILENT = (
    "check the server, or give a slow one more time with `timeout_s=`; every request of the load "
    "would time out"
)
_UNCONNECTED = (
    "check host and port, and firewalls between; every request of the load would time out"
)
_NO_HANDSHAKE = (
    "check that the server speaks TLS on this port: if it speaks plain HTTP there, write the URL "
    "with `{plain}://`"
)
_BYTES_RECEIVED_AT = 128
_OK = 200
_BAD_REQUEST = 400
"""What most servers say where plain HTTP comes to a port of TLS."""

_REFUSALS = (*range(300, 400), _BAD_REQUEST, 421, 426)
"""Status codes that plain HTTP gets from a port of TLS too: a redirect, or a refusal."""

_PROMPT_REFUSALS = (*_REFUSALS, 403, 404)
"""The same with those of a proxy that has no route for it; soon its handshake proves more."""


_REFUSED_BY_TLS = {
    "tls_unknown_authority": (
        "no trusted authority has signed the certificate of `{address}`",
        f"name the file of its authority with `cacert=`, or {_INSECURE}",
    ),
    "tls_wrong_name": (
        "the certificate of `{address}` is not for `{name}`: {reason}",
        f"request the server by a name in its certificate, or {_INSECURE}",
    ),
    "tls_expired": (
        "the certificate of `{address}` has expired or is not yet valid: {reason}",
        f"renew it, or {_INSECURE}",
    ),
    "tls_bad_certificate": (
        "the certificate of `{address}` cannot be used: {reason}",
        f"replace it, or {_INSECURE}",
    ),
    "tls_nothing_in_common": (
        "`{address}` and the load generator have no TLS version and cipher in common: {reason}",
        "enable TLS 1.2 or 1.3 on the server",
    ),
    "tls_alert": ("`{address}` ended the TLS handshake: {reason}", _CERTIFICATE),
    "tls_not_spoken": ("`{address}` does not speak TLS", _USE_PLAIN),
    "tls_broken": ("`{address}` violates TLS: {reason}", _OTHER_PORT),
}
"""Outcomes of a handshake that a load cannot change, with their hints."""

_ADVICE = {
    401: "give an `Authorization` header with `headers=`",
    403: "give a header that permits it with `headers=`",
    404: "check the path of the URL",
    405: "give the method that the server expects with `method=`",
}
"""What to do about a first response with an unexpected status; of others the load shows more."""

_NOT_SPOKEN = ("not_http", "not_http2", "not_websocket")
"""How it shows that the load's protocol is not spoken."""

_ENDED = ("closed", "broken", "tls_closed")
"""How connections end that a server may close now and then."""


def _ignore(_sentence: str) -> None:
    """Nobody is told."""


def require(  # noqa: PLR0913 - one argument for each part of a load
    address: str,
    request: Request,
    *,
    keep_alive: bool,
    tls: Tls | None = None,
    protocol: Protocol = "http1",
    events: bool = False,
    timeout_s: float | None = None,
    expected_status: tuple[int, int] | None = None,
    tell: Callable[[str], None] = _ignore,
) -> int:
    """Requires that a server responds in HTTP, or is not yet known not to.

    The request is the load's own where its method changes nothing; else OPTIONS is sent, and so it
    is in place of an upload. What OPTIONS gets in place of another method says nothing of the load:
    silence is an error only where the request is its own.

    Args:
        address: Address of the server: `127.0.0.1:8080`, `unix:/run/app.sock`.
        request: A request of the load.
        keep_alive: Whether the load keeps connections.
        tls: TLS to the server; None for plain TCP.
        protocol: What the load speaks.
        events: Whether the load needs a stream of events.
        timeout_s: How long a server may send nothing, in seconds; None for any time.
        expected_status: First and last status that the load expects; None for any.
        tell: Told in one sentence that a server does not respond at once, or with a status that the
            load does not expect.

    Returns:
        How many requests were sent.

    Raises:
        NotResponding: Nothing listens, or nothing is sent; the protocol there is not the load's, or
            not over TLS as requested; or a response has ended that is no stream of events.
        InputError: The request would break its head apart, or a file of TLS cannot be used.
    """
    sent = _rendered(request, address, protocol, keep_alive=keep_alive)
    is_own = protocol == "websocket" or _is_harmless(request)
    patience = _Patience(timeout_s, tell, is_own) if timeout_s else None
    for number in range(1, TRIES + 1):
        try:
            status, wrong_type = _answer(
                address, sent, tls, protocol, is_head=request.method == "HEAD", patience=patience
            )
        except _engine.NoResponse as error:
            kind, reason = error.args
            _require_handshake(kind, reason, address, tls, protocol)
            if kind not in (*_ENDED, *_NOT_SPOKEN):
                return number
            if number == TRIES or kind in _NOT_SPOKEN:
                raise _not_http(address, kind, reason, tls, protocol) from None
        else:
            if status == _BAD_REQUEST and tls is None and _speaks_tls(address):
                raise _tls(address, protocol)
            if protocol == "websocket" and status not in (None, _UPGRADED):
                raise _not_upgraded(address, request.target, status)
            if events and status == _OK and wrong_type:
                raise NotResponding(f"`{address}{request.target}`: {wrong_type}", _NO_EVENTS)
            # An upgrade has its one right status, and messages have none.
            is_compared = protocol != "websocket" and _is_harmless(request)
            if is_compared and _is_unexpected(status, expected_status):
                tell(_told_status(f"{address}{request.target}", status))
            return number
    return TRIES


def _is_unexpected(status: int | None, expected: tuple[int, int] | None) -> TypeGuard[int]:
    return expected is not None and status is not None and not _within(status, expected)


def _within(status: int, ends: tuple[int, int]) -> bool:
    return ends[0] <= status <= ends[1]


def _told_status(place: str, status: int) -> str:
    """What a status means that the load does not expect, and how to change it."""
    advice = _ADVICE.get(status, "look at the response")
    return f"`{place}` responds with status {status}: {advice}, or expect it with `status={status}`"


def _is_harmless(request: Request) -> bool:
    return request.method in SAFE and request.upload is None and not request.expects_continue


@dataclass(frozen=True)
class _Patience:
    """How long a server may send nothing.

    Attributes:
        timeout_s: That time, in seconds.
        tell: Told that it is waited for.
        has_own: Whether what is sent is a request of the load, which gets no response either.
    """

    timeout_s: float
    tell: Callable[[str], None]
    has_own: bool

    def connection(self, address: str, block: str | None, protocol: Protocol) -> _engine.Connection:
        """A connection, for which nobody came within `WAIT_S`.

        Args:
            address: Address of the server.
            block: TLS as the engine has it; None for plain TCP.
            protocol: What the load speaks.

        Raises:
            NotResponding: There is none in time.
            OSError: There can be none.
        """
        lacks_handshake = block is not None and _accepts(address)
        if lacks_handshake:
            reason = f"`{address}` accepts connections, but does not reply to TLS yet"
        else:
            reason = f"`{address}` does not complete a connection yet"
        try:
            with self._telling(reason):
                return _engine.Connection(address, self.timeout_s, block)
        except TimeoutError:
            within = seconds(self.timeout_s)
            message, hint = f"no connection to `{address}` within {within}", _UNCONNECTED
            if lacks_handshake:
                if _speaks_http(address, WAIT_S, _REFUSALS):
                    raise _no_tls(address, protocol) from None
                message = (
                    f"`{address}` accepts connections, but sends no reply to a TLS handshake "
                    f"within {within}"
                )
                hint = _with_schemes(_NO_HANDSHAKE, protocol)
            raise NotResponding(message, hint) from None

    def require_byte(self, address: str, connection: _engine.Connection) -> None:
        """Does nothing when something comes, or the connection ends.

        Args:
            address: Address of the server.
            connection: A connection on which a request was sent, and nothing came for `WAIT_S`.

        Raises:
            NotResponding: Nothing comes.
        """
        readable = select.poll()
        readable.register(connection.fileno(), select.POLLIN)
        with self._telling(f"`{address}` does not respond yet"):
            has_come = readable.poll(self._left_s * 1e3)
        if not has_come:
            raise self._silent(address)

    def require_head(self, address: str, connection: _engine.Connection) -> None:
        """Does nothing when some of a response by HTTP/2 comes, or the connection ends.

        The settings of a connection are no response.

        Args:
            address: Address of the server.
            connection: A connection on which a request was sent, whose response was not complete
                within `WAIT_S`.

        Raises:
            NotResponding: Nothing of it comes.
        """
        try:
            with self._telling(f"`{address}` does not respond yet"):
                has_begun = connection.has_begun_by_http2(self._left_s)
        except _engine.NoResponse:
            return
        if not has_begun:
            raise self._silent(address)

    @property
    def _left_s(self) -> float:
        """How long is waited after `WAIT_S`, in seconds."""
        return max(0.0, self.timeout_s - WAIT_S)

    def _silent(self, address: str) -> NotResponding:
        within = seconds(self.timeout_s)
        message = f"`{address}` accepts connections, but sends no response within {within}"
        return NotResponding(message, _SILENT)

    @contextmanager
    def _telling(self, reason: str) -> Generator[None]:
        """Tells that the server is waited for, once that has taken `TOLD_AFTER_S`."""
        told = f"{reason}; waiting up to {seconds(self.timeout_s)}"
        timer = Timer(max(0.0, TOLD_AFTER_S - WAIT_S), self.tell, [told])
        if self.timeout_s > TOLD_AFTER_S:
            timer.start()
        try:
            yield
        finally:
            timer.cancel()
            if timer.ident is not None:
                timer.join()


def _received_bytes(connection: _engine.Connection) -> int | None:
    """Bytes received on a connection over TCP, with those of TLS; None where that is unknown.

    Source:
        `tcpi_bytes_received` in `struct tcp_info`, include/uapi/linux/tcp.h, since Linux 4.1.
    """
    end = _BYTES_RECEIVED_AT + 8
    try:
        with socket.socket(fileno=os.dup(connection.fileno())) as copy:
            facts = copy.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, end)
    except OSError:
        return None  # a Unix socket
    return (
        int.from_bytes(facts[_BYTES_RECEIVED_AT:end], sys.byteorder) if len(facts) == end else None
    )


def _rendered(request: Request, address: str, protocol: Protocol, *, keep_alive: bool) -> bytes:
    """The bytes that are sent: those of the load where they change nothing.

    Raises:
        InputError: The request of the load would break its head apart.
    """
    if protocol == "websocket":
        return render(upgrade_request(request), address, keep_alive=True)
    sent = render(request, address, keep_alive)
    if _is_harmless(request):
        return sent
    probe = replace(request, method="OPTIONS", body=b"", upload=None, expects_continue=False)
    return render(probe, address, keep_alive)


def _answer(
    address: str,
    sent: bytes,
    tls: Tls | None,
    protocol: Protocol,
    *,
    is_head: bool,
    patience: _Patience | None = None,
) -> tuple[int | None, str | None]:
    """Status of a response on a new connection, and what is wrong with its type as one of events.

    The status is None where there was no connection in time.

    Raises:
        NotResponding: There is no connection, or nothing comes on it.
        NoResponse: No complete response came, or the TLS handshake failed.
        InputError: A file of TLS cannot be used.
    """
    block = None if tls is None else json.dumps(tls.block)
    try:
        connection = _connection(address, block, patience, protocol)
    except _engine.EngineFailure as failure:
        problem = str(failure.args[0]).removeprefix("the specification is wrong: ")
        hint = "check the TLS options and their files"
        raise InputError([Problem("TLS", problem, hint)]) from None
    except OSError as error:
        reported = _NUMBER.search(str(error))
        number = int(reported["errno"]) if reported else 0
        _require_socket(address, number)
        if number not in _UNREACHABLE:
            return None, None
        message, hint = _UNREACHABLE[number]
        reason = os.strerror(number).lower()
        raise NotResponding(message.format(address=address, reason=reason), hint) from None
    before = _received_bytes(connection)
    try:
        if protocol == "websocket":
            return connection.status_of_upgrade(sent, WAIT_S), None
        if protocol == "http2":
            found = connection.ask_by_http2(sent, WAIT_S)
        else:
            found = connection.ask([sent], WAIT_S, is_head, WAIT_S)
    except _engine.NoResponse as error:
        if error.args[0] == "timed_out" and patience and patience.has_own:
            if protocol == "http2":
                patience.require_head(address, connection)
            elif before is not None and before == _received_bytes(connection):
                patience.require_byte(address, connection)
        raise
    headers = ((name.lower(), value.decode("latin-1")) for name, value in found["headers"])
    response = HttpResponse(found["status"], tuple(headers), b"")
    return response.status, of_type(EVENT_STREAM)(response)


def _connection(
    address: str, block: str | None, patience: _Patience | None, protocol: Protocol
) -> _engine.Connection:
    """A new connection, with its TLS handshake.

    Raises:
        NotResponding: There is none in time, or what is spoken there is plain HTTP.
        NoResponse: The TLS handshake failed.
        OSError: There can be none.
    """
    steps = ((PROMPT_S, _PROMPT_REFUSALS), (WAIT_S, _REFUSALS))
    for wait_s, refusals in steps if block else steps[1:]:
        try:
            return _engine.Connection(address, wait_s, block)
        except TimeoutError:
            if block is not None and _speaks_http(address, wait_s / SLOWER, refusals):
                raise _no_tls(address, protocol) from None
    if patience is None:
        raise TimeoutError
    return patience.connection(address, block, protocol)


def _require_socket(address: str, number: int) -> None:
    """Does nothing unless a Unix socket cannot be connected to, by the error number.

    Raises:
        NotResponding: It cannot.
    """
    path = addresses.socket_path(address)
    if not path or number not in _NO_SOCKET:
        return
    message, hint = _NO_SOCKET[number]
    if number == errno.ECONNREFUSED and not Path(path).is_socket():
        message, hint = f"`{path}` is not a socket", _CHECK_PATH
    raise NotResponding(message.format(path=path), hint)


def _require_handshake(
    kind: str, reason: str, address: str, tls: Tls | None, protocol: Protocol
) -> None:
    """Does nothing unless a handshake ended in a way that a load cannot change.

    Raises:
        NotResponding: It did.
    """
    if tls is not None and kind in _REFUSED_BY_TLS:
        message, hint = _REFUSED_BY_TLS[kind]
        if kind == "tls_nothing_in_common":
            if protocol == "http2" and _NO_PROTOCOL in reason:
                raise NotResponding(f"`{address}` does not speak HTTP/2", _NO_HTTP2)
            given = {"`tls_version=`": tls.version, "`ciphers=`": tls.ciphers}
            if restricting := " and ".join(name for name, value in given.items() if value):
                hint = f"remove {restricting}, or {hint}"
        named = _as_typed(address, tls)
        message = message.format(address=named, name=tls.server_name, reason=reason)
        raise NotResponding(message, _with_schemes(hint, protocol))


def _as_typed(address: str, tls: Tls) -> str:
    """An address with the name that was looked up for it: certificates are for names."""
    if addresses.is_unix(address) or not tls.server_name:
        return address
    name = f"[{tls.server_name}]" if ":" in tls.server_name else tls.server_name
    return f"{name}:{address.rpartition(':')[2]}"


def _not_http(
    address: str, kind: str, reason: str, tls: Tls | None, protocol: Protocol
) -> NotResponding:
    if tls is None and _speaks_tls(address):
        return _tls(address, protocol)
    if kind == "tls_closed" and _speaks_http(address, WAIT_S, _REFUSALS):
        return _no_tls(address, protocol)
    if kind == "not_http2":
        without = "" if tls else " without TLS"
        return NotResponding(f"`{address}` does not speak HTTP/2{without}", _NO_HTTP2)
    if kind == "not_websocket":
        message = f"`{address}` does not speak WebSocket: {reason}"
        return NotResponding(message, _NO_WEBSOCKET)
    hint = _OTHER_PORT
    if kind == "not_http" and reason != _NO_HEAD:
        message, hint = f"the response of `{address}` is not valid HTTP/1.1: {reason}", _INVALID
    elif kind == "not_http":
        message = f"`{address}` does not speak HTTP/1: {reason}"
    elif kind == "tls_closed":
        message = f"`{address}` closes every connection within the TLS handshake"
    elif kind == "broken" and tls is not None:
        message, hint = f"`{address}` ended every TLS connection: {reason}", _CERTIFICATE
    else:
        message = f"`{address}` closes every connection without a response"
    return NotResponding(message, hint)


def _not_upgraded(address: str, target: str, status: int | None) -> NotResponding:
    message = (
        f"`{address}` does not speak WebSocket at `{target}`: it responds with status {status}"
    )
    return NotResponding(message, _NO_WEBSOCKET)


def _tls(address: str, protocol: Protocol) -> NotResponding:
    message = f"`{address}` speaks TLS, not plain HTTP"
    return NotResponding(message, _with_schemes(_USE_TLS, protocol))


def _no_tls(address: str, protocol: Protocol) -> NotResponding:
    message, hint = _REFUSED_BY_TLS["tls_not_spoken"]
    return NotResponding(message.format(address=address), _with_schemes(hint, protocol))


def _with_schemes(hint: str, protocol: Protocol) -> str:
    """A hint with the schemes of URLs as the protocol has them."""
    plain, secured = ("ws", "wss") if protocol == "websocket" else ("http", "https")
    return hint.format(plain=plain, secured=secured)


def _speaks_http(address: str, wait_s: float, refusals: Sequence[int]) -> bool:
    """Whether plain HTTP is responded to as a port of TLS would not.

    Nothing of the load is sent: its cookies and tokens are meant for TLS.

    Args:
        address: Address of the server.
        wait_s: How long a connection, and then a response, is waited for, in seconds.
        refusals: Status codes that a port of TLS may respond with.
    """
    sent = render(Request("/", "OPTIONS", "/"), address, keep_alive=False)
    try:
        found = _engine.Connection(address, wait_s).ask([sent], wait_s, False, wait_s)
    except (OSError, _engine.NoResponse):
        return False
    return found["status"] not in refusals


def _speaks_tls(address: str) -> bool:
    """Whether a TLS handshake succeeds, or is refused by an alert of TLS."""
    import ssl  # noqa: PLC0415 - only a server that fails costs its import

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    try:
        with _connected(address) as connection, context.wrap_socket(connection):
            return True
    except ssl.SSLError as error:
        return "ALERT" in (error.reason or "")
    except OSError:
        return False


def _accepts(address: str) -> bool:
    """Whether a connection is accepted at once."""
    try:
        _connected(address).close()
    except OSError:
        return False
    return True


def _connected(address: str) -> socket.socket:
    """A new connection.

    Raises:
        OSError: There can be none.
    """
    if not addresses.is_unix(address):
        host, _, port = address.rpartition(":")
        return socket.create_connection((host.strip("[]"), int(port)), _TLS_WAIT_S)
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.settimeout(_TLS_WAIT_S)
        connection.connect(addresses.socket_path(address))
    except OSError:
        connection.close()
        raise
    return connection
