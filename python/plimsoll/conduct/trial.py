"""One trial, from the start of a server to its recording.

What only a trial with a server of its own needs, and what comes after the load, is imported where
it is used: the first request of `plimsoll load` does not wait for it.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import replace
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll.campaign.requests import DRAWN_BY_TOOLS
from plimsoll.conduct import provenance, recomputed_bodies, trial_state
from plimsoll.conduct.trial_state import TrialState
from plimsoll.drivers import sampled, tools
from plimsoll.drivers.job import DriverJob
from plimsoll.drivers.tools import plimsoll as engine
from plimsoll.errors import ContractBroken, DriverError, DriverMissing, FrameworkError, Interrupted
from plimsoll.events import Listener, LoadEnded, Phase, ignore
from plimsoll.processes import ports, process_table
from plimsoll.processes.interruption import nothing
from plimsoll.processes.tree import ProcessTree
from plimsoll.provenance import Provenance
from plimsoll.recording import RecordedServer, Recording
from plimsoll.sampling import control, idle, wall
from plimsoll.sampling.sampler import sampling
from plimsoll.sampling.scope import Scope
from plimsoll.serving import server_counters
from plimsoll.storage.parquet import writing

if TYPE_CHECKING:
    from plimsoll.conduct.run_config import RunConfig
    from plimsoll.drivers.job import DriverModule
    from plimsoll.plan import Trial
    from plimsoll.processes.interruption import Interruption
    from plimsoll.recording.readings import Reading
    from plimsoll.sampling.wall import WallMeter
    from plimsoll.serving import contract, server
    from plimsoll.storage.results import Results


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
        What happened. The error of a framework or a driver is its `ending`; what was recorded
        until then is kept.

    Raises:
        HostError: This host cannot conduct it; nothing is kept.
        StorageError: The recording could not be written; nothing is kept.
        Interrupted: Ctrl-C under load; nothing is kept.
        KeyboardInterrupt: Ctrl-C at another time, or a second one; nothing is kept.
    """
    with results.trial(trial.id) as into:
        known = TrialState(trial, setting, provenance=provenance_of(trial, setting))
        try:
            with started(known, into, interruption, tell) as running:
                examine(known, running, tell)
                with metered(known, tell):
                    measure_machine(known)
                    _drive(known, into, server_scope(running), running.alive, interruption, tell)
                    measure_machine(known)
                running.check_alive()
                verified("after", known, running, tell)
        except (FrameworkError, DriverError) as error:
            known.fail(error)
        return closed(known, into, interruption, tell)


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
        address: Address and port of the server, both as numbers: `127.0.0.1:8080`.
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
        KeyboardInterrupt: A second Ctrl-C; nothing is kept.
    """
    with results.trial(trial.id) as into:
        scope = _scope_at(address)
        known = TrialState(trial, setting, trial.exchanges, server=_seen(address, scope, setting))
        known.contract_requests, known.tls = contract_requests, trial.tls

        def ended() -> None:
            # The records of other hosts are counted when they are one table.
            if setting.drive is None:
                tell(LoadEnded(known.recording(), into))

        try:
            with metered(known, tell):
                _drive(known, into, scope, _yes, interruption, tell, ended)
        except (DriverError, Interrupted) as error:
            known.fail(error)
        known.provenance = _provenance_of_running(trial, setting, scope)
        return closed(known, into, interruption, tell, is_kept=is_kept)


def _seen(address: str, scope: Scope | None, setting: RunConfig) -> RecordedServer:
    """What this host sees of a server; the way of other hosts to it is not that of this one."""
    if scope is not None:
        return trial_state.listening(address)
    return RecordedServer(address) if setting.drive else trial_state.elsewhere(address)


def provenance_of(trial: Trial, setting: RunConfig) -> Provenance:
    """What runs in a trial with a server of its own."""
    return provenance.of(trial, setting)


def _provenance_of_running(trial: Trial, setting: RunConfig, scope: Scope | None) -> Provenance:
    """What is known of a server that ran already; looked at when the load is over."""
    application = (
        () if scope is None or scope.tree is None else (provenance.of_process(scope.tree.root))
    )
    return Provenance(application, provenance.measurement(trial, setting))


@contextmanager
def metered(known: TrialState, tell: Listener) -> Generator[None]:
    """Reads power without load before and after the block, and at the wall within it, too.

    After a load that failed nothing more is read.
    """
    setting = known.setting
    with wall.watched(setting.power, known.server_cores) as known.wall:
        known.idle += idle_readings(setting, tell, known.wall)
        yield
        known.idle += idle_readings(setting, tell, known.wall)


def idle_readings(
    setting: RunConfig, tell: Listener, meter: WallMeter | None = None
) -> list[Reading]:
    """What the host needs without load, if that is requested."""
    if not setting.idle_s:
        return []
    tell(Phase("idling"))
    return idle.readings(setting.idle_s, meter)


@contextmanager
def started(
    known: TrialState, into: Path, interruption: Interruption, tell: Listener
) -> Generator[server.RunningServer]:
    """The trial's server, which is stopped whatever happens; what is known of it is noted."""
    from plimsoll.serving import server  # noqa: PLC0415

    tell(Phase("starting"))
    framework, service = known.trial.framework, known.trial.load.service
    log, cores = into / "server.log", known.server_cores
    with server.started(framework, log=log, cores=cores, service=service) as running:
        known.server, known.tls = trial_state.serving(running), running.place.tls
        try:
            yield running
        except KeyboardInterrupt:
            if interruption.count > 1:
                _kill(running)
            raise
        finally:
            tell(Phase("stopping"))
            known.server = trial_state.stopped(known.server, running.stop(), _own_count(running))


