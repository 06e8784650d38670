"""h2load: its text.

What its figures mean, by its source (`src/h2load.cc` of nghttp2) and its own counts (1.52):

- `req/s` counts requests that were answered, whatever their status (its own counts say so).
  Succeeded are those with a status of 2xx or 3xx, `failed` all others, `errored` those without an
  answer.
- A connection that was reset is not opened again, and its request is never done: it is in no count.
- Times run from sending a request to the end of its answer.
- With HTTP/2 several requests share a connection (`-m`), which is not printed.
"""

from __future__ import annotations

import re

from plimsoll.published import printed
from plimsoll.published.figures import Figures, Source

NAME = "h2load"
TITLE = "the text that h2load prints"

_CLIENTS = re.compile(r"^spawning thread #\d+: (\d+) total client", re.MULTILINE)
_TIMES = r"^time for request:\s+(\S+)\s+(\S+)\s+(\S+)\s+(\S+)"
SHARED = "h2load does not print how many requests were in flight on each HTTP/2 connection (`-m`)"


def recognises(text: str) -> bool:
    """Whether a text has an output of h2load."""
    return bool(_CLIENTS.search(text)) or "time for request:" in text


def read(text: str, name: str) -> tuple[Figures, ...]:
    """The result in an output of h2load.

    Raises:
        CampaignError: It has no rate: it was cut off.
    """
    finished = r"^finished in ([\d.]+\w+, [\d.]+ req/s, \S+/s)"
    said = printed.needed(finished, text, "finished in", name, "h2load").split(", ")
    clients = [int(count) for count in _CLIENTS.findall(text)]
    is_alone = "Application protocol: http/1.1" in text
    table = re.search(_TIMES, text, re.MULTILINE)
    names = ("min", "max", "mean", "stddev")
    times = {name: printed.seconds(table[n]) for n, name in enumerate(names, 1)} if table else {}
    return (
        Figures(
            source=Source(name),
            tool="h2load",
            model="unknown",
            connections=float(sum(clients)) if clients and is_alone else None,
            duration_s=printed.seconds(said[0]),
            threads=len(clients) or None,
            requests=_answered(text),
            failures=_failures(text),
            counts_failures=True,
            wrong_answers=_wrong(text),
            throughput_per_s=printed.number(said[1].removesuffix(" req/s")),
            counting="answers",
            times_s=printed.present(times),
            times="service",
            timed="answers",
            received_bytes=printed.found(r"^traffic: \S+ \((\d+)\) total", text),
            received_per_s=printed.size(said[2].removesuffix("/s")),
            notes=() if is_alone else (SHARED,),
        ),
    )


def _answered(text: str) -> float | None:
    """Requests that are done, without those that had no answer."""
    done = printed.found(r"^requests:.*?(\d+) done", text)
    errored = printed.found(r"^requests:.*?(\d+) errored", text) or 0.0
    return None if done is None else done - errored


def _failures(text: str) -> dict[str, float]:
    kinds = ("errored", "timeout")
    return printed.some(
        {kind: printed.found(rf"^requests:.*?(\d+) {kind}", text) for kind in kinds}
    )


def _wrong(text: str) -> dict[str, float]:
    kinds = ("4xx", "5xx")
    found = {
        f"status {kind}": printed.found(rf"^status codes:.*?(\d+) {kind}", text) for kind in kinds
    }
    return printed.some(found)
