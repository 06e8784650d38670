"""`plimsoll.line`: the greatest rate that a running server carries inside limits."""

from __future__ import annotations

import os
import random
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from plimsoll import errors as all_errors
from plimsoll import lab, machine, wording
from plimsoll.aggregate import first_figures
from plimsoll.aggregate import trial as of_trials
from plimsoll.campaign import quantities
from plimsoll.campaign.line_settings import PEAK, TRY
from plimsoll.campaign.load import HIGHEST_LEVEL
from plimsoll.conduct import trial as trials
from plimsoll.conduct.run_config import RunConfig
from plimsoll.errors import FrameworkError, InputError, Interrupted, Problem
from plimsoll.events import Listener, LoadEnded, Step, ignore
from plimsoll.findings import derivation, load_lines
from plimsoll.findings.load_lines import LineFindings, Subject
from plimsoll.lab import arguments, driven_load, load_options, loads, one_line, urls
from plimsoll.lab.load_options import LoadOptions
from plimsoll.lab.results import ClosesCampaign
from plimsoll.lab.unkept import UnkeptResults
from plimsoll.load_line import counting, limits, search
from plimsoll.load_line.search import Searched, SearchGoal
from plimsoll.processes.interruption import REPEAT, Interruption
from plimsoll.report.results import line_result

if TYPE_CHECKING:
    from pathlib import Path

    from plimsoll.aggregate.trial import Tables
    from plimsoll.campaign.load import Arrivals
    from plimsoll.campaign.tls import Resume, Version
    from plimsoll.events import Event
    from plimsoll.findings.trial import State, TrialFindings
    from plimsoll.lab.charts import TrialChart
    from plimsoll.lab.results import CampaignResults
    from plimsoll.load_line.limits import LineLimit
    from plimsoll.load_line.search import Line
    from plimsoll.load_line.tries import Try
    from plimsoll.plan import Trial
    from plimsoll.recording import Recording
    from plimsoll.storage.results import Results

PEAK_S = 2.0
"""Length of the closed load that the search starts from, in seconds."""

WARM_UP_S = 0.5
"""How long each rate is held before it is judged, in seconds."""

DRAINED_S = 10.0
"""The longest wait for a server that failed a try, in seconds."""

JUDGING_S = 3.0
"""Time of a budget that is left for the verdicts, in seconds."""

_QUICK_ANSWERS = 3
_PAUSE_S = 0.02
_LEAST_QUICK_S = 0.05


@dataclass(frozen=True, repr=False)
class LineResult(ClosesCampaign):
    """Load lines, one for each limit, with every try.

    What was not recorded lies in a temporary folder, which `close`, the end of a `with` block, or
    the end of the object removes.

    Attributes:
        campaign: The recordings of all tries.
        found: Lines, tries, and what was full beyond each line.
    """

    campaign: CampaignResults
    found: LineFindings

    @property
    def lines(self) -> tuple[Line, ...]:
        """A line for each limit, in the order of the limits."""
        return self.found.searched.lines

    @property
    def tries(self) -> tuple[Try, ...]:
        """Every try, in order of time."""
        return self.found.searched.tries

    @property
    def rate_per_s(self) -> float | None:
        """The greatest rate inside all limits; None where one was not found."""
        rates = [line.rate_per_s for line in self.lines]
        known = [rate for rate in rates if rate is not None]
        return min(known) if known and len(known) == len(rates) else None

    @property
    def level(self) -> State:
        """How far to believe it: `void` where the load generator was the limit."""
        return self.found.level

    @property
    def sentence(self) -> str:
        """The answer in one sentence without a full stop."""
        return line_result.sentence(self.found)

    @property
    def one_line(self) -> str:
        """The same with how far to believe it, where that is doubted."""
        return line_result.one_line(self.found)

    def as_json(self) -> dict[str, object]:
        """Lines and tries, ready for JSON: what `plimsoll line --json` prints."""
        return line_result.document(self.found)

    def markdown(self) -> str:
        """The answer for an issue or a pull request."""
        return line_result.markdown(self.found)

    @arguments.checked()
    def text(self, *, verbose: bool = False) -> str:
        """Figures for a terminal, without the sentence.

        Args:
            verbose: Whether every try is shown.
        """
        return line_result.text(self.found, verbose=verbose)

    def chart(self) -> TrialChart:
        """Latency over rate, with every try."""
        return lab.charts.of_line(self.found.searched)

    def __repr__(self) -> str:
        """The answer with its interval."""
        return one_line.shown(self, lambda: self.one_line)

    def _repr_markdown_(self) -> str:
        """The answer, for a notebook."""
        return self.markdown()

    def _repr_html_(self) -> str:
        """The same from the report's parts."""
        return lab.charts.line_html(self.found)


