"""What `check` found of one framework, as `--json` prints it."""

from __future__ import annotations

from typing import NotRequired, TypedDict


class CheckedViolation(TypedDict):
    """A violation of the contract, with the endpoint, `backlog` or `stop` that it concerns."""

    endpoint: str
    request: str
    response: str
    problem: str
    rule: str
    sent: str


class Checked(TypedDict):
    """The outcome for one framework; times in seconds.

    What was not reached, because the framework did not start or died, is missing.
    """

    framework: str
    failures: list[CheckedViolation]
    error: str | None
    to_paste: list[str]
    start_s: NotRequired[float | None]
    rest_rss_bytes: NotRequired[int | None]
    backlogs: NotRequired[list[int]]
    exit_code: NotRequired[int | None]
    stop_s: NotRequired[float]
    compliance: NotRequired[list[dict[str, object]]]
