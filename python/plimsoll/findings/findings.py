"""Findings: all that a report of a campaign is made of."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from plimsoll import texts
from plimsoll.findings import ladders, load_lines, measured
from plimsoll.findings.rankings import rankings
from plimsoll.verdicts import levels

if TYPE_CHECKING:
    import pyarrow as pa

    from plimsoll.campaign.as_run import CampaignAsRun
    from plimsoll.comparison.driver_comparison import Disagreement
    from plimsoll.comparison.further_blocks import CampaignProgress
    from plimsoll.comparison.head_of_line import ConnectionSharing
    from plimsoll.comparison.over_connections import ConnectionsSeries
    from plimsoll.comparison.protocol_costs import ProtocolCost
    from plimsoll.comparison.published_comparison import Claimed, Field
    from plimsoll.findings.campaign_thresholds import JudgedEntry
    from plimsoll.findings.ladders import EntryLadder, LadderRanking
    from plimsoll.findings.load_lines import EntryLines, LineRanking
    from plimsoll.findings.rankings import Ranking
    from plimsoll.findings.rate_curves import RateCurves
    from plimsoll.findings.trial import State, TrialFindings
    from plimsoll.published.document import Document
    from plimsoll.verdicts.audit import Audit
    from plimsoll.verdicts.verdict import Verdict


@dataclass(frozen=True)
class Publication:
    """Published figures of the same experiment.

    Attributes:
        document: The document.
        fields: Its figures beside what was measured.
        claims: Its claims that compare two servers measured here.
        audit: What the checks say of its figures.
    """

    document: Document
    fields: tuple[Field, ...]
    claims: tuple[Claimed, ...]
    audit: Audit


@dataclass(frozen=True, repr=False)
class Findings:
    """All that a report of a campaign is made of.

    Attributes:
        campaign: Name of the campaign.
        version: Version of Plimsoll that made the report.
        trials: What is known of each trial, in the order of the plan.
        comparisons: Rows of `tables.COMPARISONS`.
        verdicts: What the checks on a campaign say of it and of its blocks.
        missing: Ids of trials that were planned and not conducted.
        disagreements: What several drivers say of the same servers.
        protocol_costs: What TLS and HTTP/2 cost the servers.
        sharings: What it costs requests that they share a connection.
        publication: What was published of the same experiment; None where the campaign names none.
        over_connections: What became of the servers as more connections were requested.
        as_run: The campaign as run; None where there was no campaign file.
        thresholds: What the thresholds that a reader set say of each entry that they apply to.
        progress: Which tables need further blocks; None where the number of blocks was fixed.
        lines: Load lines by endpoint and framework; empty for a campaign of another kind.
        ladders: Ladders by endpoint and framework; empty for a campaign of another kind.
        rate_curves: Latency over rate, where several rates of open loads were measured.
    """

    campaign: str
    version: str
    trials: tuple[TrialFindings, ...]
    comparisons: pa.Table
    verdicts: tuple[Verdict, ...] = ()
    missing: tuple[str, ...] = ()
    disagreements: tuple[Disagreement, ...] = ()
    protocol_costs: tuple[ProtocolCost, ...] = ()
    sharings: tuple[ConnectionSharing, ...] = ()
    publication: Publication | None = None
    over_connections: tuple[ConnectionsSeries, ...] = ()
    as_run: CampaignAsRun | None = None
    thresholds: tuple[JudgedEntry, ...] = ()
    progress: CampaignProgress | None = None
    lines: tuple[EntryLines, ...] = ()
    ladders: tuple[EntryLadder, ...] = ()
    rate_curves: tuple[RateCurves, ...] = ()
    rankings: tuple[Ranking, ...] = field(init=False)

    def __post_init__(self) -> None:
        """Work out the rankings."""
        object.__setattr__(self, "rankings", rankings(self.measured, self.comparisons))

    def __repr__(self) -> str:
        """Its campaign, and how many trials there are."""
        return texts.object_line(self, f"{self.campaign}: {len(self.trials)} trials")

    @property
    def single_load(self) -> TrialFindings | None:
        """The one load that was put on or imported without a campaign; None of a campaign."""
        is_one = self.as_run is None and not (self.lines or self.missing) and len(self.trials) == 1
        return self.trials[0] if is_one else None

    @property
    def measured(self) -> tuple[TrialFindings, ...]:
        """The trials whose goodput is a result: no tries of load lines, no steps of ladders."""
        return measured.results(self.trials, self.as_run)

    @property
    def counting(self) -> tuple[TrialFindings, ...]:
        """The trials whose verdicts count: also tries that a line rests on, and steps.

        A step at which a server was full is none of them: a ladder may reach so far. Neither are
        those of the yardstick.
        """
        return tuple(one for one in self._known if not self._is_beside(one))

    @property
    def of_yardstick(self) -> tuple[TrialFindings, ...]:
        """Trials of the yardstick beside frameworks, unless an error ended them.

        It has no rank, and it may be faster than the load generator: then its number is void, and
        no other is. One whose responses are wrong or miscounted is counted as others are: that may
        be so in all of them.
        """
        return tuple(one for one in self._known if self._is_beside(one))

    def _is_beside(self, trial: TrialFindings) -> bool:
        """Whether a trial of the yardstick says nothing of the frameworks that are beside it."""
        return (
            trial.recording.is_yardstick
            and trial.has_ended_well
            and not levels.is_wrong(trial.verdicts)
            and not all(one.recording.is_yardstick for one in self.trials)
        )

    @property
    def _known(self) -> tuple[TrialFindings, ...]:
        """Results, tries that a line rests on, and steps at which a server was not full."""
        held = {one.recording.trial for line in self.lines for one in line.held}
        steps = [one for ladder in self.ladders for one in ladder.steps if not one.is_full]
        results = {one.recording.trial for one in self.measured}
        counting = held | results | {one.trial.recording.trial for one in steps}
        return tuple(one for one in self.trials if one.recording.trial in counting)

    @property
    def line_rankings(self) -> tuple[LineRanking, ...]:
        """The rankings by load line."""
        return load_lines.rankings(self.lines)

    @property
    def ladder_rankings(self) -> tuple[LadderRanking, ...]:
        """The rankings by the cost of a request."""
        return ladders.rankings(self.ladders)

    @property
    def frameworks(self) -> tuple[str, ...]:
        """Frameworks and variants in the order of their names, whatever their ranks."""
        return tuple(sorted({trial.recording.title for trial in self.trials}))

    @property
    def counts(self) -> Counter[State]:
        """How many trials are in each state, of those whose verdicts count."""
        return Counter(trial.state for trial in self.counting)

    @property
    def limits(self) -> dict[str, dict[str, float]]:
        """Limits of checks that the campaign changed: check to name and value."""
        changed: dict[str, dict[str, float]] = {}
        for trial in self.trials:
            for check, values in trial.recording.limits.items():
                changed.setdefault(check, {}).update(values)
        return changed
