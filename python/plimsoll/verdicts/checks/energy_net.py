"""Is the energy that the responses took known?

Net power is the power of the host in the measurement windows less that without load, which is
measured before and after the load (`idle`). A net power below three standard deviations of single
seconds without load is not distinguishable from idle, and gives no figure of energy. Fewer than ten
seconds without load on either side do not show well how they scatter. A ladder without a meter
reads less by default: what a request adds is a slope there, so it has no net power to judge.

RAPL counts processor packages and memory. A meter at the wall (`power`) sees the whole host, and is
trusted only as far as its readings are possible. It gives no figure if it stalls or dies, or if it
reports negative power, more than a socket can supply, or a constant. Nor does it if its number
changes too rarely for so short a window. The rest of the trial is not doubted for that.

Most virtual machines have no RAPL, and elsewhere only root may read it. If there is no figure of
energy, there is none to doubt.

Source: the kernel's document on power capping (RAPL, `energy_uj`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.aggregate import energy
from plimsoll.aggregate.energy import Energy, NoEnergy
from plimsoll.verdicts.finding import Finding, Remedy, found, inapplicable, not_checked, of_trial
from plimsoll.verdicts.limits import PROPOSAL, Limit
from plimsoll.verdicts.role import Role

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plimsoll.aggregate.trial import Tables
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "energy_net"
TITLE = "Energy net"
PROBLEM = "Energy unknown"
SOURCE = "power in the measurement window minus power without load; RAPL, power meter"
IDLE_S = Limit(
    NAME,
    "idle_s",
    "below",
    10.0,
    None,
    "s",
    "seconds of power measurement without load, before or after, whichever are fewer",
    PROPOSAL,
)
LIMITS = (IDLE_S,)
NEEDS = None
ROLE = Role(shown_in="energy")
LONGER = Remedy(
    "Measure it for ten seconds or longer (`idle` of the campaign)",
    "Measure it for ten seconds or longer (`--idle`)",
)


def judge(tables: Tables, limits: Limits) -> Verdict:
    """Whether the energy of the responses is known."""
    return of_trial(NAME, tables.recording, list(_findings(tables, limits)), SOURCE)


def _findings(tables: Tables, limits: Limits) -> Iterator[Finding]:
    rapl = energy.rapl(tables.usage, tables.holds)
    power, summary = tables.recording.power, tables.summary
    if rapl is not None:
        if power is not None and not power.has_net:
            yield inapplicable(limits.of(IDLE_S), _without_net(rapl))
        else:
            yield from _of_source("RAPL", rapl, summary.goodput_per_s, limits)
    if power is not None and power.meter:
        wall = energy.wall(tables.usage, tables.holds) or NoEnergy(
            "the power meter gave no reading"
        )
        if isinstance(wall, NoEnergy) and power.meter_problem:
            wall = NoEnergy(f"{wall.sentence} ({power.meter_problem})")
        yield from _of_source("the power meter", wall, summary.goodput_per_s, limits)
    elif rapl is None:
        sentence = "this host does not report its energy"
        reason = f" ({power.rapl_unreadable})" if power and power.rapl_unreadable else ""
        yield inapplicable(limits.of(IDLE_S), f"{sentence}{reason}")


def _without_net(known: Energy) -> str:
    return (
        f"by RAPL, the host drew {wording.decimals(known.gross_w, 1)} W in the measurement window; "
        "energy above idle was not requested (`idle` of the campaign)"
    )


def _of_source(
    source: str, known: Energy | NoEnergy, correct_per_s: float | None, limits: Limits
) -> Iterator[Finding]:
    limit = limits.of(IDLE_S)
    if isinstance(known, NoEnergy):
        yield not_checked(limit, f"energy at the wall is unknown: {known.sentence}")
        return
    if known.idle_w is None:
        sentence = (
            f"by {source}, the host drew {wording.decimals(known.gross_w, 1)} W in the "
            "measurement window"
        )
        unknown = f"is unknown: {known.idle_problem}" if known.idle_problem else "was not measured"
        yield not_checked(limit, f"{sentence}; power without load {unknown}")
        return
    powers = (
        f"by {source}, the host drew {wording.decimals(known.gross_w, 1)} W in the measurement "
        "window and "
        f"{wording.decimals(known.idle_w, 1)} W without load"
    )
    if known.net_w is None or not known.is_significant:
        unknown = "the difference is not distinguishable from idle"
    elif correct_per_s is None:
        unknown = "the number of correct responses is unknown"
    elif not correct_per_s:
        unknown = "no response was successful"
    else:
        figure = f"{wording.joules(known.net_w / correct_per_s)} per successful response above idle"
        measured = f"idle was measured for {wording.seconds(known.idle_s)} on each side"
        yield found(limit, known.idle_s, f"{powers}: {figure}; {measured}", LONGER)
        return
    yield inapplicable(limit, f"{powers}: {unknown}; there is no energy figure")
