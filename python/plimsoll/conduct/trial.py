"""One trial, from the start of a server to its recording.

What only a trial with a server of its own needs, and what comes after the load, is imported where
it is used: the first request of `plimsoll load` does not wait for it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import partial
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from plimsoll import addresses, databases, wording
from plimsoll.campaign.requests import DRAWN_BY_TOOLS
from plimsoll.conduct import (
    copies,
    database_elsewhere,
    provenance,
    recomputed_bodies,
    sampled_bodies,
    wide_warm_up,
)
from plimsoll.conduct.trial_state import TrialState
from plimsoll.drivers import choosing, sampled
from plimsoll.drivers.job import DriverJob
from plimsoll.errors import (
    ContractBroken,
    DriverError,
    FrameworkError,
    HostError,
    HostLost,
    Interrupted,
)
from plimsoll.events import Listener, LoadEnded, LoadRecorded, Phase, ignore
from plimsoll.install import applications
from plimsoll.processes import affinity, ports
from plimsoll.processes.interruption import nothing
from plimsoll.processes.tree import ProcessTree
from plimsoll.provenance import Provenance
from plimsoll.recording import HOST, Ending, RecordedServer, Recording
from plimsoll.recording.ran import ended_early
from plimsoll.sampling import idle, system_calls, wall
from plimsoll.sampling.sampler import sampling
from plimsoll.sampling.scope import Scope
from plimsoll.serving import observed, upstream
from plimsoll.storage.parquet import writing

if TYPE_CHECKING:
    from plimsoll.conduct.run_config import RunConfig
    from plimsoll.drivers.job import DriverResult
    from plimsoll.plan import Trial
    from plimsoll.processes.interruption import Interruption
    from plimsoll.recording.readings import Reading
    from plimsoll.sampling.sampler import Sampler
    from plimsoll.sampling.wall import WallMeter
    from plimsoll.serving import contract
    from plimsoll.serving.place import PlacedServer
    from plimsoll.storage.results import Results

IdleReader = Callable[[float, "WallMeter | None"], "list[Reading]"]
"""Reads what a machine needs without load for so long, beside a power meter."""

S = TypeVar("S", bound="PlacedServer")
"""A server, as it was started."""


def conduct(
    trial: Trial,
    setting: RunConfig,
    results: Results,
    interruption: Interruption,
    tell: Listener = ignore,
) -> Recording:
    """Conducts a trial: start, verify, drive and sample, verify, stop, record.

    Args:
        trial: The trial.
        setting: What it has in common with others.
        results: Where its recording goes.
        interruption: Knows of Ctrl-C.
        tell: Told each phase and each second of progress.

    Returns:
        What happened. The error of a framework or a driver, or the loss of a host, is its `ending`;
        what was recorded until then is kept.

    Raises:
        HostError: A host cannot conduct it; nothing is kept.
        StorageError: The recording could not be written; nothing is kept.
        Interrupted: Ctrl-C under load; nothing is kept.
        KeyboardInterrupt: Ctrl-C at another time, or a second one; nothing is kept.
    """
    with results.trial(trial.id) as into:
        known = TrialState(trial, setting, provenance=provenance_of(trial, setting))
        if setting.server_host != HOST:
            known.trial = trial = trial.in_one_piece
        log, cores = into / "server.log", known.server_cores
        try:
            service = trial.load.service
            starting = partial(
                setting.place.started,
                trial.framework,
                log,
                cores,
                service,
                seed=trial.fixtures_seed,
            )
            with started(known, starting, interruption, tell) as running:
                examine(known, running, tell)
                _warm_up(known, running, tell)
                server = running.scope if setting.reads_costs else None
                idle_read = partial(running.idle, reads_server=setting.reads_costs)
                with metered(known, tell, idle_read):
                    known.control += running.control()
                    with (
                        wide_warm_up.widened(known, running.scope) as warmed,
                        _system_calls(known, server) as counted,
                        database_elsewhere.read(known) as stored,
                    ):
                        _drive(
                            known,
                            into,
                            running.sampling(*third_parties(known)),
                            lambda: running.alive() and database_elsewhere.alive(known),
                            interruption,
                            tell,
                            at_zero=(warmed, counted, stored),
                        )
                    known.control += running.control()
                running.check_alive()
                verified("after", known, running, tell)
        except (FrameworkError, DriverError) as error:
            known.fail(error)
        except HostLost as error:
            known.fail(HostLost(f"{error.message}{_ran(known)}", error.hint))
        return closed(known, into, interruption, tell)


def _ran(known: TrialState) -> str:
    """How far a load had come, as the end of a sentence; empty before there was any."""
    stages = known.driven.stages if known.driven else ()
    if not stages:
        return ""
    share = min(stages[-1].end_ns / 1e9 / known.trial.load.duration_s, 1.0)
    return f"; noticed after {wording.percent(round(share, 3))} of the load"


def load(
    trial: Trial,
    address: str,
    setting: RunConfig,
    results: Results,
    interruption: Interruption,
    tell: Listener = ignore,
    contract_requests: int = 0,
    *,
    is_kept: bool = True,
) -> Recording:
    """Puts a trial's load on a server that runs already, and that is left as it is.

    Args:
        trial: The trial; what its endpoint sends under load is sent, its probes are not.
        address: Address of the server: `127.0.0.1:8080`, `unix:/run/app.sock`.
        setting: What the trial has in common with others.
        results: Where its recording goes.
        interruption: Knows of Ctrl-C.
        tell: Told each phase and each second of progress.
        contract_requests: Requests that were sent before it.
        is_kept: Whether the recording outlives this process.

    Returns:
        What happened. The error of a driver is its `ending`, and `Interrupted` when Ctrl-C ended
        the load early; what was recorded until then is kept.

    Raises:
        HostError: This host cannot generate the load; nothing is kept.
        StorageError: The recording could not be written; nothing is kept.
        Interrupted: Ctrl-C before other hosts began; nothing is kept.
        KeyboardInterrupt: A second Ctrl-C; nothing is kept.
    """
    scope = scope_at(address)
    with results.trial(trial.id) as into, _on_cores(scope, setting.server_cores, address):
        known = TrialState(trial, setting, trial.exchanges, server=_seen(address, scope, setting))
        known.contract_requests, known.tls = contract_requests, trial.tls

        def ended() -> None:
            # The records of other hosts are counted when they are one table: nothing is shown yet.
            if setting.drive is not None:
                interruption.defer()
                return
            with interruption.deferred():
                tell(LoadEnded(_as_ended(known.recording()), into))

        try:
            with metered(known, tell):
                _drive(known, into, _sampling(setting, scope), _yes, interruption, tell, ended)
        except DriverError as error:
            known.fail(error)
        except Interrupted:
            if known.driven is None:
                raise
            if not _is_whole(known.driven):
                known.fail(Interrupted(ended_early(known.driven.stages, trial.load)))
        if known.driven is not None:
            _put_aside(known.driven, into, results, trial)
        known.provenance = _provenance_of_running(trial, setting, scope)
        with interruption.deferred():
            if is_kept and setting.drive is None and known.ending.kind == "completed":
                _tell_recorded(known, into, tell)
            return closed(known, into, interruption, tell, is_kept=is_kept)


def _as_ended(recording: Recording) -> Recording:
    """A recording at the end of its load, with an ending where a signal ended that early."""
    if recording.driver is None or recording.driver.ended_by != "interrupt":
        return recording
    message = ended_early(recording.stages, recording.load)
    return replace(recording, ending=Ending(Interrupted.__name__, message))


def _is_whole(driven: DriverResult) -> bool:
    """Whether a signal came after the load of several hosts, while rows were copied or later."""
    return driven.driver.ended_by != "interrupt" and bool(driven.hosts)


def _put_aside(driven: DriverResult, into: Path, results: Results, trial: Trial) -> None:
    """Keeps what is here of rows that stay on hosts for whoever fetches them.

    Raises:
        StorageError: It cannot be written.
    """
    with writing(results.folder):
        copies.put_aside(driven.hosts, into, results.folder / copies.COPIES / trial.id)


def _tell_recorded(known: TrialState, into: Path, tell: Listener) -> None:
    """Tells of a load by its records: verdicts need not wait for tables, which take longer."""
    from plimsoll.recording.writing import ARROW, write_usage  # noqa: PLC0415 - heavy

    with writing(into.parent.parent):
        write_usage(known.readings, into / f"usage{ARROW}", known.zero_ns)
        tell(LoadRecorded(known.recording(), into))


@contextmanager
def _on_cores(scope: Scope | None, cores: Sequence[int], address: str) -> Generator[None]:
    """A server that runs already has some cores under its load, and then those it had before.

    Raises:
        HostError: It is not seen on this host, or the kernel refuses.
    """
    if not cores:
        yield
        return
    if scope is None or scope.tree is None:
        message = f"no process of this host is seen to listen at `{address}`"
        raise HostError(message, "leave `server_cores=` out, and use `taskset` where it runs")
    tree = ProcessTree(scope.tree.root, others=scope.tree.roots[1:])

    def processes() -> Iterable[int]:
        tree.refresh()
        return tree.stats

    with affinity.confined(processes, cores) as found:
        if found != frozenset(cores):
            numbers = wording.listed([str(core) for core in cores], 8)
            message = f"the server cannot be given the cores {numbers}"
            raise HostError(message, "name cores that it may use; those of others need root")
        yield


def _seen(address: str, scope: Scope | None, setting: RunConfig) -> RecordedServer:
    """What this host sees of a server; the way of other hosts to it is not that of this one."""
    if scope is not None and scope.port is not None:
        return replace(observed.listening(address), cores=setting.server_cores)
    return RecordedServer(address) if setting.drive else observed.elsewhere(address)


def provenance_of(trial: Trial, setting: RunConfig) -> Provenance:
    """What runs in a trial with a server of its own."""
    return provenance.of(trial, setting)


def _provenance_of_running(trial: Trial, setting: RunConfig, scope: Scope | None) -> Provenance:
    """What is known of a server that ran already; looked at when the load is over."""
    application = (
        () if scope is None or scope.tree is None else (applications.of_process(scope.tree.root))
    )
    return Provenance(application, provenance.measurement(trial, setting))


@contextmanager
def metered(known: TrialState, tell: Listener, read: IdleReader = idle.readings) -> Generator[None]:
    """Reads power without load before and after the block, and at the wall within it, too.

    After a load that failed nothing more is read.

    Args:
        known: What is known of the trial; gets the readings.
        tell: Told the phase.
        read: Reads what the server's machine needs without load.
    """
    setting = known.setting
    avoided = known.server_cores if setting.server_host == HOST else ()
    with wall.watched(setting.power, avoided) as known.wall:
        known.idle += idle_readings(setting, tell, known.wall, read)
        yield
        known.idle += idle_readings(setting, tell, known.wall, read)


def idle_readings(
    setting: RunConfig,
    tell: Listener,
    meter: WallMeter | None = None,
    read: IdleReader = idle.readings,
) -> list[Reading]:
    """What the server's machine needs without load, if that is requested."""
    if not setting.idle_s:
        return []
    tell(Phase("idling"))
    return read(setting.idle_s, meter)


