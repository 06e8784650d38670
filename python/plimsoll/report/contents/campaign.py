"""What a report says of a campaign as a whole: what ran, where, and how far it got."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.findings.trial import load_name
from plimsoll.recording import HOST
from plimsoll.report import fact_text, level_text, load_text
from plimsoll.report.contents import naming, stopping

if TYPE_CHECKING:
    from collections.abc import Iterable

    from plimsoll.findings.findings import Findings
    from plimsoll.findings.trial import State
    from plimsoll.machine import Fact
    from plimsoll.recording import Recording

Facts = list[tuple[str, str]]
"""Names and values."""

STATES: dict[State, str] = {
    "sound": "no check found a problem",
    "not_checked": "responses were not verified",
    "doubtful": "use with care, see why",
    "void": "shown, not ranked",
    "failed": "ended by an error",
}
"""Every state of a trial, and what it means."""

RARE: tuple[State, ...] = ("not_checked", "failed")
"""States that are shown only if a trial is in them."""

UNRANKED: dict[State, str] = {"void": "the number is wrong"}
"""What states mean where nothing is ranked."""

_OF_CAMPAIGN: Facts = [
    ("trial", "one framework, one endpoint, one load, one repetition, with a fresh server"),
    ("repetition", "a trial repeated with a fresh server"),
]

_OF_TARGET: Facts = [("trial", "one load of the target")]

_WORDS: Facts = [
    ("hold", "the measurement window: the stage with a constant load, the only one summarised"),
    ("throughput", "responses per second, successful or not"),
    ("goodput", "successful responses per second"),
    ("due", "the intended start of a request, by the schedule"),
    ("response time", "done − due: includes the wait before sending"),
    ("service time", "done − sent"),
    ("lag", "sent − due: how late the load generator sent it"),
    ("RSS, PSS", "memory of processes; shared pages counted per process, or once"),
    ("sound", "no check found a problem with the number"),
    ("not checked", "a check does not apply, or lacks data"),
]

_RANKED: Facts = [
    ("doubtful", "a check found a problem; the number is ranked and marked"),
    ("void", "a check shows that the number is wrong; it is shown, not ranked"),
    (
        "rank 2–4",
        "not significantly different from its neighbours: its true rank may be any of these",
    ),
    ("ranking", "the frameworks by their goodput, the best first"),
]

_UNRANKED: Facts = [
    ("doubtful", "a check found a problem with the number"),
    ("void", "a check shows that the number is wrong"),
]


def glossary(findings: Findings) -> Facts:
    """The words of a report.

    Args:
        findings: What to report.
    """
    of = _OF_TARGET if naming.subject(findings) == naming.TARGET else _OF_CAMPAIGN
    return [*of, *_WORDS, *(_RANKED if is_ranked(findings) else _UNRANKED)]


def is_ranked(findings: Findings) -> bool:
    """Whether any table has two entries, of which one may be before the other."""
    return any(ranking.entries[1:] for ranking in findings.rankings)


def subtitle(findings: Findings) -> str:
    """What the campaign was, in one line: how many trials, and of what they are the product."""
    recordings = [trial.recording for trial in findings.trials]
    factors = {
        naming.subject(findings): len({one.title for one in recordings}),
        "endpoint": len({one.endpoint for one in recordings}),
        "repetition": len({one.repetition for one in recordings}),
    }
    trials = wording.several(len(recordings), "trial")
    parts = [wording.several(count, noun) for noun, count in factors.items()]
    if factors["repetition"] > 1 and math.prod(factors.values()) == len(recordings):
        product = [f"{' × '.join(parts)} = {trials}"]
    else:
        product = [*parts[:2], trials]
    days = sorted({one.zero_utc[:10] for one in recordings})
    when = " to ".join(dict.fromkeys([days[0], days[-1]])) if days else ""
    return " · ".join(part for part in [*product, when] if part)


def conditions(findings: Findings) -> str:
    """How servers and load generator shared the machine, in one sentence; may be empty.

    `servers took turns of 50 ms on 1 core; load generator on 1 core`. Of an import, and of a
    server that ran already, nothing is known.
    """
    recordings = [one.recording for one in findings.measured if one.recording.origin == "campaign"]
    planned_s = {
        (turn.planned_ns or wording.significant(turn.duration_ns, 2) or 0) / 1e9
        for one in recordings
        for turn in one.held_turns[:1]
    }
    servers = [one.server.cores for one in recordings if one.server is not None]
    drivers = [one.driver.cores for one in recordings if one.driver is not None]
    if not servers:
        return ""
    turns = wording.listed([wording.seconds(one) for one in sorted(planned_s)])
    order = f"servers took turns of {turns}" if turns else "one server at a time"
    return "; ".join(
        filter(None, (_on_cores(order, servers), _on_cores("load generator", drivers)))
    )


def _on_cores(what: str, confined: Iterable[tuple[int, ...]]) -> str:
    """On how many cores processes ran: `load generator on 1 to 2 cores`.

    Args:
        what: The processes.
        confined: The cores that each of them was confined to; empty for none.
    """
    counts = sorted({len(one) for one in confined})
    if not counts:
        return ""
    if not counts[0]:
        return f"{what} on all cores"
    fewest = f"{counts[0]} to " if counts[0] < counts[-1] else ""
    return f"{what} on {fewest}{wording.several(counts[-1], 'core')}"


def configuration(findings: Findings) -> Facts:
    """The configuration of the campaign."""
    recordings = [trial.recording for trial in findings.measured]
    loads = {load_name(recording): recording.load for recording in recordings}
    subject = naming.subject(findings)
    subjects = f"{subject.capitalize()}s" if len(findings.frameworks) > 1 else subject.capitalize()
    return [
        (subjects, _listed(sorted(_with_version(recording) for recording in recordings))),
        ("Endpoints", _listed(ranking.endpoint for ranking in findings.rankings)),
        *((f"Load {name}", load_text.sentence(load)) for name, load in sorted(loads.items())),
        *_searches(findings),
        *_ladder(findings),
        ("Repetitions", str(max((recording.repetition for recording in recordings), default=0))),
        ("Load generator", _listed(_driver(recording) for recording in recordings)),
        *_settings(findings),
    ]


def _settings(findings: Findings) -> Facts:
    """What `--set` was given."""
    typed = () if findings.as_run is None else findings.as_run.settings
    return [("Settings", "; ".join(f"--set {one}" for one in typed))] if typed else []


def _searches(findings: Findings) -> Facts:
    """What is searched for load lines, as far as it is known."""
    found = next((one.found for one in findings.lines if one.found), None)
    if found is None:
        return []
    wanted, subject = found.searched.wanted, found.subject
    limits = [one.text for one in wanted.limits]
    parts = (
        wording.listed([*limits, f"errors ≤ {wording.percent(wanted.errors.allowed)}"]),
        f"tries of {wording.seconds(wanted.hold_s)} with {subject.arrivals} arrivals",
        wording.several(subject.connections, "connection"),
        f"until ±{wording.percent(wanted.within)}, at most {wording.seconds(wanted.budget_s)}",
    )
    return [("Load lines", "; ".join(parts))]


def _ladder(findings: Findings) -> Facts:
    """The rates of a ladder, as far as they are recorded."""
    steps = [step for one in findings.ladders for step in one.steps]
    if not steps:
        return []
    rates = sorted({step.requested_per_s for step in steps})
    load = steps[0].trial.recording.load
    parts = (
        wording.listed([wording.per_second(rate) for rate in rates], 8),
        f"steps of {wording.seconds(load.stages[-1].duration_s)}",
        wording.several(load.connections, "connection"),
    )
    return [("Ladder", "; ".join(parts))]


def _with_version(recording: Recording) -> str:
    version = recording.versions.get("framework", "")
    return f"{recording.title} ({version})" if version else recording.title


def _driver(recording: Recording) -> str:
    if recording.driver is None:
        return recording.driver_name
    return f"{recording.driver.name} {recording.driver.version}".strip()


def _listed(texts: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(texts))


def machines(findings: Findings) -> dict[str, tuple[str, Facts]]:
    """Each host by its name: itself in one line, and every fact of it.

    Of several hosts the line begins with the name.
    """
    found: dict[str, dict[str, Fact]] = {}
    for trial in findings.trials:
        found.update(trial.recording.machines)
    label = "{}: {}" if len(found) > 1 else "{1}"
    return {
        name: (
            label.format("lab" if name == HOST else name, fact_text.machine(facts)),
            [fact_text.fact(key, value) for key, value in facts.items()],
        )
        for name, facts in found.items()
    }


def extent(findings: Findings) -> str:
    """What to say of trials that are missing, or why no further block was begun; may be empty."""
    count = len(findings.missing)
    if not count:
        return "" if findings.progress is None else stopping.of_campaign(findings.progress)
    return (
        f"{wording.several(count, 'trial')} of the plan {'is' if count == 1 else 'are'} missing: "
        "the campaign was interrupted. Run the same `plimsoll run` again to resume."
    )


def changed_limits(findings: Findings) -> list[str]:
    """Each limit of a check that the campaign changed, in words."""
    return [
        f"{check}.{name} = {wording.number(value)}"
        for check, values in findings.limits.items()
        for name, value in values.items()
    ]


def of_yardstick(findings: Findings) -> str:
    """How many trials of the yardstick are in each state; empty where there are none of them."""
    states = Counter(one.state for one in findings.of_yardstick)
    if not states:
        return ""
    counts = [f"{states[state]} {level_text.name(state)}" for state in STATES if states[state]]
    trials = wording.several(states.total(), "trial")
    return f"{trials} of the yardstick, which has no rank: {', '.join(counts)}"


def banner(findings: Findings) -> list[tuple[State, int, str]]:
    """How many trials are in each state, and what it means; rare ones where there are any."""
    counts, own = findings.counts, {} if is_ranked(findings) else UNRANKED
    return [
        (state, counts[state], own.get(state, meaning))
        for state, meaning in STATES.items()
        if state not in RARE or counts[state]
    ]