def _own_count(running: server.RunningServer) -> dict[str, int] | None:
    return server_counters.read(running.framework.name, running.log)


def _kill(running: server.RunningServer) -> None:
    """Kills what is left of a server, so that nothing waits for its clean stop."""
    for pid in running.processes():
        found = process_table.process(pid)
        if found is not None:
            process_table.send(found, signal.SIGKILL)


def examine(known: TrialState, running: server.RunningServer, tell: Listener) -> None:
    """Checks the contract before the load, and notes how the server is at rest, right or wrong."""
    try:
        found = verified("before", known, running, tell)
        known.exchanges, known.heads = found.exchanges, found.heads
    finally:
        known.server = trial_state.at_rest(running)


def measure_machine(known: TrialState) -> None:
    """Runs the control on the server's cores while no load is on."""
    with control.ready(known.server_cores) as work:
        for _ in range(control.TIMES):
            known.control += control.readings(work.run(), time.monotonic_ns())


def verified(
    when: str, known: TrialState, running: server.RunningServer, tell: Listener
) -> contract.Verified:
    """Checks the contract; returns what is sent under load, with facts learned from responses."""
    from plimsoll.serving import contract  # noqa: PLC0415 - makes every body there is

    tell(Phase("checking"))
    known.contract[when] = []
    trial = known.trial
    if not trial.framework.has_contract:
        return contract.Verified(trial.exchanges)
    try:
        address = (running.place.host, running.place.port)
        keep_alive = trial.load.keep_alive
        exchanges = trial.exchanges if when == "before" else trial.exchanges[:DRAWN_BY_TOOLS]
        requested = replace(trial.endpoint, exchanges=exchanges)
        found = contract.verify(
            address,
            requested,
            trial.seed,
            keep_alive=keep_alive,
            excepted=trial.framework.contract_notes,
            tls=known.tls,
            protocol=running.place.protocol,
        )
    except ContractBroken as error:
        known.contract[when] = list(error.failures) or [error.message]
        raise
    known.contract_requests += found.requests_sent
    return found


def _drive(
    known: TrialState,
    into: Path,
    scope: Scope | None,
    go_on: Callable[[], bool],
    interruption: Interruption,
    tell: Listener,
    ended: Callable[[], None] = nothing,
) -> None:
    """Puts on the load, and reads every resource meanwhile.

    Of a load that other hosts generate, resources of this host are read only if the server is here.

    Raises:
        Interrupted: Ctrl-C ended it early; what was recorded until then is noted all the same.
    """
    tell(Phase("driving"))
    drive = known.setting.drive or _driver(known.trial.driver).drive
    is_elsewhere = known.setting.drive is not None and scope is None
    scopes = [] if is_elsewhere else [Scope("machine"), *([scope] if scope else [])]
    with sampling(*scopes) as known.sampler:
        address = known.server.address if known.server else ""
        watch = sampled.callbacks(known.sampler, address, go_on, interruption, tell)
        known.driven = drive(job_of(known, into), watch)
        ended()
    known.recomputed = recomputed_bodies.of(known.exchanges, known.driven.stages, into)
    interruption.check()


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
    )


def _driver(name: str) -> DriverModule:
    if name == engine.NAME:
        return engine
    for driver in tools.DRIVERS:  # imported now, because no load of ours waits for them
        if driver.NAME == name:
            return driver
    known = ", ".join(f"`{driver.NAME}`" for driver in tools.DRIVERS)
    raise DriverMissing(f"unknown driver `{name}`", f"choose one of {known}")


def server_scope(running: server.RunningServer) -> Scope:
    """The resources of a server that the lab started."""
    tree = ProcessTree(running.supervisor_pid, with_root=False)
    return Scope("server", tree, running.place.port)


def _scope_at(address: str) -> Scope | None:
    """The server that listens on a port of this host; None when none is seen to."""
    host, _, port = address.rpartition(":")
    found = ports.listeners(int(port)) if _is_loopback(host) else ()
    pids = {listener.pid for listener in found}
    first = next((listener for listener in found if listener.parent not in pids), None)
    return None if first is None else Scope("server", ProcessTree(first.pid), int(port))


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
