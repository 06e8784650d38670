"""A supervised process: started, watched, stopped, and never left behind."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import pytest

from plimsoll.processes import process_table
from plimsoll.processes.supervised import SupervisedProcess
from small_servers import eventually, living

pytestmark = pytest.mark.timeout(120)

Starter = Callable[..., SupervisedProcess]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Starter]:
    """Starts supervised processes; every one of them is stopped at the end."""
    processes: list[SupervisedProcess] = []

    def started(program: str, **changes: object) -> SupervisedProcess:
        given: dict[str, object] = {
            "folder": tmp_path,
            "environment": dict(os.environ),
            "log": tmp_path / "log",
            **changes,
        }
        supervised = SupervisedProcess((sys.executable, "-S", "-c", program), **given)  # type: ignore[arg-type]
        processes.append(supervised)
        return supervised

    yield started
    for supervised in processes:
        supervised.stop()


def test_the_end_of_the_first_process_is_told_with_its_exit_code(start: Starter) -> None:
    supervised = start("import sys; sys.exit(5)")
    assert supervised.wait(20)
    assert not supervised.alive()
    assert supervised.exit_code == 5
    assert supervised.stop().exit_code == 5


def test_a_process_that_ends_by_a_signal_has_a_negative_exit_code(start: Starter) -> None:
    supervised = start("import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    assert supervised.wait(20)
    assert supervised.stop().exit_code == -signal.SIGKILL


def test_waiting_ends_in_time_when_the_process_does_not(start: Starter) -> None:
    supervised = start("import time; time.sleep(600)")
    assert not supervised.wait(0.01)
    assert supervised.alive()
    assert supervised.exit_code is None


def test_output_goes_to_the_log(start: Starter, tmp_path: Path) -> None:
    supervised = start("import sys; print('out', flush=True); print('err', file=sys.stderr)")
    assert supervised.wait(20)
    assert (tmp_path / "log").read_text() == "out\nerr\n"


def test_standard_output_can_be_read_while_errors_go_to_the_log(
    start: Starter, tmp_path: Path
) -> None:
    supervised = start("import sys; print('out'); print('err', file=sys.stderr)", piped="output")
    assert supervised.output is not None
    assert supervised.output.read() == b"out\n"
    assert supervised.wait(20)
    assert (tmp_path / "log").read_text() == "err\n"


ECHO = """
import sys
for line in iter(sys.stdin.readline, ""):
    print("heard", line.strip(), flush=True)
