"""The command line, in a process of its own as a person starts it, or in this one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import weakref
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import chdir, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import pytest
from click.testing import CliRunner

from plimsoll import cli
from plimsoll.cli import reporting
from small_servers import eventually, living

PROGRAM = Path(sys.executable).with_name("plimsoll")
"""The installed command."""

MARK = "PLIMSOLL_TEST"
"""Variable in the environment of all that a test starts, by which it is found."""

HERE = Path(__file__).parent / "end_to_end"
CHECKOUT = HERE.parents[1]
SMOKE = CHECKOUT / "campaigns" / "smoke.toml"
TOY = HERE / "campaigns" / "toy.toml"
TOYS = ("--frameworks", str(HERE / "frameworks"))
LENIENT = tuple(
    word
    for limit in (
        *("undisturbed.compared_lost_ratio_void=1", "driver_uninterrupted.stalled_ratio_void=1"),
        *("steady.silent_ratio_void=1", "steady.change_ratio_void=10"),
        "connection_target_met.open_ratio_void=0",
        "driver_headroom.server_busy_ratio_void=0",
    )
    for word in ("--set", f"limits.{limit}")
)
"""Settings by which a short trial counts, whatever else the machine does meanwhile."""

PATIENCE_S = 240.0


@dataclass(frozen=True)
class Ran:
    """A command that has ended."""

    code: int
    stdout: str
    stderr: str
    duration_s: float

    @property
    def said(self) -> str:
        """Both outputs in one line, so that where lines are broken does not matter."""
        return " ".join(f"{self.stderr} {self.stdout}".split())


class Running:
    """A command that runs, in a process group of its own as in a terminal."""

    def __init__(self, command: Sequence[str], folder: Path, environment: Mapping[str, str]):
        self.mark = f"{folder.name}-{time.monotonic_ns()}"
        self._begin_s = time.monotonic()
        self._folder = folder
        self._out, self._err = (NamedTemporaryFile("w+", encoding="utf-8") for _ in range(2))
        for output in (self._out, self._err):
            weakref.finalize(self, output.close)  # of one that is killed, whose end nobody reads
        self.process = subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, "COLUMNS": "80", **environment, MARK: self.mark},
            stdin=subprocess.DEVNULL,
            stdout=self._out,
            stderr=self._err,
            start_new_session=True,
        )

    @property
    def stderr(self) -> str:
        """What it has said so far."""
        return Path(self._err.name).read_text(encoding="utf-8")

    @property
    def stdout(self) -> str:
        """What it has printed so far."""
        return Path(self._out.name).read_text(encoding="utf-8")

    def processes(self) -> list[str]:
        """Names of all that it started and that lives, itself included."""
        return living(f"{MARK}={self.mark}")

    def wait_until(self, condition: Callable[[], bool]) -> None:
        """Waits until something is so; a command that ended before brings it about no more."""
        eventually(lambda: condition() or self.process.poll() is not None, PATIENCE_S)
        if not condition():
            self.process.kill()
            pytest.fail(self.end().said)  # ended, or what it leaves fails the test that comes next

    def wait_until_it_says(self, words: str) -> None:
        self.wait_until(lambda: words in self.stderr)

    def wait_until_it_drives(self) -> None:
        """Waits until an engine is about to write rows."""
        assert eventually(self._drives, PATIENCE_S), self.stderr

    def wait_until_rows_are_kept(self) -> None:
        """Waits until an engine has written rows; a slow load fills no buffer before its end."""
        assert eventually(self._has_rows, PATIENCE_S), self.stderr

    def _drives(self) -> bool:
        return self.process.poll() is not None or any(self._folder.rglob("requests.bin"))

    def _has_rows(self) -> bool:
        try:
            has_rows = any(one.stat().st_size for one in self._folder.rglob("requests.bin"))
        except FileNotFoundError:  # a folder of a moment ago
            has_rows = False
        return self.process.poll() is not None or has_rows

    def engine(self) -> int:
        """Number of the engine's process."""
        pids = [int(process.rpartition(" ")[2]) for process in self.processes()]
        (engine,) = [
            pid
            for pid in pids
            if b"\0plimsoll.engine\0" in Path(f"/proc/{pid}/cmdline").read_bytes()
        ]
        return engine

    def press_ctrl_c(self) -> None:
        os.killpg(self.process.pid, signal.SIGINT)

    def end(self, timeout_s: float = PATIENCE_S) -> Ran:
        """Waits for its end; no traceback and no fault may have been shown."""
        try:
            code = self.process.wait(timeout_s)
        finally:
            self.process.kill()
            self.process.wait()
            self._out.seek(0)
            self._err.seek(0)
            stdout, stderr = self._out.read(), self._err.read()
            self._out.close()
            self._err.close()
        return _without_a_fault(Ran(code, stdout, stderr, time.monotonic() - self._begin_s))

    def leaves_nothing(self) -> bool:
        """Whether nothing of it lives, at the latest after some seconds."""
        return eventually(lambda: not self.processes())