@arguments.checked(**load_options.CHOICES)
def line(  # noqa: PLR0913 - one argument for each option
    url: str | Sequence[str],
    limit: str | Sequence[str],
    *,
    errors: float = 0.001,
    budget_s: float = 90.0,
    within: float = search.WITHIN,
    arrivals: Arrivals = "poisson",
    connections: int = 256,
    warm_up_s: float = 1.0,
    threads: int = 1,
    driver_cores: Sequence[int] = (),
    keep_alive: bool = True,
    http2: bool = False,
    streams: int = 1,
    method: str | None = None,
    headers: Mapping[str, str] | Sequence[tuple[str, str]] = (),
    body: bytes | None = None,
    status: int | None = None,
    length_bytes: int | None = None,
    expected_body: bytes | None = None,
    insecure: bool = False,
    cacert: str | os.PathLike[str] | None = None,
    cert: str | os.PathLike[str] | None = None,
    key: str | os.PathLike[str] | None = None,
    tls_version: Version | None = None,
    ciphers: Sequence[str] = (),
    tls_resume: Resume | None = None,
    record: str | os.PathLike[str] | None = None,
    storage: str = "",
    on_event: Listener = ignore,
) -> LineResult:
    """Searches the greatest rate that a running server carries inside limits.

    Requests arrive whether responses come or not (open model). At that rate, latency from the
    intended start and the error rate are within their limits, and at least 99 % of the due
    requests were sent.

    Args:
        url: What is requested; several of one server are mixed evenly.
        limit: Limits of latency: `p99=20ms`; a line is searched for each.
        errors: The share of requests that may fail.
        budget_s: Time for everything, in seconds; it must hold the warm-up, the closed load and one
            try.
        within: Half the width of an interval that is enough, as a share of the rate.
        arrivals: `poisson`, as from users who know nothing of each other, or `constant`.
        connections: Size of the pool of connections.
        warm_up_s: Closed load before the first one that counts, in seconds.
        threads: Threads of the load generator.
        driver_cores: Cores of the load generator, one thread on each; empty for `threads` anywhere.
        keep_alive: Whether a connection carries more than one request.
        http2: Speak HTTP/2: by ALPN over TLS, else with prior knowledge.
        streams: HTTP/2: open streams on one connection, each with one request.
        method: None is GET, or POST with a body.
        headers: Headers of the requests.
        body: Body of the requests.
        status: The expected status; None is any from 200 to 399.
        length_bytes: The expected length of the body.
        expected_body: The expected body.
        insecure: TLS: accept any certificate.
        cacert: TLS: PEM file with the trusted authorities; None for those of this host.
        cert: TLS: PEM file with the client's certificates.
        key: TLS: PEM file with the private key to them; None where `cert` has it too.
        tls_version: TLS: the only version that is offered; None offers 1.2 and 1.3.
        ciphers: TLS: IANA names of the cipher suites that are offered; empty offers all.
        tls_resume: TLS: whether a connection resumes an earlier session: `never` or `always`; None
            is `never`.
        record: New folder that keeps every row of every try; None for a temporary one.
        storage: Address of a PostgreSQL database that keeps the rows; `record` is then the name.
        on_event: Called with each event.

    Raises:
        InputError: A limit or an option is wrong, or two exclude each other.
        FrameworkError: The server cannot be reached, does not speak HTTP, or dies.
        DriverError: The load generator failed.
        HostError: A limit of this host is too low for the load.
        StorageError: The rows cannot be kept, or `record` is not empty.
        Interrupted: Ctrl-C.
        KeyboardInterrupt: The same while nothing is measured.
    """
    wanted = _wanted(arguments.several(limit), errors, budget_s, within)
    _require_budget(wanted, warm_up_s)
    requested = LoadOptions(
        urls=urls.several(arguments.several(url)),
        connections=connections,
        duration_s=PEAK_S,
        threads=threads,
        keep_alive=keep_alive,
        http2=http2,
        streams=streams,
        method=method,
        headers=arguments.pairs(headers),
        body=body,
        status=status,
        length_bytes=length_bytes,
        expected_body=expected_body,
        warm_up_s=warm_up_s or None,
        driver_cores=tuple(driver_cores),
        insecure=insecure,
        cacert=load_options.path(cacert),
        cert=load_options.path(cert),
        key=load_options.path(key),
        tls_version=tls_version,
        ciphers=tuple(ciphers),
        tls_resume=tls_resume,
    )
    place = load_options.path(record)
    return _searched(requested, arrivals, wanted, place, storage, on_event)


