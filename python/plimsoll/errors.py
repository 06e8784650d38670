"""Every error of Plimsoll, each with its exit code.

```
PlimsollError
├── CampaignError          2   the question is wrong; holds every problem found
├── HostError              3   this host is not fit
│   ├── LimitTooLow
│   ├── CoreMissing
│   └── PortTaken
├── FrameworkError         4   a framework failed
│   ├── NotInstalled
│   ├── BuildFailed
│   ├── StartFailed
│   ├── NotReady
│   ├── ContractBroken
│   └── DiedUnderLoad
├── DriverError            5   a driver failed
│   ├── DriverMissing
│   ├── DriverFailed
│   └── EngineFailed
├── StorageError           6   results could not be written or read
└── Interrupted          130   Ctrl-C or SIGTERM; what was complete is kept
```

A message says where, what, so what; the hint says what to do. Values stand in backticks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

VERDICT_VOID = 1
"""Exit code: done, and some verdict is void."""

LIMIT_MISSED = 7
"""Exit code: a limit given with `--fail-if` was missed."""

FAULT = 70
"""Exit code: Plimsoll itself is wrong; `EX_SOFTWARE` of sysexits.h."""

INTERRUPTED = 130
"""Exit code: ended by Ctrl-C."""


class PlimsollError(Exception):
    """The root of the tree.

    Args:
        message: Where, what, so what; one sentence without a full stop.
        hint: What to do about it; empty when there is nothing to do.
    """

    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


@dataclass(frozen=True)
class Problem:
    """One mistake in a campaign, a framework folder or on the command line.

    Attributes:
        where: File and line (`campaigns/a.toml:12`), option, or empty.
        message: What is wrong.
        hint: What to do; may be empty.
    """

    where: str
    message: str
    hint: str = ""

    def __str__(self) -> str:
        """The place and the message in one line."""
        return f"{self.where}: {self.message}" if self.where else self.message


def exit_code_of(ending: str) -> int:
    """The exit code for the way a trial ended.

    Args:
        ending: `completed`, or the class of the error that ended it: `DiedUnderLoad`.

    Returns:
        0 when it completed, else the code of the error.
    """
    if ending == "completed":
        return 0
    codes = {kind.__name__: kind.exit_code for kind in _and_below(PlimsollError)}
    return codes.get(ending, FrameworkError.exit_code)


def _and_below(kind: type[PlimsollError]) -> Iterator[type[PlimsollError]]:
    yield kind
    for special in kind.__subclasses__():
        yield from _and_below(special)


class CampaignError(PlimsollError):
    """The question is wrong.

    Args:
        problems: Every problem found, at least one.
    """

    exit_code = 2

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = tuple(problems)


class HostError(PlimsollError):
    """This host is not fit for what is asked."""

    exit_code = 3


class LimitTooLow(HostError):
    """A limit of this host is lower than the trial needs."""


class CoreMissing(HostError):
    """A core that was asked for is not there."""


class PortTaken(HostError):
    """A port that a server needs is in use by somebody else."""


class FrameworkError(PlimsollError):
    """A framework failed; its trial ends, the campaign goes on."""

    exit_code = 4


class NotInstalled(FrameworkError):
    """What the framework needs is not on this host."""


class BuildFailed(FrameworkError):
    """The build command of the framework failed."""


class StartFailed(FrameworkError):
    """The server ended before it was ready."""


class NotReady(FrameworkError):
    """The server did not answer rightly in the time it has to start."""


class ContractBroken(FrameworkError):
    """An endpoint answered other than the contract asks.

    Args:
        message: Where, what, so what.
        hint: What to do about it.
        failures: One sentence for each thing that was wrong.
    """

    def __init__(self, message: str, hint: str = "", failures: Sequence[str] = ()) -> None:
        super().__init__(message, hint)
        self.failures = tuple(failures)


class DiedUnderLoad(FrameworkError):
    """The server ended while it was under load."""


class DriverError(PlimsollError):
    """A driver failed."""

    exit_code = 5


class DriverMissing(DriverError):
    """The driver is not installed on this host."""


class DriverFailed(DriverError):
    """The driver ended with an error of its own."""


class EngineFailed(DriverError):
    """Plimsoll's own engine ended with an error."""


class StorageError(PlimsollError):
    """Results could not be written or read."""

    exit_code = 6


class Interrupted(PlimsollError):
    """A signal ended it; what was complete is kept."""

    exit_code = INTERRUPTED
