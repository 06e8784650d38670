"""Findings: what a check sees, one number at a time, before they become its verdict."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.aggregate.rates import held_s
from plimsoll.verdicts import request_limits
from plimsoll.verdicts.verdict import DOUBTING, LEVELS, Sentence, Verdict, joined

if TYPE_CHECKING:
    from plimsoll.aggregate.usage import Usage
    from plimsoll.plan import ComparedTable
    from plimsoll.recording import Origin, Recording
    from plimsoll.verdicts.limits import Limit
    from plimsoll.verdicts.verdict import Level


READABLE_HOST = "Measure on a host whose sockets and counters can be read"

SEVERAL = (
    "only several requests in flight on each connection would explain it, which the tool does not "
    "print"
)
COMMAND = "Give the command above the output, or `--set in_flight_each=…`"

READ_FROM_S = 2.0
"""Length of all holds from which on the sampler, which reads once a second, has something."""


@dataclass(frozen=True)
class Remedy:
    """What to do, for each reader: not everything can be changed by everyone.

    Attributes:
        campaign: Where a campaign started the server: keys of its file and of the framework's.
        load: Where `plimsoll load` met a server that ran already; None when it is the same.
        imported: Where another tool generated the load; None when it is the same as with `load`.
        hosts: Where several hosts generate the load, whose file says what options say of one host;
            None when it is the same as where one does.
        counted: Where `plimsoll load` was given a number of requests, so that `-d` has no say; None
            when it is the same as with `load`.
    """

    campaign: str
    load: str | None = None
    imported: str | None = None
    hosts: str | None = None
    counted: str | None = None

    def of(self, origin: Origin, *, by_hosts: bool = False, is_counted: bool = False) -> str:
        """What to do about it.

        Args:
            origin: Where the recording comes from.
            by_hosts: Whether several hosts generated the load.
            is_counted: Whether a number of requests ended it.
        """
        if by_hosts and self.hosts is not None:
            return self.hosts
        load = self.campaign if self.load is None else self.load
        imported = load if self.imported is None else self.imported
        if is_counted and self.counted is not None:
            load = self.counted
        return {"campaign": self.campaign, "load": load, "import": imported}[origin]


@dataclass(frozen=True)
class Finding:
    """One number of a check against its limit.

    Attributes:
        level: Its level.
        measured: The number; None when it could not be measured.
        limit: The limit.
        sentence: What was found, with the numbers, without a full stop.
        remedy: What to do about it if it is not sound, without a full stop.
        further: Further sentences, such as what it means, each without a full stop.
        tables: Of a campaign: the tables that it is about; empty where it is about all of them.
        applies: Whether there is something to check, even if it could not be checked.
    """

    level: Level
    measured: float | None
    limit: Limit
    sentence: str
    remedy: Remedy | str
    further: tuple[str, ...] = ()
    tables: tuple[ComparedTable, ...] = ()
    applies: bool = True


def found(
    limit: Limit,
    measured: float | None,
    sentence: str,
    remedy: Remedy | str,
    *further: str,
    tables: Iterable[ComparedTable] = (),
) -> Finding:
    """A finding whose level follows from the limit."""
    concerned = tuple(dict.fromkeys(tables))
    return Finding(limit.level(measured), measured, limit, sentence, remedy, further, concerned)


def explained_by_several(finding: Finding) -> Finding:
    """A finding of too much in flight, where each connection may have carried several requests."""
    if finding.level not in DOUBTING:
        return finding
    return replace(finding, level="doubtful", further=(SEVERAL,), remedy=COMMAND)


def meaning(finding: Finding, clause: str) -> Finding:
    """The finding with what it means behind its sentence, where it doubts.

    Args:
        finding: The finding.
        clause: What its number means for the trial.
    """
    if finding.level not in DOUBTING:
        return finding
    return replace(finding, sentence=f"{finding.sentence}: {clause}")


def unknown(limit: Limit, sentence: str, remedy: Remedy | str) -> Finding:
    """A finding about something that should have been read and was not: doubtful, never sound.

    Where nothing could have been read it is not checked: in a recording of another tool, and in
    holds too short for the sampler to have a whole second of them.
    """
    return Finding("doubtful", None, limit, sentence, remedy)


def unread_server(limit: Limit, recording: Recording, sentence: str) -> Finding:
    """A finding about processes of the server that could not be read.

    They should be where Plimsoll started it. One that was found running may be on another host, or
    belong to someone else, so it is not checked there.
    """
    if recording.found_running:
        return not_checked(limit, sentence)
    return unknown(limit, sentence, "Measure on a host whose `/proc` shows the server's processes")


def unread_host(
    limit: Limit,
    usage: Usage,
    quantities: Sequence[tuple[str, str]],
    sentence: str,
    remedy: Remedy | str = READABLE_HOST,
) -> Finding:
    """A finding about what the kernel counts and that was not read where it should have been.

    A host that showed none of it in the whole trial has no such counter, or hides it, as
    some containers do: then it is not available, and raises no doubt.

    Args:
        limit: The limit that nothing can be held against.
        usage: Every reading of the trial.
        quantities: Scope and name of each quantity that would have done.
        sentence: What could not be read.
        remedy: What to do where the host shows some of it.
    """
    if any(usage.of(scope, quantity) for scope, quantity in quantities):
        return unknown(limit, sentence, remedy)
    return not_checked(limit, f"{sentence}: not available on this host")


def not_checked(limit: Limit, sentence: str, *further: str) -> Finding:
    """A finding about what applies and could not be checked here, with the reason."""
    return Finding("not_checked", None, limit, sentence, "", further)


def inapplicable(limit: Limit, sentence: str) -> Finding:
    """A finding about what this kind of load, server or host does not have: nothing to check."""
    return Finding("not_checked", None, limit, sentence, "", applies=False)


def led_by(first: Finding, *others: Finding) -> list[Finding]:
    """Findings of which the first is what the check is about.

    Where it could not be measured, the others may doubt a trial and do not make the check sound.
    """
    if first.measured is not None:
        return [first, *others]
    return [first, *(one for one in others if one.level in DOUBTING)]


def of_trial(
    check: str,
    recording: Recording,
    findings: Sequence[Finding],
    source: str,
    unread: Sequence[str] = (),
) -> Verdict:
    """The verdict of a check on a trial, with remedies that fit where its recording comes from.

    Args:
        check: Name of the check.
        recording: The recording of the trial.
        findings: At least one, the most important first.
        source: Where the formula comes from.
        unread: What belongs to the check and could not be read on this host.
    """
    origin = recording.origin
    by_hosts, is_counted = bool(recording.hosts), request_limits.is_counted(recording)
    fitting = [
        replace(one, remedy=one.remedy.of(origin, by_hosts=by_hosts, is_counted=is_counted))
        if isinstance(one.remedy, Remedy)
        else one
        for one in findings
    ]
    if origin == "import" or held_s(recording) < READ_FROM_S:
        fitting = [_unreadable(one) if _is_unread(one) else one for one in fitting]
    return verdict(check, recording.trial, fitting, source, unread)


def verdict(
    check: str,
    subject: str,
    findings: Sequence[Finding],
    source: str,
    unread: Sequence[str] = (),
) -> Verdict:
    """The verdict of a check: as bad as its worst finding.

    It lists every finding that doubts, the worst first. A sound verdict lists its first finding and
    what was not checked. What the host does not show comes last. It passes nothing, and it does not
    make a trial doubtful if other things could be read: else every trial on that host would be.

    Args:
        check: Name of the check.
        subject: Id of the trial, name of the block, `campaign`, or what was published.
        findings: At least one, the most important first.
        source: Where the formula comes from.
        unread: What belongs to the check and could not be read on this host.
    """
    ordered = sorted(findings, key=lambda finding: -LEVELS.index(finding.level))
    worst = ordered[0]
    return Verdict(
        check=check,
        subject=subject,
        level=worst.level,
        measured=worst.measured,
        limit=worst.limit.decisive(worst.level),
        unit=worst.limit.unit,
        sentences=_sentences(ordered, unread),
        source=_source(worst.limit, source),
    )


def _sentences(ordered: Sequence[Finding], unread: Sequence[str]) -> tuple[Sentence, ...]:
    """The sentences of findings, the worst first, each once."""
    reported = [
        Sentence(
            one.level,
            _sentence(part),
            _sentence(_remedy(one.remedy)),
            one.limit.name,
            one.tables,
            one.applies,
        )
        for one in _reported(ordered)
        for part in (one.sentence, *one.further)
    ]
    if unread:
        text = _sentence(f"not available on this host: {', '.join(unread)}")
        reported.append(Sentence("not_checked", text))
    once: dict[str, Sentence] = {}
    for one in reported:
        same = once.get(one.text, one)
        once[one.text] = replace(same, tables=joined(same.tables, one.tables))
    return tuple(once.values())


def _reported(ordered: Sequence[Finding]) -> Iterator[Finding]:
    """Every finding that doubts; where none does the first, and those that are not checked."""
    doubting = [one for one in ordered if one.level in DOUBTING]
    if doubting:
        yield from doubting
        return
    yield replace(ordered[0], remedy="")
    for one in ordered[1:]:
        if one.level == "not_checked":
            yield replace(one, remedy="")


def _is_unread(finding: Finding) -> bool:
    return finding.level == "doubtful" and finding.measured is None


def _unreadable(finding: Finding) -> Finding:
    """A finding about what could not have been read."""
    return replace(finding, level="not_checked", remedy="")


def _remedy(remedy: Remedy | str) -> str:
    return remedy.of("campaign") if isinstance(remedy, Remedy) else remedy


def _sentence(part: str) -> str:
    """A clause as a sentence: a capital in front, a full stop behind; empty stays empty."""
    return f"{wording.capital(part)}." if part else ""


def _source(limit: Limit, source: str) -> str:
    changed = f"changed by this campaign, {limit.changed}" if limit.changed else limit.source
    return f"{source}; limit: {changed}"