@contextmanager
def started(
    known: TrialState,
    starting: Callable[[Mapping[str, str]], AbstractContextManager[S]],
    interruption: Interruption,
    tell: Listener,
) -> Generator[S]:
    """The trial's server, which is stopped whatever happens; what is known of it is noted."""
    tell(Phase("starting"))
    with (
        _given_database(known) as database,
        _given_upstream(known) as asked,
        starting({**database, **asked}) as running,
    ):
        known.server = seen = running.seen()
        known.tls = running.place.tls
        try:
            yield running
        except KeyboardInterrupt:
            if interruption.count > 1:
                running.kill()
            raise
        finally:
            tell(Phase("stopping"))
            known.server = running.stop(known.server or seen)
            known.rows = database_elsewhere.counted(known)
            known.upstream_requests = None if known.upstream is None else known.upstream.stop()


@contextmanager
def _given_database(known: TrialState) -> Generator[dict[str, str]]:
    """A database of the server's own, if its endpoint needs one; what its environment then has."""
    server = known.setting.database
    if server is None or known.trial.endpoint.database is None:
        yield {}
        return
    with databases.served.made(server) as known.database:
        yield known.database.environment


@contextmanager
def _given_upstream(known: TrialState) -> Generator[dict[str, str]]:
    """An upstream of the server's own, if its endpoint needs one; what its environment then has."""
    service_s, seed = known.trial.endpoint.upstream_s, known.trial.fixtures_seed
    if service_s is None:
        yield {}
        return
    setting = known.setting
    place = (setting.upstream_cores, setting.upstream_address)
    with upstream.started(seed, service_s, *place) as known.upstream:
        yield known.upstream.environment


