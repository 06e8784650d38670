"""autocannon: its text, with the tables of newer versions or the plain ones of older.

Its figures have the same meaning as in its JSON (autocannon 8):

- `Req/Sec` is the mean of the counts of whole seconds, or of what `-L` sets, of responses of any
  status. The last line has the requests that were sent, which are not read if rounded to thousands.
- Both means are of histograms, whose buckets are 1/1024 of their value wide at most. Their `Min` is
  the least that is not 0.
- `-w` adds the samples of its workers, and `-f` those of earlier rounds, as it does with codes.
- Times are of responses, in whole milliseconds; their mean has two decimals. With `-R` they are
  corrected with a fixed interval, which is not printed.
- `errors` are requests without a response, timeouts among them.
- An MB is 1,000,000 bytes.
"""

from __future__ import annotations

from itertools import pairwise

from plimsoll.statistics import laws
from plimsoll.tool_output import printed, restated
from plimsoll.tool_output.reported import ReportedStatistics
from plimsoll.tool_output.restated import Figure, Restated, Unit
from plimsoll.tool_output.run import OutputRun, Values

NAME = "autocannon_text"
TITLE = "the text output of autocannon"

MARKS = (
    r"Running \S+(?: \S+)? test @",
    r"\d\S* connections?(?: with \d+ (?:pipelining factor|workers?).*)?\s*$",
    r"(?#head)Stat\s+(?:2\.5%\s+50%|Avg\s+Stdev\s+Max)",
    r"Latency(?: \(ms\))?\s+\d",
    r"Stat\s+1%\s+2\.5%",
    r"Req/Sec\s+\d",
    r"Bytes/Sec\s+\d",
    r"Req/Bytes counts sampled",
    r"(?:# )?of samples:",
    r"\d\S* 2xx responses",
    r"\d\S* requests in \S+, \d",
    r"\d\S* errors \(\d",
)
PASSED_OVER = (
    r"\s*(?:Stat\s|Code\s|(?:# )?of samples|\d{3}\s+\d+\s*$|\d+%\s+\d+\s*$|[\d.]+%?\s+\d+\s*$)"
)
NOTES = (
    "autocannon's times are whole milliseconds, and its rate is the mean of whole seconds",
    "autocannon does not print whether a rate was set",
)
_ROUNDED = r"\d\S*[kMG] requests in .*"
_TABLE = r"Latency\s+<t>\s+<t>\s+<t>\s+<t>\s+<t>\s+<t>\s+<t>"
_PLAIN = r"Latency \(ms\)\s+<n>\s+<n>\s+<n>"
_REQUESTS = r"Req/Sec\s+<n>\s+<n>\s+<n>\s+<n>\s+<n>\s+<n>\s+<n>"
_BYTES = r"Bytes/Sec\s+<d>\s+<d>\s+<d>\s+<d>\s+<d>\s+<d>\s+<d>"
_PLAIN_REQUESTS = r"Req/Sec\s+<n>\s+<n>\s+<n>"
_PLAIN_BYTES = r"Bytes/Sec\s+<d>\s+<d>\s+<d>"
_DONE = r"<k> requests in <t>, <d> read"
_STATUSES = r"<c> 2xx responses, <c> non 2xx responses"
_OTHER_BODY = r"<k> requests with mismatched body"
_CODE = r"(?P<name>[1-5]\d\d)\s+<c>"
_SAMPLES = r"(?:# )?of samples:\s+<c>"
_CONNECTIONS = r"<c> connections?(?: with .*)?"
_WORKERS = r".*\b\d+ workers?\b.*"
_PERCENTILE = r"(?P<name>0\.\d+|[1-9]\d?(?:\.\d+)?)%?\s+<n>"
_SHARES = (0.01, 0.025, 0.5, 0.975)
_BUCKET_RATIO = 1 / 1024
_MANY = 100
"""Samples of which 1 % are not more than one."""


