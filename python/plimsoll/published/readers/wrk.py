"""wrk: its text, with and without `--latency`; several runs in one text are several results.

What its figures mean, by its source (`src/wrk.c`):

- Requests are complete answers of any status, late ones too; rate is requests / time.
- Before it prints, wrk adds times that it did not measure: for every time longer than the mean
  distance of two requests on a connection it adds shorter ones in steps of that distance
  (`stats_correct`). All times but the maximum are therefore mixed.
- An answer that took longer than the limit (`--timeout`, 2 s by default) counts as a request and as
  `timeout`, and its time is left out. A request that is never answered is not counted at all.
- A connection that could not be opened is counted as `connect` and not tried again.
- Each thread opens connections / threads of them, without a remainder: of 50 on 4 threads it opens
  48.
"""

from __future__ import annotations

import re

from plimsoll.published import printed
from plimsoll.published.figures import Figures, Source

NAME = "wrk"
TITLE = "the text that wrk prints"

DEFAULT_TIMEOUT_S = 2.0

RUN = r"^\s*Running \S+ test @ (\S+)"
SYNTHETIC = (
    "wrk mixes the times that it measured with times that it made up for requests it could not "
    "send meanwhile; only the maximum is as measured"
)
LIMIT = (
    "wrk's limit for an answer is 2 s unless `--timeout` was given, which it does not print; an "
    "answer that took longer is counted, but its time is left out"
)
_STAT = r"^\s*{}\s+(\S+)\s+(\S+)\s+(\S+)\s+\S+%"
_SHARE = re.compile(r"^\s*(\d+)%\s+(\S+)\s*$", re.MULTILINE)


def recognises(text: str) -> bool:
    """Whether a text has an output of wrk, and not of wrk2."""
    return bool(re.search(RUN, text, re.MULTILINE)) and not is_wrk2(text)


def is_wrk2(text: str) -> bool:
    """Whether a text that looks like wrk's is wrk2's."""
    return "Thread calibration:" in text or "HdrHistogram" in text


def read(text: str, name: str) -> tuple[Figures, ...]:
    """The results in an output of wrk.

    Raises:
        CampaignError: A run has no rate: it was cut off.
    """
    return tuple(_run(part, name, Source(name, place)) for part, place in printed.runs(RUN, text))


def _run(text: str, name: str, source: Source) -> Figures:
    rate = printed.needed(r"^\s*Requests/sec:\s+([\d.]+)", text, "Requests/sec", name, "wrk")
    done = re.search(r"(\d+) requests in (\S+), (\S+) read", text)
    times = _times(text)
    slowest_s = times.get("max", 0.0)
    per_thread = re.search(_STAT.format("Req/Sec"), text, re.MULTILINE)
    threads = printed.found(r"^\s*(\d+) threads and", text)
    opened, lost = _opened(printed.found(r"threads and (\d+) connections", text), threads)
    received = re.search(r"^\s*Transfer/sec:\s+(\S+)", text, re.MULTILINE)
    return Figures(
        source=source,
        tool="wrk",
        endpoint=_endpoint(text),
        connections=opened,
        timeout_s=DEFAULT_TIMEOUT_S if slowest_s <= DEFAULT_TIMEOUT_S else None,
        duration_s=printed.seconds(done[2]) if done else None,
        threads=None if threads is None else round(threads),
        requests=float(done[1]) if done else None,
        failures=_socket_errors(text, "connect", "read", "write"),
        counts_failures=True,
        wrong_answers={**_socket_errors(text, "timeout"), **_other_status(text)},
        throughput_per_s=printed.number(rate),
        counting="answers",
        thread_throughput_per_s=printed.number(per_thread[1]) if per_thread else None,
        times_s=times,
        times="synthetic",
        timed="answers",
        received_bytes=printed.size(done[3]) if done else None,
        received_per_s=printed.size(received[1]) if received else None,
        notes=(SYNTHETIC, LIMIT, *lost),
    )


def _opened(asked: float | None, threads: float | None) -> tuple[float | None, tuple[str, ...]]:
    """The connections that its threads open, and a note where these are fewer than asked for."""
    if not asked or not threads or asked % threads == 0:
        return asked, ()
    opened = asked // threads * threads
    note = f"wrk opens as many connections on each thread: {opened:g} of the {asked:g} asked for"
    return opened, (note,)


def _endpoint(text: str) -> str:
    match = re.search(RUN, text, re.MULTILINE)
    return "/" + match[1].partition("://")[2].partition("/")[2] if match else ""


def _times(text: str) -> dict[str, float]:
    table = re.search(_STAT.format("Latency"), text, re.MULTILINE)
    names = ("mean", "stddev", "max")
    times = {name: printed.seconds(table[n]) for n, name in enumerate(names, 1)} if table else {}
    shares = {f"p{share}": printed.seconds(time) for share, time in _SHARE.findall(text)}
    return printed.present({**times, **shares})


def _socket_errors(text: str, *kinds: str) -> dict[str, float]:
    """What wrk counts as socket errors; none printed is none counted."""
    line = re.search(r"Socket errors: (.*)", text)
    found = {kind: printed.found(rf"\b{kind} (\d+)", line[1]) for kind in kinds} if line else {}
    return printed.some(found)


def _other_status(text: str) -> dict[str, float]:
    other = printed.found(r"Non-2xx or 3xx responses: (\d+)", text)
    return printed.some({"not 2xx or 3xx": other})
