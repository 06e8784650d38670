"""Several servers take turns: each is started once, and rests while others work.

Turns are short and their order is drawn for each round, so what disturbs the host for a second or
an hour disturbs all alike: their ratios within rounds hold where their figures do not. A server is
started once for all endpoints, which are measured one after the other: it has the connections of
one load at a time, and what a request leaves behind is paid by those that follow at the same
endpoint. Each server keeps a trial and a recording for each endpoint, from which its rests are left
out.

Source:
    A. Abedi and T. Brecht, Conducting repeatable experiments in highly variable cloud computing
    environments, ICPE 2017; L. Bulej et al., Duet benchmarking, ICPE 2020.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from random import Random
from typing import TYPE_CHECKING

from plimsoll import plan
from plimsoll.conduct import trial as one_trial
from plimsoll.conduct.group_member import GroupMember
from plimsoll.conduct.group_room import UNLIMITED, GroupRoom
from plimsoll.conduct.shared_server import SharedServer
from plimsoll.conduct.turn_length import turn_s
from plimsoll.conduct.turn_pace import common_pace
from plimsoll.errors import HostLost
from plimsoll.events import GroupFull, GroupServer, Listener, Progress, TurnEnded, ignore
from plimsoll.sampling import control

if TYPE_CHECKING:
    from plimsoll.conduct.run_config import RunConfig
    from plimsoll.conduct.side_by_side import SideBySide
    from plimsoll.drivers.turning import EngineTurn
    from plimsoll.plan import ComparedTable, Trial
    from plimsoll.processes.interruption import Interruption
    from plimsoll.recording import Recording
    from plimsoll.storage.results import Results

MemberOf = Callable[["Trial"], GroupMember]
"""Gives a trial its folder, and knows it before anything runs."""


def conduct(
    trials: Sequence[Trial],
    setting: RunConfig,
    results: Results,
    interruption: Interruption,
    tell: Listener = ignore,
    side_by_side: SideBySide | None = None,
    room: GroupRoom = UNLIMITED,
) -> dict[str, Recording]:
    """Conducts trials that take turns: servers start, then table by table rounds of turns.

    As many servers start as their host has room for. A server or load generator that fails ends its
    own trial, and a server that died also those of it that have not begun; the others go on.

    Args:
        trials: The trials; those of one table have loads that are alike.
        setting: What they have in common, with the length of a turn.
        results: Where their recordings go.
        interruption: Knows of Ctrl-C.
        tell: Told each phase and each turn.
        side_by_side: Has all servers work at the same time after their turns; None for not at all.
        room: What the servers may need in all.

    Returns:
        What happened in each by its id, in the order of `trials`; nothing of those whose servers
        the host had no room for.

    Raises:
        HostError: This host cannot conduct one of them; nothing is kept.
        StorageError: A recording could not be written; nothing is kept.
        Interrupted: Ctrl-C; nothing is kept.
        KeyboardInterrupt: Ctrl-C; nothing is kept.
    """
    members: dict[str, GroupMember] = {}
    with ExitStack() as folders:

        def member_of(trial: Trial) -> GroupMember:
            into = folders.enter_context(results.trial(trial.id))
            return members.setdefault(trial.id, GroupMember.of(trial, setting, into))

        try:
            starting = partial(_started, _of_each_server(trials), member_of, room)
            _conduct_all(trials, starting, setting, interruption, tell, side_by_side)
        except HostLost as error:
            for member in members.values():
                member.lose(error)
        for member in members.values():
            member.known.beside = len(members)
        return {
            trial.id: one_trial.closed(member.known, member.into, interruption, tell)
            for trial in trials
            if (member := members.get(trial.id)) is not None
        }


def _conduct_all(
    trials: Sequence[Trial],
    starting: Callable[[Interruption, Listener, ExitStack], list[SharedServer]],
    setting: RunConfig,
    interruption: Interruption,
    tell: Listener,
    side_by_side: SideBySide | None,
) -> None:
    """Starts servers, conducts their trials table by table, and stops the servers.

    Raises:
        HostLost: The host of the servers is gone.
    """
    with ExitStack() as stack:
        servers = starting(interruption, tell, stack)
        _measure_idle(servers, setting, tell)
        cores = trials[0].load.server_cores or setting.server_cores
        with setting.place.control(cores) as run_control:
            group = _Group(setting, run_control, tell)
            for number, server in enumerate(servers, 1):
                tell(GroupServer(server.name, number, len(servers)))
                server.warm_up(group.passed)
            members = {one.known.trial.id: one for server in servers for one in server.members}
            for table in plan.tables([trial for trial in trials if trial.id in members]):
                group.measure([members[trial.id] for trial in table])
        if side_by_side is not None:
            side_by_side.measure(servers)
        _measure_idle(servers, setting, tell)
        for server in servers:
            server.stop()


def _started(
    of_each: Sequence[Sequence[Trial]],
    member_of: MemberOf,
    room: GroupRoom,
    interruption: Interruption,
    tell: Listener,
    stack: ExitStack,
) -> list[SharedServer]:
    """Starts servers, each with its trials, as long as there is room; the stack stops them."""
    servers: list[SharedServer] = []
    for of_one in of_each:
        if room.is_full([one for server in servers if (one := server.at_rest) is not None]):
            tell(GroupFull(len(servers), len(of_each)))
            break
        server = SharedServer([member_of(trial) for trial in of_one])
        servers.append(server)
        stack.push(server.leave)
        tell(GroupServer(server.name, len(servers), len(of_each)))
        server.begin(interruption, tell)
    return servers


def _of_each_server(trials: Sequence[Trial]) -> list[list[Trial]]:
    """The trials of each server: one for each framework, but one for each trial of a table."""
    found: dict[tuple[str, int], list[Trial]] = {}
    earlier: Counter[tuple[ComparedTable, str]] = Counter()
    for trial in trials:
        name, table = trial.framework.reference, plan.table(trial)
        found.setdefault((name, earlier[table, name]), []).append(trial)
        earlier[table, name] += 1
    return [*found.values()]


def _measure_idle(servers: Sequence[SharedServer], setting: RunConfig, tell: Listener) -> None:
    """Reads power while no server has load and none is frozen, if that is requested."""
    running = next((server.running for server in servers if server.running), None)
    if not setting.idle_s or running is None:
        return
    for server in servers:
        server.wake()
    read = partial(running.idle, reads_server=False)
    idle = one_trial.idle_readings(setting, tell, read=read)
    for server in servers:
        for member in server.members:
            member.known.idle += idle


@dataclass
class _Group:
    """Trials whose servers run at the same time.

    Attributes:
        setting: What they have in common.
        run_control: Runs the control once on the machine of the servers.
        tell: Told each phase and each turn.
    """

    setting: RunConfig
    run_control: Callable[[], Mapping[str, float]]
    tell: Listener
    _passed_ns: int = 0

    def measure(self, members: Sequence[GroupMember]) -> None:
        """Conducts the trials of one table: their loads begin, take turns, and end."""
        with ExitStack() as loads:
            for member in members:
                loads.push(member.leave)
                member.begin()
            self._take_turns(members)
            for member in members:
                others = [other.turns for other in members if other is not member]
                member.known.had_no_partner = not any(others)
                member.note_others(common_pace(others))
            for member in members:
                member.end(self.tell)

    def passed(self, trial: Trial, turn: EngineTurn, progress: Progress) -> None:
        """Tells that a turn is over, and how much load the group has had."""
        self._passed_ns += turn.end_ns - turn.start_ns
        self.tell(TurnEnded(trial, replace(progress, at_s=self._passed_ns / 1e9)))

    def _take_turns(self, members: Sequence[GroupMember]) -> None:
        """All before the holds in one turn each, then rounds in an order drawn for each.

        Between rounds, about once a second, the control runs; so it follows each server as often.
        """
        draw = Random(f"{members[0].known.trial.seed}/turns")  # noqa: S311 - it is repeatable
        number, ran_ns, duration_s = 0, 0, self.setting.turn_s
        while working := [member for member in members if member.is_working]:
            if number and time.monotonic_ns() - ran_ns >= control.EVERY_NS:
                self._measure_machine(members)
                ran_ns = time.monotonic_ns()
            for member in draw.sample(working, len(working)):
                turn = (
                    member.turn(duration_s, number, self.tell)
                    if number
                    else member.warm_up(self.tell)
                )
                if turn is not None:
                    self.passed(member.known.trial, turn, member.with_busy_cores(turn.progress))
            duration_s = self._turn_s(members)
            number += 1
        self._measure_machine(members)

    def _turn_s(self, members: Sequence[GroupMember]) -> float:
        """Length of the next turns by the round before; the same for all, so it favours none."""
        longest_s, shortest_s = self.setting.turn_s, self.setting.shortest_turn_s
        if not shortest_s:
            return longest_s
        return turn_s(max(member.response_s for member in members), shortest_s, longest_s)

    def _measure_machine(self, members: Sequence[GroupMember]) -> None:
        """Runs the control; each trial keeps what it took, by the clock of its own load."""
        took = self.run_control()
        for member in members:
            member.note(took)