def read(run: OutputRun) -> ReportedStatistics:
    """The result in a run of autocannon.

    Raises:
        InputError: It has no rate because it is truncated, or a number cannot be read.
    """
    table, each_s = run.values(_REQUESTS), _sample_s(run)
    rate = table[4] if table else run.needed(_PLAIN_REQUESTS, "Req/Sec", "autocannon")
    url = run.word(r"Running \S+(?: \S+)? test @\s*(\S*).*")
    total = run.values(_DONE)
    is_rounded = run.has(_ROUNDED)
    lost = run.values(r"<k> errors \(<k> timeouts?\)") or (None, None)
    timeouts = lost[1] or 0.0
    bad = run.values(_STATUSES)
    received = run.values(_BYTES)
    run.values(_PLAIN_BYTES)
    return ReportedStatistics(
        source=run.source,
        tool="autocannon",
        model="unknown",
        endpoint="/" + url.partition("://")[2].partition("/")[2] if url else "",
        connections=run.value(_CONNECTIONS),
        in_flight_each=run.value(r"\S+ connections? with <c> pipelining factor.*") or 1.0,
        duration_s=total[1] if total else None,
        requests=_responded(bad, None if is_rounded or not total else _of_sent(run, total[0])),
        failures=printed.some({"errors": (lost[0] or 0.0) - timeouts, "timeout": timeouts}),
        counts_failures=total is not None,
        wrong_responses=printed.some(
            {"not 2xx": bad[1] if bad else None, "another body": run.value(_OTHER_BODY)}
        ),
        throughput_per_s=None if rate is None else rate / each_s,
        sampled=True,
        counting="responses",
        times_s=_times(run),
        times="unknown",
        timed="responses",
        times_step_s=1e-3,
        received_per_s=received[4] / each_s if received and received[4] is not None else None,
        restated=_restated(run),
        notes=NOTES,
    )


def _responded(by_status: tuple[float | None, ...] | None, total: float | None) -> float | None:
    """Responses: those of each status are printed whole, all together rounded to thousands."""
    if by_status is None or None in by_status:
        return total
    return sum(count or 0.0 for count in by_status)


def _of_sent(run: OutputRun, sent: float | None) -> float | None:
    """Responses to the requests that were sent, which the samples add up to."""
    counted = _sampled(run, "Req/Sec", _REQUESTS).value
    return sent if counted is None else float(round(counted))


def _times(run: OutputRun) -> dict[str, float]:
    table = run.values(_TABLE)
    if table is not None:
        names = ("p025", "p50", "p975", "p99", "mean", "stddev", "max")
        return printed.present(printed.by_name(names, table))
    plain = run.values(_PLAIN)
    reported = printed.by_name(("mean", "stddev", "max"), plain)
    return {name: value / 1e3 for name, value in printed.present(reported).items()}


def _sample_s(run: OutputRun) -> float:
    """The time of which `Req/Sec` is a count: a second unless `-L` was given."""
    return run.value(r"Req/Bytes counts sampled every <n> seconds\.") or 1.0


def _restated(run: OutputRun) -> tuple[Restated, ...]:
    """What autocannon prints twice."""
    return (
        *_of_counts(run),
        *_of_samples(run),
        *_of_row(run, "Req/Sec", _REQUESTS, "number"),
        *_of_row(run, "Bytes/Sec", _BYTES, "bytes"),
        *_of_plain(run, "Req/Sec", _PLAIN_REQUESTS, "number"),
        *_of_plain(run, "Bytes/Sec", _PLAIN_BYTES, "bytes"),
        *_of_percentiles(run),
    )


def _samples(run: OutputRun) -> float | None:
    """Number of samples; None where it may have those of other workers or earlier rounds."""
    samples, done, each_s = run.value(_SAMPLES), run.values(_DONE), _sample_s(run)
    if not samples or done is None or done[1] is None:
        return None
    if run.has(_WORKERS) or not run.has(_CONNECTIONS):
        return None
    return samples if samples * each_s <= done[1] + each_s / 2 else None


def _sampled(run: OutputRun, name: str, pattern: str) -> Figure:
    """What all samples of a row add up to."""
    row, steps, samples = run.values(pattern), run.steps(pattern), _samples(run)
    by = f"`Avg` of `{name}` × `# of samples`"
    if row is None or steps is None or samples is None or row[4] is None:
        return Figure(by, None)
    return Figure(by, row[4] * samples, (row[4] * _BUCKET_RATIO + steps[4]) * samples)


def _listed(run: OutputRun, heading: str, pattern: str) -> dict[str, float]:
    """The rows of a table; text behind the output may have lines like them."""
    found: dict[str, float] = {}
    for name, value in run.named(pattern) if run.has(heading) else ():
        found.setdefault(name, value)
    return found


def _of_counts(run: OutputRun) -> tuple[Restated, ...]:
    """Responses by status, which `--renderStatusCodes` lists by code."""
    right, other = run.values(_STATUSES) or (None, None)
    codes = _listed(run, r"Code\s+Count", _CODE)
    relation = restated.at_least if _samples(run) is None else restated.equal
    found: tuple[Restated, ...] = ()
    for name, count, is_right in (("2xx", right, True), ("non 2xx", other, False)):
        of_codes = sum(n for code, n in codes.items() if (code[0] == "2") == is_right)
        by = f"the `{name} responses`"
        found += relation(f"the sum of the codes {name}", of_codes, by, count) if codes else ()
    return found


