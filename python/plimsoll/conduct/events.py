"""What a campaign tells while it runs.

Events arrive in this order, from the thread that conducts the campaign; whoever listens must not
raise, and may take long at `TrialEnded` only, when nothing is measured:

```
CampaignStarted
    TrialSkipped …                      trials that are complete already
    TrialStarted
        Phase("idling") Phase("starting") Phase("checking")
        Phase("driving") Progress …     once a second
        Phase("checking") Phase("stopping") Phase("idling") Phase("writing")
    TrialEnded
    CoolingDown
    …
CampaignEnded
```

A phase that is not reached is left out. Nothing follows `TrialStarted` when the trial was
interrupted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from plimsoll.plan import Trial
from plimsoll.recording import Recording

PhaseName = Literal["idling", "starting", "checking", "driving", "stopping", "writing"]


@dataclass(frozen=True)
class CampaignStarted:
    """A campaign begins.

    Attributes:
        trials: Trials of the plan.
        to_do: Those of them that will be conducted now.
        load_s: Length of the loads of these, in seconds; starting and stopping come on top.
    """

    trials: int
    to_do: int
    load_s: float


@dataclass(frozen=True)
class TrialSkipped:
    """A trial was conducted before.

    Attributes:
        trial: The trial.
        ending: How it ended then: `completed`, or the class of the error.
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
class Phase:
    """A trial enters a phase.

    Attributes:
        name: The phase.
    """

    name: PhaseName


@dataclass(frozen=True)
class Progress:
    """How the load stands; once a second and once at its end.

    Attributes:
        at_s: Seconds since the trial's zero.
        stage: Kind of the stage: `warm_up`, `ramp`, `hold`.
        connections_asked: Connections asked for now.
        connections_open: Connections open now.
        in_flight: Requests in flight now.
        throughput_per_s: Complete answers per second since the last progress.
        requests_ended: Requests ended since zero.
        outcomes: Requests ended since zero, by outcome.
        connections_opened: Handshakes completed since zero.
        connections_refused: Attempts to connect that failed since zero.
        counted: Whether the driver counts while it works; of one that does not, only the time,
            the stage and what was asked for are known.
    """

    at_s: float
    stage: str
    connections_asked: int
    connections_open: int
    in_flight: int
    throughput_per_s: float
    requests_ended: int
    outcomes: Mapping[str, int] = field(default_factory=dict[str, int])
    connections_opened: int = 0
    connections_refused: int = 0
    counted: bool = True


@dataclass(frozen=True)
class TrialEnded:
    """A trial is over, and its recording is kept.

    Attributes:
        trial: The trial.
        recording: What happened; `recording.ending` says whether it went well.
    """

    trial: Trial
    recording: Recording


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
        completed: Trials that ended well, now or before.
        failed: Ids of the trials that ended with an error, now or before.
    """

    completed: int
    failed: tuple[str, ...]


Event = (
    CampaignStarted
    | TrialSkipped
    | TrialStarted
    | Phase
    | Progress
    | TrialEnded
    | CoolingDown
    | CampaignEnded
)
"""Any of them."""

Listener = Callable[[Event], None]
"""What is told."""


def nobody(_event: Event) -> None:
    """Listens to nothing."""