def third_parties(known: TrialState) -> Iterator[Scope]:
    """The resources of database and upstream of this host, if Plimsoll started them."""
    server = None if known.database is None else known.database.server
    if server is not None and server.supervisor_pid is not None and server.host == HOST:
        yield Scope("database", ProcessTree(server.supervisor_pid, with_root=False))
    if known.upstream is not None:
        yield Scope("upstream", ProcessTree(known.upstream.supervisor_pid, with_root=False))


def examine(known: TrialState, running: PlacedServer, tell: Listener) -> None:
    """Checks the contract before the load, and notes how the server is at rest, right or wrong."""
    try:
        found = verified("before", known, running, tell)
        known.exchanges, known.heads = found.exchanges, found.heads
    finally:
        known.server = running.at_rest()


def verified(
    when: str, known: TrialState, running: PlacedServer, tell: Listener
) -> contract.Verified:
    """Checks the contract; returns what is sent under load, with facts learned from responses."""
    from plimsoll.serving import contract  # noqa: PLC0415 - makes every body there is

    tell(Phase("checking"))
    known.contract[when] = []
    trial = known.trial
    if not trial.framework.has_contract:
        return contract.Verified(known.drawn)
    checked = contract.CheckedServer(
        (running.place.host, running.place.port),
        keep_alive=trial.load.keep_alive,
        excepted=trial.framework.contract_notes,
        execute=None if known.database is None else known.database.execute,
        write=running.write,
        tls=known.tls,
        protocol=running.place.protocol,
        was_frozen=known.was_frozen,
    )
    try:
        exchanges = known.drawn if when == "before" else known.drawn[:DRAWN_BY_TOOLS]
        served = trial.endpoint.of_seed(trial.fixtures_seed)
        requested = replace(served, exchanges=exchanges, with_fixtures=None)
        found = contract.verify(checked, requested, trial.seed)
    except ContractBroken as error:
        known.contract[when] = list(error.failures) or [error.message]
        raise
    known.contract_requests += found.requests_sent
    known.contract_responses += found.responses
    return found


