"""Plain loads: a number of connections held for some time, all that most tools can do.

What such a tool cannot do is refused in words, never imitated by running it several times.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll import wording

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plimsoll.campaign.load import Load, Stage


@dataclass(frozen=True)
class PlainLoad:
    """One hold, and perhaps a warm-up before it.

    Attributes:
        connections: Connections of the hold.
        duration_s: Its length in seconds.
        warm_up_connections: Connections of the warm-up; 0 without one.
        warm_up_s: Its length in seconds; 0 without one.
    """

    connections: int
    duration_s: float
    warm_up_connections: int = 0
    warm_up_s: float = 0.0


def plain(load: Load) -> PlainLoad:
    """A load that was not refused, as a plain one."""
    *before, hold = load.stages
    if not before:
        return PlainLoad(int(hold.start), hold.duration_s)
    return PlainLoad(int(hold.start), hold.duration_s, int(before[0].start), before[0].duration_s)


def refusal(load: Load, tool: str, step_s: float = 1.0) -> str:
    """Why a load is none that a tool can hold; empty when it is.

    Args:
        load: The load.
        tool: Name of the tool.
        step_s: The tool takes lengths of time in multiples of so many seconds.
    """
    return next((f"`{tool}` {reason}" for reason in _reasons(load, step_s)), "")


def _reasons(load: Load, step_s: float) -> Iterator[str]:
    yield from beyond_http1(load)
    if load.model == "open":
        yield "supports the closed model only"
    if any(stage.kind == "ramp" or stage.start != stage.end for stage in load.stages):
        yield "has no ramps"
    if [stage.kind for stage in load.stages] not in (["hold"], ["warm_up", "hold"]):
        yield "supports one hold, with at most one warm-up before it"
    if load.stages[0].start == 0:
        yield "needs connections for a warm-up"
    if load.think_time_s:
        yield "has no think time"
    if load.requests_per_connection is not None:
        yield "cannot limit the requests per connection"
    yield from (_uneven(stage, step_s) for stage in load.stages if _is_uneven(stage, step_s))


def beyond_http1(load: Load) -> Iterator[str]:
    """What campaigns measure by Plimsoll's own engine only, of a load that needs it."""
    if load.tls:
        yield "is not used over TLS"
    if load.protocol == "websocket":
        yield "does not speak WebSocket"


def _is_uneven(stage: Stage, step_s: float) -> bool:
    steps = stage.duration_s / step_s
    return round(steps) < 1 or abs(steps - round(steps)) > 1e-6  # noqa: PLR2004 - of rounding


def _uneven(stage: Stage, step_s: float) -> str:
    step = "whole seconds" if step_s == 1 else f"steps of {wording.exact(step_s)} s"
    noun = stage.kind.replace("_", "-")
    return f"takes durations in {step}, but the {noun} lasts {wording.exact(stage.duration_s)} s"
