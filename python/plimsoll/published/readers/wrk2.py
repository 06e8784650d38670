"""wrk2: its text; several runs in one text are several results.

What its figures mean, by its documentation (giltene/wrk2, `README.md`) and by what it printed:

- Requests are due at a rate that was asked for (`-R`) and that the output does not repeat.
- `Recorded Latency` runs from the instant at which a request was due, so it has the wait before
  sending; `Uncorrected Latency`, printed with `--u_latency`, runs from sending.
- Times of the first 10 s, in which it calibrates, are not in the percentiles; `Total count` says
  how many requests are left.
"""

from __future__ import annotations

import re

from plimsoll.published import printed
from plimsoll.published.figures import Figures, Source, percentile_name

NAME = "wrk2"
TITLE = "the text that wrk2 prints"

_RUN = r"^\s*Running \S+ test @ (\S+)"
_SHARE = re.compile(r"^\s*([\d.]+)%\s+(\S+)\s*$", re.MULTILINE)
NOTES = (
    "wrk2's times run from the instant at which a request was due, so they have the wait before "
    "sending, and they can be longer than connections / throughput",
    "wrk2 does not print the rate that was asked for",
)


def recognises(text: str) -> bool:
    """Whether a text has an output of wrk2."""
    is_ours = "Thread calibration:" in text or "HdrHistogram" in text
    return is_ours and bool(re.search(_RUN, text, re.MULTILINE))


def read(text: str, name: str) -> tuple[Figures, ...]:
    """The results in an output of wrk2.

    Raises:
        CampaignError: A run has no rate: it was cut off.
    """
    return tuple(_run(part, name, Source(name, place)) for part, place in printed.runs(_RUN, text))


def _run(text: str, name: str, source: Source) -> Figures:
    rate = printed.needed(r"^\s*Requests/sec:\s+([\d.]+)", text, "Requests/sec", name, "wrk2")
    done = re.search(r"(\d+) requests in (\S+), (\S+) read", text)
    threads = printed.found(r"^\s*(\d+) threads and", text)
    url = re.search(_RUN, text, re.MULTILINE)
    received = re.search(r"^\s*Transfer/sec:\s+(\S+)", text, re.MULTILINE)
    return Figures(
        source=source,
        tool="wrk2",
        model="open",
        endpoint="/" + url[1].partition("://")[2].partition("/")[2] if url else "",
        connections=printed.found(r"threads and (\d+) connections", text),
        rate_asked_per_s=printed.found(r"\bwrk2?\b[^\n]*?(?:-R|--rate)[ =]?(\d+k?)", text),
        duration_s=printed.seconds(done[2]) if done else None,
        threads=None if threads is None else round(threads),
        requests=float(done[1]) if done else None,
        failures=_failures(text),
        counts_failures=True,
        wrong_answers=printed.some(
            {"not 2xx or 3xx": printed.found(r"Non-2xx or 3xx responses: (\d+)", text)}
        ),
        throughput_per_s=printed.number(rate),
        counting="answers",
        times_s=_times(text),
        times="response",
        timed="answers",
        timed_requests=printed.found(r"^#\[Max.*Total count\s*=\s*(\d+)\]", text),
        received_bytes=printed.size(done[3]) if done else None,
        received_per_s=printed.size(received[1]) if received else None,
        notes=NOTES,
    )


def _times(text: str) -> dict[str, float]:
    """The recorded times: those before the uncorrected ones, where these are printed."""
    recorded = text.partition("Uncorrected Latency")[0]
    table = re.search(r"^\s*Latency\s+(\S+)\s+(\S+)\s+(\S+)\s+\S+%", recorded, re.MULTILINE)
    names = ("mean", "stddev", "max")
    times = {name: printed.seconds(table[n]) for n, name in enumerate(names, 1)} if table else {}
    shares = {percentile_name(q): printed.seconds(time) for q, time in _SHARE.findall(recorded)}
    return printed.present({**times, **shares})


def _failures(text: str) -> dict[str, float]:
    line = re.search(r"Socket errors: (.*)", text)
    kinds = ("connect", "read", "write", "timeout")
    found = {kind: printed.found(rf"\b{kind} (\d+)", line[1]) for kind in kinds} if line else {}
    return printed.some(found)
