"""Did the reference server give the same numbers in every block?

A campaign with the framework `reference` measures it once in each block. Nothing about it changes,
so a change of its numbers is a change of the machine. The drift of a block is the median, over
endpoints and loads, of its throughput there against the median of all blocks. Throughput is
corrected for what other programs took: `undisturbed` and `equally_disturbed` judge that. Tables
compare within blocks, so a block that is slower as a whole changes no ratio. Beyond 5 %, the
expected precision of an interval, the block is doubtful. Beyond a quarter it is another machine:
the block is void and its trials are left out. It is only doubtful where there are two other servers
or more, and their median moved less than 5 % that way: then something happened to the reference
alone.

Where servers take turns, all of a block had the same machine, turn by turn, so a block that is
slower takes from no ratio. It is doubtful beyond a quarter, and never void. That holds for a block
in which all trials of a table took turns with each other: one that was repeated alone had the
machine of another time.

With two blocks the odd one is unknown: each lies half the difference away. A load at a requested
rate would show nothing, so only loads at full speed count. A campaign without the reference, or
with one block, gets no verdict. A campaign whose reference gave no valid number in any block is
doubtful, because nothing is known of its machine.

Source: control measurements in blocks, as in D. C. Montgomery, Design and Analysis of Experiments.
"""

from __future__ import annotations

from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.comparison.compared_table import table_of
from plimsoll.comparison.entries import entries, is_saturating
from plimsoll.comparison.turn_partners import blocks_in_turns
from plimsoll.recording import YARDSTICK
from plimsoll.verdicts.finding import Finding, found, unknown, verdict
from plimsoll.verdicts.limits import Limit
from plimsoll.verdicts.verdict import CAMPAIGN, block_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.comparison.comparisons import ComparedTrial
    from plimsoll.comparison.entries import Entry
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "reference_drift"
TITLE = "Reference drift"
PROBLEM = "Reference drifted"
SOURCE = "the reference server in each block against its median over all blocks"
DOUBTFUL_RATIO = 0.05
DRIFT_RATIO = Limit(
    NAME,
    "drift_ratio",
    "above",
    DOUBTFUL_RATIO,
    0.25,
    "ratio",
    "the reference server in a block against its median over the blocks, without what others took",
    "tables compare within blocks; void where the machine has changed too much",
)
LIMITS = (DRIFT_RATIO,)
REMEDY = (
    "Find what else ran on the machine during this block, then repeat the campaign in another "
    "folder"
)
SHARED = "servers took turns, so all of them had the same machine"
MISSING = (
    "Find why the reference server has no valid number there; the same command with `--again` "
    "repeats failed and void trials"
)


def judge(repetitions: Sequence[ComparedTrial], limits: Limits) -> tuple[Verdict, ...]:
    """How far the reference server of each block lies from its median.

    Args:
        repetitions: The trials of a campaign.
        limits: The limits of the campaign.

    Returns:
        One verdict on each block that is not sound; when all are, one on the campaign.
    """
    blocks = sorted({one.recording.repetition for one in repetitions})
    if not _is_measured(repetitions) or len(blocks) < 2:  # noqa: PLR2004
        return ()
    found_drifts = drifts(repetitions)
    if not found_drifts:
        return (_nowhere(limits),)
    others = _drifts_of_others(repetitions)
    in_turns = blocks_in_turns(repetitions)
    findings = {
        block: _in_turns(block, found_drifts[block], limits)
        if block in in_turns and block in found_drifts
        else _block(block, found_drifts.get(block), others.get(block, ()), limits)
        for block in blocks
    }
    verdicts = [
        verdict(NAME, block_name(block), [_measured_in(block, finding, repetitions)], SOURCE)
        for block, finding in findings.items()
    ]
    doubts = tuple(one for one in verdicts if one.is_doubting)
    return doubts or (_all_sound(found_drifts, limits),)


def _measured_in(block: int, finding: Finding, repetitions: Sequence[ComparedTrial]) -> Finding:
    """A finding on a block with its tables: further blocks are not of all tables."""
    recordings = [one.recording for one in repetitions if one.recording.repetition == block]
    return replace(finding, tables=tuple(dict.fromkeys(map(table_of, recordings))))


