"""Did other programs, or other virtual machines, take so much that the numbers mislead?

The check measures how many of the server's cores, and of the load generator's, others kept busy in
the measurement window: the busy time of these cores, less that of the processes assigned to them.
Others are other programs, and Plimsoll's own sampling. Of a load of several hosts the verdict says
how much of this was Plimsoll's agent, or lab, on the server's host. If server and load generator
share cores, it is one number for both. Time that others took while no thread of a side waited for a
core cost that side nothing. A side lost no more than others took, and no more than its threads
waited for a core (run delay). If the kernel does not show run delay, all that others took counts.

Work stops while the server or the load generator waits for a core, or while the host of a
virtual machine withholds it. The check judges this share of the time. It lowers the throughput of a
load at full speed by about as much. If both sides waited, that is 1 - (1 - a) (1 - b), as if
their waits fell independently of each other. If they always fell together, it is the longer one,
and the verdict gives both. A load that neither side was busy with for half of the time lost less.
Each wait is part of a response time, so no more was lost than 1 - shortest / mean service time: a
server that sleeps for 500 ms and responds within 502 ms lost nothing, however its threads waited.
Of several request types, the shortest of its own type counts for each response. So waits of many
threads that sleep meanwhile are not added up. Responses of one type that take from no time to long
by themselves leave room for more than was lost.

A server may do one thing at a time, as an interpreter does whose threads share a lock. While its
thread waits, other cores are of no use to it, and all of the wait is lost. It counts as such a
server if it was never out of work and requests waited at it, but fewer than 1.5 of its threads
could run on average. Load generator, database and upstream must not have set its pace.

The check cannot see all of what is lost if each response waits behind others for long, as in a deep
pipeline. Then even the shortest one contains waits, and leaves less room than there was. The same
holds for a server with such a lock whose threads run beside each other in long system calls.

Corrected for it, trials beside programs that used both cores scattered by 1 to 6 % where they had
by 5 to 15 %; by 11 % once, when one of the trials had lost more than half. In an open load the
highest latencies contain the waits.

A single load is doubtful from a tenth on, as for the uncertainty of a mean in `steady`. Trials of a
campaign are compared with each other: what others took from all of them changes no ratio, its
scatter is in the intervals, and `equally_disturbed` judges differences between entries. Such a
trial is doubtful from a third on, when others used half as much as the trial. Beyond a half they
used more than it, and the number is void.

On an overloaded machine CPU time is read late. If less than half of a load was read, the load
generator's own total stands for it, or else the part that was read, from half a second on. If there
is no such part, a single load of 2 s or more is doubtful.

Source: /proc/stat, /proc/<pid>/stat, /proc/<pid>/task/<tid>/schedstat; proc_stat(5),
proc_pid_stat(5), `sched-stats` of Linux; decision 57.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.aggregate import cores, disturbance
from plimsoll.recording import HOST
from plimsoll.verdicts.finding import (
    READ_FROM_S,
    Finding,
    found,
    not_checked,
    of_trial,
    unknown,
    unread_server,
)
from plimsoll.verdicts.limits import Limit
from plimsoll.verdicts.remedies import QUIET_HOST
from plimsoll.verdicts.role import Cause, Role

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plimsoll.aggregate.disturbance import Lost, TakenTime, Whose
    from plimsoll.aggregate.trial import Tables
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "undisturbed"
TITLE = "Undisturbed"
PROBLEM = "Disturbed"
SOURCE = (
    "busy time of cores less that of server and load generator, and run delay; proc_stat(5), "
    "schedstat"
)
LOST_RATIO = Limit(
    NAME,
    "lost_ratio",
    "above",
    0.1,
    0.5,
    "ratio",
    "share of the measurement window in which a single load waited for cores used by others",
    "the mean of a single window is as uncertain; void where others used more than the trial",
)
COMPARED_LOST_RATIO = Limit(
    NAME,
    "compared_lost_ratio",
    "above",
    0.33,
    0.5,
    "ratio",
    "the same of a trial of a campaign",
    "others used half as much as the trial; void where they used more than the trial",
)
LIMITS = (
    LOST_RATIO,
    COMPARED_LOST_RATIO,
)
NEEDS = None
TOLD = 0.01
"""Shares below this change too little to be mentioned."""
TOLD_RANGE = 0.02
"""A narrower range of what was lost is one number."""
TOLD_CORES = 0.001
"""Cores that Plimsoll used itself; fewer are not mentioned."""
TOO_LATE = (
    "CPU time was read too late to know what other programs took, as happens on an overloaded "
    "machine"
)
LONGER = f"load for {wording.count(READ_FROM_S)} s or longer (`-d`) to know it"
"""What a load needs that is too short for the sampler."""
WHOSE = {
    "server": "the server's cores",
    "driver": "the load generator's cores",
    "both": "their cores",
}
WAITING = {
    "server": "the server waited",
    "driver": "the load generator waited",
    "both": "server and load generator waited",
}


def judge(tables: Tables, limits: Limits) -> Verdict:
    """Whether other programs, or other virtual machines, took time from the trial."""
    finding = _finding(tables, limits.of(_limit(tables)))
    return of_trial(NAME, tables.recording, [finding], SOURCE, [*_unread(tables)])


def _limit(tables: Tables) -> Limit:
    return COMPARED_LOST_RATIO if tables.recording.origin == "campaign" else LOST_RATIO


def _finding(tables: Tables, limit: Limit) -> Finding:
    recording, usage = tables.recording, tables.usage
    lost = disturbance.lost(recording, usage, tables.holds, tables.served)
    if lost is None:
        return _unread_time(tables, limit)
    taken = disturbance.taken(recording, usage, tables.holds)
    own = disturbance.by_plimsoll(recording, usage, tables.holds)
    whose = "Plimsoll's agent" if recording.server_host != HOST else "Plimsoll's lab"
    took = _took(taken) if own < TOLD_CORES else _took_beside(taken, own, whose)
    is_own = own >= sum(one.cores for one in taken.values()) / 2 and own >= TOLD_CORES
    by = f"{whose} used" if is_own else "other programs used"
    sentence = took if lost.ratio < TOLD else f"{_by(lost, by)}: {_changed(tables, lost)}"
    return found(limit, lost.ratio, sentence, QUIET_HOST)


def _unread_time(tables: Tables, limit: Limit) -> Finding:
    """What it means that the time that others took is unknown.

    Where server and machine were read, and yet not often enough, the sampler did not get a core in
    time. A hold too short for it is not checked.
    """
    recording, usage = tables.recording, tables.usage
    is_shared = not recording.hosts and recording.server_host == HOST
    is_readable = usage.of("server", "cpu_user_s") and cores.all_cores(usage)
    if is_shared and is_readable and recording.found_running:
        if tables.held_s < READ_FROM_S:
            return not_checked(limit, TOO_LATE, LONGER)
        return unknown(limit, TOO_LATE, QUIET_HOST)
    sentence = "CPU time of other programs could not be read; they may have slowed the trial"
    return unread_server(limit, recording, sentence)


def _took(taken: dict[Whose, TakenTime]) -> str:
    """What others took, whether it was waited for or not."""
    parts = [f"{wording.cores(one.cores)} from {WHOSE[whose]}" for whose, one in taken.items()]
    return f"other programs used {' and '.join(parts)}, and no side waited noticeably"


def _took_beside(taken: dict[Whose, TakenTime], own: float, whose: str) -> str:
    """The same where Plimsoll itself was one of them."""
    total = sum(one.cores for one in taken.values())
    others, plimsoll = wording.cores(max(total - own, 0.0)), wording.cores(min(own, total))
    cores_of = " and ".join(WHOSE[side] for side in taken)
    return (
        f"other programs used {others} from {cores_of}, {whose} up to {plimsoll}, and no side "
        "waited noticeably"
    )


def _changed(tables: Tables, lost: Lost) -> str:
    """What it means for the numbers."""
    if tables.recording.load.is_saturating:
        return f"throughput is {_about(lost)} too low, and latencies contain the waits"
    return f"latencies contain these waits, {wording.share(lost.ratio)} of the time"


def _about(lost: Lost) -> str:
    """How much was lost: from what one side lost to what both did, if never at the same time."""
    most, least = wording.percent(round(lost.ratio, 2)), wording.percent(round(lost.least, 2))
    if lost.least < TOLD:
        return f"up to {most}"
    return (
        f"about {most}"
        if lost.ratio - lost.least < TOLD_RANGE
        else f"{least.removesuffix(' %')} to {most}"
    )


def _by(lost: Lost, used: str) -> str:
    """Who waited for what part of the time, and who had the cores meanwhile."""
    reported = [
        f"{WAITING[whose]} {wording.share(lost.waited_ratio(whose))}" for whose in lost.sides
    ]
    return f"{' and '.join(reported)} of the time for cores that {_had(lost, used)}"


def _had(lost: Lost, used: str) -> str:
    """Who used them, or the hypervisor, or both; who had next to nothing is left out."""
    programs = max(lost.sides.values(), default=0.0) >= TOLD
    hypervisor = max(lost.stolen.values(), default=0.0) >= TOLD
    if programs and hypervisor:
        return f"{used} or the hypervisor withheld"
    return "the hypervisor withheld" if hypervisor else used


def _unread(tables: Tables) -> Iterator[str]:
    """What this host does not show."""
    if not tables.usage.of("machine", "cpu_steal_s"):
        yield "time withheld by the host of a virtual machine"
    if cores.interrupt_time(tables.recording) is None:
        yield "how interrupts are counted (others took at least as much)"


def _cause(tables: Tables, verdict: Verdict) -> Cause | None:
    """Other programs, or other virtual machines, took time from server and load generator.

    Where they had more than the trial, that explains its pace. Where they had less, checks on the
    pace take off by themselves what the machine changed.
    """
    if not verdict.is_doubting:
        return None
    clause = _finding(tables, _limit(tables)).sentence
    return Cause(verdict.check, clause, "others" if verdict.level == "void" else "others_in_part")


ROLE = Role(tells=_cause, cancels_in_turns=True)