def start(
    *arguments: object,
    folder: Path,
    environment: Mapping[str, str] | None = None,
    before: Sequence[str] = (),
) -> Running:
    """Starts `plimsoll` with arguments.

    Args:
        arguments: What is typed after `plimsoll`.
        folder: Where it is typed.
        environment: Variables that are set.
        before: A command that runs it, such as `prlimit`.
    """
    command = [*before, str(PROGRAM), *map(str, arguments)]
    return Running(command, folder, environment or {})


def run(
    *arguments: object,
    folder: Path,
    environment: Mapping[str, str] | None = None,
    before: Sequence[str] = (),
) -> Ran:
    """Runs `plimsoll` to its end.

    That is done in this process unless an environment or a command before it is given: a process
    of its own imports for longer than most commands work.
    """
    if environment or before:
        return start(*arguments, folder=folder, environment=environment, before=before).end()
    begin_s = time.monotonic()
    with chdir(folder), CliRunner().isolation(env={"COLUMNS": "80"}) as (out, err, _):
        code = cli.ended([*map(str, arguments)])
        stdout, stderr = (output.getvalue().decode() for output in (out, err))
    return _without_a_fault(Ran(code, stdout, stderr, time.monotonic() - begin_s))


def run_unread(*arguments: object, folder: Path, also_stderr: bool = False) -> Ran:
    """Runs `plimsoll` in a process of its own, with a pipe as stdout whose reader has ended.

    Args:
        arguments: What is typed after `plimsoll`.
        folder: Where it is typed.
        also_stderr: Whether stderr is that pipe as well.
    """
    reader, writer = os.pipe()
    os.close(reader)
    begin_s = time.monotonic()
    ran = subprocess.run(
        [str(PROGRAM), *map(str, arguments)],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=writer,
        stderr=writer if also_stderr else subprocess.PIPE,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )
    os.close(writer)
    return _without_a_fault(Ran(ran.returncode, "", ran.stderr or "", time.monotonic() - begin_s))


@contextmanager
def markdown_alone() -> Generator[None]:
    """Campaigns that `run` conducts in this process report as Markdown; most tests read no page."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reporting, "EVERY_FORMAT", ("markdown",))
        yield


def _without_a_fault(ran: Ran) -> Ran:
    """What was run; it may have shown no traceback, no fault and no talk of a library."""
    for sign in ("Traceback", "error: internal error", "Exception ignored", "nanobind"):
        assert sign not in ran.stderr + ran.stdout, ran.stderr
    return ran


def text_of(verdict: Mapping[str, Any]) -> str:
    """All that a verdict of `--json` says."""
    return " ".join(sentence["text"] for sentence in verdict["sentences"])


def remedies_of(verdict: Mapping[str, Any]) -> str:
    """All that it advises."""
    return " ".join(sentence["remedy"] for sentence in verdict["sentences"])
