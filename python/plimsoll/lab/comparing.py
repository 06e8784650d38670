"""`plimsoll.compare`: two servers that take turns, and whether B is faster than A."""

from __future__ import annotations

import math
import os
import shlex
import time
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll import errors, lab, machine, wording
from plimsoll import storage as storages
from plimsoll.aggregate.trial import stored
from plimsoll.campaign.endpoints import ENDPOINTS
from plimsoll.campaign.framework import Framework
from plimsoll.campaign.load import HIGHEST_LEVEL, Load, Stage
from plimsoll.campaign.requests import Endpoint, Exchange, Expected, Request
from plimsoll.comparison import group_rounds, turn_pairs
from plimsoll.comparison.difference import AT_A_RATE, AT_FULL_SPEED, METRICS
from plimsoll.comparison.group_rounds import ROUNDS, TURN_S, GroupRounds, Pace
from plimsoll.comparison.turn_pairs import A, B, GroupTimes
from plimsoll.comparison.until_decided import (
    Compared,
    ComparedServers,
    Killed,
    MeasuredGroup,
    StoppingRule,
    compared,
)
from plimsoll.conduct import turns
from plimsoll.conduct.run_config import RunConfig
from plimsoll.conduct.side_by_side import SideBySide
from plimsoll.errors import InputError, PlimsollError, Problem
from plimsoll.events import Listener, Notice, Step, ignore
from plimsoll.hosts.agent.server import LOG
from plimsoll.install import install, typed
from plimsoll.lab import arguments, databases, one_line, revisions, selection
from plimsoll.plan import Trial
from plimsoll.processes.interruption import Interruption, ending_early
from plimsoll.processes.supervisor import GRACE_S
from plimsoll.report.results import compared as report
from plimsoll.serving.server import without_log
from plimsoll.storage import scratch
from plimsoll.verdicts import compared_load

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Mapping, Sequence

    from plimsoll.aggregate.trial import Tables
    from plimsoll.comparison.difference import Answer, Metric
    from plimsoll.comparison.until_decided import Measure
    from plimsoll.recording import Ending, Recording
    from plimsoll.recording.turns import Turn

SHORTEST_TURN_S = 0.05
"""Length of a turn of servers that respond fast, in seconds (decision 155)."""

LEAST_START_S = 10.0
"""Time that a command has to start however short the budget is, in seconds."""

WARM_UP_S = 1.0
"""Turns of each server before the first that counts, in seconds."""

ENDPOINT = "plaintext"
"""Endpoint of frameworks where nothing else is named."""


@dataclass(frozen=True, repr=False)
class ComparisonResult:
    """The answer of a comparison.

    Attributes:
        compared: The answer with its figures, and every turn.
        sides: What was compared.
    """

    compared: Compared
    sides: ComparedServers

    @property
    def answer(self) -> Answer:
        """Whether B is `faster`, `slower`, the `same` or `undecided`."""
        return self.compared.difference.answer

    @property
    def sentence(self) -> str:
        """The answer in one sentence without a full stop."""
        return report.sentence(self.compared)

    def as_json(self) -> dict[str, object]:
        """Everything but the turns, ready for JSON: what `plimsoll compare --json` prints."""
        return report.document(self.compared, self.sides)

    def markdown(self) -> str:
        """The answer for a pull request."""
        return report.markdown(self.compared, self.sides)

    def junit(self) -> str:
        """The answer as a JUnit file."""
        return report.as_junit(self.compared, self.sides)

    def text(self) -> str:
        """Figures and remarks for a terminal, without the sentence."""
        return report.text(self.compared, self.sides)

    def __repr__(self) -> str:
        """The answer with its interval."""
        return one_line.shown(self, lambda: self.sentence)

    def _repr_markdown_(self) -> str:
        """The answer, for a notebook."""
        return self.markdown()

    def _repr_html_(self) -> str:
        """The same from the report's parts."""
        return lab.charts.comparison_html(self.compared, self.sides)


