"""Contact with a host on which the lab runs something: signs of life, steps, and its clock."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from plimsoll.errors import HostLost, PlimsollError
from plimsoll.hosts.lab import clocks
from plimsoll.hosts.lab.control import of_host
from plimsoll.recording import HostClock

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

    from plimsoll.hosts.answers import ServerState
    from plimsoll.hosts.lab.clocks import ClockExchange, ClockRelation
    from plimsoll.hosts.lab.control import Lab
    from plimsoll.recording.readings import Reading

ASK_S = 0.05
"""From one look at a step to the next, in seconds."""

SIGN_S = 1.0
"""How often the lab gives a sign of life to the agent, in seconds; an order is one."""


class Contact:
    """Contact with a host that runs something.

    A thread asks how that stands where nothing was ordered for a second, which is the lab's sign of
    life to the agent. Under load it compares clocks.

    Args:
        lab: The lab.
        host: Name of the host.
        slot: Which of its servers it is about; see `agent.agent.Agent.begin`.

    Attributes:
        host: Name of the host.
        state: What was heard last; None before that.
        lost: Why the host is gone; None as long as it is there.
        has_load: Whether its clock is to be compared.
    """

    def __init__(self, lab: Lab, host: str, slot: int = 0) -> None:
        """Begins at once."""
        self.host = host
        self.state: ServerState | None = None
        self.lost: PlimsollError | None = None
        self.has_load = False
        self._lab = lab
        self._agent = lab.joined().get(host)
        self._slot = slot
        self._heard_s = time.monotonic()
        self._bursts: list[tuple[ClockExchange, ...]] = [lab.clock(host)]
        self._is_over = threading.Event()
        self._asking = threading.Thread(target=self._ask, name=f"signs to {host}", daemon=True)
        self._asking.start()

    def compare_anew(self) -> None:
        """Forgets how its clock was before a load.

        Raises:
            HostLost: It is gone.
        """
        with self._heard():
            self._bursts = [self._lab.clock(self.host)]

    def compare(self) -> None:
        """Compares its clock once more.

        Raises:
            HostLost: It is gone.
        """
        with self._heard():
            self._bursts.append(self._lab.clock(self.host))

    def end(self) -> None:
        """Asks no more."""
        self._is_over.set()
        self._asking.join()

    def check(self) -> None:
        """Does nothing as long as the host is there.

        Raises:
            HostLost: It is gone.
        """
        if self.lost is not None:
            raise self.lost
        self._require_its_agent()

    def _require_its_agent(self) -> None:
        """Requires the agent that the contact began with.

        Raises:
            HostLost: Another one has its name, which was started since and knows of nothing.
        """
        if self._lab.joined().get(self.host) not in (self._agent, None):
            message = f"the agent of `{self.host}` ended, and another one was started"
            raise HostLost(message, "see the output of the agent that ended")

    def step(self, step: str, *arguments: object) -> Any:
        """Has the agent do a step, and waits for its end.

        Raises:
            HostLost: The host is gone.
            PlimsollError: The error that ended the step, with the name of the host.
        """
        with self._heard():
            return done(self._lab, self.host, step, *arguments, slot=self._slot)

    def have_done(self, work: str, *arguments: object) -> Any:
        """Has the agent do at once what takes milliseconds.

        Args:
            work: The work, a name in `agent.server.ServedHere`.
            arguments: What it is given.

        Raises:
            HostLost: The host is gone.
            PlimsollError: The error that ended the work, with the name of the host.
        """
        with self._heard():
            try:
                return self._lab.order(self.host, "at_turn", self._slot, work, arguments)
            except PlimsollError as error:
                raise of_host(self.host, error) from error

    def begin(self, step: str, *arguments: object) -> None:
        """Has the agent begin a step, without a question how it stands.

        Raises:
            HostLost: The host is gone.
        """
        with self._heard():
            self._lab.order(self.host, "begin", self._slot, step, arguments)

    def ended(self) -> Any:
        """Waits for the end of the step that was begun, as `step` does."""
        with self._heard():
            return ended(self._lab, self.host, self._slot)

    def kill(self) -> None:
        """Has the server killed; a loss is noted."""
        self._tell("kill_server", self._slot)

    def _tell(self, order: str, *arguments: object) -> None:
        """Gives an order whose answer nobody needs; a loss is noted."""
        try:
            self._lab.order(self.host, order, *arguments)
        except HostLost as error:
            self.lost = error

    def align(self, zero_ns: int) -> None:
        """Has resources read at whole seconds after an instant of the lab's clock."""
        self._tell("align", self.clock.host_ns(zero_ns))

    def sampled(self, step: str) -> tuple[list[Reading], dict[str, str]]:
        """What was read under load, by the lab's clock; nothing where the host is gone.

        Args:
            step: The step that gives the readings, and what could not be read.
        """
        if self.lost is not None:
            return [], {}
        try:
            readings, problems = self.step(step)
            self.compare()
        except HostLost as error:
            self.lost = error
            return [], {}
        return self.moved(readings), problems

    @property
    def clock(self) -> ClockRelation:
        """Its clock, by all exchanges."""
        return clocks.related(self._bursts)

    @property
    def known_clock(self) -> HostClock:
        """The same for the recording."""
        clock = self.clock
        return HostClock(clock.offset_ns, clock.drift, clock.round_trip_ns, clock.bound_ns)

    def moved(self, readings: Iterable[Reading]) -> list[Reading]:
        """Readings by the lab's clock, with the name of the host."""
        clock = self.clock
        return [replace(one, at_ns=clock.lab_ns(one.at_ns), host=self.host) for one in readings]

    @contextmanager
    def _heard(self) -> Generator[None]:
        """Keeps in mind that the host is gone, once it is.

        Raises:
            HostLost: It is gone.
        """
        self.check()
        try:
            yield
            self._heard_s = time.monotonic()
        except HostLost as error:
            self.lost = error
            raise

    def _ask(self) -> None:
        """Gives signs of life, and compares clocks under load."""
        compared_s = time.monotonic()
        while not self._is_over.wait(SIGN_S):
            try:
                self._require_its_agent()
                if time.monotonic() - self._heard_s >= SIGN_S:
                    self.state = self._lab.order(self.host, "server", self._slot)
                if self.has_load and time.monotonic() - compared_s >= clocks.EVERY_S:
                    compared_s = time.monotonic()
                    self._bursts.append(self._lab.clock(self.host))
            except PlimsollError as error:
                self.lost = error
                return


def done(lab: Lab, host: str, step: str, *arguments: object, slot: int = 0) -> Any:
    """Has an agent do a step, and waits for its end.

    Args:
        lab: The lab.
        host: Name of the host.
        step: The step, a name in `agent.server.ServedHere`.
        arguments: What it is given.
        slot: Which of its servers does it.

    Raises:
        HostLost: The host is gone.
        PlimsollError: The error that ended the step, with the name of the host.
    """
    lab.order(host, "begin", slot, step, arguments)
    return ended(lab, host, slot)


def ended(lab: Lab, host: str, slot: int = 0) -> Any:
    """Waits for the end of the step that an agent has begun.

    Args:
        lab: The lab.
        host: Name of the host.
        slot: Which of its servers does it.

    Raises:
        HostLost: The host is gone.
        PlimsollError: The error that ended the step, with the name of the host.
    """
    while not (state := cast("ServerState", lab.order(host, "server", slot)).step).has_ended:
        time.sleep(ASK_S)
    if state.error is not None:
        raise of_host(host, state.error)
    return state.given
