import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import fake_tools
import toy_trials
from plimsoll.drivers import tool_process
from plimsoll.drivers.job import DriverCallbacks, DriverJob
from plimsoll.drivers.tool_process import ToolRun
from plimsoll.errors import DriverFailed, DriverMissing
from plimsoll.events import Progress
from plimsoll.processes import process_table
from plimsoll.processes.interruption import Interruption

NAME = "loader"


@pytest.fixture
def order(tmp_path: Path) -> DriverJob:
    into = tmp_path / "trial"
    into.mkdir()
    return DriverJob(
        load=toy_trials.load(),
        exchanges=toy_trials.EMPTY.exchanges,
        address="127.0.0.1:9",
        cores=(),
        seed=5,
        body_sample_ratio=0.25,
        into=into,
    )


@pytest.fixture
def does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Puts a stand-in on the PATH; the keywords say what it does."""
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")

    def install(**what: object) -> None:
        fake_tools.installed(tmp_path / "bin", NAME, **what)

    return install


class Seen:
    """Notes what is told; a function may be called with each progress."""

    def __init__(self, each: Callable[[], bool] = lambda: True) -> None:
        self.roots: list[int] = []
        self.zeros: list[int] = []
        self.progress: list[Progress] = []
        self.interruption = Interruption()
        self.each = each

    def watch(self) -> DriverCallbacks:
        def note(progress: Progress) -> bool:
            self.progress.append(progress)
            return self.each()

        return DriverCallbacks(self.roots.append, self.zeros.append, note, self.interruption)


def run(order: DriverJob, seen: Seen | None = None, **changes: object) -> tool_process.FinishedRun:
    asked = {"stage": "hold", "connections": 7, "lasts_s": 0.0, "output": "loader.txt", **changes}
    return tool_process.run(ToolRun((NAME, "a", "b c"), **asked), order, (seen or Seen()).watch())  # pyright: ignore[reportArgumentType]


def test_what_a_tool_prints_is_read_and_kept_and_so_is_what_it_says_to_people(
    does: Callable[..., None], order: DriverJob
) -> None:
    does(prints="figures\n", complains="hello\n")
    ran = run(order)
    assert (ran.text, ran.early) == ("figures\n", False)
    assert (order.into / "loader.txt").read_text() == "figures\n"
    assert (order.into / tool_process.LOG).read_text() == "hello\n"
    assert fake_tools.arguments(order.into) == [["a", "b c"]]


def test_it_tells_when_it_began_under_which_process_and_what_it_took(
    does: Callable[..., None], order: DriverJob
) -> None:
    does(prints="x")
    seen, before_ns = Seen(), time.monotonic_ns()
    ran = run(order, seen)
    assert len(seen.roots) == 1
    assert seen.zeros == [ran.started_ns]
    assert before_ns < ran.started_ns <= ran.ended_ns
    assert abs(ran.started_utc_ns - time.time_ns()) < 60e9
    assert ran.cpu_s is not None
    assert ran.cpu_s >= 0


def test_the_zero_is_that_of_the_first_run(does: Callable[..., None], order: DriverJob) -> None:
    does(prints="x")
    seen = Seen()
    run(order, seen, since_s=5.0)
    assert seen.zeros == []


def test_progress_goes_by_the_clock_and_says_that_nothing_was_counted(
    does: Callable[..., None], order: DriverJob
) -> None:
    does(on_signal="done")
    seen = Seen(lambda: False)
    run(order, seen, since_s=5.0, lasts_s=60.0, warm_up_s=60.0)
    first = seen.progress[0]
    assert (first.stage, first.connections_requested, first.counted) == ("warm_up", 7, False)
    assert first.at_s >= 5.0


def test_the_most_memory_it_held_is_known_while_it_lives(
    does: Callable[..., None], order: DriverJob
) -> None:
    does(on_signal="done")
    ran = run(order, Seen(lambda: not (order.into / "waits").exists()), lasts_s=60.0)
    assert ran.peak_rss_bytes is not None
    assert ran.peak_rss_bytes > 1 << 20


def test_a_tool_that_fails_says_so_with_its_last_words(
    does: Callable[..., None], order: DriverJob
) -> None:
    does(exits=3, complains="first\nunable to connect\n")
    with pytest.raises(DriverFailed, match="exit code 3; its last output: first / unable") as e:
        run(order)
    assert "loader.txt" in e.value.hint
    assert e.value.exit_code == 5


def test_a_tool_that_fails_without_a_word_to_people_is_quoted_from_its_output(
    does: Callable[..., None], order: DriverJob
) -> None:
    does(exits=1, prints="apr_socket_recv: Connection refused\n")
    with pytest.raises(DriverFailed, match="last output: apr_socket_recv"):
        run(order)


def test_a_tool_that_dies_of_a_signal_is_told_by_its_name(
    does: Callable[..., None], order: DriverJob
) -> None:
    does(dies=int(signal.SIGSEGV))
    with pytest.raises(DriverFailed, match="`loader` ended with SIGSEGV; it printed nothing"):
        run(order)


def test_a_tool_that_hangs_is_killed_once_its_time_is_over(
    does: Callable[..., None], order: DriverJob
) -> None:
    does(deaf=True, complains="waiting\n")
    seen = Seen()
    with pytest.raises(DriverFailed, match="still ran 0 s after the end of the load"):
        run(order, seen, patience_s=0.0)
    assert not process_table.descendants(seen.roots[0])


def test_a_tool_that_closes_its_output_and_stays_is_waited_for(
    does: Callable[..., None], order: DriverJob
) -> None:
    does(prints="x", closes=True, on_signal="")
    ran = run(order, Seen(lambda: not (order.into / "waits").exists()), lasts_s=60.0)
    assert (ran.text, ran.early) == ("x", True)


def test_when_the_server_is_gone_the_tool_is_asked_to_end_and_what_it_says_is_kept(
    does: Callable[..., None], order: DriverJob
) -> None:
    does(on_signal="so far\n")
    ran = run(order, Seen(lambda: not (order.into / "waits").exists()), lasts_s=60.0)
    assert (ran.text, ran.early) == ("so far\n", True)


def test_ctrl_c_asks_it_to_end_once(does: Callable[..., None], order: DriverJob) -> None:
    does(on_signal="so far\n")
    seen = Seen()

    def once_it_waits() -> bool:
        if (order.into / "waits").exists() and not seen.interruption.count:
            seen.interruption.handle(signal.SIGINT, None)
        return True

    seen.each = once_it_waits
    ran = run(order, seen, lasts_s=60.0)
    assert (ran.text, ran.early, seen.interruption.count) == ("so far\n", True, 1)


def test_a_second_ctrl_c_kills_it(does: Callable[..., None], order: DriverJob) -> None:
    does(deaf=True)
    seen = Seen()

    def twice() -> bool:
        if (order.into / "waits").exists():
            seen.interruption.handle(signal.SIGINT, None)
        return True

    seen.each = twice
    with pytest.raises(KeyboardInterrupt):
        run(order, seen, lasts_s=60.0)
    assert not process_table.descendants(seen.roots[0])


def test_a_tool_deaf_to_ctrl_c_is_killed_after_its_grace(
    does: Callable[..., None], order: DriverJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tool_process, "GRACE_S", 0.0)
    does(deaf=True)
    ran = run(order, Seen(lambda: not (order.into / "waits").exists()), lasts_s=60.0)
    assert (ran.text, ran.early) == ("", True)


def test_output_that_comes_just_before_the_end_is_not_lost(
    does: Callable[..., None], order: DriverJob
) -> None:
    lines = "".join(f"line {n}\n" for n in range(5000))
    does(prints=lines)
    assert all(run(order).text == lines for _ in range(5))


def test_a_flood_of_output_is_cut(
    does: Callable[..., None], order: DriverJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tool_process, "MOST_OUTPUT_BYTES", 1000)
    does(prints="x" * 300_000)
    assert len(run(order).text) == 1000


def test_what_a_grandchild_keeps_open_is_not_waited_for(
    tmp_path: Path, does: Callable[..., None], order: DriverJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tool_process, "GRACE_S", 0.0)
    does(prints="")
    program = tmp_path / "bin" / NAME
    program.write_text(
        f"#!/bin/sh\n{sys.executable} -c 'import time; time.sleep(60)' &\necho figures\n"
    )
    assert run(order).text == "figures\n"


def test_a_program_that_is_not_there_is_missing_with_its_remedy(order: DriverJob) -> None:
    error = tool_process.missing("no-such-loader", "apt-get install no-such-loader")
    assert error is not None
    assert (error.exit_code, error.hint) == (5, "`apt-get install no-such-loader`")
    assert tool_process.missing("sh", "") is None
    with pytest.raises(DriverMissing, match="`no-such-loader` cannot start"):
        tool_process.run(ToolRun(("no-such-loader",), "hold", 1, 0.0), order, Seen().watch())


def test_the_runner_leaves_no_thread_behind(does: Callable[..., None], order: DriverJob) -> None:
    does(prints="x")
    before = threading.active_count()
    run(order)
    assert threading.active_count() == before
