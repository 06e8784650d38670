"""What a check of a framework without load found: violations of the contract, and measurements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plimsoll.errors import FrameworkError
    from plimsoll.recording.compliance import ComplianceResult


@dataclass(frozen=True)
class ContractViolation:
    """One way in which a server breaks the contract.

    Attributes:
        request: Configuration: method, target and the beginning of the body.
        response: What came: status, length and the beginning of the body; or that nothing came.
        problem: What is wrong with it.
        rule: The rule of the contract.
        sent: The whole request but for its Host header, as text.
    """

    request: str
    response: str
    problem: str
    rule: str
    sent: str = ""

    def __str__(self) -> str:
        """All of it in one line."""
        return f"{self.request}: {self.problem} (response: {self.response}); contract: {self.rule}"


@dataclass(frozen=True)
class CheckedPart:
    """What was verified of a framework, and how it breaks the contract.

    Attributes:
        name: The endpoint, `backlog` or `stop`; of a further service with its name behind it.
        violations: How it breaks the contract; empty when it keeps it.
    """

    name: str
    violations: tuple[ContractViolation, ...]


@dataclass(frozen=True)
class ServerMeasurements:
    """What a check measured of a server; None where it did not get that far.

    Attributes:
        start_s: From its start to its first response, in seconds.
        rest_rss_bytes: Resident memory without load, in bytes.
        backlogs: Length of the listen backlog of each of its sockets.
        exit_code: Its exit code; None also if it was killed.
        stop_s: From the stop signal to its end, in seconds.
    """

    start_s: float | None = None
    rest_rss_bytes: int | None = None
    backlogs: tuple[int, ...] = ()
    exit_code: int | None = None
    stop_s: float | None = None


@dataclass(frozen=True)
class FrameworkCheck:
    """The outcome for one framework.

    Attributes:
        framework: The framework or variant, as campaigns name it.
        parts: What was verified, in order; what was not reached is missing.
        error: Why it did not start, or how it ended during the check; else None.
        measurements: What was measured of its server.
        log: The last lines that its server wrote.
        exceptions: Lines of `framework.toml` that would declare some violations; may be empty.
        compliance: Results of the compliance gate; empty when that was not requested.
    """

    framework: str
    parts: tuple[CheckedPart, ...]
    error: FrameworkError | None
    measurements: ServerMeasurements
    log: tuple[str, ...]
    exceptions: tuple[str, ...] = ()
    compliance: tuple[ComplianceResult, ...] = ()

    @property
    def violations(self) -> tuple[ContractViolation, ...]:
        """All violations of the contract."""
        return tuple(one for part in self.parts for one in part.violations)

    @property
    def is_passed(self) -> bool:
        """Whether it started, kept the contract and stopped cleanly."""
        return self.error is None and not self.violations
