"""A server that is started once for several trials, which it serves one after the other."""

from __future__ import annotations

import shutil
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import cycle
from typing import TYPE_CHECKING

from plimsoll.conduct import runtime_warm_up
from plimsoll.conduct import trial as one_trial
from plimsoll.conduct.group_member import GroupMember, ServerAtTurn
from plimsoll.conduct.side_by_side import Side, load_s
from plimsoll.errors import DriverError, FrameworkError, HostLost
from plimsoll.storage.parquet import writing

if TYPE_CHECKING:
    from types import TracebackType

    from plimsoll.conduct.group_member import Passed
    from plimsoll.drivers.job import DriverResult
    from plimsoll.events import Listener
    from plimsoll.processes.interruption import Interruption
    from plimsoll.recording import RecordedServer
    from plimsoll.serving.place import PlacedServer


@dataclass
class SharedServer:
    """A server, and the trials that it serves.

    Attributes:
        members: The trials.
    """

    members: list[GroupMember] = field(default_factory=list["GroupMember"])
    _processes: ExitStack = field(default_factory=ExitStack)
    _start: ServerAtTurn | None = None
    _unrecorded: list[DriverResult] = field(default_factory=list["DriverResult"])

    @property
    def name(self) -> str:
        """The framework and its variant."""
        return self.members[0].known.trial.framework.title

    @property
    def running(self) -> PlacedServer | None:
        """It, as long as it runs."""
        return None if self._start is None else self._start.server

    @property
    def at_rest(self) -> RecordedServer | None:
        """Its side of the recording without load; None where it failed before that."""
        return None if self._start is None else self.members[0].known.server

    def leave(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stops it if it runs, at once when the error is a second Ctrl-C."""
        self._processes.__exit__(kind, error, trace)

    def begin(self, interruption: Interruption, tell: Listener) -> None:
        """Starts it, and checks the contract of each of its trials."""
        first = self.members[0]
        trial, cores = first.known.trial, first.known.server_cores
        starting = partial(
            first.known.setting.place.started,
            trial.framework,
            first.log,
            cores,
            trial.load.service,
            seed=trial.fixtures_seed,
        )
        self._processes.callback(self._stopped)
        try:
            running = self._processes.enter_context(
                one_trial.started(first.known, starting, interruption, tell)
            )
        except FrameworkError as error:
            for member in self.members:
                member.fail(error)
            return
        turns = self._processes.enter_context(running.in_turns())
        self._start = ServerAtTurn(running, turns)
        self._share()
        for member in self.members:
            member.examine(self._start, tell)
        first.known.server = running.at_rest()
        self._share()
        if all(member.has_failed for member in self.members):
            self.stop()

    def warm_up(self, passed: Passed) -> None:
        """Loads it for as long as its runtime needs before the first trial; nothing is recorded.

        Its trials take turns in that, and it rests after each pulse until it has compiled. Nobody
        else works meanwhile, so it may use every core (decision 82).
        """
        members = [member for member in self.members if not member.has_failed]
        length_s = max((member.known.trial.start_warm_up_s for member in members), default=0.0)
        if self._start is None or not length_s:
            return
        turns = self._start.turns
        with turns.widened():
            pulses_s = runtime_warm_up.pulses_s(length_s, len(members))
            for member, pulse_s in zip(cycle(members), pulses_s, strict=False):
                if not member.has_failed and (ended := member.load_unrecorded(pulse_s, passed)):
                    self._unrecorded.append(ended)
                turns.wait_until_idle()
            turns.rest()

    def beside(self, length_s: float, loads: ExitStack) -> Side | None:
        """It with a load that rests, to work beside others; None where it or each trial failed.

        Args:
            length_s: For how long all work, in seconds.
            loads: Stops the load.
        """
        member = next((one for one in self.members if not one.has_failed), None)
        if self._start is None or member is None:
            return None
        try:
            lasting_s = load_s(length_s, member.known.trial.load.timeout_s)
            load = loads.enter_context(member.unrecorded(lasting_s))
        except (DriverError, HostLost) as error:
            member.fail(error)
            return None
        return Side(member, self._start, load, self._unrecorded)

    def wake(self) -> None:
        """Has it run on, where it was frozen."""
        if self._start is not None:
            self._start.turns.wake()

    def stop(self) -> None:
        """Stops it."""
        self._start = None
        self._processes.close()

    def _share(self) -> None:
        """What is known of the server is known in each of its trials."""
        first, *others = (member.known for member in self.members)
        for known in others:
            known.server, known.tls = first.server, first.tls

    def _stopped(self) -> None:
        """Each trial has the server's side with its end, its log, and what others counted of it."""
        self._share()
        first, *others = self.members
        for member in others:
            if first.log.exists():
                with writing(member.into):
                    shutil.copyfile(first.log, member.log)
        side = first.known.server
        if side is None or not (others or self._unrecorded):
            return
        if others:
            side = replace(side, shared_by=tuple(member.known.trial.id for member in self.members))
        for member in self.members:
            elsewhere = self._counted_beside(member)
            member.known.server = (
                replace(side, counted=None)
                if elsewhere is None
                else replace(side, counted_elsewhere=elsewhere)
            )

    def _counted_beside(self, own: GroupMember) -> dict[str, int] | None:
        """What load generators count of the server outside of a trial; None where one failed."""
        loads, contract_requests = [*self._unrecorded], 0
        for member in self.members:
            if member is own:
                continue
            if member.known.driven is None or member.has_failed:
                return None
            loads.append(member.known.driven)
            contract_requests += member.known.contract_requests
        found = runtime_warm_up.counted(loads)
        return found | {"requests_received": found.get("requests_received", 0) + contract_requests}
