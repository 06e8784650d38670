"""Can so many cores have been busy, and had the load tool some to spare?

No server keeps more cores busy than it has. A load tool that keeps most of its own busy reads
answers late and sends late, so both throughput and times are in part its own.

Source: utilisation law; load tools warn of themselves from 80 % (Hyperfoil) and 90 % (Locust) on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.verdicts import wording
from plimsoll.verdicts.finding import Finding, found, verdict

if TYPE_CHECKING:
    from plimsoll.published.figures import Figures
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "cpu_bounds"
NEEDS = "cores of server or load tool, and how many of them were busy"
SOURCE = "busy cores against cores"


def judge(figures: Figures, limits: Limits) -> Verdict | None:
    """Whether busy cores fit into the cores there were; None where neither side says so."""
    findings = [
        *_side(
            limits, "server", figures.server_busy_cores, figures.server_cores,
            "The measurement of processor time or the number of cores is wrong",
        ),
        *_side(
            limits, "driver", figures.driver_busy_cores, figures.driver_cores,
            "Give the load tool more cores, or ask for less",
        ),
    ]  # fmt: skip
    return verdict(NAME, figures.label, findings, SOURCE) if findings else None


def _side(
    limits: Limits, side: str, busy: float | None, cores: float | None, remedy: str
) -> list[Finding]:
    if busy is None or not cores:
        return []
    ratio = busy / cores
    name = "the load tool" if side == "driver" else "the server"
    sentence = (
        f"{name} kept {wording.amount(busy)} of its {wording.amount(cores)} cores busy "
        f"({wording.percent(round(ratio, 3))})"
    )
    return [found(limits.of(NAME, f"{side}_ratio"), ratio, sentence, remedy)]
