"""Did the network between load tool and server have room to spare?

A link carries no more than its rate, and less of that is payload: of 1,538 bytes that a full packet
takes on Ethernet, 1,448 are. The check divides the printed bytes received per second, with that
overhead, by the speed of the link. If they were not printed, it takes throughput × length of the
body. A result near 1 is the speed of the link and not that of the server.

Source: IEEE 802.3 (preamble, frame check, gap) with TCP's time stamps at an MTU of 1,500.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.statistics import laws
from plimsoll.verdicts.finding import found, verdict
from plimsoll.verdicts.limits import PROPOSAL, Limit
from plimsoll.verdicts.needs import FigureComparison

if TYPE_CHECKING:
    from plimsoll.tool_output.reported import ReportedStatistics
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "link_headroom"
TITLE = "Link headroom"
PROBLEM = "Link at its limit"
NEEDS = "speed of the link, and bytes per second or length of responses"
COMPARES: FigureComparison = "shares"
SOURCE = "bytes on the wire against the speed of the link; IEEE 802.3"
LINK_RATIO = Limit(
    NAME,
    "link_ratio",
    "above",
    0.85,
    0.95,
    "ratio",
    "published bytes per second with the overhead of packets / speed of the link",
    PROPOSAL,
)
LIMITS = (LINK_RATIO,)


def judge(figures: ReportedStatistics, limits: Limits) -> Verdict | None:
    """Whether the link had room to spare; None where its speed or the bytes are missing."""
    received = _received(figures)
    if received is None or not figures.link_bits_per_s:
        return None
    bytes_per_s, clause = received
    ratio = laws.link_ratio(bytes_per_s, figures.link_bits_per_s)
    limit = limits.of(LINK_RATIO)
    sentence = (
        f"{clause}, with protocol overhead {wording.percent(round(ratio, 3))} of the "
        f"link of {wording.bits_per_second(figures.link_bits_per_s)}"
    )
    if limit.level(ratio) != "sound":
        sentence += ": the link was saturated, or nearly"
    remedy = "Do not rank servers by this; measure over a faster link, or with shorter responses"
    return verdict(NAME, figures.label, [found(limit, ratio, sentence, remedy)], SOURCE)


def _received(figures: ReportedStatistics) -> tuple[float, str] | None:
    """Bytes per second, and what they are; None where neither they nor lengths are known."""
    if figures.received_per_s is not None:
        return (
            figures.received_per_s,
            f"{wording.bits_per_second(figures.received_per_s * 8)} were received",
        )
    if figures.throughput_per_s is None or figures.body_bytes is None:
        return None
    bodies = figures.throughput_per_s * figures.body_bytes
    responses = f"{wording.count(figures.throughput_per_s)} responses per second"
    length = f"{wording.count(figures.body_bytes)} bytes"
    return bodies, f"{responses} with bodies of {length} make {wording.bits_per_second(bodies * 8)}"
