"""Is the number of busy cores possible, and did the load tool have cores to spare?

No server keeps more cores busy than it has. A load tool that keeps most of its own busy reads
responses late and sends late, so both throughput and times are in part its own.

Source: utilisation law; load tools warn of themselves from 80 % (Hyperfoil) and 90 % (Locust) on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.verdicts.checks.cpu_bounds import SERVER_RATIO
from plimsoll.verdicts.finding import Finding, found, verdict
from plimsoll.verdicts.limits import Limit
from plimsoll.verdicts.needs import FigureComparison

if TYPE_CHECKING:
    from plimsoll.tool_output.reported import ReportedStatistics
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "cpu_bounds"
TITLE = "CPU bounds"
PROBLEM = "Impossible CPU use"
NEEDS = "cores of server or load generator, and how many of them were busy"
COMPARES: FigureComparison = "shares"
SOURCE = "busy cores against cores"
DRIVER_RATIO = Limit(
    NAME,
    "driver_ratio",
    "above",
    0.8,
    0.9,
    "ratio",
    "cores the load generator kept busy / cores it had",
    "load generators warn about their own CPU use from 80 % (Hyperfoil) or 90 % (Locust)",
)
LIMITS = (DRIVER_RATIO,)


def judge(figures: ReportedStatistics, limits: Limits) -> Verdict | None:
    """Whether busy cores fit into the cores there were; None if neither side is known."""
    findings = [
        *_side(
            limits.of(SERVER_RATIO), "the server", figures.server_busy_cores, figures.server_cores,
            "The CPU time or the number of cores is wrong",
        ),
        *_side(
            limits.of(DRIVER_RATIO), "the load generator",
            figures.driver_busy_cores, figures.driver_cores,
            "Give the load generator more cores, or request a lower load",
        ),
    ]  # fmt: skip
    return verdict(NAME, figures.label, findings, SOURCE) if findings else None


def _side(
    limit: Limit, name: str, busy: float | None, cores: float | None, remedy: str
) -> list[Finding]:
    if busy is None or not cores:
        return []
    ratio = busy / cores
    sentence = (
        f"{name} used {wording.amount(busy)} of its {wording.amount(cores)} cores "
        f"({wording.percent(round(ratio, 3))})"
    )
    return [found(limit, ratio, sentence, remedy)]
