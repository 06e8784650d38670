import os
from pathlib import Path

import pytest

from plimsoll.conduct.tree import ProcessStat, ProcessTree, parse_stat, parse_waited_s

LINE = (
    "{pid} ({name}) S {parent} 1 1 0 -1 4194304 99 0 {faults} 0 {user} {system} 5 6 20 0 {threads}"
    " 0 {started} 3133440 389 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0\n"
)


def stat(pid: int, parent: int, *, started: int = 7, user: int = 0, name: str = "sh") -> str:
    return LINE.format(
        pid=pid, parent=parent, name=name, faults=3, user=user, system=2, threads=4, started=started
    )


@pytest.fixture
def proc(tmp_path: Path) -> Path:
    (tmp_path / "self").mkdir()
    return tmp_path


def put(proc: Path, pid: int, parent: int, started: int = 7) -> None:
    (proc / str(pid)).mkdir(exist_ok=True)
    (proc / str(pid) / "stat").write_text(stat(pid, parent, started=started))


def end(proc: Path, pid: int) -> None:
    (proc / str(pid) / "stat").unlink()
    (proc / str(pid)).rmdir()


@pytest.mark.parametrize("name", ["sh", "a b", "tricky) S 1 (x", "((("])
def test_a_line_is_read_whatever_the_program_is_called(name: str) -> None:
    assert parse_stat(stat(12, 3, name=name, user=9)) == ProcessStat(12, 3, 3, 9, 2, 4, 7)


def test_a_tree_is_a_process_and_all_below_it(proc: Path) -> None:
    put(proc, 10, 1)
    put(proc, 30, 20)
    put(proc, 20, 10)
    put(proc, 40, 1)
    tree = ProcessTree(10, proc=proc)
    tree.refresh()
    assert list(tree.stats) == [10, 20, 30]


def test_a_warden_does_not_belong_to_the_tree_below_it(proc: Path) -> None:
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


def test_a_counter_does_not_fall_when_a_process_ends(proc: Path) -> None:
    tree = ProcessTree(10, proc=proc)
    assert tree.grown("cpu", {(1, 0): 5.0, (2, 0): 7.0}) == 12.0
    assert tree.grown("cpu", {(1, 0): 6.0}) == 13.0
    assert tree.grown("cpu", {}) == 13.0
    assert tree.grown("cpu", {(2, 9): 1.0}) == 14.0
    assert tree.grown("faults", {(1, 0): 1.0}) == 1.0


def test_counters_of_a_tree_that_follows_go_on_where_the_earlier_one_stood(proc: Path) -> None:
    tree = ProcessTree(10, with_root=False, proc=proc)
    assert tree.grown("cpu", {(20, 0): 5.0}) == 5.0
    later = tree.followed_by(30)
    put(proc, 30, 1)
    put(proc, 40, 30)
    later.refresh()
    assert list(later.stats) == [40]
    assert later.grown("cpu", {(40, 0): 2.0}) == 7.0


def test_the_time_of_children_that_were_waited_for_is_read_from_behind_the_name() -> None:
    text = "7 (a ) b) S 1 7 7 0 -1 0 0 0 0 0 11 12 250 50 20 0 1 0 99 0 0"
    assert parse_waited_s(text) == 300 / os.sysconf("SC_CLK_TCK")
