"""The agent: what a host does for the lab. It knows nothing of the network.

It generates one load at a time, with the engine in a supervised process that ends with the agent,
and samples this host meanwhile; or it runs servers (`server`). A lab that says nothing for
`SILENCE_S` is gone: then the load ends, and the servers stop.
"""

from __future__ import annotations

import hashlib
import shutil
import socket
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import plimsoll
from plimsoll import machine
from plimsoll.databases import installed
from plimsoll.drivers import choosing, sampled, tools
from plimsoll.drivers.records import ROWS
from plimsoll.drivers.tools import plimsoll as engine
from plimsoll.errors import (
    EngineFailed,
    HostError,
    HostLost,
    InputError,
    Interrupted,
    PlimsollError,
)
from plimsoll.hosts import counts, disk
from plimsoll.hosts.agent import kept_rows
from plimsoll.hosts.agent.server import ServedHere
from plimsoll.hosts.agent.steps import ended
from plimsoll.hosts.answers import (
    CountState,
    HostFacts,
    HostFile,
    HostResult,
    HostStatus,
    StepState,
)
from plimsoll.hosts.host import GONE
from plimsoll.processes.interruption import Interruption
from plimsoll.processes.logs import tail
from plimsoll.sampling import control, link, network_path
from plimsoll.sampling.sampler import sampling
from plimsoll.sampling.samplers import energy
from plimsoll.sampling.scope import Scope

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from plimsoll.drivers.job import DriverJob, DriverResult
    from plimsoll.drivers.turning import CommonStart
    from plimsoll.events import Progress
    from plimsoll.hosts.answers import ServerState
    from plimsoll.hosts.host_job import HostJob
    from plimsoll.recording.readings import Reading

SILENCE_S = 10.0
"""Seconds without a word from the lab after which a load ends, and servers stop."""

STARTING = ("start", "start_database")
"""Steps after which something runs here that must not outlive the lab."""

LOOK_S = 0.5
"""How often an agent with a server looks whether the lab is gone, in seconds."""

REACHED_S = 3.0
"""How long another host has to accept a connection, in seconds."""

CHUNK_BYTES = 4 << 20
"""Bytes of a file that are handed over at a time."""

FILES = (*ROWS, "bodies.bin")
"""The files of the engine that the lab takes: rows, and bodies that are checked there."""


@dataclass
class _Load:
    """A load that was ordered."""

    job: DriverJob
    interruption: Interruption = field(default_factory=Interruption)
    status: HostStatus = field(default_factory=HostStatus)
    is_to_end: bool = False
    result: HostResult | None = None
    counted: CountState | None = None
    packed: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    kept: StepState | None = None


