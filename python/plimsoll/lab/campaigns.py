"""`plimsoll.run`: the trials of a campaign."""

from __future__ import annotations

import os
import shlex
import time
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from plimsoll import machine, plan
from plimsoll import storage as storages
from plimsoll.campaign import places
from plimsoll.conduct import campaign as conducting
from plimsoll.conduct.campaign import Repeat
from plimsoll.conduct.run_config import RunConfig
from plimsoll.errors import InputError, Problem
from plimsoll.estimates import Course
from plimsoll.events import Event, Listener, Notice, Step, TrialEnded, TrialJudged, ignore
from plimsoll.findings import campaign_thresholds, derivation, gathering
from plimsoll.hosts.host import KeepRows
from plimsoll.lab import arguments, campaign_hosts, databases, following, selection
from plimsoll.lab.announcing import Announcer
from plimsoll.lab.metering import note_system_calls, require_power
from plimsoll.lab.paces import PaceKeeper
from plimsoll.lab.results import CampaignResults
from plimsoll.recording import HOST
from plimsoll.report import words
from plimsoll.serving.here import LocalHost
from plimsoll.storage.documents import CampaignFiles

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from plimsoll.campaign.campaign import Campaign
    from plimsoll.findings.campaign_thresholds import CampaignThreshold
    from plimsoll.hosts.campaign import CampaignHosts
    from plimsoll.plan import Refuses, Trial
    from plimsoll.recording import Recording
    from plimsoll.storage.results import Results

RESULTS = Path("results")
"""Folder of the results where none is named; each campaign has its own in it."""


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

    def note(message: str) -> None:
        on_event(Notice(message))

    begun_s = time.monotonic()
    wanted = campaign_thresholds.read(fail_if)
    path = places.campaign_file(Path(campaign))
    root = None if frameworks is None else Path(frameworks)
    requested = selection.campaign(path, settings, root)
    file = None if hosts is None else Path(hosts)
    folder = RESULTS / requested.name if into is None else Path(into)
    files = CampaignFiles(
        path.read_text(encoding="utf-8"),
        selection.published(requested),
        selection.document_of(requested, path, settings, root),
    )
    if file is not None and not available and not repeat_changed and (storage or folder.exists()):
        complete = _complete(requested, files, folder, storage, on_event, wanted, again=again)
        if complete is not None:
            return complete
    with (
        campaign_hosts.joined(requested, file, keep_rows, on_event) as found,
        ExitStack() as closing,
        ExitStack() as beside,
    ):
        place = LocalHost() if found is None else found.serve
        has_database_here = found is None or found.database is None
        if available:
            requested = selection.with_available(
                requested, note, place.absent, has_database_here=has_database_here
            )
        lacking = selection.lacking_here() if found is None else found.lacking
        selection.require_drivers(requested, lacking)
        databases.require(requested.endpoints, is_here=has_database_here)
        built: list[str] = []
        place.make_ready(requested.frameworks, lambda step: _told(step, built, on_event))
        refuses = selection.refusals(requested, lacking)
        trials = _planned(requested, refuses, on_event)
        campaign_thresholds.require_entries(wanted, map(campaign_thresholds.entry_of, trials))
        stored = closing.enter_context(storages.opened(folder, storage))
        following.require_until(requested, stored)
        planned = (*trials, *following.begun(requested, refuses, stored))
        require_power(requested.power, requested.idle_s, place.rapl(), note)
        if requested.ladder is not None and place.host == HOST:
            note_system_calls(note)
        setting = beside.enter_context(_configured(requested, found, on_event))
        course = Course.of(requested)
        announcer = Announcer(
            folder,
            planned,
            on_event,
            command=_command(
                campaign, into, storage, settings, frameworks, hosts, keep_rows, available=available
            ),
            cores=_cores(requested, setting),
            course=replace(course, has_gate=False),  # a gate is over before its trials begin
        )
        with announcer:
            conducting.conduct(
                planned,
                setting,
                stored,
                files,
                cool_down_s=requested.cool_down_s,
                repeat=Repeat(
                    failed=again,
                    changed=repeat_changed,
                    void=_void(stored) if again else (),
                ),
                further=following.further(requested, refuses, stored, on_event),
                tell=PaceKeeper(
                    _judging(stored, announcer) if judge else announcer,
                    course,
                    run_begun_s=None if built or found is not None else begun_s,
                ),
            )
        return CampaignResults(stored, closing.pop_all(), fail_if=wanted)


