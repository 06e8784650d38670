"""One trial, from the start of a server to its recording.

What only a trial with a server of its own needs, and what comes after the load, is imported where
it is used: the first request of `plimsoll load` does not wait for it.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Generator
from contextlib import contextmanager
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll.conduct import account, ports, processes
from plimsoll.conduct.account import Account
from plimsoll.conduct.drive import Drive, Watch
from plimsoll.conduct.drivers import DRIVERS
from plimsoll.conduct.events import Listener, Phase, Progress, nobody
from plimsoll.conduct.sampler import Sampler, sampling
from plimsoll.conduct.scope import Scope
from plimsoll.conduct.tree import ProcessTree
from plimsoll.errors import ContractBroken, DriverError, DriverMissing, FrameworkError, Interrupted
from plimsoll.recording import Recording
from plimsoll.storage.parquet import writing

if TYPE_CHECKING:
    from plimsoll.campaign.requests import Exchange
    from plimsoll.conduct import server
    from plimsoll.conduct.drive import DriverModule
    from plimsoll.conduct.interruption import Interruption
    from plimsoll.conduct.scope import Reading
    from plimsoll.conduct.setting import Setting
    from plimsoll.plan import Trial
    from plimsoll.storage.results import Results


def conduct(
    trial: Trial,
    setting: Setting,
    results: Results,
    interruption: Interruption,
    tell: Listener = nobody,
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
        known = Account(trial, setting)
        known.idle += _idle(setting, tell)
        try:
            with _started(known, into, interruption, tell) as running:
                _examine(known, running, tell)
                _drive(known, into, _server_scope(running), running.alive, interruption, tell)
                running.check_alive()
                _verified("after", known, running, tell)
        except (FrameworkError, DriverError) as error:
            known.fail(error)
        known.idle += _idle(setting, tell)
        return _closed(known, into, interruption, tell)


def load(
    trial: Trial,
    address: str,
    setting: Setting,
    results: Results,
    interruption: Interruption,
    tell: Listener = nobody,
) -> Recording:
    """Puts a trial's load on a server that runs already, and that is left as it is.

    Args:
        trial: The trial; what its endpoint sends under load is sent, its probes are not.
        address: Address and port of the server, both as numbers: `127.0.0.1:8080`.
        setting: What the trial has in common with others.
        results: Where its recording goes.
        interruption: Knows of Ctrl-C.
        tell: Told each phase and each second of progress.

    Returns:
        What happened. The error of a driver is its `ending`, and `Interrupted` when Ctrl-C ended
        the load early; what was recorded until then is kept.

    Raises:
        HostError: This host cannot put on the load; nothing is kept.
        StorageError: The recording could not be written; nothing is kept.
        KeyboardInterrupt: A second Ctrl-C; nothing is kept.
    """
    with results.trial(trial.id) as into:
        scope = _scope_at(address)
        found = account.elsewhere(address) if scope is None else account.listening(address)
        known = Account(trial, setting, trial.endpoint.exchanges, server=found)
        try:
            _drive(known, into, scope, _yes, interruption, tell)
        except (DriverError, Interrupted) as error:
            known.fail(error)
        return _closed(known, into, interruption, tell)


def _idle(setting: Setting, tell: Listener) -> list[Reading]:
    """What the host needs without a server, where the campaign asks for that."""
    if not setting.idle_s:
        return []
    from plimsoll.conduct import idle  # noqa: PLC0415

    tell(Phase("idling"))
    return idle.readings(setting.idle_s)


@contextmanager
def _started(
    known: Account, into: Path, interruption: Interruption, tell: Listener
) -> Generator[server.Server]:
    """The trial's server, which is stopped whatever happens; what is known of it is noted."""
    from plimsoll.conduct import server  # noqa: PLC0415

    tell(Phase("starting"))
    framework = known.trial.framework
    cores = known.trial.load.server_cores or known.setting.server_cores
    with server.started(framework, log=into / "server.log", cores=cores) as running:
        known.server = account.serving(running)
        try:
            yield running
        except KeyboardInterrupt:
            if interruption.count > 1:
                _kill(running)
            raise
        finally:
            tell(Phase("stopping"))
            known.server = account.stopped(known.server, running.stop(), _own_count(running))


