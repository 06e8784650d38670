"""Is it known what energy the answers took?

The power of the host in the holds, less that of the idle host, which is measured before and after
the trial where a campaign asks for it (`idle`). A net power of less than three standard deviations
of single seconds of the idle host cannot be told from its scatter: then there is no figure of
energy. An idle host that was measured for less than half a minute on either side is not well known.

Most virtual machines do not show their energy, and only root may read it elsewhere. Where it cannot
be read, or the idle host was not measured, energy is unknown; no figure of it is given anywhere, so
there is none to doubt.

Source: the kernel's document on power capping (RAPL, `energy_uj`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.aggregate import energy
from plimsoll.verdicts import wording
from plimsoll.verdicts.finding import Finding, found, not_asked, verdict

if TYPE_CHECKING:
    from plimsoll.aggregate.energy import Energy
    from plimsoll.aggregate.trial import Tables
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "energy_net"
SOURCE = "power in the holds less that of the idle host; RAPL"
LONGER = "Let the idle host be measured for half a minute or longer (`idle` of the campaign)"


def judge(tables: Tables, limits: Limits) -> Verdict:
    """Whether it is known what energy the answers took."""
    return verdict(NAME, tables.recording.trial, _findings(tables, limits), SOURCE)


def _findings(tables: Tables, limits: Limits) -> list[Finding]:
    limit = limits.of(NAME, "deviations")
    if not tables.usage.of("machine", "energy_j"):
        sentence = (
            "unknown, for this host does not say what energy it takes: no figure of it is given"
        )
        return [not_asked(limit, sentence)]
    known = energy.energy(tables.usage, tables.holds)
    if known is None:
        sentence = (
            "unknown, for the idle host was not measured before and after: no figure of energy is "
            "given"
        )
        return [not_asked(limit, sentence)]
    return [_told(tables, limits, known), _measured(limits, known)]


def _told(tables: Tables, limits: Limits, known: Energy) -> Finding:
    net = f"the host took {known.gross_w:.1f} W in the hold and {known.idle_w:.1f} W when idle"
    per_joule = tables.summary["requests_per_joule"]
    if per_joule is None:
        figure = "the difference cannot be told from its scatter, so there is no figure of energy"
    else:
        figure = f"{wording.amount(per_joule)} answers per joule of the difference"
    remedy = "Ask for more load, or stop what else runs on this host"
    limit = limits.of(NAME, "deviations")
    return found(limit, min(known.deviations, 1e6), f"{net}: {figure}", remedy)


def _measured(limits: Limits, known: Energy) -> Finding:
    sentence = (
        f"the idle host was measured for {wording.seconds(known.idle_s)} before and after the trial"
    )
    return found(limits.of(NAME, "idle_s"), known.idle_s, sentence, LONGER)
