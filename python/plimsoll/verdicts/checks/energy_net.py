"""Is the energy that the responses took known?

Net power is the power of the host in the measurement windows less that of the idle host, which is
measured before and after the trial if the campaign requests it (`idle`). A net power below three
standard deviations of single seconds of the idle host is within its scatter, and gives no figure of
energy. An idle host that was measured for less than half a minute on either side is not well known.

Most virtual machines do not show their energy, and elsewhere only root may read it. If it cannot be
read, or the idle host was not measured, energy is unknown. The report then gives no figure of it,
so there is none to doubt.

Source: the kernel's document on power capping (RAPL, `energy_uj`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.aggregate import energy
from plimsoll.verdicts.finding import Finding, found, not_checked, of_trial
from plimsoll.verdicts.limits import PROPOSAL, Limit

if TYPE_CHECKING:
    from plimsoll.aggregate.energy import Energy
    from plimsoll.aggregate.trial import Tables
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "energy_net"
TITLE = "Energy net"
SOURCE = "power in the measurement window less that of the idle host; RAPL"
DEVIATIONS = Limit(
    NAME,
    "deviations",
    "below",
    3.0,
    None,
    "deviations",
    "power above that of the idle host / standard deviation of its single seconds",
    "as of a usual test of a mean",
)
IDLE_S = Limit(
    NAME,
    "idle_s",
    "below",
    30.0,
    None,
    "s",
    "seconds for which the idle host was measured, before or after, whichever is less",
    PROPOSAL,
)
LIMITS = (
    DEVIATIONS,
    IDLE_S,
)
NEEDS = None
LONGER = "Measure the idle host for half a minute or longer (`idle` of the campaign)"


def judge(tables: Tables, limits: Limits) -> Verdict:
    """Whether the energy of the responses is known."""
    return of_trial(NAME, tables.recording, _findings(tables, limits), SOURCE)


def _findings(tables: Tables, limits: Limits) -> list[Finding]:
    limit = limits.of(DEVIATIONS)
    if not tables.usage.of("machine", "energy_j"):
        sentence = "this host does not report its energy"
        return [not_checked(limit, sentence)]
    known = energy.energy(tables.usage, tables.holds)
    if known is None:
        sentence = "the idle host was not measured before and after"
        return [not_checked(limit, sentence)]
    return [_reported(tables, limits, known), _measured(limits, known)]


def _reported(tables: Tables, limits: Limits, known: Energy) -> Finding:
    net = (
        f"the host drew {known.gross_w:.1f} W in the measurement window and {known.idle_w:.1f} W "
        "when idle"
    )
    per_joule = tables.summary.requests_per_joule
    if per_joule is None:
        figure = "the difference is within its scatter, so there is no energy figure"
    else:
        figure = f"{wording.amount(per_joule)} responses per joule of the difference"
    remedy = "Raise the load, or stop other programs on this host"
    limit = limits.of(DEVIATIONS)
    return found(limit, min(known.deviations, 1e6), f"{net}: {figure}", remedy)


def _measured(limits: Limits, known: Energy) -> Finding:
    sentence = (
        f"the idle host was measured for {wording.seconds(known.idle_s)} before and after the trial"
    )
    return found(limits.of(IDLE_S), known.idle_s, sentence, LONGER)