def _own_count(running: server.Server) -> dict[str, int] | None:
    from plimsoll.conduct import own_count  # noqa: PLC0415

    return own_count.read(running.framework.name, running.log)


def _kill(running: server.Server) -> None:
    """Kills what is left of a server, so that nobody has to wait for its clean stop."""
    for pid in running.processes():
        found = processes.process(pid)
        if found is not None:
            processes.send(found, signal.SIGKILL)


def _examine(known: Account, running: server.Server, tell: Listener) -> None:
    """Checks the contract before the load, and notes how the server is at rest, right or wrong."""
    try:
        known.exchanges = _verified("before", known, running, tell)
    finally:
        known.server = account.at_rest(running)


def _verified(
    when: str, known: Account, running: server.Server, tell: Listener
) -> tuple[Exchange, ...]:
    """Checks the contract; gives what is sent under load, with what was learned of the answers."""
    from plimsoll.conduct import contract  # noqa: PLC0415 - makes every body there is

    tell(Phase("checking"))
    known.contract[when] = []
    try:
        trial = known.trial
        address = (running.place.host, running.place.port)
        keep_alive = trial.load.keep_alive
        verified = contract.verify(address, trial.endpoint, trial.seed, keep_alive=keep_alive)
    except ContractBroken as error:
        known.contract[when] = list(error.failures) or [error.message]
        raise
    return verified.exchanges


def _drive(
    known: Account,
    into: Path,
    scope: Scope | None,
    go_on: Callable[[], bool],
    interruption: Interruption,
    tell: Listener,
) -> None:
    """Puts on the load, and reads every resource meanwhile.

    Raises:
        Interrupted: Ctrl-C ended it early; what was recorded until then is noted all the same.
    """
    tell(Phase("driving"))
    driver = _driver(known.trial.driver)
    scopes = [Scope("machine")] if scope is None else [Scope("machine"), scope]
    with sampling(*scopes) as known.sampler:
        address = known.server.address if known.server else ""
        watch = _watch(known.sampler, address, go_on, interruption, tell)
        known.driven = driver.drive(_order(known, into), watch)
    interruption.check()


def _order(known: Account, into: Path) -> Drive:
    return Drive(
        load=known.trial.load,
        exchanges=known.exchanges,
        address=known.server.address if known.server else "",
        cores=known.setting.driver_cores,
        seed=known.trial.seed,
        body_sample_ratio=known.setting.body_sample_ratio,
        into=into,
        threads=known.setting.driver_threads,
    )


def _watch(
    sampler: Sampler,
    address: str,
    go_on: Callable[[], bool],
    interruption: Interruption,
    tell: Listener,
) -> Watch:
    tree: ProcessTree | None = None

    def started(root: int) -> None:
        nonlocal tree
        tree = tree.followed_by(root) if tree else ProcessTree(root, with_root=False)
        sampler.watch(Scope("driver", tree, peer=address))

    def progress(progress: Progress) -> bool:
        tell(progress)
        return go_on()

    return Watch(started, sampler.align, progress, interruption)


def _driver(name: str) -> DriverModule:
    for driver in DRIVERS:
        if driver.NAME == name:
            return driver
    known = ", ".join(f"`{driver.NAME}`" for driver in DRIVERS)
    raise DriverMissing(f"there is no driver `{name}`", f"choose one of {known}")


def _server_scope(running: server.Server) -> Scope:
    tree = ProcessTree(running.warden_pid, with_root=False)
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


def _closed(known: Account, into: Path, interruption: Interruption, tell: Listener) -> Recording:
    """The recording, written; Ctrl-C does not take away what has been measured."""
    from plimsoll.conduct import recording  # noqa: PLC0415 - heavy

    with interruption.deferred(), writing(into.parent.parent):
        tell(Phase("writing"))
        return recording.close(known.recording(), known.readings, known.zero_ns, into, known.driven)