def _warm_up(known: TrialState, running: PlacedServer, tell: Listener) -> None:
    """Warms up the runtime of a server of this host."""
    scope = running.scope
    if scope is None or scope.tree is None or not known.trial.start_warm_up_s:
        return
    from plimsoll.conduct import runtime_warm_up  # noqa: PLC0415 - a load warms up no runtime

    tell(Phase("warming_up"))
    runtime_warm_up.of_one(known, scope.tree, partial(job_of, known))
    running.check_alive()


def _drive(
    known: TrialState,
    into: Path,
    reading: AbstractContextManager[Sampler],
    go_on: Callable[[], bool],
    interruption: Interruption,
    tell: Listener,
    ended: Callable[[], None] = nothing,
    at_zero: Iterable[Callable[[int], None]] = (),
) -> None:
    """Puts on the load, and reads resources meanwhile.

    `at_zero` are told its zero by CLOCK_MONOTONIC, `ended` that it is over.

    Raises:
        Interrupted: Ctrl-C ended it early; what was recorded until then is noted all the same.
    """
    tell(Phase("driving"))
    drive = known.setting.drive or choosing.named(known.trial.driver).drive
    with reading as known.sampler:
        address = known.server.address if known.server else ""

        def begun(zero_ns: int) -> None:
            for told in at_zero:
                told(zero_ns)

        watch = sampled.callbacks(known.sampler, address, go_on, interruption, tell, begun)
        known.driven = drive(job_of(known, into), watch)
        ended()
    folders = [into / host.host for host in known.driven.hosts] or [into]
    checked = (known.exchanges, known.driven.stages, folders)
    known.recomputed = recomputed_bodies.of(*checked)
    known.sampled_bodies = sampled_bodies.of(*checked)
    interruption.check()


