import os
from pathlib import Path

import pytest

from plimsoll.processes.tree import ProcessCounters, ProcessStat, ProcessTree, parse_stat

LINE = (
    "{pid} ({name}) S {parent} 1 1 0 -1 4194304 99 0 3 1 {user} 2 {waited} 6 20 0 4"
    " 0 {started} 3133440 389 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0\n"
)


def stat(
    pid: int, parent: int, *, started: int = 7, user: int = 0, waited: int = 0, name: str = "sh"
) -> str:
    return LINE.format(pid=pid, parent=parent, name=name, user=user, waited=waited, started=started)


@pytest.fixture
def proc(tmp_path: Path) -> Path:
    (tmp_path / "self").mkdir()
    return tmp_path


def put(
    proc: Path, pid: int, parent: int, started: int = 7, *, user: int = 0, waited: int = 0
) -> None:
    (proc / str(pid)).mkdir(exist_ok=True)
    text = stat(pid, parent, started=started, user=user, waited=waited)
    (proc / str(pid) / "stat").write_text(text)


def end(proc: Path, pid: int) -> None:
    (proc / str(pid) / "stat").unlink()
    (proc / str(pid)).rmdir()


@pytest.mark.parametrize("name", ["sh", "a b", "tricky) S 1 (x", "((("])
def test_a_line_is_read_whatever_the_program_is_called(name: str) -> None:
    assert parse_stat(stat(12, 3, name=name, user=9)) == ProcessStat(
        12,
        3,
        own=ProcessCounters(3, 9, 2),
        waited=ProcessCounters(1, 0, 6),
        threads=4,
        started_ticks=7,
    )


def test_a_tree_is_a_process_and_all_below_it(proc: Path) -> None:
    put(proc, 10, 1)
    put(proc, 30, 20)
    put(proc, 20, 10)
    put(proc, 40, 1)
    tree = ProcessTree(10, proc=proc)
    tree.refresh()
    assert list(tree.stats) == [10, 20, 30]


def test_a_supervisor_does_not_belong_to_the_tree_below_it(proc: Path) -> None:
    put(proc, 10, 1)
    put(proc, 20, 10)
    tree = ProcessTree(10, with_root=False, proc=proc)
    for _ in range(2):
        tree.refresh()
        assert list(tree.stats) == [20]


def test_a_child_that_comes_later_is_found(proc: Path) -> None:
    put(proc, 10, 1)
    put(proc, 99, 1)
    tree = ProcessTree(10, proc=proc)
    tree.refresh()
    put(proc, 20, 10)
    tree.refresh()
    assert list(tree.stats) == [10, 20]


def test_an_orphan_stays_in_the_tree(proc: Path) -> None:
    put(proc, 10, 1)
    put(proc, 20, 10)
    tree = ProcessTree(10, proc=proc)
    tree.refresh()
    end(proc, 10)
    put(proc, 20, 1)
    tree.refresh()
    assert list(tree.stats) == [20]


def test_a_number_that_is_used_again_belongs_to_another_process(proc: Path) -> None:
    put(proc, 10, 1)
    put(proc, 20, 10)
    tree = ProcessTree(10, proc=proc)
    tree.refresh()
    put(proc, 20, 1, started=8)
    tree.refresh()
    assert list(tree.stats) == [10]


def test_the_number_of_a_stranger_may_become_a_child(proc: Path) -> None:
    put(proc, 10, 1)
    put(proc, 20, 1)
    tree = ProcessTree(10, proc=proc)
    tree.refresh()
    end(proc, 20)
    tree.refresh()
    put(proc, 20, 10, started=8)
    tree.refresh()
    assert list(tree.stats) == [10, 20]


def test_a_tree_without_processes_is_empty(proc: Path) -> None:
    tree = ProcessTree(10, proc=proc)
    tree.refresh()
    assert tree.stats == {}


