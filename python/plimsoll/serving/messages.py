"""Checks the endpoint of WebSocket: what is sent in every form comes back as it was sent.

Each rule has a connection of its own, so that a server that breaks one is asked for the others.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from plimsoll import _engine
from plimsoll.campaign.endpoints import ws
from plimsoll.serving.asking import ResponseMissing
from plimsoll.serving.surroundings import BY_NAME, FRAGMENTS

if TYPE_CHECKING:
    from collections.abc import Collection
    from random import Random

    from plimsoll.campaign.requests import Request
    from plimsoll.serving.asking import Client

    Kind = Literal["text", "binary", "ping", "pong", "close"]
    Came = tuple[Kind, bytes]
    """What a message or control frame is, and its bytes."""

UPGRADE = "a request for WebSocket gets it; RFC 6455, section 4.2"
TEXT = "a text message is returned as text, with the same bytes"
BINARY = "a binary message is returned as binary, with the same bytes"
ORDER = "messages are returned in the order in which they were sent"
PING = "a ping gets a pong with the same bytes"
CLOSE = "a close frame with code 1000 is answered with code 1000"

LENGTHS = (33, 125, 126, 1_000, 65_535, 65_536, 70_001)
"""Lengths of messages in bytes: on both sides of each form that a frame writes its length in.

Source:
    RFC 6455, section 5.2.
