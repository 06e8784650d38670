"""Results of a campaign or a load: tables, verdicts, rows and charts.

Trials are judged when a result first needs it, and what follows from them is kept beside them.
"""

from __future__ import annotations

import hashlib
import weakref
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll import aggregate, errors, findings, lab, report, verdicts, wording
from plimsoll import storage as storages
from plimsoll.errors import InputError, Problem
from plimsoll.events import Listener, ignore
from plimsoll.lab import arguments, closing, one_line
from plimsoll.lab.closing import Closable
from plimsoll.lab.unkept import UnkeptResults
from plimsoll.report import made
from plimsoll.storage import documents
from plimsoll.storage.parquet import ParquetResults

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    import pyarrow as pa
    from duckdb import DuckDBPyRelation

    from plimsoll.aggregate.summary import Summary
    from plimsoll.aggregate.trial import Tables
    from plimsoll.errors import PlimsollError
    from plimsoll.findings.campaign_thresholds import CampaignThreshold
    from plimsoll.findings.findings import Findings
    from plimsoll.findings.trial import State, TrialFindings
    from plimsoll.lab.charts import TrialChart
    from plimsoll.recording import Recording
    from plimsoll.report.results.machine_readable import JsonObject
    from plimsoll.storage.results import Results, StoredState
    from plimsoll.verdicts.verdict import Verdict

RESULTS = Path("results")
"""Folder of the results where none is named; each campaign has its own in it."""


@arguments.checked()
def read(
    path: str | os.PathLike[str],
    *,
    storage: str = "",
    again: bool = False,
    fail_if: Sequence[str] = (),
    on_event: Listener = ignore,
) -> CampaignResults:
    """Opens the results that `run`, `load`, or a verb of the command line kept.

    Args:
        path: Folder of the results. In a database its last part is the name of the campaign.
        storage: Address of a PostgreSQL database, `postgresql://USER@HOST/DATABASE`; empty for the
            folder.
        again: Whether everything is derived and judged again, whatever was kept.
        fail_if: Thresholds, `go/json.p99>20ms`; `findings.thresholds` has what they say.
        on_event: Called with a `Step` for each trial that is read and each file of the report.

    Raises:
        InputError: There is no recording, no such storage, or a threshold is wrong.
        StorageError: The results cannot be read.
    """
    wanted = findings.campaign_thresholds.read(fail_if) if fail_if else ()
    with ExitStack() as opened:
        stored = opened.enter_context(storages.opened(Path(path), storage))
        require_recordings(stored)
        return CampaignResults(
            stored, opened.pop_all(), again=again, fail_if=wanted, on_event=on_event
        )


def require_recordings(results: Results) -> None:
    """Requires at least one recording.

    Raises:
        InputError: There is none.
        StorageError: The results cannot be read, or what wrote them was killed.
    """
    if results.trial_ids():
        return
    if any(results.folder.glob(lab.loads.REMAINS)):
        message = f"`{results.place}` contains no complete recording: it was killed, or still runs"
        raise errors.StorageError(message, "repeat the `load` or `run` that wrote it")
    hint = "give a results folder written by `run`, or by `load` with `record=`"
    raise storages.missing(results, "no recording", hint)


