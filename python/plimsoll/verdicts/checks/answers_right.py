"""Were the answers right: before the load, under it, and after it?

Status and length of every answer are checked while it is received, the bodies of a sample of them
byte by byte. Measured is the share of wrong ones among the complete answers of the holds. Before
and after the load the contract asks the endpoint with values that a shortcut gets wrong; a server
that fails there is void, for it did not do the work that is compared. No contract speaks about a
server that was found running: there, right is what the one who asked said is right.

Source: results have been published that were made of error pages; an error page is quickly served.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.aggregate.outcomes import BY_NAME
from plimsoll.verdicts import wording
from plimsoll.verdicts.finding import Finding, found, unknown, verdict

if TYPE_CHECKING:
    from plimsoll.aggregate.trial import Tables
    from plimsoll.published.figures import Figures
    from plimsoll.verdicts.limits import Limit, Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "answers_right"
SOURCE = "wrong answers / complete answers of the holds, and the contract before and after"
REMEDY = "Look at what the server answers (`plimsoll check`), mend it, and repeat the trial"
IMPORTED_REMEDY = "Look at what the server answers, mend it, and repeat the test"
TIMES = ("before", "after")
MANY = 1000
"""Among so many answers a sample of one in a hundred compares at least one body."""


def judge(tables: Tables, limits: Limits) -> Verdict:
    """Whether the answers were right."""
    findings = [_wrong(tables, limits)]
    if not tables.recording.found_running:
        findings += [_contract(tables, limits), _bodies(tables, limits)]
    return verdict(NAME, tables.recording.trial, findings, SOURCE)


def _wrong(tables: Tables, limits: Limits) -> Finding:
    limit = limits.of(NAME, "wrong_ratio")
    completed = tables.summary["completed"]
    if not completed:
        return unknown(limit, "no answer of the hold could be checked, for there is none", "")
    driver = tables.recording.driver
    if driver is not None and not driver.outcomes_said:
        return unknown(limit, "which answers were right is not said", "Have the driver say so")
    wrong = completed - tables.summary["ok"]
    driver = tables.recording.driver
    if driver is not None and driver.figures is not None:
        return _by_figures(driver.name, driver.figures, wrong, completed, limit)
    if not wrong:
        return found(limit, 0.0, _all_right(tables), "")
    sentence = (
        f"{wording.count(wrong)} of {wording.count(completed)} answers "
        f"({wording.percent(wrong / completed)}) were wrong: {_kinds(tables)}; they count as "
        "answers per second, not as right answers per second"
    )
    return found(limit, wrong / completed, sentence, _remedy(tables))


def _remedy(tables: Tables) -> str:
    """What to do; there is no endpoint to check where only files of another tool were taken in."""
    is_imported = tables.recording.load.get("model") == "unknown"
    return IMPORTED_REMEDY if is_imported else REMEDY


def _by_figures(
    name: str, figures: Figures, wrong: float, completed: float, limit: Limit
) -> Finding:
    """What a foreign driver counts as wrong, or what its record shows, whichever is more."""
    wrong = max(wrong, figures.wrong)
    of = f"of {wording.count(completed)} answers"
    if not wrong:
        sentence = f"`{name}` counted none {of} as wrong; more than that was not looked at"
        return found(limit, 0.0, sentence, "")
    kinds = wording.listed(
        [f"{kind} {wording.count(n)}" for kind, n in figures.wrong_answers.items()]
    )
    sentence = (
        f"`{name}` counted {wording.count(wrong)} {of} as wrong{f': {kinds}' if kinds else ''}"
    )
    return found(limit, min(wrong / completed, 1.0), sentence, REMEDY)


def _all_right(tables: Tables) -> str:
    completed = wording.count(tables.summary["completed"])
    driver = tables.recording.driver
    compared = 0 if driver is None else driver.bodies_compared
    if not tables.recording.found_running or compared:
        return f"all {completed} answers were right"
    if driver is not None and tables.recording.load.get("model") == "unknown":
        return f"all {completed} answers were right by what `{driver.name}` looked at"
    return f"all {completed} answers had the status and length that were asked for"


def _kinds(tables: Tables) -> str:
    kinds: dict[str, int] = {}
    for row in tables.outcome_counts:
        outcome = BY_NAME.get(row.outcome)
        if outcome is not None and outcome.group == "answered" and row.held:
            kinds[outcome.words] = kinds.get(outcome.words, 0) + row.held
    return wording.listed([f"{wording.count(number)} {words}" for words, number in kinds.items()])


def _contract(tables: Tables, limits: Limits) -> Finding:
    limit = limits.of(NAME, "contract_problems")
    contract = tables.recording.contract
    problems = [f"{time} the load {text}" for time in TIMES for text in contract.get(time, ())]
    missing = [time for time in TIMES if time not in contract]
    if problems:
        sentence = f"the server did not answer as its contract asks: {wording.listed(problems, 2)}"
        return found(limit, float(len(problems)), sentence, REMEDY)
    if missing:
        sentence = (
            f"nobody compared the server's answers with a contract {' and '.join(missing)} the "
            "load; under load only what each request was told to expect was checked"
        )
        return unknown(limit, sentence, "Measure an endpoint of the contract in a campaign")
    return found(limit, 0.0, "the contract held before and after the load", "")


def _bodies(tables: Tables, limits: Limits) -> Finding:
    limit = limits.of(NAME, "wrong_ratio")
    driver = tables.recording.driver
    compared = 0 if driver is None else driver.bodies_compared
    completed = tables.summary["completed"]
    if compared or completed < MANY:
        return found(limit, 0.0, f"{wording.count(compared)} bodies were compared in full", "")
    not_one = f"not one body of {wording.count(completed)} answers was compared in full"
    if driver is not None and driver.figures is not None:
        sentence = f"{not_one}; right is what `{driver.name}` does not count as wrong"
        return unknown(limit, sentence, "Compare with a driver that looks at bodies")
    sentence = f"{not_one}; only status and length were checked"
    return unknown(limit, sentence, "Say what the body must be, so that a sample can be compared")