def _wanted(typed: Sequence[str], errors: float, budget_s: float, within: float) -> SearchGoal:
    """What is searched.

    Raises:
        InputError: A value is wrong.
    """
    found: dict[str, LineLimit] = {}
    problems: list[Problem] = []
    for one in typed:
        try:
            read = limits.read(one)
        except quantities.UnreadableQuantity as error:
            problems.append(Problem("limit", error.message, error.hint))
            continue
        if read.name in found:
            hint = "give each percentile once"
            problems.append(Problem("limit", f"`{read.name}` has two limits", hint))
        found[read.name] = read
    if not typed:
        problems.append(
            Problem("", "a load line needs a latency limit", "give one, such as `limit='p99=20ms'`")
        )
    shares = {"errors": errors, "within": within}
    problems += [
        Problem(
            option,
            f"`{wording.exact(share)}` is not a share between 0 and 1",
            "give a share, such as `0.001`",
        )
        for option, share in shares.items()
        if not 0 < share < 1
    ]
    if budget_s <= 0:
        problems.append(
            Problem("budget_s", f"`{wording.exact(budget_s)}` is too small", "give a value above 0")
        )
    if problems:
        raise InputError(problems)
    return SearchGoal(tuple(found.values()), limits.errors(errors), budget_s, within, HIGHEST_LEVEL)


def _require_budget(wanted: SearchGoal, warm_up_s: float) -> None:
    """Requires a budget that holds the warm-up, the closed load and one try.

    Raises:
        InputError: It is too short.
    """
    least_s = max(warm_up_s, 0.0) + PEAK_S + WARM_UP_S + wanted.least_hold_s
    if wanted.budget_s < least_s:
        message = f"`{wording.exact(wanted.budget_s)}` s hold no warm-up and one try"
        hint = f"give at least {wording.exact(least_s)} s, or a shorter `warm_up_s=`"
        raise InputError([Problem("budget_s", message, hint)])


def _searched(
    requested: LoadOptions,
    arrivals: Arrivals,
    wanted: SearchGoal,
    record: Path | None,
    storage: str,
    on_event: Listener,
) -> LineResult:
    began_s = time.monotonic()
    planned = load_options.trial(requested)
    loads.require_place(record, storage)
    address = urls.address(requested.urls[0])
    loads.require_response(planned, address, keep_alive=requested.keep_alive, on_event=on_event)
    with driven_load.naming_place(record), ExitStack() as closing:
        stored = closing.enter_context(driven_load.kept(record, storage))
        machine.raise_open_files()
        interruption = Interruption()
        with stored.locked(), interruption.listening():
            bench = _Bench(requested, arrivals, wanted, address, stored, interruption, on_event)
            peak_per_s = bench.peak_per_s()
            left_s = wanted.budget_s - (time.monotonic() - began_s)
            found = search.searched(
                bench.measure,
                replace(wanted, budget_s=max(left_s - JUDGING_S, wanted.least_hold_s)),
                peak_per_s,
                random.Random(secrets.randbits(64)),  # noqa: S311 - nothing is secret
                lambda now: on_event(Step(line_result.step(now))),
            )
            found = replace(found, wanted=wanted, elapsed_s=time.monotonic() - began_s)
            findings = bench.findings(found, arrivals)
        stored.write_derived_json(load_lines.LINE, line_result.document(findings))
        campaign = lab.results.CampaignResults(stored, closing.pop_all())
        return LineResult(campaign, findings)


