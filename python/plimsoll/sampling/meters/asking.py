"""HTTP as plugs speak it: one short request, one short answer, in plain text."""

from __future__ import annotations

import http.client
import json
import math
import socket
import threading
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, cast

from plimsoll import wording
from plimsoll.errors import MeterFailed

if TYPE_CHECKING:
    from collections.abc import Generator

    from plimsoll.campaign.power import MeterAddress

INTERVAL_S = 1.0
"""How often plugs are asked: they measure about once a second."""

TIMEOUT_S = 1.0
"""An answer that takes longer does not say when it was measured."""

LONGEST = 65_536
"""Bytes of an answer that are read."""

_SHOWN = 60
_REACH = "check address and network; `curl` should get a response within a second"


def text(address: MeterAddress, path: str, body: str | None = None) -> str:
    """What a meter answers.

    Args:
        address: Where it is.
        path: What is asked.
        body: A form to post; None to get.

    Raises:
        MeterFailed: It did not respond in time, or with an error.
    """
    began_s = time.monotonic()
    connection = http.client.HTTPConnection(address.host, address.port or 80, timeout=TIMEOUT_S)
    headers = {} if body is None else {"Content-Type": "application/x-www-form-urlencoded"}
    late = MeterFailed(
        f"the power meter did not respond within {wording.exact(TIMEOUT_S)} s", _REACH
    )
    try:
        connection.connect()
        with _cut_after(connection.sock, TIMEOUT_S):
            connection.request("GET" if body is None else "POST", path, body, headers)
            response = connection.getresponse()
            answer = response.read(LONGEST).decode("utf-8", "replace")
    except (OSError, http.client.HTTPException) as error:
        if isinstance(error, TimeoutError) or time.monotonic() - began_s >= TIMEOUT_S:
            raise late from error
        reason = getattr(error, "strerror", None) or type(error).__name__
        raise MeterFailed(f"the power meter cannot be reached ({reason})", _REACH) from error
    finally:
        connection.close()
    if time.monotonic() - began_s >= TIMEOUT_S:
        raise late
    if response.status in (401, 403):
        hint = "remove its password, or read it with a command of your own: `exec:COMMAND`"
        raise MeterFailed("the power meter requires a password", hint)
    if response.status != http.client.OK:
        raise MeterFailed(f"the power meter responded with status {response.status}", _REACH)
    return answer


@contextmanager
def _cut_after(sock: socket.socket, timeout_s: float) -> Generator[None]:
    """Ends an answer that takes too long, even one that comes byte by byte."""
    deadline = threading.Timer(timeout_s, _cut, [sock])
    deadline.start()
    try:
        yield
    finally:
        deadline.cancel()


def _cut(sock: socket.socket) -> None:
    with suppress(OSError):
        sock.shutdown(socket.SHUT_RDWR)


def document(address: MeterAddress, path: str) -> object:
    """The same of a meter that answers in JSON.

    Raises:
        MeterFailed: It did not.
    """
    answer = text(address, path)
    try:
        return json.loads(answer)
    except (ValueError, RecursionError) as error:
        message = f"the power meter responded `{answer[:_SHOWN]}`"
        raise MeterFailed(message, "check the address") from error


def at(found: object, *path: str | int) -> object:
    """What stands at some place of a document; None where there is no such place."""
    for step in path:
        if isinstance(step, str) and isinstance(found, dict):
            found = cast("dict[str, object]", found).get(step)
        elif isinstance(step, int) and isinstance(found, list):
            items = cast("list[object]", found)
            found = items[step] if step < len(items) else None
        else:
            return None
    return found


def number(value: object, what: str = "no power") -> float:
    """A power in watts.

    Args:
        value: What stood for it.
        what: What the meter reports if that is no finite number.

    Raises:
        MeterFailed: It is none.
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        hint = "check that this is a plug with a meter, and that its channel is right"
        raise MeterFailed(f"the power meter reports {what}", hint)
    return float(value)
