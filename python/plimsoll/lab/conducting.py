"""Conducting: the trials of a campaign that are left, here or on other hosts."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from plimsoll import machine, plan
from plimsoll import storage as storages
from plimsoll.conduct import campaign as conducting
from plimsoll.conduct.campaign import Repeat
from plimsoll.estimates import PlanTiming
from plimsoll.events import (
    Event,
    GroupEnded,
    Listener,
    Notice,
    Step,
    TrialEnded,
    TrialJudged,
    ignore,
)
from plimsoll.findings import campaign_thresholds, derivation, deriving, gathering
from plimsoll.lab import campaign_hosts, databases, finished, following, selection
from plimsoll.lab.announcing import Announcer
from plimsoll.lab.metering import note_system_calls, require_power
from plimsoll.lab.paces import PaceKeeper
from plimsoll.lab.results import CampaignResults
from plimsoll.load_line.tries import is_try
from plimsoll.recording import HOST
from plimsoll.report import level_text
from plimsoll.serving.here import LocalHost

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from plimsoll.campaign.campaign import Campaign
    from plimsoll.conduct.run_config import RunConfig
    from plimsoll.hosts.lab.campaign import CampaignHosts
    from plimsoll.lab.campaigns import RunOrder
    from plimsoll.plan import Refuses, Trial
    from plimsoll.recording import Recording
    from plimsoll.serving.place import ServerPlace
    from plimsoll.storage.results import Results


def conducted(order: RunOrder) -> CampaignResults:
    """Conducts the trials of a campaign that are left.

    Args:
        order: What was asked for.

    Raises:
        PlimsollError: As `plimsoll.run` describes.
    """
    complete = _complete(order) if order.hosts is not None else None
    if complete is not None:
        return complete
    hosts = campaign_hosts.joined(order.campaign, order.hosts, order.keep_rows, order.on_event)
    with hosts as found, ExitStack() as closing, ExitStack() as beside:
        ready = _made_ready(order, found)
        requested, refuses = ready.requested, ready.refuses
        trials = _planned(requested, refuses, order.on_event)
        campaign_thresholds.require_entries(order.wanted, map(campaign_thresholds.entry_of, trials))
        stored = closing.enter_context(storages.opened(order.folder, order.storage))
        following.require_until(requested, stored)
        planned = (*trials, *following.begun(requested, refuses, stored))
        _require_resources(requested, ready.place, order.on_event)
        setting = beside.enter_context(_configured(requested, found, order.on_event))
        _conduct(order, ready, planned, setting, stored)
        return CampaignResults(stored, closing.pop_all(), fail_if=order.wanted)


@dataclass(frozen=True)
class _Ready:
    """A campaign whose servers and drivers are all there.

    Attributes:
        requested: The campaign, without what is not available if that is left out.
        refuses: Why a driver cannot put a load on a server.
        place: Where the servers run.
        begun_s: When the run began, as `RunOrder.begun_s`; None where it also built something or
            waited for hosts.
    """

    requested: Campaign
    refuses: Refuses
    place: ServerPlace
    begun_s: float | None


def _made_ready(order: RunOrder, found: CampaignHosts | None) -> _Ready:
    """Requires what a campaign needs, and builds what must be built.

    Raises:
        PlimsollError: Something is lacking, or cannot be built.
    """
    requested, on_event = order.campaign, order.on_event
    place = LocalHost() if found is None else found.serve
    has_database_here = found is None or found.database is None
    if order.available:
        requested = selection.with_available(
            requested, _noting(on_event), place.absent, has_database_here=has_database_here
        )
    lacking = selection.lacking_here() if found is None else found.lacking
    selection.require_drivers(requested, lacking)
    databases.require(requested.endpoints, is_here=has_database_here)
    built: list[str] = []
    place.make_ready(requested.frameworks, lambda step: _told(step, built, on_event))
    begun_s = None if built or found is not None else order.begun_s
    return _Ready(requested, selection.refusals(requested, lacking), place, begun_s)


def _require_resources(requested: Campaign, place: ServerPlace, on_event: Listener) -> None:
    """Requires the meters of a campaign; notes which readings this host cannot give."""
    require_power(requested.power, requested.idle_s, place.rapl(), _noting(on_event))
    if requested.ladder is not None and place.host == HOST:
        note_system_calls(_noting(on_event))


def _conduct(
    order: RunOrder,
    ready: _Ready,
    planned: tuple[Trial, ...],
    setting: RunConfig,
    stored: Results,
) -> None:
    """Conducts the trials that are left, and those that follow from what they showed."""
    requested, timing = ready.requested, PlanTiming.of(ready.requested)
    announcer = Announcer(
        order.folder,
        planned,
        order.on_event,
        command=order.command,
        cores=_cores(requested, setting),
        timing=replace(timing, has_gate=False),  # a gate is over before its trials begin
    )
    tell = _judging(stored, requested, announcer) if order.judge else announcer
    with announcer:
        conducting.conduct(
            planned,
            setting,
            stored,
            order.files,
            cool_down_s=requested.cool_down_s,
            repeat=Repeat(
                failed=order.again,
                changed=order.repeat_changed,
                void=_void(stored) if order.again else (),
            ),
            further=following.further(requested, ready.refuses, stored, order.on_event),
            tell=PaceKeeper(tell, timing, run_begun_s=ready.begun_s),
        )


def _noting(on_event: Listener) -> Callable[[str], None]:
    """Tells messages as notices."""
    return lambda message: on_event(Notice(message))


def _complete(order: RunOrder) -> CampaignResults | None:
    """The results of a campaign with nothing left to run, which needs none of its hosts.

    Returns:
        Them; None if something is left.

    Raises:
        StorageError: The results cannot be read, or belong to another campaign.
    """
    if order.available or order.repeat_changed:
        return None
    if not order.storage and not order.folder.exists():
        return None
    requested = order.campaign
    with ExitStack() as closing:
        stored = closing.enter_context(storages.opened(order.folder, order.storage))
        if not stored.trial_ids():
            return None
        refuses = selection.refusals(requested, {})
        planned = (
            *plan.plan(requested, refuses),
            *following.begun(requested, refuses, stored),
        )
        done = conducting.earlier(planned, stored, again=order.again)
        if len(done) < len(planned) or (order.again and _void(stored)):
            return None
        if following.further(requested, refuses, stored, ignore)():
            return None
        with stored.locked():
            stored.prepare(order.files, planned)
        conducting.tell_complete(planned, done, order.on_event)
        return CampaignResults(stored, closing.pop_all(), fail_if=order.wanted)


def _told(step: str, built: list[str], on_event: Listener) -> None:
    """Tells of a build, and notes it."""
    built.append(step)
    on_event(Step(step))


def _cores(requested: Campaign, setting: RunConfig) -> tuple[int, ...]:
    """Cores of server and driver under any load; empty where one of them may use all."""
    servers = [load.server_cores or setting.server_cores for load in requested.loads]
    given = [setting.driver_cores, *servers]
    return tuple(sorted({core for cores in given for core in cores})) if all(given) else ()


def _planned(requested: Campaign, refuses: Refuses, on_event: Listener) -> tuple[Trial, ...]:
    trials = plan.plan(requested, refuses)
    for line in selection.left_out(requested, refuses):
        on_event(Notice(line))
    selection.require_trials(trials)
    selection.require_rule(requested, trials)
    return trials


@contextmanager
def _configured(
    requested: Campaign, found: CampaignHosts | None, on_event: Listener
) -> Generator[RunConfig]:
    """What all trials have in common; a database that they need runs as long as the block."""
    machine.raise_open_files()
    setting = finished.setting(requested)
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


def _judging(stored: Results, campaign: Campaign, on_event: Listener) -> Listener:
    """A listener that also judges each trial that completed."""

    def reported(event: Event) -> None:
        on_event(event)
        if isinstance(event, GroupEnded):
            with suppress(Exception):  # what cannot be judged says so when its own end is told
                deriving.of_trials(stored, event.completed)
        if isinstance(event, TrialEnded) and event.recording.ending.kind == "completed":
            said = _sentence(stored, event.recording)
            is_of_line = campaign.line is not None and is_try(event.recording)
            on_event(TrialJudged(event.trial, "" if is_of_line else said))

    return reported


def _sentence(stored: Results, recording: Recording) -> str:
    """What the checks say of a trial, in one line; what follows from it is kept."""
    try:
        kept = stored.recording(recording.trial)  # as every later reader has it
        return level_text.of_verdicts(derivation.of_trial(stored, kept).verdicts)
    except Exception as error:  # a fault in a check must not end a campaign that goes on for hours
        return f"not judged: {type(error).__name__}: {error}".partition("\n")[0]
