"""Do the responses of one server to one request have the same length in every run?

    bytes received per second / requests per second

is the mean length of a response with its head. For one server and endpoint it hardly changes from
run to run. If it does, a number was mistyped, rate and bytes come from different runs, or some
responses were others, such as errors. The check measures the run that lies furthest from the median
of all.

Source: arithmetic of this project; the width is a first proposal.
"""

from __future__ import annotations

import statistics
from collections import defaultdict
from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.verdicts.finding import Finding, found, verdict
from plimsoll.verdicts.limits import PROPOSAL, Limit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.tool_output.reported import ReportedStatistics
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "response_lengths"
TITLE = "Response lengths"
PROBLEM = "Response lengths differ"
NEEDS = "bytes and requests per second of three runs or more of one server at one endpoint"
SOURCE = "bytes per second / requests per second"
APART_RATIO = Limit(
    NAME,
    "apart_ratio",
    "above",
    0.01,
    None,
    "ratio",
    "length of responses by bytes and requests per second, against the median of its runs",
    PROPOSAL + "; 1 % for rounding",
)
LIMITS = (APART_RATIO,)
SUBJECT = "all together"
FEWEST = 3
KIB = 1024
REMEDY = (
    "Compare with what the tool printed: a digit may be wrong; else see which responses were "
    "shorter "
    "or longer, as errors are"
)


def judge(results: Sequence[ReportedStatistics], limits: Limits) -> Verdict | None:
    """Whether responses have one length in every run; None if no server has enough runs."""
    findings = [
        _run(one, length, median, limits)
        for runs in _runs(results)
        for median in [statistics.median(length for _, length in runs)]
        for one, length in runs
    ]
    worst_first = sorted(findings, key=lambda finding: -(finding.measured or 0.0))
    return verdict(NAME, SUBJECT, worst_first, SOURCE) if findings else None


def _runs(results: Sequence[ReportedStatistics]) -> list[list[tuple[ReportedStatistics, float]]]:
    """The runs of each server at each endpoint, each with the mean length of its responses."""
    runs: dict[tuple[str, str, str], list[tuple[ReportedStatistics, float]]] = defaultdict(list)
    for one in results:
        if one.received_per_s and one.throughput_per_s and one.subject:
            length = one.received_per_s / one.throughput_per_s
            runs[(one.tool, one.subject, one.endpoint)].append((one, length))
    return [several for several in runs.values() if len(several) >= FEWEST]


def _run(figures: ReportedStatistics, length: float, median: float, limits: Limits) -> Finding:
    limit = limits.of(APART_RATIO)
    ratio = abs(length - median) / median
    if limit.level(ratio) == "sound":
        sentence = (
            "a server's responses have one length in every run, by bytes and requests per second"
        )
        return found(limit, ratio, sentence, "")
    fitting = (figures.throughput_per_s or 0.0) * median / KIB
    sentence = (
        f"{figures.label}: bytes/s ÷ requests/s is {wording.amount(length)} bytes, in its other "
        f"runs {wording.amount(median)}"
    )
    printed = (
        f"{wording.decimals((figures.received_per_s or 0.0) / KIB, 2)} KiB/s was printed; "
        f"{wording.decimals(fitting, 2)} would fit"
    )
    return found(limit, ratio, sentence, REMEDY, printed)
