"""Events of a running campaign.

Events arrive in this order, from the thread that conducts the campaign; a listener must not raise
anything but `KeyboardInterrupt`, and may take long at `LoadEnded`, `LoadRecorded` and `TrialEnded`
only, when nothing is measured:

```
Notice …                                what is left out, and other remarks
TrialsSetAside                          when something changed and is measured again
CampaignStarted
    TrialSkipped …                      trials that are complete already
    TrialStarted
        Phase("idling") Phase("starting") Phase("checking")
        Phase("warming_up")             where its runtime needs that
        Phase("driving") Progress …     once a second
        Phase("checking") Phase("stopping") Phase("idling") Phase("writing")
    TrialEnded
    TrialJudged                         when it completed
    CoolingDown
    …
CampaignEnded
```

Where trials take turns, a group has `GroupStarted` for `TrialStarted`, `TurnEnded` for `Progress`,
its phases mixed, and then `GroupEnded`, with `TrialEnded` for each of its trials. `GroupServer`
tells whose phases follow when servers start and warm up. After `GroupFull`, the trials that it left
out are another group.

Between trials, `Step`s tell whose compliance is checked and, in a campaign of kind `line`, how each
search stands.

A check of frameworks has `Notice`s and `Step`s, `PartChecked` for each endpoint, the backlog and
the stop, and then `FrameworkChecked`. A calibration has `Notice`s and `Step`s only, a load what
`TrialStarted` and `TrialEnded` enclose, and `LoadEnded` before `Phase("writing")`.

Phases that are not reached are omitted. Nothing follows `TrialStarted` if the trial was
interrupted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from pathlib import Path

    from plimsoll.campaign.framework import Framework
    from plimsoll.plan import Trial
    from plimsoll.recording import Recording
    from plimsoll.recording.framework_check import CheckedPart, FrameworkCheck

PhaseName = Literal[
    "idling", "starting", "checking", "warming_up", "driving", "stopping", "writing"
]


@dataclass(frozen=True)
class Notice:
    """A remark.

    Attributes:
        message: One sentence without a full stop.
    """

    message: str


@dataclass(frozen=True)
class Step:
    """A step begins: of a calibration, a comparison or a report, a build, or a compliance gate.

    Attributes:
        message: The step in a few words.
        examined: The framework whose compliance is examined; None for other steps.
    """

    message: str
    examined: Framework | None = None


@dataclass(frozen=True)
class TrialsSetAside:
    """Recorded trials will be repeated, because something changed or they are void.

    Attributes:
        trials: Their ids.
        place: Where their earlier recordings are now, in words.
    """

    trials: tuple[str, ...]
    place: str


@dataclass(frozen=True)
class CampaignStarted:
    """A campaign begins.

    Attributes:
        trials: Trials of the plan.
        to_do: Those that will be conducted now.
        load_s: Length of their loads in seconds, without starting and stopping servers.
    """

    trials: int
    to_do: int
    load_s: float


@dataclass(frozen=True)
class TrialSkipped:
    """A trial is skipped because it is recorded already.

    Attributes:
        trial: The trial.
        ending: How it ended: `completed`, or the class of the error.
    """

    trial: Trial
    ending: str


@dataclass(frozen=True)
class TrialStarted:
    """A trial begins.

    Attributes:
        trial: The trial.
        number: Its number among those conducted now, from 1.
        of: How many are conducted now.
        left_s: Length of the loads from this trial on, this one included, in seconds.
    """

    trial: Trial
    number: int
    of: int
    left_s: float


@dataclass(frozen=True)
class GroupStarted:
    """Trials whose servers start once for all of them, and that take turns, begin.

    Attributes:
        trials: The trials.
        number: Number of the first among those conducted now, from 1.
        of: How many are conducted now.
        left_s: Length of the loads from this group on, this one included, in seconds.
    """

    trials: tuple[Trial, ...]
    number: int
    of: int
    left_s: float


@dataclass(frozen=True)
class GroupServer:
    """The phases that follow are those of one server of a group, until its turns begin.

    Attributes:
        framework: The framework and its variant.
        number: Its number in the group, from 1.
        of: Servers in the group.
    """

    framework: str
    number: int
    of: int


@dataclass(frozen=True)
class GroupFull:
    """The host has no room for further servers of a group, which are conducted after it.

    Attributes:
        servers: Servers that run.
        of: Servers that were to run.
    """

    servers: int
    of: int


@dataclass(frozen=True)
class Phase:
    """A trial enters a phase.

    Attributes:
        name: The phase.
    """

    name: PhaseName


@dataclass(frozen=True)
class RecentLatency:
    """Response times of a short while, in nanoseconds; each is up to 1/16 too long.

    Attributes:
        p50_ns: The median; None of too few responses, as in results.
        p90_ns: 90 % took no longer; likewise.
        p99_ns: 99 % took no longer; likewise.
    """

    p50_ns: float | None
    p90_ns: float | None
    p99_ns: float | None


@dataclass(frozen=True)
class Progress:
    """The state of the load, once a second and once at its end.

    Attributes:
        at_s: Seconds since the trial's zero.
        stage: Kind of the stage: `warm_up`, `ramp`, `hold`.
        connections_requested: Connections requested now.
        connections_open: Connections open now.
        in_flight: Requests in flight now.
        throughput_per_s: Complete responses per second since the last progress.
        requests_ended: Requests ended since zero.
        outcomes: Requests ended since zero, by outcome.
        connections_opened: Handshakes completed since zero.
        connections_refused: Attempts to connect that failed since zero.
        counted: Whether the driver reports counts during the load; if not, only the time, the
            stage and the requested connections are known.
        server_busy_cores: Cores that the server kept busy in the last second, or turn; None where
            that is not known yet.
        driver_busy_cores: The same of the driver.
        driver_threads: Its threads, the most cores that it can keep busy; None if unknown.
        statuses: Complete responses since zero, by status code.
        latency: Response times since the last progress; None without a response, or unknown.
    """

    at_s: float
    stage: str
    connections_requested: int
    connections_open: int
    in_flight: int
    throughput_per_s: float
    requests_ended: int
    outcomes: Mapping[str, int] = field(default_factory=dict[str, int])
    connections_opened: int = 0
    connections_refused: int = 0
    counted: bool = True
    server_busy_cores: float | None = None
    driver_busy_cores: float | None = None
    driver_threads: int | None = None
    statuses: Mapping[int, int] = field(default_factory=dict[int, int])
    latency: RecentLatency | None = None


@dataclass(frozen=True)
class TurnEnded:
    """A turn of one of the trials of a group is over.

    Attributes:
        trial: Whose turn it was.
        progress: How its load stands; `at_s` is the load that the group has had so far.
    """

    trial: Trial
    progress: Progress


@dataclass(frozen=True)
class LoadEnded:
    """The load on a server that ran already is over; its rows are not yet tables.

    Attributes:
        recording: What happened; what ran is not yet known.
        folder: Where the engine's records lie until the next event.
    """

    recording: Recording
    folder: Path


@dataclass(frozen=True)
class LoadRecorded:
    """A load that is kept is over and came to its end; its rows become tables next.

    Attributes:
        recording: What happened.
        folder: Where the engine's records and the readings lie until the next event.
    """

    recording: Recording
    folder: Path


@dataclass(frozen=True)
class GroupEnded:
    """Trials that took turns are stored; the end of each follows.

    Attributes:
        completed: Ids of those that have numbers.
    """

    completed: tuple[str, ...]


@dataclass(frozen=True)
class TrialEnded:
    """A trial has ended, and its recording is stored.

    Attributes:
        trial: The trial.
        recording: The recording; `recording.ending` shows whether it completed.
    """

    trial: Trial
    recording: Recording


@dataclass(frozen=True)
class TrialJudged:
    """A trial that completed has been judged.

    Attributes:
        trial: The trial.
        message: Its level and its worst finding, in one line; empty for a try of a load line, since
            one beyond the line fails on purpose.
    """

    trial: Trial
    message: str


@dataclass(frozen=True)
class CoolingDown:
    """The pause between two trials begins.

    Attributes:
        seconds: Its length.
    """

    seconds: float


@dataclass(frozen=True)
class CampaignEnded:
    """Every trial of the plan has been conducted.

    Attributes:
        completed: Number of completed trials, including earlier ones.
        failed: Ids of trials that ended with an error, including earlier ones.
    """

    completed: int
    failed: tuple[str, ...]


@dataclass(frozen=True)
class PartChecked:
    """An endpoint of a framework, its backlog or its stop has been verified.

    Attributes:
        framework: The framework.
        part: What was verified, with its violations.
    """

    framework: Framework
    part: CheckedPart


@dataclass(frozen=True)
class FrameworkChecked:
    """A framework has been verified; its server has stopped.

    Attributes:
        framework: The framework.
        check: What was found.
    """

    framework: Framework
    check: FrameworkCheck


Event = (
    Notice
    | Step
    | TrialsSetAside
    | CampaignStarted
    | TrialSkipped
    | TrialStarted
    | GroupStarted
    | GroupServer
    | GroupFull
    | Phase
    | Progress
    | TurnEnded
    | LoadEnded
    | LoadRecorded
    | GroupEnded
    | TrialEnded
    | TrialJudged
    | CoolingDown
    | CampaignEnded
    | PartChecked
    | FrameworkChecked
)
"""Any of them."""

Listener = Callable[[Event], None]
"""A function that receives events."""


def ignore(_event: Event) -> None:
    """A listener that ignores every event."""