class CampaignResults(Closable):
    """The results of one campaign, in a folder or a database.

    They stay open until `close`, the end of a `with` block, or the end of the object. Tables are
    those of `docs/tables.md`; times in them are in nanoseconds, rates per second.

    Args:
        stored: The results as they are stored.
        closes: Closes the storage, and removes what is temporary.
        again: Whether everything is derived and judged again, whatever was kept.
        fail_if: Thresholds on its entries.
        on_event: Called with each `Step` of what takes long: see `read`.

    Attributes:
        on_event: The same.
        reported_of: Digest of what its report was made of; empty before it, or where unknown.
    """

    def __init__(
        self,
        stored: Results,
        closes: ExitStack,
        *,
        again: bool = False,
        fail_if: Sequence[CampaignThreshold] = (),
        on_event: Listener = ignore,
    ) -> None:
        """Keep the storage open."""
        self._stored = stored
        self._again = again
        self._fail_if = fail_if
        self.on_event = on_event
        self.reported_of = ""
        self._close = weakref.finalize(self, closes.close)

    def close(self) -> None:
        """Closes the storage; what was not recorded is removed, what was read already stays."""
        self._close()

    @property
    def stored(self) -> Results:
        """The results as they are stored.

        Raises:
            StorageError: They are closed.
        """
        if not self._close.alive:
            raise closing.closed()
        return self._stored

    @property
    def place(self) -> str:
        """Where the results are, without credentials."""
        return self._stored.place

    @cached_property
    def findings(self) -> Findings:
        """Everything that a report is made of.

        Raises:
            InputError: A threshold applies to no entry.
            StorageError: A recording cannot be read, what follows from it cannot be kept, or the
                results are closed.
        """
        found, _ = self._gathered
        if not self._fail_if:
            return found
        if (load := found.single_load) is not None:
            judged = findings.campaign_thresholds.of_recorded_load(self._fail_if, load)
            return replace(found, thresholds=judged)
        tries = {one.recording.trial for one in found.trials} - {
            one.recording.trial for one in found.measured
        }
        planned = (
            findings.campaign_thresholds.entry_of_stored(one)
            for one in self.stored.plan()
            if one["id"] not in tries
        )
        judged = findings.campaign_thresholds.judged(self._fail_if, found.measured, planned)
        return replace(found, thresholds=judged)

    @cached_property
    def _gathered(self) -> tuple[Findings, str]:
        """The findings without thresholds, and the digest of what they follow from.

        It is empty where the storage does not know it, or a recording changed in the meantime.
        """
        self._trial_ids()
        before = self.stored.state(self.on_event)
        found = findings.gathering.gather(self.stored, again=self._again, on_event=self.on_event)
        after = self.stored.state()
        is_same = before is not None and after is not None and before.recorded == after.recorded
        return found, self._digest(after) if is_same else ""

    def _digest(self, state: StoredState | None) -> str:
        """A digest of what findings follow from, the name of the campaign among it."""
        if state is None:
            return ""
        name = self.stored.folder.resolve().name
        return hashlib.sha256(repr((state, name, self._fail_if)).encode()).hexdigest()

    def _trial_ids(self) -> tuple[str, ...]:
        """Ids of the trials, of which there was one at least when the results were opened.

        Raises:
            StorageError: There is none any more.
        """
        found = self.stored.trial_ids()
        if not found:
            raise errors.StorageError(f"`{self.place}` has no recording any more", documents.GONE)
        return found

    @arguments.checked()
    def as_json(self, accepted: Sequence[str] = ()) -> list[JsonObject]:
        """One object for each trial, ready for JSON: what `plimsoll judge --json` prints.

        Args:
            accepted: Checks, by name or title, whose doubts are listed as accepted.

        Raises:
            InputError: There is no such check.
            StorageError: The rows cannot be read.
        """
        return report.machine_readable.trials(self.findings, _checks(accepted))

    @cached_property
    def trials(self) -> tuple[TrialResult, ...]:
        """The trials that are recorded, in the order of the plan."""
        return tuple(TrialResult(self, trial_id) for trial_id in self._trial_ids())

    @arguments.checked()
    def trial(self, trial_id: str) -> TrialResult:
        """One trial.

        Raises:
            InputError: There is none of this id.
        """
        for one in self.trials:
            if one.id == trial_id:
                return one
        known = ", ".join(f"`{one.id}`" for one in self.trials)
        message = f"`{self.place}` has no trial `{trial_id}`"
        raise InputError([Problem("", message, f"its trials are {known}")])

    @property
    def missing(self) -> tuple[str, ...]:
        """Ids of planned trials without a complete recording."""
        found = set(self._trial_ids())
        return tuple(one for one in self.stored.planned_ids() if one not in found)

    @property
    def failed(self) -> tuple[FailedTrial, ...]:
        """Planned trials that an error of a framework or a driver ended."""
        planned, endings = set(self.stored.planned_ids()), self.stored.endings()
        ended = {key for key in planned if endings.get(key, "completed") != "completed"}
        return tuple(FailedTrial(self, one.id) for one in self.trials if one.id in ended)

    @property
    def void(self) -> tuple[TrialResult, ...]:
        """Trials that ended well, and whose numbers are void all the same."""
        void = {one.recording.trial for one in self.findings.counting if one.level == "void"}
        return tuple(one for one in self.trials if one.id in void and one.error is None)

    @property
    def summaries(self) -> pa.Table:
        """One row for each trial with a load: rates, times and connections of its holds."""
        return lab.result_tables.summaries(self.findings)

    @property
    def stages(self) -> pa.Table:
        """One row for each stage of each trial."""
        return lab.result_tables.stages(self.findings)

    @property
    def seconds(self) -> pa.Table:
        """One row for each second of each trial."""
        return lab.result_tables.seconds(self.findings)

    @property
    def comparisons(self) -> pa.Table:
        """One row for each framework, endpoint, load and quantity, with ranks and intervals."""
        return self.findings.comparisons

    @property
    def verdicts(self) -> pa.Table:
        """One row for each verdict, those on trials first, then those on the campaign."""
        return lab.result_tables.verdicts(self.findings)

    @arguments.checked()
    def report(
        self, formats: Sequence[str] = ("html", "pdf", "markdown", "card")
    ) -> tuple[Path, ...]:
        """Writes the report, unless it is there and nothing has changed that it is made of.

        Args:
            formats: Of `html`, `pdf`, `markdown` and `card`; one or several.

        Returns:
            The main file of each format.

        Raises:
            InputError: There is no such format.
            StorageError: It could not be written.
        """
        self.reported_of = "" if self._again else self._digest(self.stored.state(self.on_event))
        into = self.stored.report
        there = made.current(into, formats, self.reported_of) if self.reported_of else None
        if there is None:
            _, self.reported_of = self._gathered
            of, found = self.reported_of, self.findings
            return lab.charts.report(found, into, formats, of, self.on_event)
        return there

    def __repr__(self) -> str:
        """Campaign, place, trials, how many are missing, and how many have each level."""
        return one_line.shown(self, self._described)

    def _described(self) -> str:
        count, missing = len(self._trial_ids()), len(self.missing)
        trials = wording.several(count + missing, "trial")
        trials = f"{count} of {trials}" if missing else trials
        as_run = self.findings.as_run
        name = "" if as_run is None else f"{as_run.name}: "
        counts = self.findings.counts
        levels = [f"{count} {report.level_text.name(level)}" for level, count in counts.items()]
        return f"{name}{trials}{': ' if levels else ''}{', '.join(levels)} in {self.place}"

    def _repr_html_(self) -> str:
        """The rankings with their verdicts, for a notebook."""
        return one_line.as_html(self, lambda: lab.charts.rankings_html(self.findings))