@ending_early("the comparison")
@arguments.checked(Metric=METRICS)
def compare(  # noqa: PLR0913 - one argument for each option
    a: str,
    b: str,
    *,
    commands: bool = False,
    revisions_of: str = "",
    endpoint: str = "",
    path: str = "",
    connections: int = 64,
    rate_per_s: float | None = None,
    metric: Metric | None = None,
    budget_s: float = 120.0,
    within: float = 0.02,
    max_regression: float | None = None,
    warm_up_s: float = WARM_UP_S,
    frameworks: str | os.PathLike[str] | None = None,
    on_event: Listener = ignore,
) -> ComparisonResult:
    """Compares two servers: whether B is faster than A, slower, the same, or undecided.

    Both run at the same time. They take turns of 50 to 250 ms, and at full speed also work side by
    side on the same cores, so that what disturbs the machine disturbs both. Fresh processes are
    started until the result is clear or the budget is spent; one group of them is always measured,
    and a decision takes three.

    Args:
        a: Server A: a framework or variant, as campaigns name it.
        b: Server B in the same way; it may be the same as A.
        commands: Whether `a` and `b` are commands that start a server in the foreground, run by
            `sh` in the current folder, which listen on `$HOST:$PORT`.
        revisions_of: A framework of which `a` and `b` are git revisions; empty for none.
        endpoint: Endpoint of the contract that is requested; empty is `plaintext`.
        path: Path that is requested with GET instead; of commands, empty is `/`.
        connections: Open connections to each server.
        rate_per_s: Open model: requests per second to the server under load; None for full
            speed.
        metric: The metric that decides; None for throughput with CPU time per request, at a
            rate latency with CPU time per request.
        budget_s: Time for everything, starts and warm-ups included, in seconds. However
            short, one group is measured, about 10 s with the defaults. A budget too short for a
            decision is named as a `Notice`; one just long enough has shorter groups.
        within: Half the width of an interval that is enough, and the tolerance of `same`.
        max_regression: The greatest loss that is allowed, such as 0.03: of throughput, or at a
            rate, of latency and of CPU time per request, or of `metric`.
        warm_up_s: Turns of each server before the first that counts, in seconds.
        frameworks: Folder of the frameworks; None looks for it.
        on_event: Called with each event.

    Raises:
        InputError: There is no such framework, revision or endpoint, or a value is wrong.
        FrameworkError: A server does not start, breaks the contract or dies.
        HostError: This host cannot conduct it.
        StorageError: Something cannot be written.
        Interrupted: Ctrl-C in the main thread, or SIGTERM while it measures; both servers are
            stopped.
    """
    _require_possible(connections, rate_per_s, budget_s, within, max_regression, warm_up_s)
    if commands:
        _require_without({"revisions_of": revisions_of, "frameworks": frameworks})
    deciding = _deciding(metric, rate_per_s)
    rounds = group_rounds.rounds_of(deciding, rate_per_s)
    _require_p99(rounds, deciding)
    root = None if frameworks is None else Path(frameworks)
    requested = _endpoint(endpoint, path, commands=commands)
    sides = ComparedServers(a, b, requested.exchanges[0].request.target, connections, rate_per_s)
    wanted = StoppingRule(budget_s, within, max_regression, deciding)
    with scratch.folder() as folder:
        if commands:
            start_s = max(budget_s / 2, LEAST_START_S)
            pair = (
                _command(a, folder, sides.path, start_s),
                _command(b, folder, sides.path, start_s),
            )
        elif revisions_of:
            pair = (_at(a, revisions_of, root, on_event), _at(b, revisions_of, root, on_event))
            sides = replace(
                sides,
                a=report.at_revision(revisions_of, a),
                b=report.at_revision(revisions_of, b),
                commits=(revisions.commit(a, root), revisions.commit(b, root)),
            )
            if pair[0].folder == pair[1].folder:
                on_event(Notice(f"`{revisions_of}` is the same at both revisions"))
        else:
            pair = (_variant(a, root), _variant(b, root))
            selection.make_ready(pair, lambda step: on_event(Step(step)))
        if path:
            pair = (replace(pair[0], endpoints=()), replace(pair[1], endpoints=()))
        elif not commands:
            _require_served(pair, requested)
            databases.require((requested,))
        warm_ups_s = _warm_ups_s(pair, warm_up_s)
        no_p99 = group_rounds.without_p99(
            rounds, budget_s, group_rounds.least_s(warm_ups_s, rounds)
        )
        if deciding == ("p99",):
            no_p99 = None  # its groups are as long as it takes, and too few of them decide nothing
        if no_p99:
            rounds = group_rounds.ALONE_ONLY  # what else decides needs no more
        too_short = group_rounds.short_budget(budget_s, group_rounds.least_s(warm_ups_s, rounds))
        for notice in filter(None, (no_p99 and no_p99.clause, too_short)):
            on_event(Notice(notice))
        pace = Pace(budget_s, group_rounds.STARTS_S + warm_ups_s, rounds)
        load = _load(connections, rate_per_s, min(warm_up_s, WARM_UP_S))
        with _measuring(pair, requested, load, warm_up_s, pace, on_event) as measure:
            end = compared(
                measure,
                wanted,
                lambda now: on_event(Step(report.progress(now))),
                without_p99=no_p99,
            )
    return ComparisonResult(end, sides)


