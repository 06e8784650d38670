"""Turns of a server on this host."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from plimsoll import machine
from plimsoll.processes import affinity, cpu_clock
from plimsoll.sampling.sampler import Sampler
from plimsoll.sampling.scope import Scope
from plimsoll.serving.resting import RestingServer
from plimsoll.serving.server_turns import ServerTurn
from plimsoll.serving.short_lived import ShortLived

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from plimsoll.recording.readings import Reading, ScopeName
    from plimsoll.serving.here import LocalServer

BEFORE: tuple[ScopeName, ...] = ("server", "machine")
"""In which scopes are read before a turn: the machine, whose idle time also passes, last."""

AFTER: tuple[ScopeName, ...] = ("machine", "server")
"""In which scopes are read after a turn."""


class TurnsHere:
    """A server of this host that takes turns.

    Args:
        server: The server.
    """

    def __init__(self, server: LocalServer) -> None:
        """It works."""
        self._server = server
        self._tree = server.tree
        self._rest = RestingServer(server.tree.pids)
        self._sampler = Sampler()
        self._sampler.watch(Scope("machine"))
        self._sampler.watch(replace(server.scope, tree=self._tree))
        self._before: list[Reading] = []
        self._used: dict[int, int] = {}
        self._ended_s = 0.0
        self._short_lived = ShortLived()

    @property
    def freezes(self) -> bool:
        """Whether it is frozen while it rests, since it went on working."""
        return self._rest.freezes

    def widened(self) -> AbstractContextManager[None]:
        """It may use every core of this host for as long as the block runs."""
        server = self._server
        return affinity.widened(server.processes, server.place.cores, machine.allowed_cores())

    def wait_until_idle(self) -> None:
        """Waits until it has nothing to do any more, 10 s at most."""
        self._rest.wait_until_idle()

    def settle(self) -> None:
        """Waits likewise after its warm-up; one that goes on working is frozen in its rests."""
        self._rest.end()
        self._rest.settle()
        self._rest.begin()

    def wake(self) -> None:
        """It may work from now on."""
        self._rest.end()

    def rest(self) -> None:
        """It rests from now on."""
        self._rest.begin()

    def begin(self, *, thorough: bool) -> None:
        """Reads it and its machine, and has it work.

        Readings take milliseconds, in which a server that is frozen does nothing: its CPU time of a
        turn would else exceed what its cores can do in it. That its threads go on is no part of it.

        Args:
            thorough: Whether to read what disturbs or takes long, too.
        """
        self._before = self._sampler.read_alone(thorough=thorough, order=BEFORE)
        self._ended_s = self._tree.ended_s
        self._rest.end()
        self._used = self._cpu_ns()

    def end(self, *, thorough: bool) -> ServerTurn:
        """Has it rest, and reads it and its machine.

        Args:
            thorough: Whether to read what disturbs or takes long, too.
        """
        # What a server does after its turn counts until it is frozen, and to freeze it does not.
        at_end = self._cpu_ns() if self._rest.freezes else None
        self._rest.begin()
        cpu_ns = cpu_clock.grown(self._used, self._cpu_ns() if at_end is None else at_end)
        after = self._sampler.read_alone(thorough=thorough, order=AFTER)
        if cpu_ns is not None:
            self._short_lived.count(self._ended_s, self._tree.ended_s, cpu_ns)
        return ServerTurn(
            self._before,
            after,
            None if self._short_lived.are_missed else cpu_ns,
            self._server.alive(),
            self.freezes,
            self._sampler.problems,
        )

    def _cpu_ns(self) -> dict[int, int]:
        """By the processes that the last readings found: to find them takes milliseconds."""
        return cpu_clock.of(tuple(self._tree.stats))
