"""Process trees, read from /proc."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

import pytest

from plimsoll.processes import process_table

_SLEEPER = "import time; print(flush=True); time.sleep(600)"
_PARENT = f"import subprocess, sys; subprocess.run([sys.executable, '-S', '-c', {_SLEEPER!r}])"


@pytest.fixture
def child() -> Iterator[subprocess.Popen[bytes]]:
    """A process with a process below it."""
    with subprocess.Popen(
        [sys.executable, "-S", "-c", _PARENT],
        env={**os.environ, "PLIMSOLL_TEST": "processes"},
        stdout=subprocess.PIPE,
        start_new_session=True,
    ) as started:
        assert started.stdout is not None
        started.stdout.readline()
        yield started
        with suppress(ProcessLookupError):
            os.killpg(started.pid, signal.SIGKILL)


def test_this_process_is_known(child: subprocess.Popen[bytes]) -> None:
    found = process_table.process(child.pid)
    assert found is not None
    assert (found.pid, found.parent, found.zombie) == (child.pid, os.getpid(), False)
    assert found.name.startswith("python")


def test_a_process_that_is_not_there_is_none() -> None:
    assert process_table.process(2**22 + 1) is None


def test_descendants_come_after_their_parents_and_without_the_root(
    child: subprocess.Popen[bytes],
) -> None:
    below = process_table.descendants(child.pid)
    assert [found.parent for found in below] == [child.pid]
    ours = [found.pid for found in process_table.descendants(os.getpid())]
    assert ours.index(child.pid) < ours.index(below[0].pid)


def test_a_marker_in_the_environment_is_found_whole(child: subprocess.Popen[bytes]) -> None:
    assert len(process_table.marked("PLIMSOLL_TEST=processes")) == 2
    assert process_table.marked("PLIMSOLL_TEST=process") == ()


def test_a_signal_reaches_its_process(child: subprocess.Popen[bytes]) -> None:
    (below,) = process_table.descendants(child.pid)
    assert process_table.send(below, signal.SIGKILL)
    assert child.wait(20) == 0


def test_a_later_process_with_the_same_number_is_spared(child: subprocess.Popen[bytes]) -> None:
    (below,) = process_table.descendants(child.pid)
    earlier = replace(below, started_ticks=below.started_ticks - 1)
    assert not process_table.send(earlier, signal.SIGKILL)
    assert process_table.process(below.pid) == below
