"""What is counted of a load: failures by kind and responses by status code, as values."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Failure:
    """One kind of failure in one trial.

    Attributes:
        outcome: How the requests ended.
        errno: Error number of the system; None when there was none.
        errno_name: Its name, `ECONNRESET`; None when there was none.
        count: How many requests, in the whole trial.
        held: How many of them are of the measurement window.
        first_at_s: When the first of them ended, in seconds since the trial's zero.
        last_at_s: When the last of them ended.
        status: The status code that came instead of the right one, also of an upgrade, or the code
            of the close frame; None for other outcomes.
    """

    outcome: str
    errno: int | None
    errno_name: str | None
    count: int
    held: int
    first_at_s: float
    last_at_s: float
    status: int | None = None


@dataclass(frozen=True)
class StatusTotal:
    """Complete responses with one status code, of all request types.

    Attributes:
        status: The code; None if unknown.
        responses: How many, in the whole trial.
        held: How many of them within the holds.
        held_wrong: How many of these have a status that was not expected.
    """

    status: int | None
    responses: int
    held: int
    held_wrong: int = 0
