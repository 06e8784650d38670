"""Comparison with published results: published ratios beside the ratios measured here.

Speeds of different machines say nothing about each other. What can be set side by side is how many
times as fast one server is as another *within* each experiment. So every throughput is divided by
that of one server, the same in the document and here: the one that the file of figures names, or
the best of the document among those measured here.

Where a document prints several runs, a ratio has an interval
(`statistics.intervals.ratio_interval`). What was measured here is the ratio of the model that ranks
the whole table (`statistics.comparison`), with its interval.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from statistics import median
from typing import TYPE_CHECKING

from plimsoll.comparison.compared_table import table_of
from plimsoll.comparison.comparisons import observed, ranked
from plimsoll.published import claims
from plimsoll.statistics.intervals import Estimate, ratio_interval

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plimsoll.comparison.comparisons import ComparedTrial
    from plimsoll.plan import ComparedTable
    from plimsoll.published.claims import Claim
    from plimsoll.published.counterparts import Counterparts
    from plimsoll.published.document import Document
    from plimsoll.recording import Recording
    from plimsoll.statistics.comparison import Comparison, Observation
    from plimsoll.tool_output.reported import ReportedStatistics

    Server = tuple[str, str]
    """What the document calls a server, and its counterpart here."""

    Published = Mapping[Server, Sequence[ReportedStatistics]]
    """What was published of each server at one endpoint."""


@dataclass(frozen=True)
class MatchedServer:
    """One server of a document beside its counterpart.

    Attributes:
        subject: What the document calls it.
        framework: Its counterpart, as `name:variant`.
        published: Its published throughput, the median of several runs, / that of the baseline;
            None without one.
        measured: The same of what was measured here, by the model that ranks; of the medians of all
            repetitions where none of one of the two counts. None when one was not measured.
        figures: What was published of it.
        trials: Ids of its trials here, those that do not count, too.
    """

    subject: str
    framework: str
    published: Estimate | None
    measured: Estimate | None
    figures: tuple[ReportedStatistics, ...]
    trials: tuple[str, ...] = ()


@dataclass(frozen=True)
class PublishedOrder:
    """How pairs of servers stand here that are apart in the document.

    Attributes:
        same: Pairs of which the one that is ahead there is ahead here, beyond doubt.
        turned: Pairs of which the other one is.
        level: Pairs that cannot be distinguished here.
    """

    same: int = 0
    turned: int = 0
    level: int = 0


@dataclass(frozen=True)
class Field:
    """The servers of a document at one endpoint, beside those measured under one load.

    Attributes:
        endpoint: Endpoint.
        load: Load.
        driver: Program that generated the load here.
        baseline: What the document calls the server whose throughput is 1 in both.
        baseline_trials: Ids of its trials here.
        rows: The servers, the fastest of the document first.
        order: How pairs of them stand.
    """

    endpoint: str
    load: str
    driver: str
    baseline: str
    baseline_trials: tuple[str, ...]
    rows: tuple[MatchedServer, ...]
    order: PublishedOrder


@dataclass(frozen=True)
class Claimed:
    """A claim of a document that compares two servers, and what was measured of them here.

    Attributes:
        claim: The claim.
        published: What the document's own figures say to it, in words.
        measured: Table to the throughput of its first server / of its second, by the model that
            ranks.
    """

    claim: Claim
    published: str
    measured: Mapping[ComparedTable, Estimate]


@dataclass(frozen=True)
class _Measured:
    """The trials of one campaign by what they measured.

    Attributes:
        trials: Table to framework, as `name:variant`, to its trials.
        models: Table and column of `summaries` to the model of all its frameworks, as far as one
            was needed.
    """

    trials: Mapping[ComparedTable, Mapping[str, Sequence[ComparedTrial]]]
    models: dict[tuple[ComparedTable, str], Comparison] = field(
        default_factory=dict["tuple[ComparedTable, str]", "Comparison"]
    )

    def tables(self, endpoint: str, load: str) -> list[ComparedTable]:
        """The tables of what was measured there; an empty load is any."""
        return [one for one in self.trials if one.endpoint == endpoint and load in ("", one.load)]

    def counting(self, table: ComparedTable, framework: str, quantity: str) -> tuple[float, ...]:
        """A column of `summaries` of each repetition that counts, where it is known."""
        found = self.trials[table].get(framework, ())
        return _column([one for one in found if one.counts], quantity)

    def shown(self, table: ComparedTable, framework: str, quantity: str) -> tuple[float, ...]:
        """The same; of the void ones where none counts."""
        void = _column(self.trials[table].get(framework, ()), quantity)
        return self.counting(table, framework, quantity) or void

    def observed(self, table: ComparedTable, framework: str, quantity: str) -> list[Observation]:
        """The same as `counting`, each with its block."""
        return observed(self.trials[table].get(framework, ()), quantity)

    def of(self, table: ComparedTable, framework: str) -> Sequence[ComparedTrial]:
        """The trials of a framework there, those that do not count, too."""
        return self.trials[table].get(framework, ())

    def ratio(self, table: ComparedTable, one: str, other: str, quantity: str) -> Estimate | None:
        """The ratio of two frameworks by the model that ranks all of the table.

        The yardstick is not in it, nor is a framework that was 0 at times: of those it is that of
        their medians.
        """
        found = self.trials[table]
        if one in found and other in found:
            names = [*found]
            ratio = self._model(table, quantity).ratio(names.index(one), names.index(other))
            if ratio is not None:
                return ratio
        return _ratio(self.counting(table, one, quantity), self.counting(table, other, quantity))

    def _model(self, table: ComparedTable, quantity: str) -> Comparison:
        """All frameworks of a table by one column."""
        if (table, quantity) not in self.models:
            trials = [*self.trials[table].values()]
            made = ranked(trials, [observed(each, quantity) for each in trials])
            self.models[table, quantity] = made
        return self.models[table, quantity]

    def ids(self, table: ComparedTable, framework: str) -> tuple[str, ...]:
        """Ids of the trials of a framework there, those that do not count, too."""
        return tuple(one.recording.trial for one in self.trials[table].get(framework, ()))


def reference(recording: Recording) -> str:
    """Framework and variant of a trial as a campaign names them: `django:apache-fcgi`."""
    return ":".join(name for name in (recording.framework, recording.variant) if name)


def fields(document: Document, repetitions: Sequence[ComparedTrial]) -> tuple[Field, ...]:
    """What was published beside what was measured, at each endpoint and load that both have.

    Args:
        document: A document.
        repetitions: The trials of a campaign.
    """
    measured = _measured(repetitions)
    return tuple(
        _field(table, published, document.here.baseline, measured)
        for (endpoint, load), published in _placed(document).items()
        for table in measured.tables(endpoint, load)
    )


def claimed(document: Document, repetitions: Sequence[ComparedTrial]) -> tuple[Claimed, ...]:
    """What was measured of the claims that compare two servers which are measured here.

    Args:
        document: A document.
        repetitions: The trials of a campaign.
    """
    measured = _measured(repetitions)
    found = (
        Claimed(
            claim,
            claims.statement(claim, document.figures),
            dict(_ratios(claim, document.here, measured)),
        )
        for claim in document.claims
    )
    return tuple(one for one in found if one.measured)


def _measured(repetitions: Sequence[ComparedTrial]) -> _Measured:
    trials: dict[ComparedTable, dict[str, list[ComparedTrial]]] = {}
    for one in repetitions:
        frameworks = trials.setdefault(table_of(one.recording), {})
        frameworks.setdefault(reference(one.recording), []).append(one)
    return _Measured(trials)


def _placed(document: Document) -> dict[tuple[str, str], Published]:
    """The figures that have a counterpart, by endpoint and load; an empty load is any."""
    placed: dict[tuple[str, str], dict[Server, list[ReportedStatistics]]] = {}
    for one in document.figures:
        place = document.here.place(one.subject, one.endpoint)
        if place is not None and one.throughput_per_s:
            field = placed.setdefault((place.endpoint, place.load), {})
            field.setdefault((one.subject, place.framework), []).append(one)
    return {place: field for place, field in placed.items()}


def _field(table: ComparedTable, document: Published, named: str, measured: _Measured) -> Field:
    published = {server: _rates(figures) for server, figures in document.items()}
    quantities = {server: _quantity(figures) for server, figures in document.items()}
    counting, shown = (
        {server: read(table, server[1], quantity) for server, quantity in quantities.items()}
        for read in (measured.counting, measured.shown)
    )
    fastest = sorted(published, key=lambda server: -median(published[server]))
    baseline = _baseline(named, fastest, counting, shown)

    def ratio(server: Server) -> Estimate | None:
        """By the model, if both count and the document counts both alike; else of medians."""
        found = None
        if quantities[server] == quantities[baseline]:
            found = measured.ratio(table, server[1], baseline[1], quantities[server])
        return found or _ratio(shown[server], shown[baseline])

    rows = tuple(
        MatchedServer(
            subject=server[0],
            framework=server[1],
            published=_ratio(published[server], published[baseline]),
            measured=ratio(server),
            figures=tuple(document[server]),
            trials=measured.ids(table, server[1]),
        )
        for server in fastest
    )
    order = _order(
        published,
        {server: measured.of(table, server[1]) for server in document},
        {
            server: measured.observed(table, server[1], quantity)
            for server, quantity in quantities.items()
        },
    )
    return Field(*table, baseline[0], measured.ids(table, baseline[1]), rows, order)


def _rates(figures: Sequence[ReportedStatistics]) -> tuple[float, ...]:
    return tuple(one.throughput_per_s for one in figures if one.throughput_per_s)


def _quantity(figures: Sequence[ReportedStatistics]) -> str:
    """The column of `summaries` that counts as the document does: successful responses, or all."""
    return "goodput_per_s" if figures[0].counting == "successful" else "throughput_per_s"


def _column(repetitions: Sequence[ComparedTrial], quantity: str) -> tuple[float, ...]:
    return tuple(value for one in repetitions if (value := one.value(quantity)))


def _baseline(
    named: str,
    fastest: Sequence[Server],
    counting: Mapping[Server, Sequence[float]],
    shown: Mapping[Server, Sequence[float]],
) -> Server:
    """The server that is 1: the one named, else the best of the document.

    One with a number that counts goes before others, and one with any number before those without.
    """
    measured = ([server for server in fastest if values[server]] for values in (counting, shown))
    known = next(filter(None, measured), list(fastest))
    return next((server for server in known if server[1] == named), known[0])


def _ratio(numerators: Sequence[float], denominators: Sequence[float]) -> Estimate | None:
    if not numerators or not denominators:
        return None
    value = median(numerators) / median(denominators)
    same = numerators is denominators
    return Estimate(value, None if same else ratio_interval(numerators, denominators))


def _order(
    published: Mapping[Server, Sequence[float]],
    trials: Mapping[Server, Sequence[ComparedTrial]],
    values: Mapping[Server, Sequence[Observation]],
) -> PublishedOrder:
    """How the pairs stand of which both were measured, and which are apart in the document."""
    measured = sorted(
        (server for server in published if values[server]),
        key=lambda server: median(published[server]),
    )
    found = ranked([trials[server] for server in measured], [values[server] for server in measured])
    stands: Counter[str] = Counter()
    for slow, fast in combinations(range(len(measured)), 2):
        if median(published[measured[slow]]) < median(published[measured[fast]]):
            stands[_stands(found, fast, slow)] += 1
    return PublishedOrder(stands["same"], stands["turned"], stands["level"])


def _stands(found: Comparison, fast: int, slow: int) -> str:
    """How two servers stand here of which the first is ahead in the document."""
    if found.is_ahead(fast, slow):
        return "same"
    return "turned" if found.is_ahead(slow, fast) else "level"


def _ratios(
    claim: Claim, here: Counterparts, measured: _Measured
) -> Iterator[tuple[ComparedTable, Estimate]]:
    """The ratio of the two servers of a claim, wherever both were measured."""
    places = [here.everywhere(subject) for subject in claim.compare]
    if len({place and place.load for place in places}) != 1:
        return
    for table in measured.trials:
        if any(place is None or place.load not in ("", table.load) for place in places):
            continue
        one, other = (place.framework for place in places if place)
        ratio = measured.ratio(table, one, other, "throughput_per_s")
        if ratio is not None:
            yield table, ratio
