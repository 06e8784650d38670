"""What was asked of `plimsoll load`, and the trial that it amounts to."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll.campaign.framework import Framework
from plimsoll.campaign.load import MOST_PIPELINED, Load, Stage
from plimsoll.campaign.requests import Endpoint, Exchange, Expected, Request
from plimsoll.cli import urls
from plimsoll.errors import CampaignError, Problem
from plimsoll.plan import Trial

if TYPE_CHECKING:
    from collections.abc import Iterator
    from urllib.parse import SplitResult

    from plimsoll.campaign.load import Arrivals

SEED = 1
"""Seeds the choice among URLs and the arrivals."""

LONGEST_S = 3600.0
"""A load that ends after a number of requests ends after this long at the latest, in seconds."""

MOST_THREADS = 1024
"""The most threads that the engine takes."""

STDIN = "-"
"""Stands for the standard input where a file is named."""

_SHOWN_URLS = 3


@dataclass(frozen=True)
class Asked:
    """What was asked for on the command line.

    Attributes:
        urls: What is asked for, each with the same weight; all of one server.
        connections: How many there are; in the open model, the size of the pool.
        duration_s: Length of the hold, in seconds.
        threads: Threads that put on the load.
        rate_per_s: Open model: arrivals per second; None is the closed model.
        arrivals: Open model: how they are spaced; None where nothing was said.
        ramp_s: Length of the straight way up to the level, in seconds; None for none.
        requests: Closed model: end after so many; None is no limit.
        think_time_s: Closed model: pause between an answer and the next request, in seconds.
        pipeline: Requests that may be in flight on one connection.
        requests_per_connection: A connection is closed after so many; None is no limit.
        keep_alive: Whether a connection carries more than one request.
        method: Method of the requests; None is GET, or POST with a body.
        headers: Headers as they were typed.
        body: Body of the requests, `@FILE` or `@-`; None for none.
        timeout_s: A request fails after this long, in seconds.
        status: The status that is right; None is any from 200 to 399.
        length_bytes: The length of the body that is right; None is any.
        expected_body: The body that is right, `@FILE` or `@-`; None is any.
    """

    urls: tuple[SplitResult, ...]
    connections: int = 50
    duration_s: float = 10.0
    threads: int = 1
    rate_per_s: float | None = None
    arrivals: Arrivals | None = None
    ramp_s: float | None = None
    requests: int | None = None
    think_time_s: float | None = None
    pipeline: int = 1
    requests_per_connection: int | None = None
    keep_alive: bool = True
    method: str | None = None
    headers: tuple[str, ...] = ()
    body: str | None = None
    timeout_s: float = 10.0
    status: int | None = None
    length_bytes: int | None = None
    expected_body: str | None = None


def trial(asked: Asked) -> Trial:
    """The trial that was asked for.

    Raises:
        CampaignError: No load can be made of it; every reason is in it.
    """
    urls.require_one_server(asked.urls)
    problems = [*_too_little(asked), *_too_much(asked), *_excluded(asked)]
    if problems:
        raise CampaignError(problems)
    return Trial(
        id="load",
        order=0,
        framework=Framework(asked.urls[0].netloc, "", "", Path(), "", (), "", "", "", ()),
        endpoint=_endpoint(asked),
        load=_load(asked),
        repetition=1,
        driver="plimsoll",
        seed=SEED,
    )


def _too_little(asked: Asked) -> Iterator[Problem]:
    amounts = {
        "--connections": asked.connections,
        "--duration": asked.duration_s,
        "--threads": asked.threads,
        "--rate": asked.rate_per_s,
        "--ramp": asked.ramp_s,
        "--requests": asked.requests,
        "--pipeline": asked.pipeline,
        "--requests-per-connection": asked.requests_per_connection,
        "--timeout": asked.timeout_s,
    }
    for option, amount in amounts.items():
        if amount is not None and amount <= 0:
            yield Problem(option, f"`{amount:g}` is too little", "ask for more than nothing")


def _too_much(asked: Asked) -> Iterator[Problem]:
    if asked.threads > MOST_THREADS:
        message = f"`{asked.threads}` threads are too many"
        yield Problem("--threads", message, "one for each core is enough")
    if asked.pipeline > MOST_PIPELINED:
        message = f"`{asked.pipeline}` requests on one connection are too many"
        yield Problem("--pipeline", message, f"ask for {MOST_PIPELINED} or less")


def _excluded(asked: Asked) -> Iterator[Problem]:
    """What cannot be had together, each in one sentence."""
    opened, limited = asked.rate_per_s is not None, asked.requests is not None
    each = 1 if not asked.keep_alive else asked.requests_per_connection
    found = (
        (
            opened and limited,
            "--requests",
            "a number of requests belongs to the closed model, a rate to the open one",
            "leave out `-n` or `-R`",
        ),
        (
            opened and asked.think_time_s is not None,
            "--think",
            "in the open model nobody thinks: requests arrive at their rate",
            "leave out `--think` or `-R`",
        ),
        (
            not opened and asked.arrivals is not None,
            "--arrivals",
            "in the closed model requests follow answers, so nothing arrives on its own",
            "give a rate with `-R`",
        ),
        (
            limited and asked.ramp_s is not None,
            "--ramp",
            "a load that ends after a number of requests has no time for a ramp",
            "leave out `--ramp`, or say `-d` instead of `-n`",
        ),
        (
            not asked.keep_alive and asked.requests_per_connection is not None,
            "--requests-per-connection",
            "with `--no-keepalive` a connection carries one request",
            "leave out one of the two",
        ),
        (
            asked.pipeline > 1 and each == 1,
            "--pipeline",
            "a connection that carries one request has nothing to pipeline",
            "leave out `--no-keepalive` or `--requests-per-connection 1`",
        ),
        (
            asked.pipeline > 1 and bool(asked.think_time_s),
            "--pipeline",
            "who thinks between an answer and the next request does not pipeline",
            "leave out `--pipeline` or `--think`",
        ),
        (
            asked.body == asked.expected_body == f"@{STDIN}",
            "--expect-body",
            "the standard input can be read once only, and `--body` reads it",
            "write one of the two to a file",
        ),
    )
    return (Problem(where, message, hint) for wrong, where, message, hint in found if wrong)


def _endpoint(asked: Asked) -> Endpoint:
    """What is sent: every URL once, with as much weight as it was named often."""
    body, expected = _content("--body", asked.body), _expected(asked)
    targets = [urls.target(url) for url in asked.urls]
    exchanges = tuple(
        Exchange(_request(asked, target, body, targets.count(target)), expected)
        for target in dict.fromkeys(targets)
    )
    return Endpoint(_name(list(dict.fromkeys(targets))), "", exchanges, lambda _random: ())


def _name(targets: list[str]) -> str:
    if len(targets) > _SHOWN_URLS:
        return f"{targets[0]} and {len(targets) - 1} more"
    return ", ".join(targets)


def _request(asked: Asked, target: str, body: bytes | None, weight: int) -> Request:
    method = asked.method or ("POST" if body is not None else "GET")
    headers = tuple(_header(text) for text in asked.headers)
    if not any(name.lower() == "host" for name, _ in headers):
        headers = (("Host", asked.urls[0].netloc), *headers)
    return Request(target, method.upper(), target, headers, body or b"", float(weight))


def _header(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon or not name.strip():
        message = f"`{text}` is no header"
        raise CampaignError([Problem("--header", message, "write it as 'Name: value'")])
    return name.strip(), value.strip()


def _content(option: str, text: str | None) -> bytes | None:
    """The text, or the content of what `@FILE` or `@-` names."""
    if text is None or not text.startswith("@"):
        return None if text is None else text.encode()
    name = text[1:]
    try:
        return sys.stdin.buffer.read() if name == STDIN else Path(name).read_bytes()
    except OSError as error:
        message = f"`{name}` cannot be read: {error.strerror}"
        raise CampaignError([Problem(option, message)]) from error


def _expected(asked: Asked) -> Expected:
    status = (200, 399) if asked.status is None else (asked.status, asked.status)
    body = _content("--expect-body", asked.expected_body)
    length = asked.length_bytes
    if body is not None and length not in (None, len(body)):
        message = f"the body that is right has {len(body)} bytes, not `{length}`"
        raise CampaignError([Problem("--expect-length", message, "leave it out")])
    return Expected(status=status, length_bytes=length if body is None else len(body), body=body)


def _load(asked: Asked) -> Load:
    opened = asked.rate_per_s is not None
    return Load(
        name="load",
        model="open" if opened else "closed",
        stages=tuple(_stages(asked)),
        arrivals=asked.arrivals or Load.arrivals,
        connections=asked.connections if opened else 0,
        keep_alive=asked.keep_alive,
        requests_per_connection=asked.requests_per_connection,
        pipeline=asked.pipeline,
        think_time_s=asked.think_time_s or 0.0,
        timeout_s=asked.timeout_s,
        request_limit=asked.requests,
    )


def _stages(asked: Asked) -> Iterator[Stage]:
    level = float(asked.connections) if asked.rate_per_s is None else asked.rate_per_s
    if asked.ramp_s is not None:
        yield Stage("ramp", asked.ramp_s, 0.0, level, steps=0)
    yield Stage("hold", asked.duration_s if asked.requests is None else LONGEST_S, level, level)