def _of_samples(run: OutputRun) -> tuple[Restated, ...]:
    """Responses and bytes, which the samples add up to, and which requests had to be sent for."""
    responses, read = _sampled(run, "Req/Sec", _REQUESTS), _sampled(run, "Bytes/Sec", _BYTES)
    counted = _responded(run.values(_STATUSES), None)
    row, steps = run.values(_DONE) or (None, None, None), run.steps(_DONE) or (0.0, 0.0, 0.0)
    by, name = responses.name, "the responses 2xx and non 2xx"
    whole = responses if counted is None else Figure(name, counted)
    other, slack = run.figure("the mismatched bodies", _OTHER_BODY), whole.step + steps[0]
    lacking = whole.step + other.step
    return (
        *restated.equal(name, counted, by, responses.value, responses.step),
        *restated.equal("what was read", row[2], read.name, read.value, read.step + steps[2]),
        *restated.at_most(whole.name, whole.value, "the requests", row[0], slack),
        *restated.at_most(other.name, other.value, whole.name, whole.value, lacking),
    )


def _of_row(run: OutputRun, name: str, pattern: str, unit: Unit) -> tuple[Restated, ...]:
    """Percentiles of the samples, in order, and what they say of mean and standard deviation."""
    row, steps = run.values(pattern), run.steps(pattern)
    if row is None or steps is None or None in row:
        return ()
    one, *rest, mean, _, least = (value or 0.0 for value in row)
    names = ("Min", "1%", "2.5%", "50%", "97.5%")
    ordered = list(zip(names, (least if one else 0.0, one, *rest), strict=True))
    found: tuple[Restated, ...] = ()
    for (below, low), (above, high) in pairwise(ordered):
        found += restated.at_least(f"`{above}` of `{name}`", high, f"`{below}`", low, unit=unit)
    lowest = laws.least_mean_s(list(zip(_SHARES, (one, *rest), strict=True)))
    slack = (mean + lowest) * _BUCKET_RATIO + max(steps)
    by = "its percentiles"
    found += restated.at_least(f"`Avg` of `{name}`", mean, by, lowest, slack, unit)
    return (*found, *_of_stddev(name, row, steps, _samples(run), unit))


def _of_stddev(
    name: str, row: Values, steps: tuple[float, ...], samples: float | None, unit: Unit
) -> tuple[Restated, ...]:
    """The scatter of the samples: at most one of them has all that exceeds the least."""
    mean, least = row[4] or 0.0, row[0] or 0.0
    if samples is None:
        return ()
    least = least if samples < _MANY else 0.0
    step = mean * _BUCKET_RATIO + steps[4] + steps[0]
    lowest = max(least - step, 0.0)
    most = Figure("the number of samples", samples * (mean + step) - (samples - 1) * lowest)
    stddev = Figure(f"`Stdev` of `{name}`", row[5], steps[5])
    return restated.spread(stddev.name, stddev, Figure("`Avg`", mean, step), most, least, unit=unit)


def _of_plain(run: OutputRun, name: str, pattern: str, unit: Unit) -> tuple[Restated, ...]:
    """A row of older versions, whose maximum bounds the mean and the standard deviation."""
    row, steps = run.values(pattern), run.steps(pattern)
    if row is None or steps is None or None in row:
        return ()
    wide = [step + (value or 0.0) * _BUCKET_RATIO for value, step in zip(row, steps, strict=True)]
    names = (f"`{what}` of `{name}`" for what in ("Avg", "Stdev", "Max"))
    mean, stddev, most = map(Figure, names, row, wide)
    slack = mean.step + most.step
    return (
        *restated.at_most(mean.name, mean.value, most.name, most.value, slack, unit),
        *restated.spread(stddev.name, stddev, mean, most, unit=unit),
    )


def _of_percentiles(run: OutputRun) -> tuple[Restated, ...]:
    """The percentiles of `-l`, in order, some of which are in the row `Latency` too."""
    milliseconds = _listed(run, r"Percentile\s+Latency \(ms\)", _PERCENTILE)
    shares = {percent: value / 1e3 for percent, value in milliseconds.items()}
    found: tuple[Restated, ...] = ()
    for (low, early_s), (high, late_s) in pairwise(shares.items()):
        found += restated.at_least(f"`{high}` %", late_s, f"`{low}` %", early_s, unit="s")
    row = run.values(_TABLE) or (None, None, None, None)
    for percent, time_s in zip(("2.5", "50", "97.5", "99"), row, strict=False):
        name, by = f"`{percent}` %", "the row `Latency`"
        found += restated.equal(name, shares.get(percent), by, time_s, unit="s")
    return found
