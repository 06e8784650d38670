"""Gathering: the stored results of a campaign become its findings.

What follows from each trial is worked out once (`derivation`). What follows from all of them,
comparisons and verdicts on the campaign, is worked out on top of it each time.
"""

from __future__ import annotations

import dataclasses
from statistics import median
from typing import TYPE_CHECKING

import plimsoll
from plimsoll import findings
from plimsoll.aggregate.usage import second_window
from plimsoll.campaign import as_run as campaigns_as_run
from plimsoll.comparison import (
    entry_comparison,
    further_blocks,
    head_of_line,
    over_connections,
    protocol_costs,
)
from plimsoll.comparison.comparisons import ComparedTrial, comparisons
from plimsoll.comparison.driver_comparison import disagreements
from plimsoll.events import Listener, ignore
from plimsoll.findings import deriving, ladders, load_lines, measured, rate_curves
from plimsoll.findings.findings import Findings
from plimsoll.verdicts.judge import judge_campaign, with_campaign

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.aggregate.usage import Window
    from plimsoll.findings.findings import Publication
    from plimsoll.findings.ladders import EntryLadder
    from plimsoll.findings.load_lines import EntryLines
    from plimsoll.findings.trial import TrialFindings
    from plimsoll.storage.results import Results

CAMPAIGN_JUDGED = "campaign_verdicts"
"""Name of the derived content with the verdicts on the campaign as a whole."""


def gather(results: Results, *, again: bool = False, on_event: Listener = ignore) -> Findings:
    """The findings of a campaign.

    Args:
        results: Its stored results.
        again: Whether everything is worked out anew, whatever is there.
        on_event: Called with a `Step` before a trial is read or derived.

    Raises:
        StorageError: The results could not be read, or what follows from them not be kept.
    """
    results.prune_derived()
    each = deriving.of_trials(results, results.trial_ids(), again=again, on_event=on_event)
    found = of_trials(results, each)
    found = dataclasses.replace(
        found, lines=_lines(results, found), ladders=_ladders(results, found)
    )
    judged = [dataclasses.asdict(verdict) for verdict in found.verdicts]
    results.write_derived_json(CAMPAIGN_JUDGED, {"verdicts": judged})
    results.write_derived("comparisons", found.comparisons)
    return found


def of_trials(results: Results, each: Sequence[TrialFindings]) -> Findings:
    """The findings of some trials of a campaign; nothing is written.

    Args:
        results: The campaign.
        each: What is known of the trials, in the order of the plan.

    Raises:
        StorageError: The plan or the campaign could not be read.
    """
    recordings = [trial.recording for trial in each]
    as_run = campaigns_as_run.read(results.campaign_resolved())
    repeated = measured.results(each, as_run)
    in_blocks = {one.recording.trial for one in repeated}
    rule = further_blocks.rule(as_run)
    judged = judge_campaign(_repetitions(repeated, has_stopped_early=rule is not None))
    trials = tuple(
        dataclasses.replace(
            trial,
            verdicts=with_campaign(
                trial.verdicts,
                trial.recording,
                judged,
                is_of_block=trial.recording.trial in in_blocks,
            ),
        )
        for trial in each
    )
    counting = _repetitions(measured.results(trials, as_run), has_stopped_early=rule is not None)
    found = {recording.trial for recording in recordings}
    compared = comparisons(counting)
    return Findings(
        campaign=results.folder.resolve().name,
        version=plimsoll.__version__,
        trials=trials,
        comparisons=compared,
        verdicts=judged,
        missing=tuple(planned for planned in results.planned_ids() if planned not in found),
        disagreements=disagreements(counting),
        protocol_costs=protocol_costs.costs(counting),
        sharings=head_of_line.sharings(counting),
        publication=_publication(results, trials, has_stopped_early=rule is not None),
        over_connections=over_connections.series(counting),
        rate_curves=rate_curves.of_trials(measured.without_tries(trials, as_run)),
        as_run=as_run,
        progress=rule
        and further_blocks.progress(rule, recordings, entry_comparison.of_table(compared)),
    )


def _lines(results: Results, found: Findings) -> tuple[EntryLines, ...]:
    """The load lines of a campaign; empty for one of another kind."""
    as_run = found.as_run
    if as_run is None:
        return load_lines.of_search(results, found.trials)
    if as_run.line is None:
        return ()
    return load_lines.of_campaign(results, found.trials, as_run.line, as_run.seed)


def _ladders(results: Results, found: Findings) -> tuple[EntryLadder, ...]:
    """The ladders of a campaign; empty for one of another kind."""
    if found.as_run is None or found.as_run.ladder is None:
        return ()
    return ladders.of_campaign(results, found.trials)


def _publication(
    results: Results, trials: Sequence[TrialFindings], *, has_stopped_early: bool
) -> Publication | None:
    """What was published of the same experiment; None where the campaign names nothing."""
    text = results.published_toml()
    if text is None:
        return None
    return findings.publication.of_text(
        text, _repetitions(trials, has_stopped_early=has_stopped_early)
    )


def _repetitions(
    trials: Sequence[TrialFindings], *, has_stopped_early: bool
) -> list[ComparedTrial]:
    return [
        ComparedTrial(
            trial.recording,
            trial.summary,
            trial.level == "void",
            steps=_steps(trial),
            steady_state=trial.steadiness,
            server_busy_ratio=None
            if trial.steady_state is None
            else trial.steady_state.server_busy_ratio,
            lost_ratio=None if trial.steady_state is None else trial.steady_state.lost_ratio,
            control_s=_control_s(trial),
            has_stopped_early=has_stopped_early,
        )
        for trial in trials
    ]


def _control_s(trial: TrialFindings) -> float | None:
    """Processor time of the control, its median over a trial; None when it did not run."""
    took = [one for one in trial.data.machine_speed["control_s"].to_pylist() if one is not None]
    return median(took) if took else None


def _steps(trial: TrialFindings) -> tuple[int, ...]:
    """Complete responses in each whole second of ramps and holds."""
    stretches = [
        (stage.start_ns, stage.end_ns)
        for stage in trial.recording.stages
        if stage.kind != "warm_up"
    ]
    rows = trial.data.seconds.select(["second", "completed"]).to_pylist()
    return tuple(
        row["completed"]
        for row in rows
        if row["completed"] is not None and _is_within(second_window(row["second"]), stretches)
    )


def _is_within(second: Window, stretches: Sequence[Window]) -> bool:
    return any(start <= second[0] and second[1] <= end for start, end in stretches)
