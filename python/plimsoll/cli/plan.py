"""`plimsoll plan`: the time and disk space that a campaign needs, and its trials."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING

import click

from plimsoll import comparison, estimates, lab, plan, wording
from plimsoll.cli import messages, options
from plimsoll.estimates import Course
from plimsoll.hosts.host import LAB

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.campaign.campaign import Campaign
    from plimsoll.campaign.line_settings import LineSettings
    from plimsoll.estimates import Paces, PlanEstimate
    from plimsoll.plan import Refuses

BUSY = 1.5
"""From which slowness of the processor on an estimate says that others use it."""

UNITS_S = ((10_800, 3600, "h"), (180, 60, "min"), (0, 1, "s"))
"""The least time that is printed in a unit, the length of that unit, both in seconds; its name."""


@click.command(name="plan")
@options.campaign_file
@options.settings
@options.available
@options.hosts
@options.frameworks_root
@click.option("-v", "--verbose", is_flag=True, help="List the trials in order.")
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
    """Say what a campaign runs, and the time and disk space it needs; -v lists its trials in order.

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
    trials = (*plan.plan(requested, refuses), *_steps(requested, refuses, paces))
    lab.selection.require_rule(requested, trials)
    starts = plan.starts(trials) if requested.turn_s else 0
    estimate = estimates.estimate(trials, Course.of(requested), paces)
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
        click.echo(json.dumps(found, indent=1, default=str))
        return 0
    click.echo(f"{_blocks(requested, trials, estimate)}{spoken(estimate, starts)}")
    for line in lab.selection.left_out(requested, refuses):
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


def _blocks(campaign: Campaign, trials: Sequence[plan.Trial], estimate: PlanEstimate) -> str:
    """What follows the plan: searches, rates of steps, or blocks with `until`."""
    if campaign.line is not None:
        entries = {(one.endpoint.name, one.framework.reference) for one in trials}
        searches = wording.several(len(entries), "search", "searches")
        most = f"{searches} of at most {_time(campaign.line.budget_s)} each"
        return f"{most}{_warm_ups(campaign.line, trials)}; before them: "
    if campaign.ladder is not None and campaign.ladder.shares:
        shares = wording.listed([wording.percent(one) for one in campaign.ladder.shares], 8)
        return f"rates are {shares} of the smallest peak, which is measured first: "
    if not campaign.until:
        return ""
    most = comparison.further_blocks.MOST
    if campaign.budget_s:
        tables = len({plan.table(one) for one in trials})
        block_s = estimate.duration_s / campaign.repetitions / tables
        further = math.floor((campaign.budget_s - estimate.duration_s) / block_s)
        most = min(most, campaign.repetitions + max(0, further))
    limit = f", at most {_time(campaign.budget_s)}" if campaign.budget_s else ""
    return (
        f"{campaign.repetitions} to {most} blocks of each table{limit}, "
        f"until all intervals are within ±{wording.percent(campaign.until)}; "
        f"the first {campaign.repetitions}: "
    )


def _warm_ups(line: LineSettings, trials: Sequence[plan.Trial]) -> str:
    """What tries take besides the budget: the warm-up of frameworks that need a longer one."""
    longer = {
        one.framework.reference: one.framework.warm_up_s
        for one in trials
        if one.framework.warm_up_s > line.warm_up_s
    }
    said = (
        f"{_time(length_s)} of warm-up for each try of {name}" for name, length_s in longer.items()
    )
    return "".join(f", plus {one}" for one in said)


def spoken(estimate: PlanEstimate, starts: int) -> str:
    """What a plan takes, in words; servers that take turns start less often than there are trials.

    Args:
        estimate: What it takes.
        starts: How often servers start; 0 where each trial starts one.
    """
    started = f", {wording.several(starts, 'start')} of servers" if starts else ""
    assumed = (
        f"; {wording.several(estimate.assumed_trials, 'trial')} of frameworks that never ran "
        f"here, assumed: {wording.count(estimates.ASSUMED_REQUESTS_PER_S)} requests per second"
    )
    busy = (
        f"; others use the processor: what is computed around the loads takes "
        f"{wording.decimals(estimate.slowness, 1)} times as long as alone"
    )
    return (
        f"{wording.several(estimate.trials, 'trial')}{started}, {_time(estimate.load_s)} of load,"
        f" about {_time(estimate.duration_s)} in total{_range(estimate)};"
        f" {wording.count(estimate.requests)} requests,"
        f" {wording.size(estimate.bytes)} of uncompressed records,"
        f" {wording.size(estimate.largest_trial_bytes)} for the largest trial"
        f"{assumed if estimate.assumed_trials else ''}"
        f"{busy if estimate.slowness >= BUSY else ''}"
    )


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
