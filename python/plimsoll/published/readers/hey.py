"""hey: its text.

What its figures mean, by its source (`requester/report.go`):

- `Requests/sec` counts every request that ended, failed ones too.
- Times are of the requests that were answered, whatever their status; the average is printed in
  steps of 0.1 ms.
- Of more than 1,000,000 answers it keeps the times of the first 1,000,000, but divides the sum of
  all by that number: the average is then too great, and is left out here.
- `Status code distribution` counts answers, `Error distribution` requests without one. An answer
  that was cut off counts with its status, and `Total data` adds up the lengths that answers
  announced, not what came: nothing in the text tells them from whole ones.
- Neither the connections that were asked for nor the rate are printed.
"""

from __future__ import annotations

import re

from plimsoll.published import printed
from plimsoll.published.figures import Figures, Source

NAME = "hey"
TITLE = "the text that hey prints"

_SHARE = re.compile(r"^\s+(\d+)%+ in ([\d.]+) secs", re.MULTILINE)
_STATUS = re.compile(r"^\s+\[(\d{3})\]\s+(\d+) responses", re.MULTILINE)
_ERROR = re.compile(r"^\s+\[(\d+)\]\s+(?!\d+ responses)(\S.*)$", re.MULTILINE)
_ADDRESS = re.compile(r"\d+\.\d+\.\d+\.\d+:\d+|\[[0-9a-f:]*\]:\d+")
COUNTS = "hey counts failed requests in its requests per second, and leaves them out of its times"
KEPT = 1_000_000
"""Times that hey keeps."""
WRONG_MEAN = "hey's average is too great with more than 1,000,000 answers, and is left out"
CUT = "hey counts answers that were cut off as whole, and adds up the lengths that were announced"
SILENT = "hey does not print how many connections it was told to use; `--set connections=…` says it"


def recognises(text: str) -> bool:
    """Whether a text has an output of hey."""
    return bool(re.search(r"^Summary:\s*\n\s+Total:\s+[\d.]+ secs", text, re.MULTILINE))


def read(text: str, name: str) -> tuple[Figures, ...]:
    """The result in an output of hey.

    Raises:
        CampaignError: It has no rate: it was cut off.
    """
    rate = printed.needed(r"^\s+Requests/sec:\s+([\d.]+)", text, "Requests/sec", name, "hey")
    command = r"\bhey\b[^\n]*?\s-c[ =]?(\d+)"
    connections = printed.found(command, text.partition("Summary:")[0])
    statuses = {status: float(count) for status, count in _STATUS.findall(text)}
    failures = _failures(text)
    ended = sum(statuses.values()) + sum(failures.values())
    return (
        Figures(
            source=Source(name),
            tool="hey",
            model="unknown",
            connections=connections,
            duration_s=printed.found(r"^\s+Total:\s+([\d.]+) secs", text),
            requests=ended or None,
            failures=failures,
            counts_failures=True,
            wrong_answers=printed.not_2xx_or_3xx(statuses),
            throughput_per_s=printed.number(rate),
            counting="ends",
            times_s=_times(text, sum(statuses.values())),
            times="service",
            timed="answers",
            times_step_s=1e-4,
            body_bytes=printed.found(r"^\s+Size/request:\s+(\d+) bytes", text),
            notes=_notes(connections, sum(statuses.values())),
        ),
    )


def _notes(connections: float | None, answered: float) -> tuple[str, ...]:
    silent = () if connections else (SILENT,)
    return (COUNTS, CUT, *silent, *((WRONG_MEAN,) if answered > KEPT else ()))


def _times(text: str, answered: float) -> dict[str, float]:
    lines = {"min": "Fastest", "mean": "Average", "max": "Slowest"}
    told = {
        name: printed.found(rf"^\s+{line}:\s+([\d.]+) secs", text) for name, line in lines.items()
    }
    if answered > KEPT:
        del told["mean"]
    shares = {f"p{share}": float(value) for share, value in _SHARE.findall(text)}
    return printed.present({**told, **shares})


def _failures(text: str) -> dict[str, float]:
    """Errors by kind: what they say behind the address, for each has a port of its own."""
    found: dict[str, float] = {}
    for count, message in _ERROR.findall(text.partition("Error distribution:")[2]):
        kind = _ADDRESS.sub("…", message).strip().rpartition(": ")[2]
        found[kind] = found.get(kind, 0.0) + float(count)
    return found
