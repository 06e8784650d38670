"""Role: what a check is among the others; each declares its own, and no table knows them by name.

Several findings may have one cause. A load generator that was killed leaves no rows, and twenty
checks then find something missing; one that stalled for two seconds leaves a server that seems to
have stalled. A check tells of a cause (`Role.tells`), and declares which disturbances can mislead
it (`Role.misled_by`); `causes` brings the two together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, get_args

if TYPE_CHECKING:
    from plimsoll.aggregate.trial import Tables
    from plimsoll.verdicts.verdict import Verdict

Disturbance = Literal[
    "shortness",
    "interruption",
    "set_clock",
    "long_stall",
    "full_queue",
    "no_streams",
    "short_stall",
    "others",
    "unlike_hosts",
    "others_in_part",
    "delayed_acks",
]
"""What misleads checks: the load was too short for those that need time; it was interrupted; the
clock of its log was set back; its generator stalled, for long enough to fail requests or not; the
server's listen queue was so full that connections it never accepted void the trial; it allowed no
stream on connections of HTTP/2; other programs had more of the cores than the trial, or less; its
hosts did not see the same server; the server waited for the client's delayed ACKs."""

DISTURBANCES: tuple[Disturbance, ...] = get_args(Disturbance)
"""The first one of a trial counts."""

PACE: frozenset[Disturbance] = frozenset(
    {"interruption", "set_clock", "others", "long_stall", "short_stall"}
)
"""What misleads checks on the pace of a trial: anything that takes time from either side, or from
the seconds that it is counted in."""

Lacking = Literal["", "queue", "memory", "driver"]
"""A resource that may have been full; empty for none."""

ShownIn = Literal["", "energy", "database"]
"""A section of the report; empty for none."""


@dataclass(frozen=True)
class Cause:
    """Something that explains several findings.

    Attributes:
        owner: Name of the check that tells of it.
        clause: What happened, to stand behind a colon.
        disturbance: What it does to other checks; None where it leaves them nothing to check.
    """

    owner: str
    clause: str
    disturbance: Disturbance | None = None

    @property
    def order(self) -> int:
        """Its place among the causes of a trial, of which the first counts."""
        return -1 if self.disturbance is None else DISTURBANCES.index(self.disturbance)


@dataclass(frozen=True)
class Role:
    """What a check is among the others.

    Attributes:
        tells: Gives the cause that the check tells of, from the tables of a trial and its own
            verdict on them; None for a check that tells of none.
        misled_by: What can mislead it.
        misled_in: Names of the limits whose findings a disturbance can mislead; of one that is not
            in it, all.
        is_essential: Whether it is on counts or on responses: a sound trial needs one such check
            to be sound.
        needs_no_time: Whether a load of less than a second is long enough for it; the doubts of
            all others are explained by such a load.
        judges_interrupted: Whether it judges a load that a signal ended, as no other does.
        is_on_steady_state: Whether it judges how throughput went in the measurement window.
        on_levels: Names of its limits whose doubt makes a trial one that was not steady, as
            repetitions are compared by it; others are on scatter, or on latency.
        cancels_in_turns: Whether it is on what befalls all servers that take turns alike, so that
            their ratio does not have it.
        blames_server: Names of the limits that void a trial by what the server did or failed to do,
            where another server under the same load holds them.
        by_overload: Names of further limits that void an open load where its server cannot carry
            the rate. A load generator breaks them as well, which other checks tell.
        lacks: What was full where it doubts a trial.
        shown_in: The section of the report that shows what it says.
        explains_goodput: Whether its doubt says why a trial has no goodput.
    """

    tells: Callable[[Tables, Verdict], Cause | None] | None = None
    misled_by: frozenset[Disturbance] = frozenset()
    misled_in: Mapping[Disturbance, frozenset[str]] = field(
        default_factory=dict[Disturbance, frozenset[str]]
    )
    is_essential: bool = False
    needs_no_time: bool = False
    judges_interrupted: bool = False
    is_on_steady_state: bool = False
    on_levels: frozenset[str] = frozenset()
    cancels_in_turns: bool = False
    blames_server: frozenset[str] = frozenset()
    by_overload: frozenset[str] = frozenset()
    lacks: Lacking = ""
    shown_in: ShownIn = ""
    explains_goodput: bool = False

    def is_misled(self, verdict: Verdict, cause: Cause) -> bool:
        """Whether a cause explains all that the check doubts.

        Args:
            verdict: Its verdict.
            cause: The cause; one that leaves something to check.
        """
        if cause.disturbance == "shortness":
            return not self.needs_no_time and verdict.level != "void"
        if cause.disturbance not in self.misled_by:
            return False
        doubts = [one.limit for one in verdict.sentences if one.is_doubting]
        return self.misled_in.get(cause.disturbance, frozenset(doubts)).issuperset(doubts)
