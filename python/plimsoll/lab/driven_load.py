"""A load is put on a server that responds; everything that needs is imported here."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from plimsoll import lab, machine
from plimsoll import storage as storages
from plimsoll.campaign.power import IDLE_S
from plimsoll.conduct import trial as trials
from plimsoll.conduct.run_config import RunConfig
from plimsoll.errors import StorageError
from plimsoll.events import Notice
from plimsoll.lab import scratch
from plimsoll.lab.metering import require_power
from plimsoll.lab.unkept import UnkeptResults
from plimsoll.processes.interruption import Interruption

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from plimsoll.events import Listener
    from plimsoll.lab.load_options import LoadOptions
    from plimsoll.lab.results import LoadResult
    from plimsoll.plan import Trial
    from plimsoll.storage.results import Results


def put_on(
    requested: LoadOptions,
    planned: Trial,
    address: str,
    contract_requests: int,
    record: Path | None,
    storage: str,
    tell: Listener,
) -> LoadResult:
    """Puts a load on a server.

    Args:
        requested: Its options.
        planned: The trial they describe.
        address: Address and port of the server, both as numbers.
        contract_requests: Requests that were sent before it.
        record: New folder that keeps every row; None for a temporary one.
        storage: Address of a database that keeps the rows.
        tell: Called with each event.

    Raises:
        HostError: A limit of this host is too low for the load, or the power meter does not answer.
        StorageError: The rows cannot be kept.
        KeyboardInterrupt: A second Ctrl-C; nothing is kept.
    """
    idle_s = requested.idle_s
    if idle_s is None:
        idle_s = IDLE_S if requested.power else 0.0
    require_power(requested.power, idle_s, lambda message: tell(Notice(message)))
    setting = RunConfig(
        driver_threads=requested.threads,
        driver_cores=requested.driver_cores,
        limits={check: dict(values) for check, values in requested.limits.items()},
        body_sample_ratio=RunConfig.body_sample_ratio if requested.expected_body is None else 1.0,
        idle_s=idle_s,
        power=requested.power,
    )
    with ExitStack() as closing:
        stored = closing.enter_context(kept(record, storage))
        machine.raise_open_files()
        interruption = Interruption()
        with stored.locked(), interruption.listening():
            recording = trials.load(
                planned, address, setting, stored, interruption, tell, contract_requests,
                is_kept=record is not None,
            )  # fmt: skip
        if isinstance(stored, UnkeptResults):
            stored.known[recording.trial] = recording
        campaign = lab.results.CampaignResults(stored, closing.pop_all())
        return lab.results.LoadResult(campaign, planned.id)


@contextmanager
def kept(record: Path | None, storage: str) -> Generator[Results]:
    """Where the rows go: what was requested, or a folder that is removed at the end.

    Raises:
        StorageError: The storage is not there, or holds a recording of this name.
    """
    if record is None:
        with scratch.folder() as folder:
            yield UnkeptResults(folder)
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
        raise StorageError(message, "choose another name with `--record`")
