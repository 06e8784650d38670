"""Test plans for JMeter, made of what its core has.

The level of a closed load only rises, so it is a sum of thread groups: one for each rise, which
begins with it and lasts to the end of the load. Levels between two whole numbers of connections are
rounded as our engine rounds them. A step is a group whose threads begin together; a
straight ramp is one group with JMeter's ramp-up, which starts thread `i` of `n` after `i · d / n`,
as our engine does. JMeter counts delays in whole seconds; what a step begins later than that is a
pause before the first request of its threads.

Kinds of request are drawn by their weights: a seeded random number, shared by the threads of a
group, is the ticket that selects the next of them.

Source: `ThreadGroup`, `SwitchController`, `RandomVariableConfig`, `TestAction` and
`HTTPSamplerBase` of Apache JMeter 5.6.3.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.drivers import plain_load

if TYPE_CHECKING:
    import jinja2
    from markupsafe import Markup

    from plimsoll.campaign.load import Load, Stage
    from plimsoll.campaign.requests import Exchange, Expected
    from plimsoll.drivers.job import DriverJob

TEMPLATE = "jmeter_plan.jmx"
"""File of the plan's template, beside this module."""

METHODS = ("GET", "HEAD", "OPTIONS", "TRACE", "POST", "PUT", "PATCH", "DELETE")
"""Methods that JMeter can send."""

WITH_BODY = ("POST", "PUT", "PATCH", "DELETE")
"""Those of them that it sends with a body."""

OWN_HEADERS = ("connection", "content-length", "transfer-encoding")
"""Headers that JMeter writes itself."""

MOST_TICKETS = 1000
"""Most parts that the weights of requests are divided into; each is a variable of each thread."""

_REFERENCE = "${"
"""Begins a variable or a function within any text of a plan."""

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 cannot hold, section 2.2."""


@dataclass(frozen=True)
class Group:
    """Threads that begin together, or one after the other, and go on to the end of the load.

    Attributes:
        threads: How many.
        delay_s: Whole seconds from the start of the test.
        pause_ms: Milliseconds that each waits beyond that.
        ramp_s: Whole seconds over which they begin; 0 for all at once.
        duration_s: Whole seconds from the delay to the end of the load.
    """

    threads: int
    delay_s: int
    pause_ms: int
    ramp_s: int
    duration_s: int


def refusal(load: Load, exchanges: Sequence[Exchange]) -> str:
    """Why JMeter's core cannot generate a load, in one sentence; empty when it can."""
    reasons = (*_of_load(load), *_of_requests(exchanges))
    return next((f"`jmeter` {reason}" for reason in reasons), "")


def groups(load: Load) -> tuple[Group, ...]:
    """The thread groups of a load that was not refused."""
    end_s = round(load.duration_s)
    held, found = 0, list[Group]()
    for at_s, level, ramp_s in _rises(load):
        if level > held:
            delay_s, pause_ms = _split(at_s)
            found.append(Group(level - held, delay_s, pause_ms, round(ramp_s), end_s - delay_s))
            held = level
    return tuple(found)


def tickets(exchanges: Sequence[Exchange]) -> tuple[int, ...]:
    """The place of an exchange for each ticket, as many of each as its weight."""
    counts = _counts(exchanges)
    return tuple(place for place, count in enumerate(counts) for _ in range(count))


def rendered(drive: DriverJob) -> str:
    """The plan of a drive, as a `.jmx` file has it."""
    host, _, port = drive.address.rpartition(":")
    drawn = tickets(drive.exchanges)
    return (
        _environment()
        .get_template(TEMPLATE)
        .render(
            load=drive.load,
            host=host,
            port=port,
            groups=groups(drive.load),
            exchanges=drive.exchanges,
            tickets=drawn,
            is_mapped=drawn != tuple(range(len(drive.exchanges))),
            seed=drive.seed % 2**53,
            timeout_ms=math.ceil(drive.load.timeout_s * 1000),
            think_time_ms=round(drive.load.think_time_s * 1000),
        )
    )


