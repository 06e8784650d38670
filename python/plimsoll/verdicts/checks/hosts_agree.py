"""Did load generators on different hosts see the same server?

In each second, one server responds to all of them. The check compares, for each host, the
median service time of its responses with the mean of the other hosts' medians in the same seconds.
It measures the largest mean ratio, less one. Where one host sees slower responses than the others,
the cause is that host or its network path, not the server.

Source: geometric mean over seconds of the ratio of medians, host against the others.
"""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.verdicts.finding import Finding, found, inapplicable, not_checked, of_trial
from plimsoll.verdicts.limits import PROPOSAL, Limit
from plimsoll.verdicts.needs import EveryRequest
from plimsoll.verdicts.role import Cause, Role

if TYPE_CHECKING:
    from plimsoll.aggregate.hosts import HostSecond
    from plimsoll.aggregate.trial import Tables
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "hosts_agree"
TITLE = "Hosts agree"
PROBLEM = "Hosts disagree"
SOURCE = "median service times of different hosts in the same seconds"
APART_RATIO = Limit(
    NAME,
    "apart_ratio",
    "above",
    0.5,
    None,
    "ratio",
    "median service time that one host saw / that of the others in the same seconds, less one",
    PROPOSAL,
)
LIMITS = (APART_RATIO,)
NEEDS = EveryRequest(APART_RATIO, "whether load generators saw the same server is unknown")
ENOUGH = 30
"""Responses of a host in a second from which on their median is compared."""


def judge(tables: Tables, limits: Limits) -> Verdict:
    """Whether load generators saw the same server."""
    return of_trial(NAME, tables.recording, [_finding(tables, limits)], SOURCE)


def _finding(tables: Tables, limits: Limits) -> Finding:
    limit = limits.of(APART_RATIO)
    if len(tables.recording.hosts) < 2:  # noqa: PLR2004
        return inapplicable(limit, "one load generator took part")
    ratios = _ratios(tables.host_seconds)
    if not ratios:
        sentence = f"no second has {ENOUGH} responses of two load generators"
        return not_checked(limit, sentence)
    host = max(ratios, key=lambda name: abs(math.log(ratios[name])))
    ratio = ratios[host]
    how = "longer" if ratio > 1 else "shorter"
    apart = max(ratio, 1 / ratio) - 1
    sentence = (
        f"in the same seconds `{host}` saw {how} service times than the other hosts, by a factor "
        f"of {wording.factor(1 + apart)}"
    )
    remedy = (
        "Compare that host and its network path to the server with the others: cores, link, hops"
    )
    return found(limit, apart, sentence, remedy)


def _ratios(seconds: tuple[HostSecond, ...]) -> dict[str, float]:
    """For each host, its median service time by that of the others, on average over seconds."""
    by_second: dict[int, dict[str, float]] = defaultdict(dict)
    for one in seconds:
        if one.responses >= ENOUGH and one.service_p50_ns > 0:
            by_second[one.second][one.host] = math.log(one.service_p50_ns)
    logs: dict[str, list[float]] = defaultdict(list)
    for medians in by_second.values():
        for host, own in medians.items():
            others = [median for name, median in medians.items() if name != host]
            if others:
                logs[host].append(own - sum(others) / len(others))
    return {host: math.exp(sum(found) / len(found)) for host, found in logs.items()}


def _cause(_: Tables, verdict: Verdict) -> Cause | None:
    """Why connections of one host got a smaller share of the responses than those of another."""
    if not verdict.is_doubting:
        return None
    return Cause(NAME, "load generators did not see the same service times", "unlike_hosts")


ROLE = Role(tells=_cause)
