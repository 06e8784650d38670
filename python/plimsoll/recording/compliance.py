"""What a server made of requests that few clients send: the results of the compliance gate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Compliance = Literal["conforms", "either", "differs", "not_tried"]
"""How a server responded: as the RFC requires, in one of several ways that it allows, otherwise."""

RESULTS: dict[Compliance, str] = {
    "conforms": "conforms",
    "either": "allowed",
    "differs": "differs",
    "not_tried": "not tried",
}
"""Every result as reports name it."""


@dataclass(frozen=True)
class ComplianceResult:
    """The result of one case.

    Attributes:
        case: Name of the case: `host_missing`.
        title: What was sent, in a few words.
        source: The section that says how to respond: `RFC 9112, 3.2`.
        result: Whether the server conforms.
        seen: What it did: `200, connection stayed open`.
    """

    case: str
    title: str
    source: str
    result: Compliance
    seen: str


def count(results: Iterable[ComplianceResult]) -> Counter[Compliance]:
    """How many cases have each result."""
    return Counter(one.result for one in results)
