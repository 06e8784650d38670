"""ab, the Apache HTTP server benchmarking tool: its text.

What its figures mean, by its manual and its own counts (ab 2.3):

- `Complete requests` are all that ended, failed ones too, and `Requests per second` is
  that number / time.
- `Time per request (mean)` is concurrency × time / complete requests: worked out, not measured.
- A request is failed when it could not connect, when nothing could be received, when its answer was
  not as long as the first one (`Length`), or by an exception. One whose connection was reset counts
  as all of the last three. Answers of other lengths were answered, and may be right. Answers that
  are not 2xx are counted apart, and are not failed.
- Times are of all requests that ended, from connecting to the end of the answer, in whole
  milliseconds.
- A request that takes longer than 30 s fails, unless `-s` was given, which is not printed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from plimsoll.published import printed
from plimsoll.published.figures import Figures, Source

NAME = "ab"
TITLE = "the text that ab prints"

_SHARE = re.compile(r"^\s+(\d+)%\s+(\d+)", re.MULTILINE)
NOTES = (
    "ab counts failed requests in its requests per second",
    "ab works out its time per request from the rate and the concurrency, so these two agree "
    "whatever happened",
)


def recognises(text: str) -> bool:
    """Whether a text has an output of ab."""
    return "Concurrency Level:" in text or "This is ApacheBench" in text


def read(text: str, name: str) -> tuple[Figures, ...]:
    """The result in an output of ab.

    Raises:
        CampaignError: It has no rate: ab gave up, or it was cut off.
    """
    rate = printed.needed(
        r"^Requests per second:\s+([\d.]+)", text, "Requests per second", name, "ab"
    )
    server = re.search(r"^Server Software:[ \t]+(\S[^\n]*)$", text, re.MULTILINE)
    path = re.search(r"^Document Path:[ \t]+(\S+)", text, re.MULTILINE)
    received = printed.found(r"^Transfer rate:\s+([\d.]+) \[Kbytes/sec\] received", text)
    milliseconds = printed.found(r"^Time per request:\s+([\d.]+) \[ms\] \(mean\)", text)
    return (
        Figures(
            source=Source(name),
            tool="ab",
            subject=server[1].strip() if server else "",
            endpoint=path[1] if path else "",
            connections=printed.found(r"^Concurrency Level:\s+(\d+)", text),
            duration_s=printed.found(r"^Time taken for tests:\s+([\d.]+)", text),
            requests=printed.found(r"^Complete requests:\s+(\d+)", text),
            failures=_failures(text),
            counts_failures=True,
            wrong_answers=_wrong(text),
            throughput_per_s=printed.number(rate),
            counting="ends",
            time_per_request_s=None if milliseconds is None else milliseconds / 1e3,
            times_s=_times(text),
            times="service",
            timed="ends",
            times_step_s=1e-3,
            body_bytes=printed.found(r"^Document Length:\s+(\d+)", text),
            received_bytes=printed.found(r"^Total transferred:\s+(\d+)", text),
            received_per_s=None if received is None else received * 1024,
            notes=NOTES,
        ),
    )


def _kinds(text: str) -> dict[str, float]:
    line = re.search(r"\(Connect: (\d+), Receive: (\d+), Length: (\d+), Exceptions: (\d+)\)", text)
    names = ("connect", "receive", "length", "exceptions")
    return {name: float(line[n]) for n, name in enumerate(names, 1)} if line else {}


def _failures(text: str) -> dict[str, float]:
    kinds = _kinds(text)
    if not kinds:
        return printed.some({"failed": printed.found(r"^Failed requests:\s+(\d+)", text)})
    return printed.some({"connect": kinds["connect"], "receive or exceptions": _broken(kinds)})


def _wrong(text: str) -> dict[str, float]:
    other = printed.found(r"^Non-2xx responses:\s+(\d+)", text)
    kinds = _kinds(text)
    lengths = max((kinds.get("length") or 0.0) - _broken(kinds), 0.0)
    if lengths and other:  # a request may be both, and which are is not printed
        return {"of another length or not 2xx": max(lengths, other)}
    return printed.some({"of another length": lengths, "not 2xx": other})


def _broken(kinds: Mapping[str, float]) -> float:
    """Requests whose connection broke: they count as `receive` and again as `exceptions`."""
    return max(kinds.get("receive", 0.0), kinds.get("exceptions", 0.0))


def _times(text: str) -> dict[str, float]:
    """The line `Total`, and the percentiles."""
    pattern = r"^Total:\s+(\d+)\s+(\d+)\s+([\d.]+)\s+(\d+)\s+(\d+)"
    total = re.search(pattern, text, re.MULTILINE)
    names = ("min", "mean", "stddev", "p50", "max")
    times = {name: float(total[n]) / 1e3 for n, name in enumerate(names, 1)} if total else {}
    shares = {f"p{share}": float(value) / 1e3 for share, value in _SHARE.findall(text)}
    longest = shares.pop("p100", None)
    return printed.present({"max": longest, **times, **shares})