def _complete(
    requested: Campaign,
    files: CampaignFiles,
    folder: Path,
    storage: str,
    on_event: Listener,
    wanted: Sequence[CampaignThreshold],
    *,
    again: bool,
) -> CampaignResults | None:
    """The results of a campaign with nothing left to run, which needs none of its hosts.

    Returns:
        Them; None if something is left.

    Raises:
        StorageError: The results cannot be read, or belong to another campaign.
    """
    with ExitStack() as closing:
        stored = closing.enter_context(storages.opened(folder, storage))
        if not stored.trial_ids():
            return None
        refuses = selection.refusals(requested, {})
        planned = (
            *plan.plan(requested, refuses),
            *following.begun(requested, refuses, stored),
        )
        done = conducting.earlier(planned, stored, again=again)
        if len(done) < len(planned) or (again and _void(stored)):
            return None
        if following.further(requested, refuses, stored, ignore)():
            return None
        with stored.locked():
            stored.prepare(files, planned)
        conducting.tell_complete(planned, done, on_event)
        return CampaignResults(stored, closing.pop_all(), fail_if=wanted)


def _told(step: str, built: list[str], on_event: Listener) -> None:
    """Tells of a build, and notes it."""
    built.append(step)
    on_event(Step(step))


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


def _cores(requested: Campaign, setting: RunConfig) -> tuple[int, ...]:
    """Cores of server and driver under any load; empty where one of them may use all."""
    servers = [load.server_cores or setting.server_cores for load in requested.loads]
    given = [setting.driver_cores, *servers]
    return tuple(sorted({core for cores in given for core in cores})) if all(given) else ()


def _planned(requested: Campaign, refuses: Refuses, on_event: Listener) -> tuple[Trial, ...]:
    trials = plan.plan(requested, refuses)
    for line in selection.left_out(requested, refuses):
        on_event(Notice(line))
    if not trials:
        problem = Problem(
            "", "the campaign has no trial to run", "choose other frameworks or drivers"
        )
        raise InputError([problem])
    selection.require_rule(requested, trials)
    return trials


@contextmanager
def _configured(
    requested: Campaign, found: CampaignHosts | None, on_event: Listener
) -> Generator[RunConfig]:
    """What all trials have in common; a database that they need runs as long as the block."""
    machine.raise_open_files()
    setting = RunConfig(
        body_sample_ratio=requested.body_sample_ratio,
        limits=requested.limits,
        idle_s=requested.idle_s,
        reads_costs=requested.ladder is not None,
        power=requested.power,
        turn_s=requested.turn_s,
        has_gate=requested.compliance,
    )
    if found is not None:
        setting = campaign_hosts.placed(setting, requested, found, on_event)
        with campaign_hosts.stored(setting, requested, found, on_event) as with_database:
            yield with_database
        return
    division = machine.divide_cores(
        requested.server_cores,
        requested.driver_cores,
        with_third_party=databases.has_third_party(requested.endpoints),
    )
    for load in requested.loads:
        machine.divide_cores(load.server_cores or division.server, division.driver)
    if division.note:
        on_event(Notice(division.note))
    machine.check_connections(max(load.peak_connections for load in requested.loads))
    with databases.running(requested.endpoints, division.third_party, on_event) as database:
        yield replace(
            setting,
            server_cores=division.server,
            driver_cores=division.driver,
            machine=machine.facts(),
            notes=(division.note,) if division.note else (),
            database=database,
            upstream_cores=division.third_party,
        )


def _void(stored: Results) -> tuple[str, ...]:
    """Ids of the trials that ended well, and whose numbers are void all the same.

    A try of a load line is none of them: one beyond the line fails on purpose.
    """
    if not stored.trial_ids():
        return ()
    found = gathering.gather(stored)
    trials = found.measured if found.lines else found.counting
    return tuple(
        one.recording.trial for one in trials if one.level == "void" and one.has_ended_well
    )


def _judging(stored: Results, on_event: Listener) -> Listener:
    """A listener that also judges each trial that completed."""

    def reported(event: Event) -> None:
        on_event(event)
        if isinstance(event, TrialEnded) and event.recording.ending.kind == "completed":
            on_event(TrialJudged(event.trial, _sentence(stored, event.recording)))

    return reported


def _sentence(stored: Results, recording: Recording) -> str:
    """What the checks say of a trial, in one line; what follows from it is kept."""
    try:
        kept = stored.recording(recording.trial)  # as every later reader has it
        return words.verdicts_text(derivation.of_trial(stored, kept).verdicts)
    except Exception as error:  # a fault in a check must not end a campaign that goes on for hours
        return f"not judged: {type(error).__name__}: {error}".partition("\n")[0]