def _warm_ups_s(pair: Sequence[Framework], warm_up_s: float) -> float:
    """Turns of both servers before the first that counts, in seconds."""
    return sum(max(warm_up_s, one.warm_up_s) if warm_up_s else 0.0 for one in pair)


def _require_possible(
    connections: int,
    rate_per_s: float | None,
    budget_s: float,
    within: float,
    max_regression: float | None,
    warm_up_s: float,
) -> None:
    most = wording.count(HIGHEST_LEVEL)
    amounts = {
        "connections": connections,
        "rate_per_s": rate_per_s,
        "budget_s": budget_s,
        "within": within,
        "max_regression": max_regression,
    }
    problems = [
        Problem(option, f"`{wording.exact(amount)}` is too small", "give a value above 0")
        for option, amount in amounts.items()
        if amount is not None and amount <= 0
    ]
    problems += [
        Problem(option, f"`{wording.exact(amount)}` is too large", "give a value below 100 %")
        for option in ("within", "max_regression")
        if (amount := amounts[option] or 0.0) >= 1
    ]
    problems += [
        Problem(option, f"`{wording.exact(amount)}` is too large", f"the maximum is {most}")
        for option in ("connections", "rate_per_s")
        if (amount := amounts[option] or 0.0) > HIGHEST_LEVEL
    ]
    if warm_up_s < 0:
        message = f"`{wording.exact(warm_up_s)}` is too small"
        problems.append(Problem("warm_up_s", message, "give a value of 0 or more"))
    if problems:
        raise InputError(problems)
    machine.raise_open_files()
    machine.check_connections(2 * connections)


def _require_without(of_frameworks: Mapping[str, object]) -> None:
    """Requires that nothing is said of frameworks where commands are compared.

    Args:
        of_frameworks: Arguments about frameworks with their values.

    Raises:
        InputError: Some are given.
    """
    problems = [
        Problem(option, "excluded by commands", f"remove `{option}=`: it is about frameworks")
        for option, value in of_frameworks.items()
        if value
    ]
    if problems:
        raise InputError(problems)


def _endpoint(name: str, path: str, *, commands: bool) -> Endpoint:
    """What is requested."""
    if name and (path or commands):
        other = "`path=`" if path else "commands"
        hint = "remove `endpoint=`: it selects an endpoint of the contract"
        raise InputError([Problem("endpoint", f"excluded by {other}", hint)])
    if path or commands:
        target = path or "/"
        if not target.startswith("/"):
            hint = f"write it as `/{target}`"
            raise InputError([Problem("path", f"`{target}` does not begin with `/`", hint)])
        exchange = Exchange(Request(target, "GET", target), Expected(status=(200, 399)))
        return Endpoint(target, "", (exchange,), lambda _random: ())
    found = {one.name: one for one in ENDPOINTS}
    if (wanted := name or ENDPOINT) not in found:
        hint = f"endpoints: {', '.join(found)}"
        raise InputError([Problem("endpoint", f"unknown endpoint `{wanted}`", hint)])
    return found[wanted]