@contextmanager
def _system_calls(known: TrialState, server: Scope | None) -> Generator[Callable[[int], None]]:
    """Counts system calls of a server in the warm-up; gives what is told the zero."""
    window_ns = system_calls.window_ns(known.trial.load.stages)
    if server is None or server.tree is None or window_ns is None:
        yield wide_warm_up.idle_at_zero
        return
    counting = system_calls.SystemCalls(server.tree, window_ns)
    try:
        yield counting.begin
    finally:
        counting.end()
        known.system_calls = counting.readings


def _sampling(setting: RunConfig, scope: Scope | None) -> AbstractContextManager[Sampler]:
    """Reads this host, and the server that runs on it already.

    Of a load that other hosts generate, resources of this host are read only if the server is here.
    """
    is_elsewhere = setting.drive is not None and scope is None
    return sampling(*([] if is_elsewhere else [Scope("machine"), *([scope] if scope else [])]))


def job_of(known: TrialState, into: Path) -> DriverJob:
    """What the trial's driver is to do."""
    return DriverJob(
        load=known.trial.load,
        exchanges=known.exchanges,
        address=known.server.address if known.server else "",
        cores=known.setting.driver_cores,
        seed=known.trial.seed,
        body_sample_ratio=known.setting.body_sample_ratio,
        into=into,
        threads=known.setting.driver_threads,
        tls=known.tls,
        driver=known.trial.driver,
    )


def scope_at(address: str) -> Scope | None:
    """The server that listens on a port or socket of this host; None when none is seen to.

    Several processes without a common parent may share a port (SO_REUSEPORT): all are the server.
    """
    host, port = "", None
    if addresses.is_unix(address):
        found = ports.listeners_at(addresses.socket_path(address))
    else:
        host, _, digits = address.rpartition(":")
        port = int(digits)
        found = ports.listeners(port, host) if _is_loopback(host) else ()
    pids = {listener.pid for listener in found}
    roots = [listener.pid for listener in found if listener.parent not in pids]
    if not roots:
        return None
    return Scope("server", ProcessTree(roots[0], others=roots[1:]), port, host=host)


def _is_loopback(host: str) -> bool:
    return ip_address(host.strip("[]")).is_loopback


def _yes() -> bool:
    return True


def closed(
    known: TrialState,
    into: Path,
    interruption: Interruption,
    tell: Listener,
    *,
    is_kept: bool = True,
) -> Recording:
    """The recording, written; Ctrl-C does not take away what has been measured."""
    from plimsoll.conduct import recording  # noqa: PLC0415 - heavy

    with interruption.deferred(), writing(into.parent.parent):
        tell(Phase("writing"))
        return recording.close(
            known.recording(), known.readings, known.zero_ns, into, known.driven, is_kept=is_kept
        )