def _checks(accepted: Sequence[str]) -> tuple[str, ...]:
    """Names of the checks whose doubts are accepted.

    Raises:
        InputError: There is no such check.
    """
    return verdicts.catalogue.require(accepted, "accepted") if accepted else ()


class ClosesCampaign(Closable):
    """The results of one call, which close what they were made with."""

    campaign: CampaignResults

    def close(self) -> None:
        """Closes the storage; what was not recorded is removed, what was read already stays."""
        self.campaign.close()


@dataclass(frozen=True, repr=False)
class TrialResult:
    """One trial.

    Attributes:
        campaign: The results it belongs to.
        id: Its id.
    """

    campaign: CampaignResults
    id: str

    @cached_property
    def recording(self) -> Recording:
        """What happened: framework, endpoint, load, stages, server, driver, ending."""
        return self.campaign.stored.recording(self.id)

    @cached_property
    def findings(self) -> TrialFindings:
        """Everything that a report shows of it.

        Raises:
            StorageError: Its rows cannot be read, or the result is closed.
        """
        for one in self.campaign.findings.trials:
            if one.recording.trial == self.id:
                return one
        message = f"`{self.campaign.place}` has no trial `{self.id}` any more"
        raise errors.StorageError(message, documents.GONE)

    @cached_property
    def judged(self) -> TrialFindings:
        """Its figures and verdicts; what charts are drawn from may be empty."""
        return self.findings

    @property
    def summary(self) -> Summary | None:
        """Throughput, latency and resources in its holds; None where no load was put on."""
        return self.judged.summary

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """What the checks say of it."""
        return self.judged.verdicts

    @property
    def level(self) -> State:
        """Its worst level: `sound`, `not_checked`, `doubtful`, `void`; or `failed`."""
        return self.judged.state

    @property
    def error(self) -> PlimsollError | None:
        """The error that ended it; None when it completed."""
        ending = self.recording.ending
        return errors.of_ending(ending.kind, ending.message, ending.hint)

    @property
    def seconds(self) -> pa.Table:
        """One row for each second."""
        return self.findings.data.seconds

    @property
    def requests(self) -> DuckDBPyRelation:
        """One row for each request, read when a query needs it; instants in nanoseconds.

        The column `stage` says in which stage it ended, `hold` for the measurement window. Where
        the lengths of request types are recorded, `sent_bytes` is that of each sent request.
        `.df()` gives a pandas frame, `.pl()` a polars frame, `.to_arrow_table()` an Arrow table.
        Read it in the thread that asks for it: each has its own connection of DuckDB, the main
        thread the default one. The relation is good for as long as the results are open.

        Raises:
            StorageError: The rows cannot be read.
        """
        rows = self._relation("requests")
        sent_bytes = aggregate.kinds.sent_bytes_expression(self.recording)
        stage = aggregate.stages.expression(self.recording)
        return rows.project(f"* REPLACE ({sent_bytes} AS sent_bytes), {stage} AS stage")

    @property
    def connections(self) -> DuckDBPyRelation:
        """One row for each attempt to connect, as `requests` gives those of requests."""
        return self._relation("connections")

    @property
    def usage(self) -> DuckDBPyRelation:
        """One row for each reading of a resource, as `requests` gives those of requests."""
        return self._relation("usage")

    def _relation(self, name: str) -> DuckDBPyRelation:
        """Rows of a recorded table; of a database copied, which keeps one trial here at a time."""
        from plimsoll.lab import relations  # noqa: PLC0415 - a load does without DuckDB

        with relations.reading:
            rows = self.campaign.stored.table(self.id, name)
            in_folder = isinstance(self.campaign.stored, ParquetResults)
            return relations.of_rows(rows if in_folder else rows.to_table())

    @property
    def logs(self) -> Mapping[str, str]:
        """What server and driver wrote, by name: `server.log`."""
        stored = self.campaign.stored
        stored.recording(self.id)  # of a trial that is gone there are no logs, and no error
        return stored.logs(self.id)

    @arguments.checked()
    def chart(self, name: str) -> TrialChart:
        """A chart of the report.

        Args:
            name: `throughput`, `machine_speed`, `response_time`, `heat_map`, `cpu`, `memory` or
                `connections`.

        Raises:
            InputError: There is no such chart, or its driver recorded nothing that it shows.
        """
        return lab.charts.of_trial(self.findings.data, name)

    def __repr__(self) -> str:
        """Its id, level, throughput, latency and failures."""
        return one_line.shown(self, self._described)

    def _described(self) -> str:
        return f"{self.id}: {report.one_line.line(self.judged)}"

    def _repr_html_(self) -> str:
        """Its main numbers and its verdicts, for a notebook."""
        return one_line.as_html(
            self,
            lambda: lab.charts.trial_html(self.campaign.findings, self.findings.recording.trial),
        )


