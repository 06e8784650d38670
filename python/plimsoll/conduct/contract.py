"""Asks a running server whether it keeps the contract, before and after every trial.

The same bytes go over a plain socket as under load. Beyond the requests of the load, values are
drawn that a shortcut gets wrong, two requests share a connection, requests that must be refused
are followed by one that must be answered, and a path is asked for that is not there.
"""

from __future__ import annotations

import io
import socket
import time
from contextlib import closing
from dataclasses import dataclass, field, replace
from http.client import HTTPException, HTTPResponse, IncompleteRead, RemoteDisconnected
from random import Random
from typing import TYPE_CHECKING, cast

from plimsoll.campaign.endpoints import ENDPOINTS, mix
from plimsoll.campaign.requests import Answer, Exchange, Expected, Request, render
from plimsoll.errors import ContractBroken

if TYPE_CHECKING:
    from collections.abc import Callable

    from plimsoll.campaign.requests import Endpoint

Address = tuple[str, int]
"""Host and port."""

TIMEOUT_S = 10.0
"""A request that is not answered in full after this long has no answer, in seconds."""

_LARGEST_BODY_BYTES = 16 * 2**20
_SHOWN = 60
_EXCERPT = 20
_REFUSED_FROM = 400
_HINT = "the contract is in `frameworks/README.md`; the server's own words are in its log"

_KEEP_ALIVE = "two requests on one connection are both answered on it"
_NEXT_ANSWERED = "after a request that was refused, the next one is answered"
_NOT_FOUND = "a path that does not exist is answered with 404"


@dataclass(frozen=True)
class Failure:
    """One way in which a server breaks the contract.

    Attributes:
        request: What was asked: method, target and the beginning of the body.
        answer: What came: status, length and the beginning of the body; or that nothing came.
        problem: What is wrong with it.
        rule: What the contract says.
        sent: The whole request but for its Host header, as text.
    """

    request: str
    answer: str
    problem: str
    rule: str
    sent: str = ""

    def __str__(self) -> str:
        """All of it in one line."""
        return f"{self.request}: {self.problem} (answer: {self.answer}); contract: {self.rule}"


@dataclass(frozen=True)
class Verified:
    """What a server that keeps the contract has shown.

    Attributes:
        exchanges: The exchanges of the load. Where the contract does not fix the body, and the
            server answered the request twice with the same one, that body is what is expected.
    """

    exchanges: tuple[Exchange, ...]


@dataclass
class _Findings:
    """What an examination has found so far."""

    failures: list[Failure] = field(default_factory=list["Failure"])
    exchanges: list[Exchange] = field(default_factory=list["Exchange"])


def verify(
    address: Address,
    endpoint: Endpoint,
    seed: int,
    *,
    keep_alive: bool = True,
    timeout_s: float = TIMEOUT_S,
) -> Verified:
    """Asks a server whether it keeps the contract at one endpoint.

    Args:
        address: Where it listens.
        endpoint: What to ask.
        seed: Seeds the values that are drawn.
        keep_alive: Whether the trial keeps its connections; if not, nor does the check.
        timeout_s: Time for each answer, in seconds.

    Returns:
        The exchanges of the load with what was learned about their answers.

    Raises:
        ContractBroken: It does not; every failure is named.
    """
    findings = _examined(address, endpoint, seed, keep_alive, timeout_s)
    if findings.failures:
        sentences = [str(failure) for failure in findings.failures]
        message = "\n".join((f"`{endpoint.name}` breaks the contract", *sentences))
        raise ContractBroken(message, _HINT, sentences)
    return Verified(tuple(findings.exchanges))


def failures(
    address: Address,
    endpoint: Endpoint,
    seed: int,
    *,
    keep_alive: bool = True,
    timeout_s: float = TIMEOUT_S,
) -> tuple[Failure, ...]:
    """What a server does against the contract at one endpoint.

    Args:
        address: Where it listens.
        endpoint: What to ask.
        seed: Seeds the values that are drawn.
        keep_alive: Whether connections are kept.
        timeout_s: Time for each answer, in seconds.

    Returns:
        Every failure; none when the contract is kept.
    """
    return tuple(_examined(address, endpoint, seed, keep_alive, timeout_s).failures)


