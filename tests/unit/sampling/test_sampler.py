import os
from collections.abc import Sequence
from types import SimpleNamespace

import pytest

from plimsoll.conduct import group_member
from plimsoll.processes.tree import ProcessTree
from plimsoll.recording.readings import Reading, ScopeName
from plimsoll.sampling import sampler as module
from plimsoll.sampling.sampler import Sampler, next_count, pause_s, sampling
from plimsoll.sampling.scope import Scope
from plimsoll.serving import turns_here

S = 1_000_000_000


class Clock:
    """Advances by a step with each look at it."""

    def __init__(self, step_ns: int) -> None:
        self.now_ns, self.step_ns = 0, step_ns

    def __call__(self) -> int:
        self.now_ns += self.step_ns
        return self.now_ns


def resource(name: str, **values: float) -> SimpleNamespace:
    return SimpleNamespace(__name__=name, read=lambda _: dict(values))


def broken(name: str) -> SimpleNamespace:
    def read(_: Scope) -> dict[str, float]:
        raise PermissionError("not for you")

    return SimpleNamespace(__name__=name, read=read)


@pytest.mark.parametrize(
    ("now_ns", "count", "expected"),
    [(-S, 0, 1.0), (0, 0, 0.0), (S // 4, 1, 0.75), (5 * S, 1, 0.0)],
)
def test_readings_are_due_at_whole_seconds(now_ns: int, count: int, expected: float) -> None:
    assert pause_s(now_ns, 0, count) == expected


@pytest.mark.parametrize(
    ("now_ns", "expected"), [(-5 * S, 0), (1, 1), (S - 1, 1), (S, 2), (7 * S + 3, 8)]
)
def test_missed_readings_are_left_out(now_ns: int, expected: int) -> None:
    assert next_count(now_ns, 0) == expected


def test_a_reading_has_the_middle_of_the_time_it_took_its_scope_and_value(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "SAMPLERS", (resource("a.b", x=1, y=2.5),))
    sampler = Sampler(clock=Clock(10))
    sampler.watch(Scope("machine"))
    sampler.read(thorough=False)
    found = [(r.at_ns, r.scope, r.quantity, r.value) for r in sampler.readings]
    assert found == [(15, "machine", "x", 1.0), (15, "machine", "y", 2.5)]


def test_a_resource_that_cannot_be_read_leaves_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SAMPLERS", (broken("a.bad"), resource("a.good", x=1)))
    sampler = Sampler()
    sampler.watch(Scope("machine"))
    for _ in range(3):
        sampler.read(thorough=True)
    assert [reading.quantity for reading in sampler.readings] == ["x"] * 3
    assert list(sampler.problems) == ["machine: bad"]
    assert "not for you" in sampler.problems["machine: bad"]


def test_processes_that_are_gone_are_no_problem() -> None:
    sampler = Sampler()
    sampler.watch(Scope("driver", ProcessTree(2**22 + 1)))
    sampler.read(thorough=True)
    assert sampler.readings == []
    assert sampler.problems == {}


def test_whether_a_reading_is_thorough_reaches_the_resource(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[bool] = []

    def read(scope: Scope) -> dict[str, float]:
        asked.append(scope.thorough)
        return {}

    monkeypatch.setattr(module, "SAMPLERS", (SimpleNamespace(__name__="x", read=read),))
    sampler = Sampler()
    sampler.watch(Scope("machine"))
    sampler.read(thorough=True)
    sampler.read(thorough=False)
    assert asked == [True, False]


def test_the_server_is_read_first_and_the_machine_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SAMPLERS", (resource("a", x=1),))
    sampler = Sampler()
    for scope in (
        Scope("machine"),
        Scope("driver", ProcessTree(os.getpid())),
        Scope("server", ProcessTree(os.getpid())),
    ):
        sampler.watch(scope)
    sampler.read(thorough=False)
    assert [reading.scope for reading in sampler.readings] == ["server", "driver", "machine"]


@pytest.mark.parametrize(
    "order", [turns_here.BEFORE, turns_here.AFTER, group_member.BESIDE, ("driver", "server")]
)
def test_scopes_are_read_in_the_order_that_is_wanted(
    order: tuple[ScopeName, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SAMPLERS", (resource("a", x=1),))
    sampler = Sampler()
    for scope in (Scope("machine"), Scope("server", ProcessTree(os.getpid()))):
        sampler.watch(scope)
    sampler.read(thorough=False, order=order)
    watched = tuple(name for name in order if name in ("machine", "server"))
    assert tuple(reading.scope for reading in sampler.readings) == watched


def test_what_lies_between_the_readings_at_both_ends_of_a_turn_is_the_machines_shortest() -> None:
    assert turns_here.BEFORE[-1] == turns_here.AFTER[0] == "machine"
    assert {*turns_here.BEFORE} == {*turns_here.AFTER} == {*("machine", "server")}
    assert {*group_member.BESIDE} == {*("driver", "database", "upstream")}


def test_one_reading_is_taken_before_the_block_and_one_after_it() -> None:
    with sampling(Scope("machine"), Scope("server", ProcessTree(os.getpid()))) as sampler:
        before = [r for r in sampler.readings if r.quantity == "pss_bytes"]
        assert len(before) == 1
    after = [r for r in sampler.readings if r.quantity == "pss_bytes"]
    assert len(after) == 2
    assert sampler.problems == {}


def test_whole_seconds_are_read_from_the_moment_the_zero_is_known() -> None:
    taken = 3
    sampler = Sampler(clock=Clock(S))
    sampler.watch(Scope("machine"))
    read, instants = sampler.read, list[int]()

    def counted(*, thorough: bool, order: Sequence[ScopeName] = module.ORDER) -> None:
        instants.append(sampler.clock())
        if len(instants) == taken:
            sampler.end()
        read(thorough=thorough, order=order)

    sampler.read = counted
    sampler.align(0)
    sampler.run()
    assert len(instants) == taken
    assert sampler.cpu_s > 0


def test_busy_cores_are_those_between_the_last_two_readings() -> None:
    sampler = Sampler()
    assert sampler.busy_cores("machine") is None
    sampler.watch(Scope("server", ProcessTree(os.getpid())))
    for second, (user_s, system_s) in enumerate([(0.0, 0.0), (5.0, 1.0), (5.5, 1.25)]):
        for quantity, value in (("cpu_user_s", user_s), ("cpu_system_s", system_s)):
            sampler.readings.append(Reading(second * S, "server", quantity, value))
        sampler.readings.append(Reading(second * S, "driver", "cpu_user_s", 99.0))
        if not second:
            assert sampler.busy_cores("server") is None
    assert sampler.busy_cores("server") == pytest.approx(0.75)
    assert sampler.busy_cores("driver") is None
