"""`plimsoll plan`: the time and disk space that a campaign needs, and its trials."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import click

from plimsoll import comparison, estimates, lab, plan, texts, wording
from plimsoll.cli import json_output, messages, options
from plimsoll.estimates import PlanTiming
from plimsoll.hosts.host import LAB

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from plimsoll.campaign.campaign import Campaign
    from plimsoll.campaign.line_settings import LineSettings
    from plimsoll.estimates import Paces, PlanEstimate
    from plimsoll.plan import Refuses

BUSY = 1.5
"""From which slowness of the processor on an estimate says that others use it."""

NAMES, WIDTH = 12, 80
"""Columns of the names of what a plan takes, and of all."""

UNITS_S = ((10_800, 3600, "h"), (180, 60, "min"), (0, 1, "s"))
"""The least time that is printed in a unit, the length of that unit, both in seconds; its name."""


@click.command(name="plan")
@options.campaign_file
@options.settings
@options.available
@options.hosts
@options.frameworks_root
@click.option("-v", "--verbose", is_flag=True, help="List the trials, and what is left out.")
@options.as_json
def command(
    *,
    campaign: Path,
    settings: tuple[str, ...],
    available: bool,
    hosts: Path | None,
    root: Path | None,
    verbose: bool,
    as_json: bool,
) -> int:
    """Say what a campaign runs, and the time and disk space it needs; -v lists its trials.

    With --hosts it also shows what each host does. Nothing is started.
    """
    requested = lab.selection.campaign(campaign, settings, root)
    tasks = () if hosts is None else lab.campaign_hosts.planned(requested, hosts)
    has_database_here = hosts is None or lab.campaign_hosts.has_database_here(hosts)
    if available:
        requested = lab.selection.with_available(
            requested, messages.note, has_database_here=has_database_here
        )
    lab.selection.published(requested)
    lacking = lab.selection.lacking_here() if hosts is None else {}
    refuses = lab.selection.refusals(requested, lacking)
    paces = lab.paces.known(requested.frameworks)
    omitted = lab.selection.left_out(requested, refuses)
    trials = (*_own(requested, refuses, omitted), *_steps(requested, refuses, paces))
    lab.selection.require_rule(requested, trials)
    starts = plan.starts(trials) if requested.turn_s else 0
    timing = PlanTiming.of(requested)
    estimate = estimates.estimate(trials, timing, paces, line=requested.line)
    unready = lab.selection.not_ready(
        requested,
        has_servers_here=not tasks or tasks[0].host == LAB,
        has_database_here=has_database_here,
    )
    if as_json:
        found = {
            "campaign": lab.selection.resolved(requested),
            "trials": [lab.selection.planned(trial) for trial in trials],
            "left_out": [_left_out(one) for one in plan.left_out(requested)],
            "refused": [_refused(one) for one in plan.refused(requested, refuses)],
            "unready": unready,
            "estimate": vars(estimate),
            **({} if hosts is None else {"hosts": [vars(one) for one in tasks]}),
        }
        json_output.show(found, indent=1, default=str)
        return 0
    follows = _follows(requested, trials, estimate)
    for name, said in (*spoken(estimate, starts), *follows, *_counted(omitted, verbose=verbose)):
        click.echo(texts.wrapped(f"{name:<{NAMES}}{said}", WIDTH, " " * NAMES))
    for line in omitted if verbose else ():
        click.echo(f"   –  {line}")
    if tasks:
        click.echo("\nHosts:")
    for one in tasks:
        click.echo(f"  {one.host} ({one.address}) {one.work}")
    click.echo("" if verbose else "`-v` lists the trials in order.")
    for trial in trials if verbose else ():
        click.echo(f"{trial.order + 1:>4}  {trial.id}")
    for line in unready:
        messages.note(line)
    return 0


def _own(requested: Campaign, refuses: Refuses, omitted: Sequence[str]) -> tuple[plan.Trial, ...]:
    """The trials of a campaign that are known before it runs; refused as `run` refuses it."""
    trials = plan.plan(requested, refuses)
    for line in () if trials else omitted:
        messages.note(line)
    lab.selection.require_trials(trials)
    return trials


def _steps(requested: Campaign, refuses: Refuses, paces: Paces) -> tuple[plan.Trial, ...]:
    """The steps of a ladder, if peaks were as the last trials of the frameworks say."""
    if requested.ladder is None:
        return ()
    peaks = {
        one.name: min((paces.rate(each, one.name) for each in requested.frameworks), default=0.0)
        for one in requested.endpoints
    }
    return lab.ladder_following.planned(requested, refuses, peaks)


def _left_out(one: plan.OmittedCombination) -> dict[str, str]:
    names = {"framework": one.framework.reference, "endpoint": one.endpoint.name}
    load = {"load": one.load.name} if one.load else {}
    return {**names, **load, "reason": one.reason}


def _refused(one: plan.Refused) -> dict[str, str]:
    names = {"driver": one.driver, "load": one.load.name, "endpoint": one.endpoint.name}
    return {**names, "reason": one.reason}


def _counted(omitted: Sequence[str], *, verbose: bool) -> Iterator[tuple[str, str]]:
    """How much is left out."""
    if omitted:
        listed = "" if verbose else "; `-v` lists them with the reasons"
        yield "left out", f"{wording.several(len(omitted), 'combination')}{listed}"


def _follows(
    campaign: Campaign, trials: Sequence[plan.Trial], estimate: PlanEstimate
) -> Iterator[tuple[str, str]]:
    """What follows the trials of the plan: searches, rates of steps, or blocks with `until`."""
    if campaign.line is not None:
        entries = {(one.endpoint.name, one.framework.reference) for one in trials}
        searches = wording.several(len(entries), "search", "searches")
        most = f"{searches} of at most {_time(campaign.line.budget_s)} each"
        yield "after them", f"{most}{_warm_ups(campaign.line, trials)}"
    elif campaign.ladder is not None and campaign.ladder.shares:
        shares = wording.listed([wording.percent(one) for one in campaign.ladder.shares], 8)
        yield "rates", f"{shares} of the smallest peak, which is measured first"
    elif campaign.until:
        yield "blocks", _blocks(campaign, trials, estimate)


def _blocks(campaign: Campaign, trials: Sequence[plan.Trial], estimate: PlanEstimate) -> str:
    """How many blocks there may be with `until`, of which the trials of the plan are the first."""
    most = comparison.further_blocks.MOST
    if campaign.budget_s:
        tables = len({plan.table(one) for one in trials})
        block_s = estimate.duration_s / campaign.repetitions / tables
        further = math.floor((campaign.budget_s - estimate.duration_s) / block_s)
        most = min(most, campaign.repetitions + max(0, further))
    limit = f", at most {_time(campaign.budget_s)}" if campaign.budget_s else ""
    return (
        f"{campaign.repetitions} to {most} of each table{limit}, until all intervals are within "
        f"±{wording.percent(campaign.until)}; the trials are the first {campaign.repetitions}"
    )


def _warm_ups(line: LineSettings, trials: Sequence[plan.Trial]) -> str:
    """What tries take besides the budget: the warm-up of frameworks that need a longer one."""
    longer = {
        one.framework.reference: longer_s
        for one in trials
        if (longer_s := estimates.longer_warm_up_s(one.framework, line))
    }
    said = (
        f"{_time(length_s)} of warm-up for each try of {name}" for name, length_s in longer.items()
    )
    return "".join(f", plus {one}" for one in said)


def spoken(estimate: PlanEstimate, starts: int) -> Iterator[tuple[str, str]]:
    """What a plan takes: names and words; servers in turns start less often than there are trials.

    The tries of searches are known when they come, so only the total time has them.

    Args:
        estimate: What it takes.
        starts: How often servers start; 0 where each trial starts one.
    """
    started = f" in {wording.several(starts, 'start')} of servers" if starts else ""
    requests = wording.several(estimate.requests, "request")
    without = ", without the tries of searches" if estimate.searches_s else ""
    yield "trials", f"{wording.count(estimate.trials)}{started}{without}"
    yield "load", f"{_time(estimate.load_s)}, {requests}{without}"
    most = "at most " if estimate.searches_s else ""
    yield "in total", f"{most}about {_time(estimate.duration_s)}{_range(estimate)}"
    largest = f"{wording.size(estimate.largest_trial_bytes)} for the largest trial"
    yield "space", f"{wording.size(estimate.bytes)} of records, {largest}{without}"
    if estimate.assumed_trials:
        rate = wording.count(estimates.ASSUMED_REQUESTS_PER_S)
        unknown = wording.several(estimate.assumed_trials, "trial")
        yield "assumed", f"{rate} requests/s in {unknown} of frameworks that never ran here"
    if estimate.slowness >= BUSY:
        times = wording.decimals(estimate.slowness, 1)
        slow = f"what is computed around the loads takes {times} times as long as alone"
        yield "slowed", f"other programs use the processor: {slow}"


def _range(estimate: PlanEstimate) -> str:
    """Between which times earlier runs put the total, where they differ much."""
    if not estimate.is_scattered:
        return ""
    return f" ({_time(estimate.least_s)} to {_time(estimate.most_s)} by earlier runs)"


def _time(seconds: float) -> str:
    return next(
        f"{wording.count(seconds / unit)} {name}"
        for least, unit, name in UNITS_S
        if seconds >= least
    )
