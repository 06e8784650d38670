"""Every error of Plimsoll, each with its exit code.

```
PlimsollError
├── InputError             2   invalid arguments or campaign file; contains every problem
├── HostError              3   a host, a meter or a database is unfit
│   ├── LimitTooLow
│   ├── CoreMissing
│   ├── MeterFailed
│   ├── PortTaken
│   ├── HostLost
│   ├── DatabaseFailed
│   └── UpstreamFailed
├── FrameworkError         4   a framework, or the server of a load, failed
│   ├── NotInstalled
│   ├── RegistryFailed
│   ├── RootFailed
│   ├── BuildFailed
│   ├── StartFailed
│   ├── NotReady
│   ├── NotResponding
│   ├── ContractBroken
│   └── DiedUnderLoad
├── DriverError            5   a driver failed
│   ├── DriverMissing
│   ├── DriverFailed
│   └── EngineFailed
├── StorageError           6   results could not be written or read
│   └── MixedResults
├── QueryFailed           70   an error in Plimsoll itself: a query of recorded rows is wrong
└── Interrupted          130   Ctrl-C or SIGTERM; what was complete is kept
    └── SearchInterrupted
```

A message is one sentence that names what is wrong and where; the hint names what to do. Values are
in backticks. An argument of the library is named as its caller writes it, `rate_per_s=`, `run=1` or
`again=True`; the command line prints its option instead (`cli/as_options.py`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

VERDICT_VOID = 1
"""Exit code: completed, but a verdict is void."""

LIMIT_MISSED = 7
"""Exit code: a `--fail-if` or `--max-regression` threshold was crossed, no rate keeps the limits of
a load line, or a history got worse."""

UNDECIDED = 8
"""Exit code: a `--fail-if` or `--max-regression` threshold, or a load line, is undecided."""

FAULT = 70
"""Exit code: internal error in Plimsoll; `EX_SOFTWARE` of sysexits.h."""

INTERRUPTED = 130
"""Exit code: ended by Ctrl-C."""


class PlimsollError(Exception):
    """The root of the tree.

    Args:
        message: What is wrong and where, in one sentence without a full stop.
        hint: What to do about it; may be empty.
    """

    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __reduce__(self) -> tuple[Callable[..., PlimsollError], tuple[object, ...]]:
        """Every attribute, for another process; constructors take other arguments than `args`."""
        return _restored, (type(self), self.args, self.__dict__)


def _restored(
    kind: type[PlimsollError], args: tuple[object, ...], attributes: dict[str, object]
) -> PlimsollError:
    """An error as it was before it was pickled or copied."""
    error = kind.__new__(kind, *args)
    error.__dict__.update(attributes)
    return error


@dataclass(frozen=True)
class Problem:
    """One mistake in a campaign, a framework folder or on the command line.

    Attributes:
        where: File and line (`campaigns/a.toml:12`), name of the argument, or empty.
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
        0 if it completed, otherwise the code of the error.
    """
    return 0 if ending == "completed" else _kind_of(ending).exit_code


def of_ending(ending: str, message: str, hint: str) -> PlimsollError | None:
    """The error that ended a trial; None when it completed.

    Args:
        ending: `completed`, or the class of the error that ended it: `DiedUnderLoad`.
        message: Its message.
        hint: What to do about it.
    """
    return None if ending == "completed" else of_kind(ending, message, hint)


def of_kind(name: str, message: str, hint: str) -> PlimsollError:
    """An error by the name of its class.

    Args:
        name: The class: `DiedUnderLoad`.
        message: Its message.
        hint: What to do about it.
    """
    kind = _kind_of(name)
    return InputError([Problem("", message, hint)]) if kind is InputError else kind(message, hint)


def _kind_of(ending: str) -> type[PlimsollError]:
    kinds = {kind.__name__: kind for kind in _and_below(PlimsollError)}
    return kinds.get(ending, FrameworkError)


def _and_below(kind: type[PlimsollError]) -> Iterator[type[PlimsollError]]:
    yield kind
    for special in kind.__subclasses__():
        yield from _and_below(special)


class InputError(PlimsollError):
    """Invalid arguments, campaign file or other input.

    Args:
        problems: Every problem found, at least one.
    """

    exit_code = 2

    def __init__(self, problems: Sequence[Problem]) -> None:
        hints = dict.fromkeys(problem.hint for problem in problems if problem.hint)
        super().__init__("\n".join(str(problem) for problem in problems), "\n".join(hints))
        self.problems = tuple(problems)


class HostError(PlimsollError):
    """A host, a meter or a database is unfit: a limit is too low, or it does not respond."""

    exit_code = 3


class MeterFailed(HostError):
    """A power meter does not respond, or not with a power."""


class LimitTooLow(HostError):
    """A limit of this host is lower than the trial needs."""


class CoreMissing(HostError):
    """A requested core is not available."""


class PortTaken(HostError):
    """Another program uses a port that a server needs."""


class HostLost(HostError):
    """A host that generates load with others does not join, or does not respond any more."""


class DatabaseFailed(HostError):
    """The PostgreSQL server beside the servers cannot be started, or failed."""


class UpstreamFailed(HostError):
    """The upstream beside a server cannot be started, or failed."""


class FrameworkError(PlimsollError):
    """A framework failed; its trial ends, the campaign continues."""

    exit_code = 4


class NotInstalled(FrameworkError):
    """A requirement of the framework is not installed on this host."""


class RegistryFailed(FrameworkError):
    """The registry of a framework's packages cannot be asked."""


class RootFailed(FrameworkError):
    """The root in which the framework is to run could not be made."""


class BuildFailed(FrameworkError):
    """The build command of the framework failed."""


class StartFailed(FrameworkError):
    """The server ended before it was ready."""


class NotReady(FrameworkError):
    """The server gave no correct response within its start timeout."""


class NotResponding(FrameworkError):
    """The server that a load is for cannot be reached, or does not speak HTTP."""


class ContractBroken(FrameworkError):
    """An endpoint violates the contract.

    Args:
        message: What is wrong and where.
        hint: What to do about it.
        failures: One sentence per violation.
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
    """The driver ended with an error."""


class EngineFailed(DriverError):
    """Plimsoll's own engine ended with an error."""


class StorageError(PlimsollError):
    """Results could not be written or read."""

    exit_code = 6


class MixedResults(StorageError):
    """Existing results were measured with another application, load or host than now."""


class QueryFailed(PlimsollError):
    """A query of recorded rows is wrong: an error in Plimsoll itself."""

    exit_code = FAULT


class Interrupted(PlimsollError):
    """A signal ended the command; what was complete is kept."""

    exit_code = INTERRUPTED


class SearchInterrupted(Interrupted):
    """A signal ended the search of a load line; the message says what was known by then."""
