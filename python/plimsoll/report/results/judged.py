"""Verdicts as JSON."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plimsoll.report.results.machine_readable import JsonObject
    from plimsoll.verdicts.verdict import Verdict


def of_trial(verdict: Verdict) -> JsonObject:
    """A verdict on a trial or on published figures, ready for JSON."""
    found = _fields(verdict)
    for sentence in found["sentences"]:
        del sentence["tables"]
    return found


def of_campaign(verdict: Verdict) -> JsonObject:
    """A verdict on a campaign; `tables` are those it is about, of it and of each sentence.

    Returns:
        An object ready for JSON; `tables` is empty where it is about all tables.
    """
    found = _fields(verdict)
    found["tables"] = [one._asdict() for one in verdict.tables]
    for values, sentence in zip(found["sentences"], verdict.sentences, strict=True):
        values["tables"] = [one._asdict() for one in sentence.tables]
    return found


def _fields(verdict: Verdict) -> JsonObject:
    """Its fields, and whether it applies, which its first sentence says.

    A limit that nothing can exceed is infinite, and null in JSON.
    """
    found = asdict(verdict)
    if verdict.limit is not None and math.isinf(verdict.limit):
        found["limit"] = None
    for sentence in found["sentences"]:
        del sentence["applies"]
    return {**found, "applies": verdict.applies}