@dataclass(frozen=True, repr=False, eq=False)
class FailedTrial(TrialResult):
    """A trial that an error of a framework or a driver ended; it equals its `TrialResult`."""

    @property
    def error(self) -> PlimsollError:
        """The error that ended it."""
        ending = self.recording.ending
        return errors.of_kind(ending.kind, ending.message, ending.hint)

    def __eq__(self, other: object) -> bool:
        """Whether it is the same trial of the same results."""
        if not isinstance(other, TrialResult):
            return NotImplemented
        return (self.campaign, self.id) == (other.campaign, other.id)

    def __hash__(self) -> int:
        """That of its `TrialResult`."""
        return hash((self.campaign, self.id))


class SingleResult(ClosesCampaign, TrialResult):
    """The one trial of a call that puts on or imports a load."""

    @property
    def summary(self) -> Summary:
        """Throughput, latency and resources in its holds.

        Raises:
            PlimsollError: There are none: the error that ended it before its load began.
        """
        found = self.judged.summary
        if found is None:
            raise self.error or errors.StorageError(
                f"`{self.id}` has no requests to summarise", "`recording` says what is known of it"
            )
        return found


@dataclass(frozen=True, repr=False)
class LoadResult(SingleResult):
    """One load, with everything a trial has.

    What was not recorded lies in a temporary folder, which `close`, the end of a `with` block, or
    the end of the object removes.

    Attributes:
        is_kept: Whether the recording outlives the object.
        known: What was judged before its rows became tables; None where nothing was.
        is_interrupted: Whether a signal came, during the load or after it.
    """

    is_kept: bool = False
    known: TrialFindings | None = None
    is_interrupted: bool = False

    @cached_property
    def judged(self) -> TrialFindings:
        """The same; nothing is derived that only charts need.

        Raises:
            StorageError: The rows cannot be read.
        """
        if self.known is not None:
            return self.known
        counted = self._counted
        return self.findings if counted is None else findings.derivation.judged(counted)

    @arguments.checked()
    def as_json(self, accepted: Sequence[str] = ()) -> JsonObject:
        """Everything that is known of it, ready for JSON: what `plimsoll load --json` prints.

        Args:
            accepted: Checks, by name or title, whose doubts are listed as accepted.

        Raises:
            InputError: There is no such check.
            StorageError: The rows cannot be read.
        """
        known = _checks(accepted)
        counted = self._counted
        found = (
            self.campaign.findings
            if counted is None
            else findings.gathering.of_trials(
                self.campaign.stored, [findings.derivation.listed(counted, self.judged)]
            )
        )
        (listed,) = report.machine_readable.trials(found, known)
        return {**listed, "recording": self.campaign.place if self.is_kept else None}

    @property
    def _counted(self) -> Tables | None:
        """What answers faster than to derive everything; None once everything is derived.

        That is the records of a load that is not recorded, and the tables of one that was judged.
        """
        if "findings" in self.campaign.__dict__:
            return None
        stored = self.campaign.stored
        if isinstance(stored, UnkeptResults):
            return stored.counted(self.recording)
        return None if self.known is None else aggregate.trial.stored(stored, self.recording)