print("no more", flush=True)
"""
"""Says what it hears, and when it hears no more."""


def lines(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None
    return pipe


def test_what_is_written_to_its_input_reaches_it_line_by_line(start: Starter) -> None:
    supervised = start(ECHO, piped="both")
    for word in (b"one", b"two"):
        lines(supervised.input).write(word + b"\n")
        assert lines(supervised.output).readline() == b"heard " + word + b"\n"
    assert supervised.alive()


def test_it_sees_the_end_of_its_input(start: Starter) -> None:
    supervised = start(ECHO, piped="both")
    lines(supervised.input).close()
    assert lines(supervised.output).read() == b"no more\n"
    assert supervised.wait(20)
    assert supervised.stop().exit_code == 0


def test_its_input_ends_when_others_were_started_after_it(start: Starter) -> None:
    """None of them may hold the pipe of the first one open."""
    first, *others = (start(ECHO, piped="both") for _ in range(3))
    lines(first.input).close()
    assert lines(first.output).read() == b"no more\n"
    assert all(other.alive() for other in others)


def test_the_end_of_its_output_is_seen_when_it_ends_with_input_open(start: Starter) -> None:
    supervised = start("print('out')", piped="both")
    assert lines(supervised.output).read() == b"out\n"
    assert supervised.wait(20)
    with pytest.raises(BrokenPipeError):
        lines(supervised.input).write(b"anybody?\n")


@pytest.mark.parametrize("piped", ["output", "nothing"])
def test_without_input_it_reads_the_end_at_once(start: Starter, piped: str) -> None:
    supervised = start(ECHO, piped=piped)
    assert supervised.input is None
    assert supervised.wait(20)
    assert supervised.stop().exit_code == 0


def test_stopped_it_hears_no_more_and_its_pipes_are_closed(start: Starter) -> None:
    supervised = start("import time; time.sleep(600)", piped="both")
    ended = supervised.stop()
    assert (ended.exit_code, ended.killed, ended.left) == (-signal.SIGTERM, (), ())
    assert lines(supervised.input).closed
    assert lines(supervised.output).closed


def test_output_that_nobody_reads_does_not_keep_it_from_being_stopped(start: Starter) -> None:
    supervised = start("while True: print('x' * 65536)", piped="both", grace_s=20.0)
    ended = supervised.stop()
    assert (ended.exit_code, ended.killed, ended.left) == (-signal.SIGTERM, (), ())


def test_it_runs_on_the_cores_it_was_given_and_the_supervisor_does_not(
    start: Starter, tmp_path: Path
) -> None:
    core = max(os.sched_getaffinity(0))
    supervised = start("import os; print(sorted(os.sched_getaffinity(0)))", cores=(core,))
    assert os.sched_getaffinity(supervised.supervisor_pid) == os.sched_getaffinity(0)
    assert supervised.wait(20)
    assert (tmp_path / "log").read_text() == f"[{core}]\n"


def test_a_core_that_is_not_there_is_an_error(start: Starter) -> None:
    with pytest.raises(OSError, match="Invalid argument"):
        start("", cores=(1000,))


def test_a_program_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with pytest.raises(OSError, match="no-such-program") as caught:
        SupervisedProcess(("no-such-program",), folder=tmp_path, environment={}, log=log)
    assert caught.value.errno == 2


def test_a_folder_that_is_not_there_is_an_error(start: Starter, tmp_path: Path) -> None:
    with pytest.raises(OSError, match="nowhere"):
        start("", folder=tmp_path / "nowhere")


def test_the_command_starts_with_ordinary_signals_in_a_session_of_its_own(
    start: Starter, tmp_path: Path
) -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        supervised = start(
            "import os, signal\n"
            "print(os.getsid(0) == os.getpid(), signal.getsignal(signal.SIGINT) is not "
            "signal.SIG_IGN, len(signal.pthread_sigmask(signal.SIG_BLOCK, ())))"
        )
    finally:
        signal.signal(signal.SIGINT, before)
    assert supervised.wait(20)
    assert (tmp_path / "log").read_text() == "True True 0\n"
    assert os.getsid(supervised.supervisor_pid) == supervised.supervisor_pid


def test_the_signal_asked_for_is_the_one_that_is_sent(start: Starter, tmp_path: Path) -> None:
    supervised = start(
        "import os, signal, time\n"
        "signal.signal(signal.SIGQUIT, lambda *_: os._exit(9))\n"
        "print('ready', flush=True)\n"
        "time.sleep(600)",
        stop_signal="QUIT",
    )
    assert eventually(lambda: (tmp_path / "log").read_text() == "ready\n")
    ended = supervised.stop()
    assert (ended.exit_code, ended.killed, ended.left) == (9, (), ())


def test_what_does_not_stop_in_time_is_killed_and_has_no_exit_code(
    start: Starter, tmp_path: Path
) -> None:
    supervised = start(
        "import signal, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "print('ready', flush=True)\n"
        "time.sleep(600)",
        grace_s=0.2,
    )
    assert eventually(lambda: (tmp_path / "log").read_text() == "ready\n")
    ended = supervised.stop()
    assert ended.exit_code is None
    assert len(ended.killed) == 1
    assert ended.all_s >= 0.2


def test_what_is_frozen_gets_the_signal_too(start: Starter) -> None:
    supervised = start("import time; time.sleep(600)")
    os.kill(supervised.pid, signal.SIGSTOP)
    assert supervised.stop().exit_code == -signal.SIGTERM


def test_killed_it_has_no_grace(start: Starter) -> None:
    supervised = start("import time; time.sleep(600)", grace_s=600.0)
    supervised.kill()
    assert supervised.wait(20)
    ended = supervised.stop()
    assert (len(ended.killed), ended.left) in ((0, ()), (1, ()))


def test_stopped_again_it_says_the_same(start: Starter) -> None:
    supervised = start("import time; time.sleep(600)")
    assert supervised.stop() == supervised.stop()


@pytest.mark.parametrize(
    ("command", "exit_code"),
    [
        ("sleep 600; exit 4", 4),
        ("cd / && NAME=value sleep 600", 128 + signal.SIGTERM),
        ("exec sleep 600", -signal.SIGTERM),
    ],
)
def test_a_shell_does_not_keep_the_signal_from_the_server(
    tmp_path: Path, command: str, exit_code: int
) -> None:
    log, environment = tmp_path / "log", dict(os.environ)
    with SupervisedProcess(
        ("sh", "-c", command), folder=tmp_path, environment=environment, log=log
    ) as supervised:
        assert eventually(lambda: _names(supervised)[-1:] == ["sleep"])
        ended = supervised.stop()
    assert (ended.exit_code, ended.killed) == (exit_code, ())


def _names(supervised: SupervisedProcess) -> list[str]:
    found = [process_table.process(pid) for pid in supervised.processes()]
    return [one.name for one in found if one is not None]


def test_a_wrapper_that_keeps_the_signal_to_itself_does_not_cost_the_whole_grace(
    start: Starter,
) -> None:
    supervised = start("import subprocess; subprocess.run(['sleep', '600'])", grace_s=20.0)
    assert eventually(lambda: _names(supervised)[-1:] == ["sleep"])
    ended = supervised.stop()
    assert (ended.exit_code, ended.killed) == (-signal.SIGTERM, ())
    assert ended.all_s < 20


def test_daemons_are_seen_and_stopped_after_the_first_process_ended(start: Starter) -> None:
    supervised = start(
        "import os, time\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    if os.fork(): os._exit(0)\n"
        "    time.sleep(600)\n"
    )
    assert supervised.wait(20)
    assert eventually(lambda: len(supervised.processes()) == 1)
    left = supervised.processes()
    ended = supervised.stop()
    assert (ended.exit_code, ended.left) == (0, ())
    assert all(process_table.process(pid) is None for pid in left)


def test_children_that_end_are_not_left_as_zombies(start: Starter, tmp_path: Path) -> None:
    supervised = start(
        "import os, time\n"
        "for _ in range(20):\n"
        "    if os.fork() == 0:\n"
        "        if os.fork() == 0: os._exit(0)\n"
        "        os._exit(0)\n"
        "    os.wait()\n"
        "print('ready', flush=True)\n"
        "time.sleep(600)"
    )
    assert eventually(lambda: (tmp_path / "log").read_text() == "ready\n")
    assert eventually(lambda: len(process_table.descendants(supervised.supervisor_pid)) == 1)


def test_a_process_that_forks_without_end_is_stopped_too(start: Starter, tmp_path: Path) -> None:
    supervised = start(
        "import os, signal, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "print('ready', flush=True)\n"
        "for _ in range(400):\n"
        "    if os.fork():\n"
        "        os._exit(0)\n"
        "    os.setsid()\n"
        "    time.sleep(0.005)\n"
        "time.sleep(600)",
        grace_s=0.3,
    )
    assert eventually(lambda: (tmp_path / "log").read_text() == "ready\n")
    assert supervised.stop().left == ()


def test_a_process_whose_first_thread_has_ended_is_no_zombie_and_is_killed(
    start: Starter, tmp_path: Path
) -> None:
    supervised = start(
        "import ctypes, signal, threading, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "threading.Thread(target=time.sleep, args=(600,)).start()\n"
        "print('ready', flush=True)\n"
        "ctypes.PyDLL(None).syscall(60 if __import__('platform').machine() == 'x86_64' else 93, 0)",
        grace_s=0.2,
    )
    assert eventually(lambda: (tmp_path / "log").read_text() == "ready\n")
    assert eventually(lambda: Path(f"/proc/{supervised.pid}/stat").read_text().split()[2] == "Z")
    assert supervised.processes() == (supervised.pid,)
    ended = supervised.stop()
    assert (len(ended.killed), ended.left) == (1, ())
    assert process_table.process(supervised.pid) is None


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_to_the_supervisor_itself_stops_the_command(
    start: Starter, number: signal.Signals
) -> None:
    supervised = start("import time; time.sleep(600)")
    os.kill(supervised.supervisor_pid, number)
    assert supervised.wait(20)
    assert supervised.stop().exit_code == -signal.SIGTERM


def test_a_killed_supervisor_takes_the_first_process_along_and_the_rest_is_swept(
    start: Starter, tmp_path: Path
) -> None:
    marker = f"PLIMSOLL_TEST={tmp_path.name}"
    supervised = start(
        "import os, time\n"
        "for _ in range(3):\n"
        "    if os.fork() == 0:\n"
        "        os.setsid()\n"
        "        break\n"
        "time.sleep(600)",
        environment={**os.environ, "PLIMSOLL_TEST": tmp_path.name},
    )
    assert eventually(lambda: len(supervised.processes()) == 4)
    os.kill(supervised.supervisor_pid, signal.SIGKILL)
    assert supervised.wait(20)
    assert supervised.stop().left == ()
    assert living(marker) == []


def test_many_threads_may_ask_at_once(start: Starter) -> None:
    supervised = start("import time; time.sleep(600)")
    seen: list[bool] = []
    threads = [
        threading.Thread(target=lambda: seen.extend(supervised.alive() for _ in range(50)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [True] * 200


def test_an_interrupt_while_it_stops_kills_at_once(start: Starter, tmp_path: Path) -> None:
    grace_s = 600.0
    supervised = start(
        "import signal, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "print('ready', flush=True)\n"
        "time.sleep(600)",
        grace_s=grace_s,
    )
    assert eventually(lambda: (tmp_path / "log").read_text() == "ready\n")
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    began_s = time.monotonic()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        supervised.stop()
    assert time.monotonic() - began_s < grace_s
    assert process_table.process(supervised.pid) is None
    assert len(supervised.stop().killed) == 1