"""

NORMAL = (1000).to_bytes(2)
"""The code of a close frame that says that all is done; RFC 6455, section 7.4.1."""

_NO_CONNECTION = "there is no WebSocket connection"
_AT_ONCE = 8
_SHOWN = 24


@dataclass(frozen=True)
class MessageProblem:
    """Something that is wrong with what came.

    Attributes:
        sent: What was sent.
        came: What came.
        problem: What is wrong with it.
        rule: The rule of the contract.
    """

    sent: str
    came: str
    problem: str
    rule: str


@dataclass
class UpgradedConnection:
    """A connection that is upgraded, for a client that counts its messages."""

    client: Client
    connection: _engine.Connection
    _other_pong: Came | None = None

    def send(
        self,
        kind: Literal["continuation", "text", "binary", "ping", "pong", "close"],
        payload: bytes,
        *,
        is_final: bool = True,
    ) -> None:
        """Sends one frame."""
        if is_final and kind not in ("ping", "pong", "close"):
            self.client.requests_sent += 1
        self.connection.send_frame(kind, payload, is_final, self.client.timeout_s)

    def next(self, *awaited: Came) -> Came:
        """The next message or close frame, or a pong that is awaited.

        A server may send pings and pongs at any time: pings are answered and other pongs skipped,
        as under load. If an awaited pong does not come, the last of the others did instead of it.

        Source:
            RFC 6455, sections 5.5.2 and 5.5.3.

        Raises:
            _engine.NoResponse: Nothing of that came.
        """
        for came in self._in_time():
            kind, payload = came
            if came in awaited or kind not in ("ping", "pong"):
                return came
            if kind == "ping":
                # Who is gone needs no pong, and may have sent what is awaited before.
                with suppress(_engine.NoResponse):
                    self.send("pong", payload)
            else:
                self._other_pong = came
        if self._other_pong is None or all(kind != "pong" for kind, _ in awaited):
            raise _engine.NoResponse("timed_out", "not complete in time")
        return self._other_pong

    def _in_time(self) -> Iterator[Came]:
        """What comes until the time for a response is over."""
        end_s = time.monotonic() + self.client.timeout_s
        while (left_s := end_s - time.monotonic()) > 0:
            try:
                came = self.connection.next_message(left_s)
            except _engine.NoResponse as error:
                if error.args[0] != "timed_out":
                    raise
                return
            yield came


def problems(
    client: Client, request: Request, random: Random, excepted: Collection[str] = ()
) -> Iterator[MessageProblem]:
    """What a server does against the contract.

    Args:
        client: Connects to it.
        request: Its head asks for the upgrade.
        random: Draws messages.
        excepted: Rules of `CONTRACT_NOTES` that it need not keep.

    Yields:
        The problems: one at most for each rule.
    """
    not_asked = {BY_NAME[name] for name in excepted}
    for rule, sent, check in _RULES:
        if rule in not_asked:
            continue
        try:
            found = check(UpgradedConnection(client, client.upgraded(request)), random)
        except ResponseMissing as error:
            yield MessageProblem(f"`GET {request.target}`", str(error), _NO_CONNECTION, UPGRADE)
            return
        except _engine.NoResponse as error:
            found = str(error.args[1]), "there is no response"
        if found is not None:
            yield MessageProblem(sent, *found, rule)


Found = tuple[str, str] | None
"""What came, and what is wrong with it; None if nothing is."""


def _text(talk: UpgradedConnection, random: Random) -> Found:
    texts = (ws.text(random, length).encode() for length in LENGTHS)
    return _echoes(talk, [("text", text) for text in ("€ 𝄞".encode(), *texts, b"")])


def _binary(talk: UpgradedConnection, random: Random) -> Found:
    return _echoes(talk, [("binary", random.randbytes(length)) for length in LENGTHS])


def _order(talk: UpgradedConnection, random: Random) -> Found:
    sent: list[Came] = [("text", ws.text(random, 64).encode()) for _ in range(_AT_ONCE)]
    for _, payload in sent:
        talk.send("text", payload)
    return next(filter(None, (_difference(talk.next(one), one) for one in sent)), None)


def _fragments(talk: UpgradedConnection, random: Random) -> Found:
    text = ws.text(random, 100) + "€"
    whole, ping = text.encode(), random.randbytes(8)
    talk.send("text", whole[:40], is_final=False)
    talk.send("ping", ping)
    talk.send("continuation", whole[40:-1], is_final=False)  # within the last character
    talk.send("continuation", whole[-1:])
    # A pong may overtake the message, or come with the end of it.
    awaited: list[Came] = [("pong", ping), ("text", whole)]
    while awaited:
        came = talk.next(*awaited)
        expected = next((one for one in awaited if one[0] == came[0]), awaited[0])
        if found := _difference(came, expected):
            return found
        awaited.remove(expected)
    return None


def _ping(talk: UpgradedConnection, random: Random) -> Found:
    for length in (0, 1, 125):
        payload = random.randbytes(length)
        pong: Came = ("pong", payload)
        talk.send("ping", payload)
        if found := _difference(talk.next(pong), pong):
            return found
    return None


def _close(talk: UpgradedConnection, random: Random) -> Found:
    text = ws.text(random, 40).encode()
    if found := _echoes(talk, [("text", text)]):
        return found
    close: Came = ("close", NORMAL)
    talk.send(*close)
    return _difference(talk.next(close), close)


_RULES: tuple[tuple[str, str, Callable[[UpgradedConnection, Random], Found]], ...] = (
    (TEXT, "texts of 0 to 70,001 bytes", _text),
    (BINARY, "binary messages of 33 to 70,001 bytes", _binary),
    (ORDER, f"{_AT_ONCE} texts at once", _order),
    (FRAGMENTS, "a text in three fragments, one within a character, and a ping", _fragments),
    (PING, "pings of 0, 1 and 125 bytes", _ping),
    (CLOSE, "a text, and a close frame with code 1000", _close),
)
"""Each rule, what is sent, and the check of what comes."""


def _echoes(
    talk: UpgradedConnection, messages: list[tuple[Literal["text", "binary"], bytes]]
) -> Found:
    """Sends messages one after the other, each when the one before is back."""
    for kind, payload in messages:
        talk.send(kind, payload)
        if found := _difference(talk.next((kind, payload)), (kind, payload)):
            return found
    return None


def _difference(came: Came, expected: Came) -> Found:
    """What came and how it differs from what was expected; None if it does not."""
    if came == expected:
        return None
    (kind, payload), (wanted, right) = came, expected
    if kind != wanted:
        problem = f"it is {_named(kind)}, expected {_named(wanted)}"
    elif kind == "close":
        codes = (int.from_bytes(code) for code in (payload, right))
        problem = "the code is `{}`, expected `{}`".format(*codes)
    elif len(payload) != len(right):
        problem = f"it has {len(payload)} bytes, expected {len(right)}"
    else:
        pairs = enumerate(zip(payload, right, strict=True))
        problem = f"it differs at byte {next(at for at, (is_, should) in pairs if is_ != should)}"
    return _shown(kind, payload), problem


def _named(kind: Kind) -> str:
    return {"text": "text", "binary": "binary", "close": "a close frame"}.get(kind, f"a {kind}")


def _shown(kind: Kind, payload: bytes) -> str:
    if kind == "close":
        return f"a close frame with code {int.from_bytes(payload)}"
    more = "…" if len(payload) > _SHOWN else ""
    start = payload[:_SHOWN].decode(errors="replace")
    return f"{_named(kind)} of {len(payload)} bytes: {start}{more}"
