"""What verdicts mean for the exit code: which are accepted, and whether doubts count."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from plimsoll import cli, report
from plimsoll.cli import messages
from plimsoll.errors import (
    LIMIT_MISSED,
    UNDECIDED,
    VERDICT_VOID,
    FrameworkError,
    InputError,
    Problem,
)
from plimsoll.load_line.limits import ERRORS
from plimsoll.verdicts import catalogue
from plimsoll.verdicts.catalogue import LIMITS
from plimsoll.verdicts.levels import of_trial

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from plimsoll.findings.campaign_thresholds import CampaignThreshold
    from plimsoll.findings.findings import Findings
    from plimsoll.findings.load_lines import LineFindings
    from plimsoll.findings.thresholds import Threshold
    from plimsoll.findings.trial import TrialFindings
    from plimsoll.load_line.search import Line
    from plimsoll.verdicts.verdict import Level, Verdict

_WORST_FIRST = (FrameworkError.exit_code, LIMIT_MISSED, UNDECIDED, VERDICT_VOID, 0)

_MORE_RESPONSES = "run longer loads, or more requests in each"

Changes = dict[str, dict[str, float]]
"""Check to name of a limit and its value."""


def checks(typed: Iterable[str]) -> tuple[str, ...]:
    """Names of the checks that are accepted, each of which may be typed as its title.

    Raises:
        InputError: There is no such check.
    """
    return catalogue.require(typed, "--accept")


def limits(typed: Iterable[str]) -> Changes:
    """Limits as they were typed: `undisturbed.lost_ratio_void=0.6`.

    Raises:
        InputError: There is no such limit, or its value is not a number.
    """
    changes: Changes = {}
    problems: list[Problem] = []
    known = {
        f"{limit.check}.{name}": limit.check for limit in LIMITS for name in limit.setting_names
    }
    for text in typed:
        name, _, value = (part.strip() for part in text.partition("="))
        number = _number(value)
        if name not in known:
            problems.append(Problem("--limit", f"unknown limit `{name}`", _hint(name, known)))
        elif number is None:
            message = f"`{text}` has no number after its `=`"
            problems.append(Problem("--limit", message, f"write `{name}=0.1`"))
        else:
            check = known[name]
            changes.setdefault(check, {})[name.removeprefix(f"{check}.")] = number
    if problems:
        raise InputError(problems)
    return changes


def exit_code(found: Findings, accepted: Sequence[str] = (), *, strict: bool = False) -> int:
    """1 when something is void, or doubtful where that counts; else 0.

    Args:
        found: What was found.
        accepted: Checks whose verdicts do not count.
        strict: Whether doubts count as well.
    """
    return _exit_code(_levels(found, accepted), strict=strict)


def exit_code_of_trial(
    found: TrialFindings, accepted: Sequence[str] = (), *, strict: bool = False
) -> int:
    """The same of one trial."""
    return _exit_code([_level(found, accepted)], strict=strict)


def note_accepted(verdicts: Iterable[Verdict], accepted: Sequence[str]) -> None:
    """Says which verdicts the exit code leaves out; nothing where no accepted check doubts."""
    if note := _accepted_note(verdicts, accepted):
        messages.note(note)


def accepted_note_of(found: Findings, accepted: Sequence[str]) -> str:
    """Which verdicts on a campaign and its trials the exit code leaves out; empty for none."""
    trials = (one for trial in found.counting for one in trial.verdicts)
    return _accepted_note([*trials, *found.verdicts], accepted)


def _accepted_note(verdicts: Iterable[Verdict], accepted: Sequence[str]) -> str:
    doubting = {one.check: one for one in verdicts if one.is_doubting and one.check in accepted}
    names = [f"{catalogue.title_of(one)} (`{one.check}`)" for one in doubting.values()]
    return f"accepted, so that the exit code leaves it out: {', '.join(names)}" if names else ""


def _exit_code(levels: Iterable[Level], *, strict: bool) -> int:
    bad = {"void", "doubtful"} if strict else {"void"}
    return VERDICT_VOID if bad & {*levels} else 0


def require_thresholds(fail_if: Sequence[str], junit: Path | None) -> None:
    """Requires thresholds where a file is to have what they say.

    Raises:
        UsageError: There is no threshold.
    """
    if junit is not None and not fail_if:
        raise click.UsageError("`--junit` needs a threshold; add `--fail-if`")


def threshold_exit_code(found: Findings, junit: Path | None = None) -> int:
    """Prints each threshold that is crossed or undecided; the exit code, 0 where all are kept.

    Args:
        found: What was found.
        junit: File that gets every threshold and entry; None for none.

    Raises:
        StorageError: The file cannot be written.
    """
    crossed = {one.sentence: one.threshold.doubt for one in found.thresholds if one.is_crossed}
    note_doubts(one.threshold for one in found.thresholds if one.state == "kept")
    undecided = {
        one.sentence: one.remedy or _MORE_RESPONSES for one in found.thresholds if one.is_undecided
    }
    code = missed_exit_code(crossed, undecided)
    cli.outgoing.write(junit, lambda: report.thresholds.as_junit(found))
    return code


def note_doubts(kept: Iterable[Threshold | CampaignThreshold]) -> None:
    """Asks about each kept threshold that seems to be the wrong way round."""
    for doubt in filter(None, dict.fromkeys(one.doubt for one in kept)):
        messages.note(doubt)


def missed_exit_code(crossed: Mapping[str, str], undecided: Mapping[str, str]) -> int:
    """Prints thresholds that are crossed or undecided; the exit code, 0 where there is none.

    Args:
        crossed: Sentences of those that are crossed, each with a hint or none.
        undecided: Sentences of those that are undecided, each with what would decide it.
    """
    for sentence, hint in crossed.items():
        messages.error(f"threshold crossed: {sentence}", hint)
    for sentence, hint in undecided.items():
        messages.error(f"undecided: {sentence}", hint)
    return LIMIT_MISSED if crossed else UNDECIDED if undecided else 0


def line_exit_code(found: LineFindings) -> int:
    """Prints of each line that is missing or void why, and what to do; the worst exit code.

    It is 0 where each limit has a line, or is kept at every rate.
    """
    code = lines_exit_code(found)
    return code or (VERDICT_VOID if found.level == "void" else 0)


def lines_exit_code(found: LineFindings) -> int:
    """The same without verdicts on the tries below the lines."""
    told: dict[str, tuple[str, int]] = {}
    for line in found.searched.lines:
        hint, code = report.line_result.remedy_of(found, line), _line_code(found, line)
        if code:
            told[report.line_result.sentence_of(found, line)] = hint, code
        elif hint:
            told[""] = hint, 0
    for sentence, (hint, code) in told.items():
        if code:
            messages.error(sentence, hint, code)
        else:
            messages.note(hint)
    return worst(code for _, code in told.values())


def _line_code(found: LineFindings, line: Line) -> int:
    """The exit code of one line; 0 where it was found, or is kept at every rate."""
    if found.is_of_driver(line):
        return VERDICT_VOID
    if line.state == "below":
        is_failing = line.binding is not None and line.binding.name == ERRORS
        return FrameworkError.exit_code if is_failing else LIMIT_MISSED
    return UNDECIDED if line.state == "open" else 0


def lines_missed(found: Findings) -> int:
    """Prints which load lines of a campaign are missing or void; their worst exit code, else 0.

    Verdicts on the tries below a line are left to `exit_code`, which knows those accepted. The
    yardstick beside frameworks is left out.
    """
    is_beside = any(not one.is_yardstick for one in found.lines)
    counting = [one for one in found.lines if not (one.is_yardstick and is_beside)]
    return worst(lines_exit_code(one.found) for one in counting if one.found and not one.problem)


def worst(codes: Iterable[int]) -> int:
    """The exit code that counts of those of several results; 0 for none.

    What certainly fails comes before what is undecided, and both before what is void.
    """
    return min(codes, key=_WORST_FIRST.index, default=0)


def _levels(found: Findings, accepted: Sequence[str]) -> Iterator[Level]:
    for trial in found.counting:
        yield _level(trial, accepted)
    for verdict in found.verdicts:
        if verdict.check not in accepted:
            yield verdict.level


def _level(trial: TrialFindings, accepted: Sequence[str]) -> Level:
    """The level of a trial without the verdicts of some checks; an error stays one."""
    if not trial.has_ended_well or (trial.summary is None and trial.recording.requests):
        return trial.level
    return of_trial([one for one in trial.verdicts if one.check not in accepted])


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _hint(name: str, known: Iterable[str]) -> str:
    check = name.partition(".")[0]
    of_check = [one for one in known if one.startswith(f"{check}.")]
    if of_check:
        return f"limits of `{check}`: {', '.join(of_check)}"
    return "`plimsoll list` names the checks, docs/checks.md their limits"
