"""Step costs: what a server needed at one rate, and without load before and after it.

Readings without load have names of their own, so those before a load and those after it are told
apart by its holds.

Source:
    The service demand law, D = U / X; P. J. Denning, J. P. Buzen, ACM Computing Surveys 10(3),
    1978.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.aggregate import energy, pace
from plimsoll.aggregate.cores import total
from plimsoll.aggregate.energy import Energy, NoEnergy
from plimsoll.aggregate.query import SECOND_NS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from plimsoll.aggregate.energy import Source
    from plimsoll.aggregate.query import Rows
    from plimsoll.aggregate.usage import Usage, Window

_EVER_NS = 10**18


@dataclass(frozen=True)
class StandingCost:
    """What a server needs without load.

    Attributes:
        busy_cores: Cores that it kept busy; None where unknown.
        rss_bytes: Memory of its processes; None where unknown.
    """

    busy_cores: float | None
    rss_bytes: float | None


@dataclass(frozen=True)
class StepCost:
    """What a server needed at one rate, and without load.

    Attributes:
        completed_per_s: Complete responses per second.
        user_cores: Cores that it kept busy in user mode; None where unknown.
        system_cores: The same in the kernel.
        rss_bytes: Mean memory of its processes; None where unknown.
        switches_per_request: Context switches of its threads for each response, voluntary and
            forced ones; None where unknown.
        system_calls_per_request: System calls of its threads for each response, in the part of the
            warm-up in which they were counted; None where unknown.
        power: Power of the host by each source that was read and is believed.
        before: The server without load, before it; None where it was not read.
        after: The same after the load.
    """

    completed_per_s: float
    user_cores: float | None
    system_cores: float | None
    rss_bytes: float | None
    switches_per_request: float | None
    system_calls_per_request: float | None
    power: Mapping[Source, Energy]
    before: StandingCost | None
    after: StandingCost | None

    @property
    def busy_cores(self) -> float | None:
        """Cores that the server kept busy; None where unknown."""
        return total([self.user_cores, self.system_cores])


def of_trial(
    usage: Usage, holds: Sequence[Window], completed_per_s: float, requests: Rows = None
) -> StepCost:
    """What a trial cost its server.

    Args:
        usage: Its readings.
        holds: Its holds; at least one.
        completed_per_s: Complete responses per second in them.
        requests: Its rows of requests; None when there are none.
    """
    switches = [
        usage.rate("server", f"{kind}_switches", holds) for kind in ("voluntary", "involuntary")
    ]
    switches_per_s = total(switches)
    return StepCost(
        completed_per_s=completed_per_s,
        user_cores=usage.rate("server", "cpu_user_s", holds),
        system_cores=usage.rate("server", "cpu_system_s", holds),
        rss_bytes=usage.mean("server", "rss_bytes", holds),
        switches_per_request=switches_per_s / completed_per_s
        if switches_per_s is not None and completed_per_s
        else None,
        system_calls_per_request=_system_calls_per_request(usage, requests),
        power=_power(usage, holds),
        before=_standing(usage, (-_EVER_NS, holds[0][0])),
        after=_standing(usage, (holds[-1][1], _EVER_NS)),
    )


def _power(usage: Usage, holds: Sequence[Window]) -> dict[Source, Energy]:
    """Power of the host by each source."""
    read: dict[Source, Energy | NoEnergy | None] = {
        "rapl": energy.rapl(usage, holds),
        "wall": energy.wall(usage, holds),
    }
    return {source: found for source, found in read.items() if isinstance(found, Energy)}


def _system_calls_per_request(usage: Usage, requests: Rows) -> float | None:
    """System calls for each response between the first and the last reading of them."""
    counted = usage.of("server", "system_calls")
    if len(counted) != 1:
        return None
    (series,) = counted
    window = int(series.at_ns[0]), int(series.at_ns[-1])
    (answered,) = pace.pace(requests, window, 1) if window[0] < window[1] else (0,)
    return series.growth(window) / answered if answered else None


def _standing(usage: Usage, side: Window) -> StandingCost | None:
    """The server without load on one side of it; None where it was not read there."""
    parts = [_growth_per_s(usage, f"idle_cpu_{kind}_s", side) for kind in ("user", "system")]
    memory = [one.inside(side) for one in usage.of("server", "idle_rss_bytes")]
    held = [float(values.mean()) for values in memory if len(values)]
    if not held and total(parts) is None:
        return None
    return StandingCost(total(parts), sum(held) if held else None)


def _growth_per_s(usage: Usage, quantity: str, side: Window) -> float | None:
    """Growth of a counter per second between its first and its last reading on a side."""
    found = usage.of("server", quantity)
    if len(found) != 1:
        return None
    (series,) = found
    chosen = (series.at_ns >= side[0]) & (series.at_ns <= side[1])
    at_ns, values = series.at_ns[chosen], series.values[chosen]
    if len(at_ns) < 2:  # noqa: PLR2004
        return None
    return float(values[-1] - values[0]) / float(at_ns[-1] - at_ns[0]) * SECOND_NS
