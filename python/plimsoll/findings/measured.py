"""Which trials of a campaign are results, and which only serve to find something else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.findings import ladders
from plimsoll.load_line.tries import is_try

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.campaign.as_run import CampaignAsRun
    from plimsoll.findings.trial import TrialFindings


def results(
    trials: Sequence[TrialFindings], as_run: CampaignAsRun | None
) -> tuple[TrialFindings, ...]:
    """The trials whose goodput is a result: no tries of load lines, and no steps of ladders.

    Args:
        trials: What is known of each trial.
        as_run: The campaign as run; None where there was none.
    """
    found = without_tries(trials, as_run)
    if as_run is None or as_run.ladder is None:
        return found
    return tuple(one for one in found if not ladders.is_step(one.recording))


def without_tries(
    trials: Sequence[TrialFindings], as_run: CampaignAsRun | None
) -> tuple[TrialFindings, ...]:
    """The trials of a campaign that are no tries of load lines.

    Args:
        trials: What is known of each trial.
        as_run: The campaign as run; None where there was none, as of a line of one server.
    """
    if as_run is not None and as_run.line is None:
        return tuple(trials)
    return tuple(one for one in trials if not is_try(one.recording))