def _of_load(load: Load) -> Iterator[str]:
    yield from plain_load.beyond_http1(load)
    if load.model == "open":
        yield ("opens a connection for each arrival of its open model and has no connection pool")
    if load.protocol != "http1":
        yield "does not speak HTTP/2 without TLS"
    if load.pipeline > 1:
        yield "does not pipeline"
    if load.request_limit is not None:
        yield "limits the requests per thread, not in total"
    if load.threads not in (None, load.peak_connections):
        yield "uses a thread per connection and takes no number of threads"
    if load.model == "closed" and _falls(load):
        yield "cannot reduce the number of connections during a load"
    if not _is_whole(load.duration_s):
        yield (
            "takes durations in whole seconds, but the load lasts "
            f"{wording.exact(load.duration_s)} s"
        )
    yield from (
        "takes durations in whole seconds, but a linear ramp lasts "
        f"{wording.exact(stage.duration_s)} s"
        for stage in load.stages
        if stage.steps == 0 and stage.start != stage.end and not _is_whole(stage.duration_s)
    )


def _of_requests(exchanges: Sequence[Exchange]) -> Iterator[str]:
    for exchange in exchanges:
        request = exchange.request
        if request.method not in METHODS:
            yield f"cannot send the method `{request.method}`"
        if request.body and request.method not in WITH_BODY:
            yield f"sends no body with `{request.method}`"
        for name, _ in request.headers:
            if name.lower() in OWN_HEADERS:
                yield f"writes the header `{name}` itself"
        if not all(map(_is_plain, _texts(exchange))):
            yield f"cannot represent this request in its XML plan: `{request.name}`"
    if len(exchanges) > 1 and sum(_counts(exchanges)) > MOST_TICKETS:
        yield (
            f"supports weights in steps of 1/{wording.count(MOST_TICKETS)}, which is too coarse "
            "for these"
        )


def _texts(exchange: Exchange) -> Iterator[str]:
    request = exchange.request
    yield request.name
    yield request.target
    for name, value in request.headers:
        yield from (name, value)
    yield request.body.decode("utf-8", "surrogateescape")


def _is_plain(text: str) -> bool:
    """Whether a text stays as it is in a plan: XML can hold it, and nothing in it is replaced."""
    return _REFERENCE not in text and not _NOT_XML.search(text)


def _falls(load: Load) -> bool:
    """Whether there are fewer connections at some instant than before."""
    levels = [level for _, level, _ in _rises(load)]
    return any(later < earlier for earlier, later in pairwise(levels))


def _rises(load: Load) -> Iterator[tuple[float, int, float]]:
    """Instant, level from then on, and the seconds over which it is reached."""
    at_s = 0.0
    for stage in load.stages:
        for after_s, level, ramp_s in _within(stage):
            yield at_s + after_s, level, ramp_s
        at_s += stage.duration_s


def _within(stage: Stage) -> Iterator[tuple[float, int, float]]:
    if stage.steps == 0 and stage.start != stage.end:
        yield 0.0, int(stage.start), 0.0
        yield 0.0, int(stage.end), stage.duration_s
        return
    steps, span = max(stage.steps, 1), int(stage.end) - int(stage.start)
    for step in range(steps):
        level = int(stage.start) + (2 * span * (step + 1) + steps) // (2 * steps)
        yield stage.duration_s * step / steps, level, 0.0


def _split(at_s: float) -> tuple[int, int]:
    """An instant as whole seconds and the milliseconds beyond them."""
    return divmod(round(at_s * 1000), 1000)


def _is_whole(seconds: float) -> bool:
    return round(seconds) >= 1 and math.isclose(seconds, round(seconds), abs_tol=1e-6)


def _counts(exchanges: Sequence[Exchange]) -> list[int]:
    """How many tickets each exchange has: the smallest whole numbers with the requested weights."""
    weights = [Fraction(one.request.weight).limit_denominator(MOST_TICKETS) for one in exchanges]
    scale = math.lcm(*(weight.denominator for weight in weights))
    counts = [int(weight * scale) for weight in weights]
    common = math.gcd(*counts) or 1
    return [count // common for count in counts]


@cache
def _environment() -> jinja2.Environment:
    import jinja2  # noqa: PLC0415 - heavy, and no other driver waits for it

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["kept"] = _kept  # pyright: ignore[reportUnknownMemberType]
    environment.filters["status"] = _status  # pyright: ignore[reportUnknownMemberType]
    return environment


def _kept(text: str) -> Markup:
    """A text in which line ends stay what they are: a reader of XML makes one of all kinds.

    Source:
        XML 1.0, section 2.11.
    """
    from markupsafe import Markup, escape  # noqa: PLC0415 - comes with jinja2

    return Markup(str(escape(text)).replace("\r", "&#13;"))  # noqa: S704 - escaped


def _status(expected: Expected) -> str:
    """A pattern of the status codes that are right."""
    first, last = expected.status
    return "|".join(str(status) for status in range(first, last + 1))