def _is_measured(repetitions: Sequence[ComparedTrial]) -> bool:
    """Whether the campaign has the reference with a load at which a drift would be seen."""
    recordings = [one.recording for one in repetitions]
    return any(one.framework == YARDSTICK and is_saturating(one) for one in recordings)


def _nowhere(limits: Limits) -> Verdict:
    sentence = (
        "the reference server has no valid trial in any repetition, so drift of the machine is "
        "unknown"
    )
    finding = unknown(limits.of(DRIFT_RATIO), sentence, MISSING)
    return verdict(NAME, CAMPAIGN, [finding], SOURCE)


def drifts(repetitions: Sequence[ComparedTrial]) -> dict[int, float]:
    """Block to how far the reference server lies from its median there: −0.03 for 3 % below it.

    Args:
        repetitions: The trials of a campaign.
    """
    reference = [one for one in entries(repetitions) if one.name == YARDSTICK]
    return {block: median(found) for block, found in _ratios(reference).items()}


def _drifts_of_others(repetitions: Sequence[ComparedTrial]) -> dict[int, list[float]]:
    """Block to how far each other server lies from its median there."""
    return _ratios([one for one in entries(repetitions) if one.name != YARDSTICK])


def _ratios(of: Sequence[Entry]) -> dict[int, list[float]]:
    """Block to the throughput there of each entry at full speed, against its median, less 1."""
    ratios: dict[int, list[float]] = {}
    for entry in of:
        if not entry.is_saturating or not entry.throughput:
            continue
        middle = median(entry.throughputs_alone)
        for one, throughput in zip(entry.repetitions, entry.throughputs_alone, strict=True):
            ratios.setdefault(one.recording.repetition, []).append(throughput / middle - 1)
    return ratios


def _is_alone(drift: float, others: Sequence[float]) -> bool:
    """Whether two other servers or more did not move with the reference."""
    if len(others) < 2:  # noqa: PLR2004
        return False
    same_way = median(others) * (1 if drift > 0 else -1)
    return same_way < DOUBTFUL_RATIO


def _in_turns(block: int, drift: float, limits: Limits) -> Finding:
    """The finding on a block whose servers took turns."""
    limit = _in_turns_limit(limits)
    return found(limit, abs(drift), f"{_moved(block, drift)}: {SHARED}", REMEDY)


def _in_turns_limit(limits: Limits) -> Limit:
    """Where servers take turns, what voids a block elsewhere is a doubt."""
    limit = limits.of(DRIFT_RATIO)
    return replace(limit, doubtful=limit.void, void=None)


def _moved(block: int, drift: float) -> str:
    return (
        f"in {block_name(block)} the reference server was {wording.percent(abs(drift))} "
        f"{'faster' if drift > 0 else 'slower'} than its median over the blocks"
    )


def _block(block: int, drift: float | None, others: Sequence[float], limits: Limits) -> Finding:
    limit = limits.of(DRIFT_RATIO)
    if drift is None:
        sentence = f"the reference server has no valid trial in {block_name(block)}"
        return unknown(limit, f"{sentence}, so drift of the machine is unknown there", MISSING)
    sentence = _moved(block, drift)
    if _is_alone(drift, others) and limit.level(abs(drift)) == "void":
        sentence = f"{sentence}, and the other servers were not"
        return Finding("doubtful", abs(drift), limit, sentence, REMEDY)
    return found(limit, abs(drift), f"{sentence}: the machine had changed", REMEDY)


def _all_sound(found_drifts: dict[int, float], limits: Limits) -> Verdict:
    most = max(abs(drift) for drift in found_drifts.values())
    sentence = (
        f"over {wording.several(len(found_drifts), 'block')} the reference server stayed within "
        f"{wording.percent(round(most, 4))} of its median"
    )
    limit = limits.of(DRIFT_RATIO)
    if limit.level(most) == "sound":
        finding = found(limit, most, sentence, "")
    else:
        finding = Finding("sound", most, _in_turns_limit(limits), f"{sentence}: {SHARED}", "")
    return verdict(NAME, CAMPAIGN, [finding], SOURCE)