def problems(expected: Expected, answer: Answer) -> list[str]:
    """What is wrong with an answer.

    Args:
        expected: What a right one looks like.
        answer: The one that came.

    Returns:
        Sentences; none when it is right. A wrong status is the only thing said of its answer.
    """
    first, last = expected.status
    if not first <= answer.status <= last:
        wanted = f"`{first}`" if first == last else f"from `{first}` to `{last}`"
        return [f"the status is `{answer.status}`, it should be {wanted}"]
    found = (_wrong_body(expected, answer.body), expected.check(answer))
    return [problem for problem in found if problem is not None]


def _wrong_body(expected: Expected, body: bytes) -> str | None:
    if expected.length_bytes is not None and len(body) != expected.length_bytes:
        return f"the body has {len(body)} bytes, it should have {expected.length_bytes}"
    if expected.body is not None and body != expected.body:
        pairs = enumerate(zip(body, expected.body, strict=False))
        place = next((at for at, (is_, should) in pairs if is_ != should), len(body))
        is_, should = (_excerpt(text[place:]) for text in (body, expected.body))
        return f"the body differs from byte {place} on, where it has {is_} and should have {should}"
    return None


class _NoAnswer(Exception):  # noqa: N818  it is what came
    """No complete answer came.

    Args:
        message: What came instead.
        hopeless: Whether asking on would only cost time.
    """

    def __init__(self, message: str, hopeless: bool = False) -> None:
        super().__init__(message)
        self.hopeless = hopeless


@dataclass(frozen=True)
class _Answered:
    """An answer and what became of its connection."""

    answer: Answer
    closes: bool