def _command(command: str, folder: Path, path: str, start_s: float) -> Framework:
    """A server that a command starts here; its folder for builds is an empty one."""
    start = f"cd {shlex.quote(str(Path.cwd()))} && {command}"
    blank = Framework(command, "", "", folder, "", (), "", start, "", ())
    start_s = min(start_s, blank.start_timeout_s)
    return replace(blank, probe_path=path, clean_exit_codes=(0, -15, 143), start_timeout_s=start_s)


def _variant(reference: str, root: Path | None) -> Framework:
    found = selection.named((reference,), root)
    if len(found) != 1:
        hint = "name one variant, such as `go` or `go:one-core`"
        raise InputError([Problem("", f"`{reference}` is {len(found)} variants", hint)])
    return found[0]


def _at(revision: str, reference: str, root: Path | None, on_event: Listener) -> Framework:
    found = revisions.framework(revision, reference, root)
    on_event(Step(f"building {reference} at {revision}"))
    install.install(found)
    return found


def _require_served(pair: tuple[Framework, Framework], requested: Endpoint) -> None:
    problems = [
        Problem(
            "",
            f"`{one.reference}` does not serve `{requested.name}`",
            f"see {typed.commands('list', [one])}",
        )
        for one in pair
        if requested.name not in one.endpoints
    ]
    if problems:
        raise InputError(problems)


def _deciding(metric: Metric | None, rate_per_s: float | None) -> tuple[Metric, ...]:
    """What may decide.

    Raises:
        InputError: There is no such quantity.
    """
    if metric is None:
        return AT_FULL_SPEED if rate_per_s is None else AT_A_RATE
    if metric not in METRICS:
        hint = f"one of {', '.join(METRICS)}"
        raise InputError([Problem("metric", f"unknown quantity `{metric}`", hint)])
    return (metric,)


def _require_p99(rounds: GroupRounds, deciding: tuple[Metric, ...]) -> None:
    """Requires that p99 can be measured where nothing else decides.

    Raises:
        InputError: The rate is too low for it.
    """
    if deciding != ("p99",) or rounds.fewest <= rounds.most:
        return
    reason = group_rounds.without_p99(rounds, math.inf, 0.0)
    if reason is not None:
        hint = f"give {reason.remedy}, or `metric='cpu_per_request'`"
        raise InputError([Problem("metric", reason.clause, hint)])


def _load(connections: int, rate_per_s: float | None, warm_up_s: float) -> Load:
    """Full speed, or one rate from the first turn to the last."""
    level = float(connections) if rate_per_s is None else rate_per_s
    stages = [Stage("warm_up", warm_up_s, level, level)] if warm_up_s else []
    hold = Stage("hold", ROUNDS * TURN_S, level, level)
    if rate_per_s is None:
        return Load("compare", "closed", (*stages, hold))
    return Load("compare", "open", (*stages, hold), connections=connections)


def _with_rounds(load: Load, rounds: int) -> Load:
    """A load of so many rounds."""
    *before, hold = load.stages
    return replace(load, stages=(*before, replace(hold, duration_s=rounds * TURN_S)))


@contextmanager
def _measuring(
    pair: tuple[Framework, Framework],
    requested: Endpoint,
    load: Load,
    warm_up_s: float,
    pace: Pace,
    on_event: Listener,
) -> Generator[Measure]:
    """What measures a group; its rows are thrown away when its turns are known."""
    endpoints = (requested,)
    division = machine.divide_cores(
        None, None, with_third_party=databases.has_third_party(endpoints)
    )
    if division.note:
        on_event(Notice(division.note))
    interruption = Interruption()
    with (
        interruption.listening(),
        databases.running(endpoints, division.third_party, on_event) as database,
    ):
        setting = RunConfig(
            server_cores=division.server,
            driver_cores=division.driver,
            machine=machine.facts(),
            turn_s=TURN_S,
            shortest_turn_s=SHORTEST_TURN_S if load.model == "closed" else 0.0,
            database=database,
            upstream_cores=division.third_party,
        )

        def measure(group: int) -> MeasuredGroup:
            if not group:
                on_event(Step("starting A and B"))
            began_s = time.monotonic()
            rounds, of_group = pace.begin(group), pace.of_group
            alone = _with_rounds(load, min(rounds, of_group.alone))
            trials = _trials(pair, requested, alone, warm_up_s, group)
            beside_s = of_group.side_by_side_s(rounds)
            side_by_side = SideBySide(beside_s) if beside_s else None
            measured = _measured(trials, group, setting, interruption, side_by_side)
            return replace(measured, spare_s=pace.end(time.monotonic() - began_s))

        yield measure