class Agent:
    """Does what the lab orders, one load and one server at a time, or several that take turns.

    Every public method but `abandon` is an order; it may be called from any thread.

    Args:
        folder: Where rows, and logs of servers, are written.
        kept: Where rows are put that stay on this host.

    Attributes:
        has_lab: Whether it is with a lab, or was when it ended.
    """

    def __init__(self, folder: Path, kept: Path) -> None:
        """Has no load and no server."""
        self.has_lab = False
        self._folder = folder
        self._kept = kept
        self._load: _Load | None = None
        self._thread: threading.Thread | None = None
        self._served: dict[int, ServedHere] = {}
        self._guarding = threading.Lock()
        self._is_guarded = False
        from plimsoll.hosts.agent.turns import TurnedLoads  # noqa: PLC0415 - help waits for no tables

        self._turned = TurnedLoads(folder / "turns")
        self._heard_s = time.monotonic()

    def facts(self) -> HostFacts:
        """What the lab must know of this host."""
        return HostFacts(
            plimsoll.__version__,
            machine.facts(),
            time.time_ns(),
            disk.free_bytes(self._folder),
            None if disk.is_same(self._folder, self._kept) else disk.free_bytes(self._kept),
            energy.recorded(),
            _database_error(),
            {one.NAME: error for one in tools.DRIVERS if (error := one.needs()) is not None},
        )

    def reach(self, address: str, port: int) -> None:
        """Connects to another host, and says nothing there; a host that refuses is reached.

        Raises:
            HostError: It cannot be reached.
        """
        try:
            socket.create_connection((address, port), REACHED_S).close()
        except ConnectionRefusedError:
            return
        except OSError as error:
            reason = error.strerror or str(error)
            hint = "look at its routes, and at the firewalls of both"
            raise HostError(f"cannot reach {address}: {reason}", hint) from error

    def arm(self, order: HostJob) -> None:
        """Has the load generator wait for the load's zero, and generate its part from then on.

        Args:
            order: What to do.

        Raises:
            HostError: A load goes on here.
            DriverMissing: The load generator is not installed here.
            StorageError: The folder of this agent cannot be written.
        """
        self._hear()
        if self._thread is not None and self._thread.is_alive():
            raise HostError("a load is running here", "wait until it has ended")
        missing = choosing.named(order.job.driver).needs()
        if missing is not None:
            raise missing
        self.release()
        into = self._folder / "load"
        with disk.written(into):
            into.mkdir()
            self._load = _Load(order.within(into))
        self._thread = threading.Thread(target=self._run, args=(self._load,), daemon=True)
        self._thread.start()

    def poll(self) -> HostStatus:
        """How the load stands; the lab asks once a second, and that is its sign of life."""
        self._hear()
        return HostStatus(has_ended=True) if self._load is None else self._load.status

    def end(self) -> None:
        """Ends the load early and cleanly; what was recorded until then is kept."""
        load = self._load
        if load is not None and not load.is_to_end:
            load.is_to_end = True
            with suppress(KeyboardInterrupt):  # there is no engine yet
                load.interruption.handle(0, None)

    def collect(self) -> HostResult:
        """What a load that ended measured.

        Raises:
            HostLost: This agent has none any more.
            EngineFailed: It has not ended.
        """
        self._hear()
        result = self._known.result
        if result is None:
            raise EngineFailed("no load has finished here", "report it to Plimsoll")
        return result

    def read(self, name: str, offset: int) -> bytes:
        """A piece of a file of the load, `CHUNK_BYTES` long unless the file ends before."""
        files, load = self.collect().files, self._known
        if name in load.packed:
            return load.packed[name][offset : offset + CHUNK_BYTES]
        if name not in {file.name for file in files}:
            raise EngineFailed(f"`{name}` is not a file of the load", "report it to Plimsoll")
        return _piece(self._folder / "load" / name, offset)

    def count(self, holds: tuple[tuple[int, int], ...], shift_ns: int) -> None:
        """Begins to count the rows of a load that ended; `counted` says how that stands.

        A lab that was cut off orders it once more.

        Args:
            holds: What is summarised, in nanoseconds since the trial's zero.
            shift_ns: Zero of the load here, in nanoseconds since the trial's zero.

        Raises:
            HostLost: This agent has none any more.
            EngineFailed: It has not ended.
        """
        self.collect()
        load = self._known
        if load.counted is None:
            load.counted = CountState()
            work = (load, holds, shift_ns)
            threading.Thread(target=self._count, args=work, daemon=True).start()

    def counted(self) -> CountState:
        """How the counting stands.

        Raises:
            HostLost: This agent has no load any more.
            EngineFailed: It counts nothing.
        """
        self._hear()
        counted = self._known.counted
        if counted is None:
            raise EngineFailed("no rows are counted here", "report it to Plimsoll")
        return counted

    def keep(self, name: str) -> None:
        """Begins to move the rows of a load that ended to where rows stay on this host.

        A lab that was cut off orders it once more.

        Args:
            name: Name of a new folder for them.

        Raises:
            HostLost: This agent has none any more.
            EngineFailed: It has not ended.
        """
        result, load = self.collect(), self._known
        if load.kept is not None:
            return
        rows = () if result.driven.rows is None else result.driven.rows.files
        names = (*ROWS, *(path.name for path in rows))
        work = (load, self._folder / "load", names, self._kept / name)
        load.kept = StepState(has_ended=False)
        threading.Thread(target=_keep, args=work, daemon=True).start()

    def keeping(self) -> StepState:
        """How that stands; in the end it has given `answers.Stayed`.

        Raises:
            HostLost: This agent has no load any more.
            EngineFailed: It keeps nothing.
        """
        self._hear()
        kept = self._known.kept
        if kept is None:
            raise EngineFailed("no rows are kept here", "report it to Plimsoll")
        return kept

    def kept(self, folder: str) -> dict[str, int]:
        """Rows that stayed on this host.

        Args:
            folder: Where they were put; whoever moved them may name the new place with `--rows`.

        Returns:
            Length of each file by its name, in bytes; nothing if they are gone.

        Raises:
            StorageError: They cannot be read.
        """
        self._hear()
        place = self._place_of(folder)
        with disk.named(place, disk.READABLE, disk.UNREAD):
            paths = [place / name for name in ROWS]
            return {path.name: path.stat().st_size for path in paths if path.exists()}

    def read_kept(self, folder: str, name: str, offset: int) -> bytes:
        """A piece of a file of `kept`, `CHUNK_BYTES` long unless the file ends before.

        Raises:
            StorageError: It cannot be read.
        """
        self._hear()
        if name not in ROWS:
            raise EngineFailed(f"`{name}` has no rows", "report it to Plimsoll")
        place = self._place_of(folder)
        with disk.named(place, disk.READABLE, disk.UNREAD):
            return _piece(place / name, offset)

    def release(self) -> None:
        """Removes what a load has left."""
        self._load = None
        shutil.rmtree(self._folder / "load", ignore_errors=True)

    def arm_turns(self, key: str, order: HostJob) -> None:
        """Begins to have a load rest until its first turn; `turned` says when it does.

        Args:
            key: Names it from now on.
            order: What to do.
        """
        self._hear()
        is_first = not self._turned
        self._turned.add(key, order)
        if is_first:
            threading.Thread(target=self._guard_turns, daemon=True).start()

    def read_before_turn(self, key: str) -> None:
        """Reads this host right before a turn of a load."""
        self._hear()
        self._turned.of(key).read()

    def take_turn(self, key: str, duration_ns: int, start: CommonStart) -> None:
        """Begins to give a load a turn; `turned` says when it has ended.

        Args:
            key: The load.
            duration_ns: For how long requests begin.
            start: When all hosts begin, by the clock of this one.
        """
        self._hear()
        self._turned.begin(key, lambda load: load.turn(duration_ns, start))

    def end_turns(self, key: str, at_ns: int) -> None:
        """Begins to end a load; `turned` then has what it measured.

        Args:
            key: The load.
            at_ns: The time of the load at which the last host rested.
        """
        self._hear()
        self._turned.begin(
            key,
            lambda load: _result(load.job, load.finish(at_ns), load.readings.kept, load.problems),
        )

    def turned(self, key: str, wait_s: float) -> StepState:
        """How what a load was last ordered to do stands; waits for its end, but only so long."""
        self._hear()
        return self._turned.state(key, wait_s)

    def read_turned(self, key: str, name: str, offset: int) -> bytes:
        """A piece of a file of a load that took turns, as `read` gives it."""
        self._hear()
        if name not in FILES:
            raise EngineFailed(f"`{name}` is not a file of the load", "report it to Plimsoll")
        return _piece(self._turned.folder(key) / name, offset)

    def release_turns(self, key: str) -> None:
        """Stops a load that takes turns, and removes what it has left."""
        self._turned.remove(key)

    def begin(self, slot: int, step: str, arguments: tuple[object, ...]) -> None:
        """Begins a step of a server or a database; `server` says how it stands.

        Args:
            slot: Number of the server; 0 where there is one at a time, and for a database.
            step: One of those of `server.ServedHere`.
            arguments: What it is given.
        """
        self._hear()
        with self._guarding:
            self._of(slot).begin(step, arguments)
            if step in STARTING and not self._is_guarded:
                self._is_guarded = True
                threading.Thread(target=self._guard_servers, daemon=True).start()

    def server(self, slot: int) -> ServerState:
        """How a server and its last step stand; the lab asks each second: its sign of life."""
        self._hear()
        return self._of(slot).state()

    def at_turn(self, slot: int, work: str, arguments: tuple[object, ...]) -> Any:
        """Does at once what a server, or a database, needs around turns.

        Args:
            slot: Number of the server.
            work: One of the works of `server.ServedHere`.
            arguments: What it is given.

        Raises:
            HostLost: The server, or the database, was stopped.
        """
        self._hear()
        return self._of(slot).at_turn(work, arguments)

    def run_control(self, cores: tuple[int, ...]) -> Mapping[str, float]:
        """Runs the control once.

        Args:
            cores: Cores that it runs on; empty for any.
        """
        self._hear()
        with control.ready(cores) as work:
            return work.run()

    def align(self, zero_ns: int) -> None:
        """Has resources of servers read at whole seconds after an instant of this clock."""
        for served in self._all_served:
            served.align(zero_ns)

    def server_log(self, slot: int) -> bytes:
        """The last `CHUNK_BYTES` of what a server wrote."""
        self._hear()
        return tail(self._of(slot).log, CHUNK_BYTES)

    def kill_server(self, slot: int) -> None:
        """Kills a server, so that nothing waits for its clean stop."""
        self._of(slot).kill()

    def abandon(self) -> None:
        """Ends what a lab that is gone had begun, and waits for that.

        The rows of loads that have ended stay until the next one: a lab that was cut off while it
        copied them goes on.
        """
        has_rows = self._load is not None and self._load.result is not None
        self.end()
        self._turned.close()
        self._abandon_servers()
        if self._thread is not None:
            self._thread.join()
        if not has_rows:
            self.release()

    def _hear(self) -> None:
        """Notes that the lab is there."""
        self._heard_s = time.monotonic()

    @property
    def _known(self) -> _Load:
        """The load of the lab.

        Raises:
            HostLost: There is none: its agent was another one, or has given it up meanwhile.
        """
        if self._load is None:
            raise HostLost(GONE, "see the output of its agent")
        return self._load

    @property
    def _is_silent(self) -> bool:
        """Whether the lab is gone."""
        return time.monotonic() - self._heard_s >= SILENCE_S

    def _place_of(self, folder: str) -> Path:
        """Where rows are now that were put into a folder."""
        moved = self._kept / Path(folder).name
        return moved if moved.exists() else Path(folder)

    @property
    def _all_served(self) -> list[ServedHere]:
        return [*self._served.values()]

    def _of(self, slot: int) -> ServedHere:
        """The servers with a number, one after the other."""
        if slot not in self._served:
            folder = self._folder / f"server-{slot}"
            folder.mkdir(exist_ok=True)
            self._served[slot] = ServedHere(folder)
        return self._served[slot]

    def _abandon_servers(self) -> None:
        """Stops every server, and the database."""
        for served in self._all_served:
            served.abandon()

    def _guard_servers(self) -> None:
        """Stops the servers, or the database, of a lab that is gone."""
        while self._goes_on_guarding():
            if self._is_silent:
                self._abandon_servers()
            time.sleep(LOOK_S)

    def _goes_on_guarding(self) -> bool:
        with self._guarding:
            self._is_guarded = any(served.is_busy for served in self._all_served)
            return self._is_guarded

    def _guard_turns(self) -> None:
        """Ends the loads of a lab that is gone."""
        while self._turned:
            if self._is_silent:
                self._turned.close()
            time.sleep(LOOK_S)

    def _goes_on(self, load: _Load) -> bool:
        return not load.is_to_end and not self._is_silent

    def _run(self, load: _Load) -> None:
        try:
            with disk.written(load.job.into):
                load.result = self._generated(load)
            load.status = replace(load.status, has_ended=True)
        except PlimsollError as error:
            load.status = replace(load.status, has_ended=True, error=error)
        except Exception as error:
            failure = EngineFailed(f"the agent failed: {error!r}", "report it to Plimsoll")
            load.status = replace(load.status, has_ended=True, error=failure)

    def _generated(self, load: _Load) -> HostResult:
        job = load.job

        def tell(progress: Progress) -> None:
            load.status = replace(load.status, progress=progress)

        def zero(monotonic_ns: int) -> None:
            load.status = replace(load.status, zero_monotonic_ns=monotonic_ns)
            sampler.align(monotonic_ns)

        with sampling(Scope("machine")) as sampler:
            watch = sampled.callbacks(
                sampler, job.address, lambda: self._goes_on(load), load.interruption, tell
            )
            self._await(job, load)
            driven = choosing.named(job.driver).drive(job, replace(watch, zero=zero))
        return _result(job, driven, sampler.readings, sampler.problems)

    def _await(self, job: DriverJob, load: _Load) -> None:
        """Waits for the zero of a load, if its load generator does not do that itself.

        Raises:
            Interrupted: The load was ended before.
        """
        if job.driver == engine.NAME or job.part is None:
            return
        while (left_ns := job.part.start_monotonic_ns - time.monotonic_ns()) > 0:
            if not self._goes_on(load):
                raise Interrupted("the load ended before it began", "repeat it")
            time.sleep(min(left_ns / 1e9, LOOK_S))

    def _count(self, load: _Load, holds: tuple[tuple[int, int], ...], shift_ns: int) -> None:
        try:
            found = counts.counted(load.job.into, holds, shift_ns)
            # In memory: the disk may be full of the rows.
            load.packed = {f"{name}.bin": packed for name, packed in found.times.items()}
            times = {name: _packed(name, packed) for name, packed in found.times.items()}
            load.counted = CountState(has_ended=True, counts=found.counts, times=times)
        except OSError as error:
            failure = EngineFailed(f"the rows cannot be counted: {error}", "repeat the load")
            load.counted = CountState(has_ended=True, error=failure)


