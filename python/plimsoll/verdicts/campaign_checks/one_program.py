"""Was each server one program in all of its trials, and was all of it measured alike?

A campaign may be interrupted and resumed for days. If the application changed meanwhile, a median
over its trials describes neither program: the numbers of that server are void. If the measuring
setup changed (engine, kernel, cores, load), numbers from before and after are not comparable: that
is a doubt. `run` refuses to make such results; they come from folders that were copied together,
and from files that changed while a trial ran.

The check compares the parts of the setup that each recording keeps. Trials that failed have no
number, and those of other tools have no parts; both are left out.

Source: the recordings' `provenance`.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.comparison.compared_table import table_of
from plimsoll.plan import ComparedTable
from plimsoll.provenance import Part, differences, named
from plimsoll.verdicts.finding import found, verdict
from plimsoll.verdicts.limits import Limit
from plimsoll.verdicts.verdict import CAMPAIGN, server_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from plimsoll.comparison.comparisons import ComparedTrial
    from plimsoll.recording import Recording
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.verdict import Verdict

    _Key = tuple[str, ...]

NAME = "one_program"
TITLE = "Same program"
PROBLEM = "Program or setup changed"
SOURCE = "parts of what ran, as each recording has them"
PROGRAMS = Limit(
    NAME,
    "programs",
    "above",
    None,
    1.0,
    "programs",
    "different programs that trials of one server ran",
    "the median would mix two programs",
)
SET_UPS = Limit(
    NAME,
    "set_ups",
    "above",
    1.0,
    None,
    "setups",
    "different setups of trials that are compared",
    "the measuring setup is part of every number",
)
LIMITS = (
    PROGRAMS,
    SET_UPS,
)
REMEDY = "Measure again what changed: the same `plimsoll run` with `--repeat-changed`"
OF_ONE_ENTRY = ("server cores", "start warm-up")
"""Settings that a load or a framework may change, so that they differ within a campaign."""
DATABASE = "PostgreSQL"
UPSTREAM = "upstream cores"
OF_SOME = (DATABASE, "database cores", UPSTREAM, "turns")
"""Parts that depend on what an endpoint needs, or on the model of a load."""


def judge(repetitions: Sequence[ComparedTrial], limits: Limits) -> tuple[Verdict, ...]:
    """Whether a server, or what measures, is not the same in all trials.

    Args:
        repetitions: The trials of a campaign.
        limits: The limits of the campaign.
    """
    known = [one.recording for one in repetitions if one.summary is not None and _is_known(one)]
    if len(known) < 2:  # noqa: PLR2004
        return ()
    mixed = tuple(_mixed(known, limits))
    return (*mixed, _measured(known, limits, are_one=not mixed))


def _is_known(one: ComparedTrial) -> bool:
    """Whether a trial went well, and what ran in it was recorded."""
    known = one.recording.provenance
    return one.recording.ending.kind == "completed" and bool(known.application or known.measurement)


def _mixed(recordings: Sequence[Recording], limits: Limits) -> Iterator[Verdict]:
    """A verdict on each server that is more than one program."""
    limit = limits.of(PROGRAMS)
    for (title,), trials in _grouped(recordings, _server):
        programs = Counter(one.provenance.application_id for one in trials)
        programs.pop("", None)
        if len(programs) < 2:  # noqa: PLR2004
            continue
        reported = [
            f"{key} in {wording.several(count, 'trial')}" for key, count in programs.items()
        ]
        changed = _changes([known for one in trials if (known := one.provenance.application)])
        sentence = (
            f"{title} mixes {len(programs)} programs: {wording.listed(reported)}; {named(changed)}"
        )
        tables = map(table_of, trials)
        finding = found(limit, len(programs), sentence, REMEDY, tables=tables)
        yield verdict(NAME, server_name(title), [finding], SOURCE)


def _measured(recordings: Sequence[Recording], limits: Limits, *, are_one: bool) -> Verdict:
    """The verdict on what measured them: within each entry, and what all entries share.

    Args:
        recordings: The trials that have numbers.
        limits: The limits of the campaign.
        are_one: Whether each server is one program.
    """
    limit = limits.of(SET_UPS)
    changed: dict[str, None] = {}
    concerned: list[ComparedTable] = []
    most = 1
    for same, parts in (
        (_entry, _all_parts),
        (_driver, _shared_parts),
        (_needs, _parts_of_needs),
    ):
        for _, trials in _grouped(recordings, same):
            known = [one for one in trials if one.provenance.measurement]
            each = [parts(one) for one in known]
            most = max(most, len(set(each)))
            if differing := _changes(each):
                changed.update(dict.fromkeys(differing))
                concerned += map(table_of, known)
    if not changed:
        sentence = (
            "each server ran the same program in all trials, with the same setup"
            if are_one
            else "all trials had the same setup"
        )
        return verdict(NAME, CAMPAIGN, [found(limit, most, sentence, "")], SOURCE)
    sentence = f"trials were measured with {most} setups: {named(tuple(changed))}"
    return verdict(NAME, CAMPAIGN, [found(limit, most, sentence, REMEDY, tables=concerned)], SOURCE)


def _changes(parts: Sequence[tuple[Part, ...]]) -> tuple[str, ...]:
    """What differs between the first of some lists of parts and the others, each once."""
    found = (reported for one in parts[1:] for reported in differences(parts[0], one))
    return tuple(dict.fromkeys(found))


def _grouped(
    recordings: Sequence[Recording], key: Callable[[Recording], _Key]
) -> list[tuple[_Key, list[Recording]]]:
    """Recordings by what they have in common, the first that began first."""
    groups: dict[_Key, list[Recording]] = {}
    for one in sorted(recordings, key=lambda recording: recording.zero_utc):
        groups.setdefault(key(one), []).append(one)
    return [*groups.items()]


def _server(recording: Recording) -> _Key:
    return (recording.title,)


def _entry(recording: Recording) -> _Key:
    return recording.title, recording.endpoint, recording.load.name, recording.driver_name


def _driver(recording: Recording) -> _Key:
    return (recording.driver_name,)


def _needs(recording: Recording) -> _Key:
    """Its load generator, the model of its load, and what its endpoint needs."""
    has = {part.name for part in recording.provenance.measurement}
    return recording.driver_name, recording.load.model, *sorted(has & {DATABASE, UPSTREAM})


def _all_parts(recording: Recording) -> tuple[Part, ...]:
    return recording.provenance.measurement


def _shared_parts(recording: Recording) -> tuple[Part, ...]:
    """What measures every trial by one driver alike, whichever its endpoint and load."""
    return tuple(
        part
        for part in recording.provenance.measurement
        if part.kind != "definition" and part.name not in (*OF_ONE_ENTRY, *OF_SOME)
    )


def _parts_of_needs(recording: Recording) -> tuple[Part, ...]:
    """What measures alike only those trials that need it."""
    return tuple(part for part in recording.provenance.measurement if part.name in OF_SOME)
