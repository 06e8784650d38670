"""Did the link between load generator and server have room to spare?

A link carries no more than its rate, and less of that is payload: of 1,538 bytes that a full packet
takes on Ethernet, 1,448 are. The check measures the busier direction in the measurement windows.
The bytes are those of requests and responses by the rows with that overhead, or those of the host's
interfaces by the kernel, whichever are more; what passes a bridge, a bond or a VLAN counts once.
They are divided by the speed of the interface that leads to the server. A result near 1 is the
speed of the link and not that of the server. With several hosts, the interface of each host and of
the server is checked, and the busiest counts.

On one host there is no link. If the speed of a link cannot be read, as in most virtual machines,
the check assumes 100 Mbit/s: traffic that fits into that is never limited by the link. More is
doubtful on a device. It is not checked on an interface that has no device below it, such as a
tunnel or the bridge of containers: nobody can read its speed. Nor is a link that carried more than
its speed, by more than a tenth: that speed is wrong.

Source: IEEE 802.3 (preamble, frame check, gap) with TCP's time stamps at an MTU of 1,500;
`/sys/class/net/<name>/speed`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.aggregate import links
from plimsoll.recording import host_in_words
from plimsoll.verdicts.finding import Finding, found, inapplicable, not_checked, of_trial, unknown
from plimsoll.verdicts.limits import PROPOSAL, Limit
from plimsoll.verdicts.role import Role
from plimsoll.verdicts.verdict import TRIAL_LEVELS

if TYPE_CHECKING:
    from plimsoll.aggregate.links import LinkLoad
    from plimsoll.aggregate.trial import Tables
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "link_headroom"
TITLE = "Link headroom"
PROBLEM = "Link at its limit"
SOURCE = "bytes on the wire against the speed of the link; IEEE 802.3"
USED_RATIO = Limit(
    NAME,
    "used_ratio",
    "above",
    0.85,
    0.95,
    "ratio",
    "bytes per second on the wire in the busier direction / speed of the link",
    PROPOSAL,
)
LIMITS = (USED_RATIO,)
NEEDS = None
ROLE = Role()
LEAST_BITS_PER_S = 100e6
"""A link whose speed is unknown is at least so fast."""
REMEDY = "Measure on one host, over a faster link, or with shorter responses"


def judge(tables: Tables, limits: Limits) -> Verdict:
    """Whether the link had room to spare."""
    return of_trial(NAME, tables.recording, [_finding(tables, limits)], SOURCE)


def _finding(tables: Tables, limits: Limits) -> Finding:
    limit = limits.of(USED_RATIO)
    if tables.recording.server is None:
        return not_checked(limit, "no server responded, so its link is unknown")
    loads = links.of_trial(tables)
    if not loads:
        where = "load generator and server are on one host: there is no link between them"
        return inapplicable(limit, where)
    if tables.summary.received_bytes_per_s is None:
        return not_checked(limit, "the load generator does not report transferred bytes")
    findings = [_of_link(limit, load) for load in loads]
    return max(findings, key=lambda one: (TRIAL_LEVELS.index(one.level), one.measured or 0.0))


def _of_link(limit: Limit, load: LinkLoad) -> Finding:
    carried, speed, ratio = load.carried_bits_per_s, load.speed_bits_per_s, load.used_ratio
    said = f"{wording.bits_per_second(carried)} were carried in the measurement window"
    whose = f" of {host_in_words(load.host)}" if load.host else ""
    if speed and ratio is None:
        sentence = (
            f"{said}, {wording.percent(round(carried / speed, 3))} of the "
            f"{wording.bits_per_second(speed)} that the link{whose} is said to have"
        )
        return not_checked(limit, sentence, "no link carries so much more: this speed is wrong")
    if speed and ratio is not None:
        sentence = (
            f"{said}, {wording.percent(round(ratio, 3))} of the "
            f"{wording.bits_per_second(speed)} of the link{whose}"
        )
        return found(limit, ratio, sentence, REMEDY)
    kind = "a virtual interface" if load.is_virtual else "a link"
    sentence = f"{said} over {kind}{whose} whose speed cannot be read"
    ratio = carried / LEAST_BITS_PER_S
    if limit.level(ratio) == "sound":
        return found(
            limit,
            ratio,
            f"{sentence}; even a link of {wording.bits_per_second(LEAST_BITS_PER_S)} would suffice",
            "",
        )
    if load.is_virtual:
        return not_checked(limit, sentence)
    return unknown(
        limit, sentence, "Compare it with the speed of the link, which this host does not report"
    )