def test_a_counter_does_not_fall_when_a_thread_ends(proc: Path) -> None:
    tree = ProcessTree(10, proc=proc)
    assert tree.grown("cpu", {(1, 0, 1): 5.0, (2, 0, 2): 7.0}) == 12.0
    assert tree.grown("cpu", {(1, 0, 1): 6.0}) == 13.0
    assert tree.grown("cpu", {}) == 13.0
    assert tree.grown("cpu", {(2, 9, 2): 1.0}) == 14.0
    assert tree.grown("faults", {(1, 0, 1): 1.0}) == 1.0


def test_counters_of_a_tree_that_follows_go_on_where_the_earlier_one_stood(proc: Path) -> None:
    tree = ProcessTree(10, with_root=False, proc=proc)
    assert tree.grown("cpu", {(20, 0, 20): 5.0}) == 5.0
    later = tree.followed_by(30)
    put(proc, 30, 1)
    put(proc, 40, 30)
    later.refresh()
    assert list(later.stats) == [40]
    assert later.grown("cpu", {(40, 0, 40): 2.0}) == 7.0


def test_processor_time_is_told_in_seconds() -> None:
    assert ProcessCounters(user_ticks=250, system_ticks=50).cpu_s == 300 / os.sysconf("SC_CLK_TCK")


def user_ticks(tree: ProcessTree) -> int:
    tree.refresh()
    return tree.spent.user_ticks


@pytest.fixture
def tree(proc: Path) -> ProcessTree:
    """A supervisor, 10, a server, 20, and two of its workers, 30 and 40."""
    put(proc, 10, 1, user=1000)
    put(proc, 20, 10, user=5)
    put(proc, 30, 20, user=100)
    put(proc, 40, 20, user=200)
    return ProcessTree(10, with_root=False, proc=proc)


def test_a_tree_has_used_what_its_processes_used_but_not_the_supervisor(tree: ProcessTree) -> None:
    assert user_ticks(tree) == 305


def test_a_worker_is_counted_to_its_end_and_once(proc: Path, tree: ProcessTree) -> None:
    assert user_ticks(tree) == 305
    end(proc, 30)
    put(proc, 20, 10, user=5, waited=150)
    assert user_ticks(tree) == 355
    assert user_ticks(tree) == 355


def test_a_worker_that_nobody_ever_saw_is_counted(proc: Path, tree: ProcessTree) -> None:
    assert user_ticks(tree) == 305
    put(proc, 20, 10, user=5, waited=70)
    assert user_ticks(tree) == 375


def test_a_worker_that_nobody_waits_for_keeps_what_it_was_seen_with(
    proc: Path, tree: ProcessTree
) -> None:
    assert user_ticks(tree) == 305
    end(proc, 30)
    put(proc, 40, 20, user=260)
    assert user_ticks(tree) == 365
    end(proc, 40)
    assert user_ticks(tree) == 365


def test_an_orphan_is_counted_by_the_supervisor_that_adopts_it(
    proc: Path, tree: ProcessTree
) -> None:
    assert user_ticks(tree) == 305
    end(proc, 20)
    put(proc, 10, 1, user=1000, waited=9)
    put(proc, 30, 10, user=110)
    put(proc, 40, 10, user=200)
    assert user_ticks(tree) == 319
    end(proc, 30)
    put(proc, 10, 1, user=1000, waited=9 + 120)
    assert user_ticks(tree) == 329


def test_a_family_that_ends_between_two_looks_is_counted_once(
    proc: Path, tree: ProcessTree
) -> None:
    put(proc, 50, 40, user=7)
    assert user_ticks(tree) == 312
    for pid in (40, 50):
        end(proc, pid)
    put(proc, 20, 10, user=5, waited=200 + 7 + 30)
    assert user_ticks(tree) == 342


def test_what_a_server_had_waited_for_before_it_was_looked_at_does_not_grow(proc: Path) -> None:
    put(proc, 20, 1, user=5, waited=400)
    put(proc, 30, 20, user=100)
    running = ProcessTree(20, proc=proc)
    assert user_ticks(running) == 505
    end(proc, 30)
    put(proc, 20, 1, user=5, waited=510)
    assert user_ticks(running) == 515


