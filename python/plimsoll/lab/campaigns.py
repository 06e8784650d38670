"""`plimsoll.run`: the trials of a campaign.

What conducts trials is imported where there are some to conduct: to find that a campaign is
complete takes less time than that import.
"""

from __future__ import annotations

import os
import shlex
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from plimsoll import findings, lab
from plimsoll.campaign import places
from plimsoll.events import Listener, ignore
from plimsoll.hosts.host import KeepRows
from plimsoll.lab import arguments, selection
from plimsoll.lab.results import RESULTS, CampaignResults
from plimsoll.storage import parquet
from plimsoll.storage.documents import CampaignFiles

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.campaign.campaign import Campaign
    from plimsoll.findings.campaign_thresholds import CampaignThreshold


@dataclass(frozen=True)
class RunOrder:
    """What a run was asked for.

    Attributes:
        campaign: The campaign, with its settings.
        files: Its files as its results keep them.
        folder: Folder of the results.
        storage: Address of a database that keeps them; empty for the folder.
        wanted: Thresholds on its entries.
        hosts: File of its hosts; None does all of it here.
        keep_rows: Where the rows of hosts stay.
        available: Whether what is not available here is left out.
        again: Whether failed and void trials are repeated.
        repeat_changed: Whether trials of before a change are measured again.
        judge: Whether each trial is judged when it ends.
        command: What resumes it, for a shell.
        begun_s: When it began, by the monotonic clock, in seconds.
        on_event: Called with each event.
    """

    campaign: Campaign
    files: CampaignFiles
    folder: Path
    storage: str
    wanted: Sequence[CampaignThreshold]
    hosts: Path | None
    keep_rows: KeepRows
    available: bool
    again: bool
    repeat_changed: bool
    judge: bool
    command: str
    begun_s: float
    on_event: Listener


@arguments.checked(KeepRows=get_args(KeepRows))
def run(  # noqa: PLR0913 - one argument for each option
    campaign: str | os.PathLike[str],
    *,
    into: str | os.PathLike[str] | None = None,
    storage: str = "",
    settings: Sequence[str] = (),
    frameworks: str | os.PathLike[str] | None = None,
    available: bool = False,
    again: bool = False,
    repeat_changed: bool = False,
    judge: bool = True,
    fail_if: Sequence[str] = (),
    hosts: str | os.PathLike[str] | None = None,
    keep_rows: KeepRows = "lab",
    on_event: Listener = ignore,
) -> CampaignResults:
    """Conducts the trials of a campaign; called again, it goes on where it stopped.

    A trial that a framework or a driver ends with an error is recorded with that error, and the
    campaign goes on: `results.failed` has these trials.

    Args:
        campaign: The campaign file, or the name of a campaign that is here or came with Plimsoll.
        into: Folder of the results; None is `results/` and the name of the campaign.
        storage: Address of a PostgreSQL database that keeps the results; empty for the folder.
        settings: Values of the campaign that are changed, as `repetitions=1`.
        frameworks: Folder of the frameworks; None is `frameworks/` here, in a parent, or
            Plimsoll's own.
        available: Whether what is not available here is left out, and named as a `Notice`.
        again: Whether failed and void trials are repeated.
        repeat_changed: Whether trials of before a change are measured again; the earlier ones are
            kept aside. Without it, such a change is an error.
        judge: Whether each trial is judged when it ends, and the verdict told as `TrialJudged`.
        fail_if: Thresholds, `go/json.p99>20ms`; `results.findings.thresholds` has what they say.
        hosts: File of the hosts that run servers and generate loads; None does all of it here.
        keep_rows: With hosts: `lab` copies every row; `remote` leaves rows on their hosts, which
            count them, so that what needs single rows is not checked.
        on_event: Called with each event.

    Raises:
        InputError: The campaign file, a setting, a threshold or the file of hosts is wrong, or no
            trial is left.
        NotInstalled: A framework is not installed or was never built, or an endpoint needs a
            database and PostgreSQL is not installed.
        BuildFailed: A framework changed since it was built, and its build failed.
        DriverMissing: A driver is not installed.
        HostError: A host cannot conduct a trial, did not join, or was lost and did not come back.
        MeterFailed: The power meter does not respond.
        MixedResults: An application, or what measures it, changed since trials were recorded.
        StorageError: The results cannot be written, or belong to another campaign.
        Interrupted: Ctrl-C in the main thread; complete trials are kept.
    """
    begun_s = time.monotonic()
    wanted = findings.campaign_thresholds.read(fail_if) if fail_if else ()
    path = places.campaign_file(Path(campaign))
    root = None if frameworks is None else Path(frameworks)
    requested = selection.campaign(path, settings, root)
    order = RunOrder(
        campaign=requested,
        files=CampaignFiles(
            path.read_text(encoding="utf-8"),
            selection.published(requested),
            selection.document_of(requested, path, settings, root),
        ),
        folder=RESULTS / requested.name if into is None else Path(into),
        storage=storage,
        wanted=wanted,
        hosts=None if hosts is None else Path(hosts),
        keep_rows=keep_rows,
        available=available,
        again=again,
        repeat_changed=repeat_changed,
        judge=judge,
        command=_command(
            campaign, into, storage, settings, frameworks, hosts, keep_rows, available=available
        ),
        begun_s=begun_s,
        on_event=on_event,
    )
    return _finished(order) or lab.conducting.conducted(order)


def _finished(order: RunOrder) -> CampaignResults | None:
    """The results of a campaign of which this machine has nothing left to run.

    Returns:
        None where something is left, or only `lab.conducting` can tell.
    """
    is_asked_more = order.available or order.again or order.wanted or order.storage or order.hosts
    if is_asked_more:
        return None
    stored = parquet.results(order.folder)
    found = lab.finished.of(order.campaign, order.files, stored)
    if found is None:
        return None
    found.tell(order.on_event)
    return CampaignResults(stored, ExitStack())


def _command(
    campaign: str | os.PathLike[str],
    into: str | os.PathLike[str] | None,
    storage: str,
    settings: Sequence[str],
    frameworks: str | os.PathLike[str] | None,
    hosts: str | os.PathLike[str] | None,
    keep_rows: KeepRows,
    *,
    available: bool,
) -> str:
    """What resumes a run, for a shell; the address of a database is left to the reader."""
    words = ["plimsoll", "run", os.fspath(campaign), *(["--available"] if available else [])]
    for option, value in (("--into", into), ("--frameworks", frameworks), ("--hosts", hosts)):
        words += [] if value is None else [option, os.fspath(value)]
    words += [] if keep_rows == "lab" else ["--keep-rows", keep_rows]
    for setting in settings:
        words += ["--set", setting]
    return shlex.join(words) + (" --storage URL" if storage else "")