class _Wire(io.RawIOBase):
    """The receiving side of a socket, with one deadline for a whole answer."""

    def __init__(self, connected: socket.socket) -> None:
        super().__init__()
        self._socket = connected
        self.deadline_s: float | None = None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview, /) -> int | None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Bytes as they come; without a deadline only those that are there already."""
        if self.deadline_s is None:
            self._socket.setblocking(False)
            try:
                return self._socket.recv_into(buffer)
            except BlockingIOError:
                return None
        left_s = self.deadline_s - time.monotonic()
        if left_s <= 0:
            raise TimeoutError
        self._socket.settimeout(left_s)
        return self._socket.recv_into(buffer)


class _Reader(io.BufferedReader):
    """Outlives the answers that are read from it."""

    def close(self) -> None:
        """Does nothing: the connection goes on."""


class _Connection:
    """One connection to the server."""

    def __init__(self, address: Address, timeout_s: float) -> None:
        self._timeout_s = timeout_s
        self._host_header = _host_header(address)
        try:
            self._socket = socket.create_connection(address, timeout_s)
        except OSError as error:
            message = f"no connection: {error.strerror or error}"
            raise _NoAnswer(message, hopeless=True) from error
        self._wire = _Wire(self._socket)
        self._reader = _Reader(self._wire)

    def close(self) -> None:
        self._socket.close()

    def makefile(self, _mode: str) -> io.BufferedReader:
        """What `HTTPResponse` reads from; bytes beyond one answer stay for the next."""
        return self._reader

    def ask(self, request: Request, keep_alive: bool) -> _Answered:
        """Sends a request and reads its answer.

        Raises:
            _NoAnswer: No complete answer came.
        """
        try:
            return self._ask(render(request, self._host_header, keep_alive), request.method)
        except TimeoutError as error:
            message = f"none in full within {self._timeout_s:g} s"
            raise _NoAnswer(message, hopeless=True) from error
        except RemoteDisconnected as error:
            raise _NoAnswer("none, the connection was closed") from error
        except IncompleteRead as error:
            raise _NoAnswer("the connection was closed within the body") from error
        except HTTPException as error:
            raise _NoAnswer(f"none that is HTTP: {type(error).__name__} {error}") from error
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
            raise _NoAnswer(f"none, the connection broke: {why}") from error

    def _ask(self, wire_bytes: bytes, method: str) -> _Answered:
        self._socket.settimeout(self._timeout_s)
        self._socket.sendall(wire_bytes)
        self._wire.deadline_s = time.monotonic() + self._timeout_s
        response = HTTPResponse(cast("socket.socket", self), method=method)
        response.begin()
        body = response.read(_LARGEST_BODY_BYTES)
        if response.length:
            raise IncompleteRead(body, response.length)
        self._refuse_surplus()
        headers = tuple((name.lower(), value) for name, value in response.getheaders())
        return _Answered(Answer(response.status, headers, body), response.will_close)

    def _refuse_surplus(self) -> None:
        """Looks for bytes beyond the end of the answer that are there already.

        A connection that breaks here has delivered its answer; the next request will tell.
        """
        self._wire.deadline_s = None
        try:
            surplus = self._reader.peek(1)
        except OSError:
            return
        if surplus:
            raise _NoAnswer(f"{len(surplus)} bytes more than its length says")


class _Client:
    """Asks on one connection for as long as the server lets it."""

    def __init__(self, address: Address, keep_alive: bool, timeout_s: float) -> None:
        self._address = address
        self._timeout_s = timeout_s
        self.keep_alive = keep_alive
        self._connection: _Connection | None = None

    def close(self) -> None:
        """Closes the connection; the next question opens another."""
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    def ask(self, request: Request) -> Answer:
        """An answer, on a new connection where the one at hand has been closed meanwhile.

        Raises:
            _NoAnswer: No complete answer came.
        """
        at_hand = self._connection is not None
        try:
            return self._ask(request)
        except _NoAnswer as error:
            if not at_hand or error.hopeless:
                raise
        return self._ask(request)

    def ask_again(self, request: Request) -> Answer:
        """An answer on the connection of the last one.

        Raises:
            _NoAnswer: The connection is closed, or no complete answer came on it.
        """
        if self._connection is None:
            raise _NoAnswer("the first one announced that the connection closes")
        return self._ask(request)

    def _ask(self, request: Request) -> Answer:
        if self._connection is None:
            self._connection = _Connection(self._address, self._timeout_s)
        try:
            answered = self._connection.ask(request, self.keep_alive)
        except _NoAnswer:
            self.close()
            raise
        if answered.closes or not self.keep_alive:
            self.close()
        return answered.answer


def _examined(
    address: Address, endpoint: Endpoint, seed: int, keep_alive: bool, timeout_s: float
) -> _Findings:
    random = Random(seed)  # noqa: S311  a seed makes it repeatable
    findings = _Findings()
    with closing(_Client(address, keep_alive, timeout_s)) as client:
        try:
            for exchange in endpoint.exchanges:
                _ask_twice(client, exchange, _rule(exchange, endpoint), findings)
            for probe in endpoint.probes(random):
                _probe(client, probe, endpoint, findings)
            _judged(client.ask, _absent_path(random), _NOT_FOUND, findings)
        except _NoAnswer:  # hopeless, and among the findings already
            return findings
    return findings


def _ask_twice(client: _Client, exchange: Exchange, rule: str, findings: _Findings) -> None:
    """Two requests on one connection; what the answers have in common is what is expected."""
    client.close()
    first = _judged(client.ask, exchange, rule, findings)
    second = None
    if first is not None and client.keep_alive:
        second = _judged(client.ask_again, exchange, rule, findings, or_else=_KEEP_ALIVE)
    elif first is not None:
        second = _judged(client.ask, exchange, rule, findings)
    findings.exchanges.append(_learned(exchange, first, second))


def _probe(client: _Client, probe: Exchange, endpoint: Endpoint, findings: _Findings) -> None:
    _judged(client.ask, probe, _rule(probe, endpoint), findings)
    if probe.expected.status[0] >= _REFUSED_FROM:
        following = endpoint.exchanges[0]
        rule = _rule(following, endpoint)
        _judged(client.ask, following, rule, findings, or_else=_NEXT_ANSWERED)


def _judged(
    ask: Callable[[Request], Answer],
    exchange: Exchange,
    rule: str,
    findings: _Findings,
    or_else: str = "",
) -> Answer | None:
    """The answer to a request if one came, after noting all that is wrong with it.

    Args:
        ask: Gets the answer.
        exchange: The request and what is expected.
        rule: What the contract says of the answer.
        findings: Where to note it.
        or_else: What the contract says of there being an answer, if that is something else.

    Raises:
        _NoAnswer: None came, and there is no use in asking on.
    """
    request = exchange.request
    try:
        answer = ask(request)
    except _NoAnswer as error:
        failure = _failure(request, str(error), "there is no answer", or_else or rule)
        findings.failures.append(failure)
        if error.hopeless:
            raise
        return None
    findings.failures.extend(
        _failure(request, _shown_answer(answer), problem, rule)
        for problem in problems(exchange.expected, answer)
    )
    return answer


def _failure(request: Request, answer: str, problem: str, rule: str) -> Failure:
    """A failure without anything that a terminal would act upon, whatever the server said."""
    texts = (_shown_request(request), answer, problem, rule)
    return Failure(*(_printable(text) for text in texts), sent=_whole(request))


def _printable(text: str) -> str:
    return "".join(
        character if character.isprintable() else ascii(character)[1:-1] for character in text
    )


def _learned(exchange: Exchange, first: Answer | None, second: Answer | None) -> Exchange:
    """The exchange, with the body that came twice where the contract does not fix it."""
    expected = exchange.expected
    if expected.body is not None or first is None or second is None or first.body != second.body:
        return exchange
    body = first.body
    return replace(exchange, expected=replace(expected, body=body, length_bytes=len(body)))


def _absent_path(random: Random) -> Exchange:
    path = f"/absent-{random.getrandbits(64):016x}"
    return Exchange(Request("absent", "GET", path), Expected(status=(404, 404)))


_SUMMARIES = {
    exchange.request.target.partition("?")[0]: endpoint.summary
    for endpoint in ENDPOINTS
    if endpoint.name != mix.NAME
    for exchange in endpoint.exchanges
}


def _rule(exchange: Exchange, endpoint: Endpoint) -> str:
    """What the contract says of an exchange; one of `mix` is that of its own endpoint."""
    first, last = exchange.expected.status
    if first >= _REFUSED_FROM:
        return f"{exchange.request.name} is answered with a status from {first} to {last}"
    return _SUMMARIES.get(exchange.request.target.partition("?")[0], endpoint.summary)


def _host_header(address: Address) -> str:
    host, port = address
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _shown_request(request: Request) -> str:
    target = request.target
    if len(target) > _SHOWN:
        target = f"{target[:_SHOWN]}…"
    return f"`{request.method} {target}`{_shown_body(request.body)}"


def _whole(request: Request) -> str:
    """A request line by line; what is not text in UTF-8, or not printable, is escaped."""
    head = [f"{request.method} {request.target}", *(": ".join(pair) for pair in request.headers)]
    body = request.body.decode("utf-8", "backslashreplace").split("\r\n")
    lines = [*head, "", *body] if request.body else head
    return "\n".join(_printable(line) for line in lines)


def _shown_answer(answer: Answer) -> str:
    kind = answer.header("content-type") or "no type"
    return f"{answer.status}, {kind}, {len(answer.body)} bytes{_shown_body(answer.body)}"


def _excerpt(body: bytes) -> str:
    """The first bytes of what is left of a body, or that there is nothing left."""
    if not body:
        return "nothing"
    more = "…" if len(body) > _EXCERPT else ""
    return f"`{body[:_EXCERPT].decode(errors='replace')}{more}`"


def _shown_body(body: bytes) -> str:
    """The beginning of a body."""
    if not body:
        return ""
    more = "…" if len(body) > _SHOWN else ""
    return f" `{body[:_SHOWN].decode(errors='replace')}{more}`"
