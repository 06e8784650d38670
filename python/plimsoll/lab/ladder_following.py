"""The steps of a campaign of kind `ladder`: whole blocks of every rate, when the rates are known.

Shares are of the smallest peak at an endpoint, so rates are known when every peak is recorded. Once
a step is recorded, its rate decides: peaks that are measured again later do not move the ladder.
"""

from __future__ import annotations

from dataclasses import replace
from math import inf
from statistics import median
from typing import TYPE_CHECKING

from plimsoll import plan
from plimsoll.campaign import ladder_settings
from plimsoll.campaign.line_settings import PEAK
from plimsoll.findings import derivation

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from plimsoll.campaign.campaign import Campaign
    from plimsoll.campaign.ladder_settings import LadderSettings
    from plimsoll.plan import Refuses, Trial
    from plimsoll.recording import Recording
    from plimsoll.storage.results import Results


def steps(campaign: Campaign, refuses: Refuses, stored: Results) -> tuple[Trial, ...]:
    """Every step of a campaign whose rate is known, in order.

    Args:
        campaign: The campaign.
        refuses: Returns why a driver cannot generate a load.
        stored: Its results.

    Raises:
        StorageError: They cannot be read.
    """
    wanted = campaign.ladder
    if wanted is None:
        return ()
    if wanted.rates:
        return planned(campaign, refuses, {one.name: 0.0 for one in campaign.endpoints})
    recorded = [stored.recording(name) for name in stored.trial_ids()]
    peaks = [one for one in recorded if one.load.name == PEAK]
    found = _decided(wanted, recorded)
    if {one.id for one in plan.plan(campaign, refuses)} <= {one.trial for one in peaks}:
        found = _smallest_per_s(stored, peaks) | found
    return planned(campaign, refuses, found)


def planned(
    campaign: Campaign, refuses: Refuses, smallest_peaks_per_s: Mapping[str, float]
) -> tuple[Trial, ...]:
    """Every step of a campaign with some smallest peaks, in order.

    Args:
        campaign: The campaign, of kind `ladder`.
        refuses: Returns why a driver cannot generate a load.
        smallest_peaks_per_s: Complete responses per second by endpoint; those without have no step.
    """
    wanted = campaign.ladder
    assert wanted is not None  # noqa: S101 - of that kind
    loads = {
        endpoint: {one.name: one for one in wanted.steps(wanted.rates_per_s(peak_per_s))}
        for endpoint, peak_per_s in smallest_peaks_per_s.items()
    }
    first = len(plan.plan(campaign, refuses))
    like = wanted.steps(wanted.rates_per_s(1.0))
    return tuple(
        replace(
            one,
            order=first + one.order,
            load=loads[one.endpoint.name][one.load.name].warmed(0.0),
        )
        for one in plan.plan(replace(campaign, loads=like), refuses)
        if one.endpoint.name in loads
    )


def _decided(wanted: LadderSettings, recorded: Sequence[Recording]) -> dict[str, float]:
    """The smallest peak by endpoint that recorded steps are shares of."""
    found: dict[str, float] = {}
    for one in recorded:
        if one.load.name != PEAK and one.load.stages:
            number = int(one.load.name.removeprefix(f"{ladder_settings.STEP}-"))
            if number > wanted.count:
                continue  # of another ladder, whose results are refused when they are gone on with
            found[one.endpoint] = one.load.stages[-1].start / wanted.shares[number - 1]
    return found


def _smallest_per_s(stored: Results, peaks: Sequence[Recording]) -> dict[str, float]:
    """The smallest throughput by endpoint, each the median over the repetitions of a framework."""
    grouped: dict[tuple[str, str], list[float]] = {}
    for one in peaks:
        summary = derivation.of_trial(stored, one).summary
        if one.ending.kind == "completed" and summary is not None and summary.throughput_per_s:
            grouped.setdefault((one.endpoint, one.title), []).append(summary.throughput_per_s)
    found: dict[str, float] = {}
    for (endpoint, _), values in grouped.items():
        found[endpoint] = min(median(values), found.get(endpoint, inf))
    return found
