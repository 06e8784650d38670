"""What a report says of a campaign as a whole: what ran, where, and how far it got."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.findings.trial import load_name
from plimsoll.recording import HOST
from plimsoll.report import words
from plimsoll.report.contents import stopping
from plimsoll.report.results import line_result

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

GLOSSARY: Facts = [
    ("trial", "one framework, one endpoint, one load, one repetition, with a fresh server"),
    ("repetition", "a trial repeated with a fresh server"),
    ("hold", "the measurement window: the stage with a constant load, the only one summarised"),
    ("throughput", "responses per second, successful or not"),
    ("goodput", "successful responses per second; rankings use it"),
    ("due", "the intended start of a request, by the schedule"),
    ("response time", "done − due: includes the wait before sending"),
    ("service time", "done − sent"),
    ("lag", "sent − due: how late the load generator sent it"),
    ("RSS, PSS", "memory of processes; shared pages counted per process, or once"),
    (
        "rank 2–4",
        "not significantly different from its neighbours: its true rank may be any of these",
    ),
    ("sound", "no check found a problem with the number"),
    ("not checked", "a check does not apply, or lacks data"),
    ("doubtful", "a check found a problem; the number is ranked and marked"),
    ("void", "a check shows that the number is wrong; it is shown, not ranked"),
]
"""The words of a report."""


def subtitle(findings: Findings) -> str:
    """What the campaign was, in one line."""
    frameworks = {trial.recording.title for trial in findings.trials}
    endpoints = {trial.recording.endpoint for trial in findings.trials}
    parts = [
        wording.several(len(frameworks), "framework"),
        wording.several(len(endpoints), "endpoint"),
        wording.several(len(findings.trials), "trial"),
    ]
    days = sorted({trial.recording.zero_utc[:10] for trial in findings.trials})
    when = " to ".join(dict.fromkeys([days[0], days[-1]])) if days else ""
    return " · ".join(part for part in [*parts, when] if part)


def configuration(findings: Findings) -> Facts:
    """The configuration of the campaign."""
    recordings = [trial.recording for trial in findings.measured]
    loads = {load_name(recording): recording.load for recording in recordings}
    return [
        ("Frameworks", _listed(sorted(_with_version(recording) for recording in recordings))),
        ("Endpoints", _listed(ranking.endpoint for ranking in findings.rankings)),
        *((f"Load {name}", words.load_text(load)) for name, load in sorted(loads.items())),
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
    limits = [line_result.limit_text(one) for one in wanted.limits]
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
            label.format("lab" if name == HOST else name, words.machine(facts)),
            [words.fact(key, value) for key, value in facts.items()],
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


def banner(findings: Findings) -> list[tuple[State, int, str]]:
    """How many trials are in each state, and what it means; rare ones where there are any."""
    counts = findings.counts
    return [
        (state, counts[state], meaning)
        for state, meaning in STATES.items()
        if state not in RARE or counts[state]
    ]
