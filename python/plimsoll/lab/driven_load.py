"""A load is put on a server that responds; everything that needs is imported here."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from plimsoll import aggregate, findings, hosts, lab, machine
from plimsoll import storage as storages
from plimsoll.campaign.power import IDLE_S
from plimsoll.conduct import trial as trials
from plimsoll.conduct.run_config import RunConfig
from plimsoll.errors import StorageError
from plimsoll.events import LoadRecorded, Notice, Step
from plimsoll.lab.metering import require_power
from plimsoll.lab.unkept import UnkeptResults
from plimsoll.processes.interruption import Interruption
from plimsoll.sampling.samplers import energy
from plimsoll.storage import scratch
from plimsoll.storage.parquet import ParquetResults

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from plimsoll.drivers.job import Drive
    from plimsoll.events import Event, Listener
    from plimsoll.findings.trial import TrialFindings
    from plimsoll.hosts.host import Hosts
    from plimsoll.lab.load_options import LoadOptions
    from plimsoll.lab.results import LoadResult
    from plimsoll.plan import Trial
    from plimsoll.storage.results import Results


@dataclass(frozen=True)
class LoadJudged(LoadRecorded):
    """A load that is kept was judged by its records: faster than by the tables they become next.

    Attributes:
        findings: Its figures and verdicts.
    """

    findings: TrialFindings


def put_on(  # noqa: PLR0913, PLR0917 - one argument for each part of a load
    requested: LoadOptions,
    planned: Trial,
    address: str,
    contract_requests: int,
    record: Path | None,
    storage: str,
    on_event: Listener,
    known_hosts: Hosts | None = None,
    interruption: Interruption | None = None,
) -> LoadResult:
    """Puts a load on a server.

    Args:
        requested: Its options.
        planned: The trial they describe.
        address: Address of the server.
        contract_requests: Requests that were sent before it.
        record: New folder that keeps every row; None for a temporary one.
        storage: Address of a database that keeps the rows.
        on_event: Called with each event.
        known_hosts: The hosts that generate it; None generates it here.
        interruption: Knows of signals afterwards; None for one of its own.

    Raises:
        InputError: The load cannot be divided among the hosts.
        HostError: A limit of a host is too low for the load, a host did not join, or the power
            meter does not respond.
        StorageError: The rows cannot be kept.
        KeyboardInterrupt: A second Ctrl-C; nothing is kept, unless rows were being copied from
            hosts: then they stay there.
    """
    idle_s = requested.idle_s
    if idle_s is None:
        idle_s = IDLE_S if requested.power else 0.0
    recorded = energy.recorded()
    require_power(requested.power, idle_s, recorded, lambda message: on_event(Notice(message)))
    setting = RunConfig(
        driver_threads=requested.threads,
        driver_cores=requested.driver_cores,
        server_cores=requested.server_cores,
        limits={check: dict(values) for check, values in requested.limits.items()},
        body_sample_ratio=RunConfig.body_sample_ratio if requested.expected_body is None else 1.0,
        idle_s=idle_s,
        power=requested.power,
    )
    known: list[TrialFindings] = []

    def heard(event: Event) -> None:
        if isinstance(event, LoadRecorded) and (judged := _judged(event)):
            known.append(judged.findings)
            event = judged
        on_event(event)

    with naming_place(record), ExitStack() as closing:
        stored = closing.enter_context(kept(record, storage, of_engine=known_hosts is None))
        if known_hosts is not None:
            drive = _joined(
                closing, known_hosts, planned, address, on_event, leaves_rows=record is not None
            )
            setting = replace(setting, drive=drive)
        machine.raise_open_files()
        interruption = interruption or Interruption()
        with stored.locked(), interruption.listening():
            if record is not None and any(record.glob(lab.loads.REMAINS)):
                on_event(Notice(f"`{record}` holds what a killed load left; it is replaced"))
            recording = trials.load(
                planned, address, setting, stored, interruption, heard, contract_requests,
                is_kept=not isinstance(stored, UnkeptResults),
            )  # fmt: skip
        if isinstance(stored, UnkeptResults):
            stored.known[recording.trial] = recording
        if record is not None and any(one.kept for one in recording.hosts):
            fetching = f"`plimsoll host rows {record} --hosts {requested.hosts}` fetches them"
            on_event(Step(f"rows stayed on their hosts: {fetching}"))
        campaign = lab.results.CampaignResults(stored, closing.pop_all())
        return lab.results.LoadResult(
            campaign, planned.id, is_kept=record is not None, known=next(iter(known), None),
            is_interrupted=interruption.count > 0,
        )  # fmt: skip


def _judged(event: LoadRecorded) -> LoadJudged | None:
    """The event with what the checks say; None where a check fails, which no row is lost for."""
    try:
        tables = aggregate.trial.of_records(event.folder, event.recording)
        return LoadJudged(event.recording, event.folder, findings.derivation.judged(tables))
    except Exception:
        return None


def _joined(
    closing: ExitStack,
    known_hosts: Hosts,
    planned: Trial,
    address: str,
    on_event: Listener,
    *,
    leaves_rows: bool,
) -> Drive:
    """What generates the load on other hosts, once they have joined."""

    def tell_step(message: str) -> None:
        on_event(Step(message))

    connections = planned.load.peak_connections
    joined = hosts.lab.driver.joined(
        known_hosts, connections, address, tell_step, leaves_rows=leaves_rows
    )
    return closing.enter_context(joined).drive


@contextmanager
def naming_place(record: Path | None) -> Generator[None]:
    """Has errors of a full disk and the like name what selects the place of a load's rows.

    Args:
        record: Folder that keeps them; None for a temporary one.

    Raises:
        StorageError: The block raised one.
    """
    place = "the variable `TMPDIR`" if record is None else "`record=`"
    try:
        yield
    except StorageError as error:
        raise StorageError(error.message, error.hint.replace("`into=`", place)) from error


@contextmanager
def kept(record: Path | None, storage: str, *, of_engine: bool = True) -> Generator[Results]:
    """Where the rows go: what was requested, or a folder that is removed at the end.

    Raises:
        StorageError: The storage is not there, or holds a recording of this name.
    """
    if record is None:
        with scratch.folder() as folder:
            yield UnkeptResults(folder) if of_engine else ParquetResults(folder)
        return
    with storages.opened(record, storage) as results:
        _require_none(results)
        yield results


def _require_none(results: Results) -> None:
    """Does nothing when no recording is there yet.

    Raises:
        StorageError: There is; rows that were measured are not written over.
    """
    if results.trial_ids():
        message = f"`{results.place}` already holds a recording"
        raise StorageError(message, "choose another name with `record=`")