def _trials(
    pair: tuple[Framework, Framework],
    requested: Endpoint,
    load: Load,
    warm_up_s: float,
    group: int,
) -> list[Trial]:
    """A trial of A and one of B; what their load lacks of a warm-up comes before it, in pulses."""
    return [
        Trial(
            f"{entry}.{group}",
            at,
            framework,
            requested,
            load,
            group,
            "plimsoll",
            group,
            start_warm_up_s=_start_warm_up_s(framework, load, warm_up_s),
        )
        for at, (entry, framework) in enumerate(zip((A, B), pair, strict=True))
    ]


def _start_warm_up_s(framework: Framework, load: Load, warm_up_s: float) -> float:
    """Warm-up of a server before its load, in seconds; none where none is wanted."""
    if not warm_up_s:
        return 0.0
    return max(warm_up_s, framework.warm_up_s) - load.before_holds_s


def _measured(
    trials: Sequence[Trial],
    group: int,
    setting: RunConfig,
    interruption: Interruption,
    side_by_side: SideBySide | None,
) -> MeasuredGroup:
    """The turns and response times of a group, and what checks doubt in its loads."""
    with scratch.folder() as folder, storages.opened(folder) as results:
        conducted = turns.conduct(trials, setting, results, interruption, side_by_side=side_by_side)
        found = [*conducted.values()]
        for entry, recording in zip((A, B), found, strict=True):
            if error := _failed(entry, recording.ending):
                raise error
        a, b = (stored(results, one) for one in found)
        times = _times(group, a, b)
        cores = len(trials[0].load.server_cores or setting.server_cores or machine.allowed_cores())
        alone = [[turn_pairs.within_cores(turn, cores) for turn in _loaded(one)] for one in found]
        doubts = (*compared_load.doubts(A, a), *compared_load.doubts(B, b))
    killed = [
        Killed(entry, f"SIG{trial.framework.stop_signal}", GRACE_S)
        for entry, trial, one in zip((A, B), trials, found, strict=True)
        if one.server is not None and one.server.killed
    ]
    return MeasuredGroup(
        _named(group, alone),
        times,
        doubts,
        side_by_side=_named(group, [side_by_side.turns[one.id] for one in trials])
        if side_by_side
        else (),
        killed=tuple(killed),
    )


def _failed(entry: str, ending: Ending) -> PlimsollError | None:
    """The error that ended the trial of A or of B; None when it completed.

    A hint names no file that goes with the folder of the comparison.
    """
    hint = without_log(ending.hint, LOG, "a comparison")
    return errors.of_ending(ending.kind, f"{entry}: {ending.message}", hint)


def _loaded(recording: Recording) -> tuple[Turn, ...]:
    """Its turns. At a rate they end with the last request: none is due in the wait after it."""
    if recording.load.model != "open":
        return recording.held_turns
    return tuple(
        replace(turn, duration_ns=turn.planned_ns or turn.duration_ns)
        for turn in recording.held_turns
    )


def _named(group: int, taken: Iterable[Sequence[Turn]]) -> tuple[Turn, ...]:
    """Turns of A, then those of B, with their names."""
    return tuple(
        replace(turn, group=group, entry=entry)
        for entry, own in zip((A, B), taken, strict=True)
        for turn in own
    )


def _times(group: int, a: Tables, b: Tables) -> GroupTimes | None:
    """Response times of both servers; None where either had too few responses."""
    a_ns, b_ns = (one.summary.response_time.p99_ns for one in (a, b))
    return GroupTimes(group, a_ns, b_ns) if a_ns and b_ns else None