def _result(
    job: DriverJob,
    driven: DriverResult,
    readings: Sequence[Reading],
    problems: dict[str, str],
) -> HostResult:
    """What this host measured with a load that ended, with the files that it left."""
    rows = () if driven.rows is None else driven.rows.files
    names = (*FILES, *(path.name for path in rows))
    return HostResult(
        driven=driven,
        readings=(*readings, *driven.readings),
        problems=problems,
        machine=machine.facts(),
        files=tuple(_described(path) for name in names if (path := job.into / name).exists()),
        link=network_path.along(link.towards(job.address), job.address),
    )


def _database_error() -> PlimsollError | None:
    """Why PostgreSQL cannot be started here; None if it can."""
    try:
        return installed.missing()
    except InputError as error:
        return error


def _piece(path: Path, offset: int) -> bytes:
    with path.open("rb") as file:
        file.seek(offset)
        return file.read(CHUNK_BYTES)


def _keep(load: _Load, folder: Path, names: tuple[str, ...], into: Path) -> None:
    load.kept = ended(kept_rows.put, folder, names, into)


def _packed(name: str, content: bytes) -> HostFile:
    return HostFile(f"{name}.bin", len(content), hashlib.sha256(content).hexdigest())


def _described(path: Path) -> HostFile:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256")
    return HostFile(path.name, path.stat().st_size, digest.hexdigest())