@dataclass
class _Bench:
    """Puts loads on one server, one after the other, and keeps each as a trial."""

    requested: LoadOptions
    arrivals: Arrivals
    wanted: SearchGoal
    address: str
    stored: Results
    interruption: Interruption
    on_event: Listener
    count: int = 0
    recordings: dict[str, Recording] = field(default_factory=dict[str, "Recording"])

    def peak_per_s(self) -> float:
        """Throughput of a closed load, the server's greatest; then it has time to finish that.

        Raises:
            FrameworkError: Not one response came, or nothing listens any more.
        """
        self.on_event(Step("closed load: the greatest throughput"))
        planned = load_options.trial(self.requested)
        planned = replace(planned, id="peak", load=replace(planned.load, name=PEAK))
        completed = 0

        def counted(event: LoadEnded) -> None:
            nonlocal completed
            completed = first_figures.of_records(event.recording, event.folder).summary.completed

        self._put_on(planned, counted)
        self._drain(planned)
        if not completed:
            raise FrameworkError(
                f"`{self.address}` sent no response in {wording.exact(PEAK_S)} s",
                "run `plimsoll load` against it for details",
            )
        return completed / PEAK_S

    def measure(self, rate_per_s: float, hold_s: float) -> Try:
        """Tries a rate; after one that failed, the server has time to finish what is left."""
        self.count += 1
        requested = replace(
            self.requested,
            rate_per_s=rate_per_s,
            arrivals=self.arrivals,
            duration_s=hold_s,
            warm_up_s=WARM_UP_S,
        )
        planned = load_options.trial(requested)
        planned = replace(
            planned,
            id=f"try-{self.count:03}",
            order=self.count,
            repetition=self.count,
            load=replace(planned.load, name=TRY),
        )
        judged = (*self.wanted.limits, self.wanted.errors, limits.SENDING)
        found: list[Try] = []

        def counted(event: LoadEnded) -> None:
            found.append(counting.of_records(event.recording, event.folder, rate_per_s, judged))

        self._put_on(planned, counted)
        (one,) = found
        if any(one.state(limit) == "failed" for limit in judged):
            self._drain(planned)
        return one

    def findings(self, found: Searched, arrivals: Arrivals) -> LineFindings:
        """What was full beyond each line, and how far the tries below and above are believed."""
        self.on_event(Step("judging the tries at the line"))
        near = {
            load_lines.last_trial(found, rate_per_s)
            for line in found.lines
            for rate_per_s in (line.failed_per_s, line.held_per_s)
        }
        judged = {trial: self._judged(self.recordings[trial]) for trial in near if trial}
        target = load_options.name(map(urls.target, self.requested.urls))
        subject = Subject(
            f"{self.requested.urls[0].netloc}{target}", arrivals, self.requested.connections
        )
        return load_lines.of_server(self._tables, found, subject, judged)

    def _judged(self, recording: Recording) -> TrialFindings:
        if isinstance(self.stored, UnkeptResults):
            return derivation.judged(self.stored.counted(recording))
        return derivation.of_trial(self.stored, recording)

    def _tables(self, recording: Recording) -> Tables:
        if isinstance(self.stored, UnkeptResults):
            return self.stored.counted(recording)
        return of_trials.stored(self.stored, recording)

    def _put_on(self, planned: Trial, counted: Callable[[LoadEnded], None]) -> None:
        """Puts a load on and keeps it.

        Raises:
            PlimsollError: It did not run to its end.
        """

        def heard(event: Event) -> None:
            if isinstance(event, LoadEnded):
                driver = event.recording.driver
                if driver is not None and driver.ended_by == "schedule":
                    counted(event)
            else:
                self.on_event(event)

        requested = self.requested
        setting = RunConfig(
            driver_threads=requested.threads,
            driver_cores=requested.driver_cores,
            body_sample_ratio=RunConfig.body_sample_ratio if not requested.expected_body else 1.0,
        )
        recording = trials.load(
            planned, self.address, setting, self.stored, self.interruption, heard,
            is_kept=not isinstance(self.stored, UnkeptResults),
        )  # fmt: skip
        ending = recording.ending
        hint = REPEAT if ending.kind == Interrupted.__name__ else ending.hint
        if error := all_errors.of_ending(ending.kind, ending.message, hint):
            raise error
        self.recordings[recording.trial] = recording

    def _drain(self, planned: Trial) -> None:
        """Waits until the server answers one request quickly again, a few times in a row.

        Raises:
            NotResponding: It does not listen any more.
        """
        longest_s = max(one.most_ns or 0.0 for one in self.wanted.limits) / 1e9
        quick_s = max(_LEAST_QUICK_S, longest_s)
        until_s = time.monotonic() + DRAINED_S
        in_a_row = 0
        while in_a_row < _QUICK_ANSWERS and time.monotonic() < until_s:
            asked_s = time.monotonic()
            loads.require_response(planned, self.address, keep_alive=self.requested.keep_alive)
            in_a_row = in_a_row + 1 if time.monotonic() - asked_s <= quick_s else 0
            time.sleep(_PAUSE_S)