def test_a_child_that_ends_while_the_tree_is_read_is_counted_once(
    proc: Path, tree: ProcessTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The parent is read, the child ends and is waited for, and then the child cannot be read."""
    assert user_ticks(tree) == 305
    read = tree._stat

    def reading(pid: int) -> ProcessStat | None:
        if pid == 30:
            put(proc, 20, 10, user=5, waited=105)
            return None
        return read(pid)

    monkeypatch.setattr(tree, "_stat", reading)
    assert user_ticks(tree) == 310
    monkeypatch.undo()
    end(proc, 30)
    assert user_ticks(tree) == 310


def test_a_child_that_ends_while_its_parent_is_read_again_is_counted_once(
    proc: Path, tree: ProcessTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One worker has ended, so the parent is read again; a second one ends just before that."""
    assert user_ticks(tree) == 305
    end(proc, 30)
    put(proc, 20, 10, user=5, waited=100)
    read, server_reads = tree._stat, 0

    def reading(pid: int) -> ProcessStat | None:
        nonlocal server_reads
        server_reads += pid == 20
        if pid == 20 and server_reads == 2:
            end(proc, 40)
            put(proc, 20, 10, user=5, waited=300)
        return read(pid)

    monkeypatch.setattr(tree, "_stat", reading)
    assert user_ticks(tree) == 305
    monkeypatch.undo()
    assert user_ticks(tree) == 305


def test_what_a_tree_used_stays_when_it_has_ended_and_another_follows(
    proc: Path, tree: ProcessTree
) -> None:
    assert user_ticks(tree) == 305
    later = tree.followed_by(60)
    put(proc, 60, 1)
    put(proc, 70, 60, user=11)
    assert user_ticks(later) == 316
    for pid in (10, 20, 30, 40):
        end(proc, pid)
    assert user_ticks(tree) == 305


def test_a_tree_may_have_several_roots(proc: Path) -> None:
    put(proc, 10, 1, user=5)
    put(proc, 20, 1, user=7)
    put(proc, 30, 20, user=9)
    put(proc, 40, 1)
    tree = ProcessTree(10, others=(20,), proc=proc)
    tree.refresh()
    assert list(tree.stats) == [10, 20, 30]
    before = tree.spent.user_ticks
    put(proc, 20, 1, user=17)
    end(proc, 10)
    tree.refresh()
    assert list(tree.stats) == [20, 30]
    assert tree.spent.user_ticks - before == 10


def test_a_name_that_ends_within_a_character_is_read_as_any_other(proc: Path) -> None:
    name = "обработчик".encode()[:15]
    for pid, parent in ((10, 1), (20, 10)):
        put(proc, pid, parent)
        text = (proc / str(pid) / "stat").read_bytes().replace(b"(sh)", b"(" + name + b")")
        (proc / str(pid) / "stat").write_bytes(text)
    thread = proc / "20/task/20"
    thread.mkdir(parents=True)
    (thread / "status").write_bytes(b"Name:\t" + name + b"\nvoluntary_ctxt_switches:\t5\n")
    tree = ProcessTree(10, proc=proc)
    tree.refresh()
    assert list(tree.stats) == [10, 20]
    ((_, status),) = tree.threads("status")
    assert status.endswith("voluntary_ctxt_switches:\t5\n")


@pytest.mark.parametrize(
    ("state", "threads", "zombie"), [("S", 1, False), ("Z", 1, True), ("Z", 3, False)]
)
def test_a_process_has_ended_once_all_its_threads_have(
    state: str, threads: int, zombie: bool
) -> None:
    line = stat(12, 3).replace(" S ", f" {state} ").replace(" 20 0 4 0 ", f" 20 0 {threads} 0 ")
    assert parse_stat(line).zombie == zombie
