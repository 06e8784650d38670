"""`plimsoll plan`: what a campaign would do, and what it takes."""

from __future__ import annotations

import json
from pathlib import Path

import click

from plimsoll import plan
from plimsoll.campaign.campaign import resolved
from plimsoll.cli import chosen, options
from plimsoll.storage.parquet import planned


@click.command(name="plan")
@options.campaign_file
@options.settings
@options.available
@options.frameworks_root
@options.as_json
def command(
    campaign: Path, settings: tuple[str, ...], available: bool, root: Path | None, as_json: bool
) -> int:
    """The trials of a campaign in order, the time and the disk it needs. Nothing is started."""
    asked = chosen.campaign(campaign, settings, root)
    asked = chosen.with_available(asked) if available else asked
    trials = plan.plan(asked)
    estimate = plan.estimate(trials, asked.cool_down_s)
    if as_json:
        found = {
            "campaign": resolved(asked),
            "trials": [planned(trial) for trial in trials],
            "left_out": [_left_out(one) for one in plan.left_out(asked)],
            "estimate": vars(estimate),
        }
        click.echo(json.dumps(found, indent=1, default=str))
        return 0
    for trial in trials:
        click.echo(f"{trial.order + 1:>4}  {trial.id}")
    for one in plan.left_out(asked):
        click.echo(f"   –  {one.framework.title} does not serve {one.endpoint.name}: {one.reason}")
    click.echo(_spoken(estimate))
    return 0


def _left_out(one: plan.LeftOut) -> dict[str, str]:
    names = {"framework": one.framework.reference, "endpoint": one.endpoint.name}
    return {**names, "reason": one.reason}


def _spoken(estimate: plan.Estimate) -> str:
    minutes = estimate.duration_s / 60
    return (
        f"\n{estimate.trials} trials, {estimate.load_s:.0f} s of load,"
        f" about {minutes:.0f} min in all;"
        f" at {estimate.assumed_requests_per_s:,.0f} requests per second"
        f" {estimate.bytes / 1e9:.1f} GB of records before compression,"
        f" {estimate.largest_trial_bytes / 1e9:.1f} GB at a time"
    )
