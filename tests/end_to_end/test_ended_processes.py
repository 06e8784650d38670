"""Processor time of processes that end under load is the server's, and is counted once.

The truth is what the kernel says of a server and of all that it waited for when it has ended.
"""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from command_line import CHECKOUT, run
from plimsoll.aggregate.trial import stored
from plimsoll.aggregate.usage import Usage
from plimsoll.processes.tree import TICKS_PER_S
from plimsoll.storage import parquet
from small_servers import eventually

pytestmark = pytest.mark.timeout(300)

GUNICORN = CHECKOUT / "frameworks" / "django" / "requirements-gunicorn.txt"
APPLICATION = """
def application(environ, start_response):
    sum(range(200_000))
    start_response("200 OK", [("Content-Length", "2")])
    return [b"ok"]
"""
STOPPING = 0.1
"""Share of a server's time that its own end may take, which no load sees."""


@dataclass(frozen=True)
class Served:
    """What a server used by the lab's last reading, and in truth until its end."""

    recorded_s: float
    truth_s: float
    log: str


def serve(
    command: list[str], folder: Path, port_of: Callable[[subprocess.Popen[str]], int], *load: str
) -> Served:
    """Puts load on a server, and then ends it."""
    with (folder / "server.log").open("w+") as log:
        server = subprocess.Popen(
            command, cwd=folder, stdout=subprocess.PIPE, stderr=log, text=True, process_group=0
        )
        try:
            ran = run("load", f":{port_of(server)}", *load, "--record", "kept", folder=folder)
            assert ran.code in (0, 1), ran.stderr
        finally:
            server.send_signal(signal.SIGTERM)
            _, status, used = os.wait4(server.pid, 0)
            server.returncode = os.waitstatus_to_exitcode(status)
            if server.stdout is not None:
                server.stdout.close()
        text = (folder / "server.log").read_text()
    results = parquet.results(folder / "kept")
    usage = stored(results, results.recording(results.trial_ids()[0])).usage
    return Served(last_cpu_s(usage), used.ru_utime + used.ru_stime, text)


def assert_counted_once(served: Served) -> None:
    """All but the stop is recorded, and nothing twice; both are known to some clock ticks."""
    slack_s = 2 / TICKS_PER_S
    assert (1 - STOPPING) * served.truth_s < served.recorded_s <= served.truth_s + slack_s


def last_cpu_s(usage: Usage) -> float:
    """Processor time of the server by its last reading, since it was started."""
    names = ("cpu_user_s", "cpu_system_s")
    return sum(float(usage.of("server", name)[0].values[-1]) for name in names)


@pytest.fixture(scope="module")
def gunicorn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Python with gunicorn, as the tests of frameworks have it."""
    folder = tmp_path_factory.mktemp("gunicorn")
    pinned = next(line for line in GUNICORN.read_text().splitlines() if "gunicorn" in line)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
    python = folder / "venv" / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", python]
    install = [*pip, "install", "-q", "--disable-pip-version-check", pinned]
    installed = subprocess.run(install, capture_output=True, text=True, check=False)
    if installed.returncode:
        pytest.skip(f"gunicorn cannot be installed here: {installed.stderr.strip()[-200:]}")
    return python


@pytest.fixture
def free_port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    yield port


def test_workers_that_gunicorn_recycles_are_counted(
    gunicorn: Path, free_port: int, tmp_path: Path
) -> None:
    (tmp_path / "app.py").write_text(APPLICATION)
    options = ["-w", "2", "-b", f"127.0.0.1:{free_port}", "--max-requests", "60"]
    command = [str(gunicorn), "-m", "gunicorn", *options, "app:application"]

    def listening(_: subprocess.Popen[str]) -> int:
        log = tmp_path / "server.log"
        assert eventually(lambda: log.read_text().count("Booting worker") >= 2, 60.0)
        return free_port

    served = serve(command, tmp_path, listening, "-c", "4", "-n", "600", "--timeout", "30s")
    assert len(re.findall("Booting worker", served.log)) > 6, "workers were hardly recycled"
    assert_counted_once(served)


def test_a_process_for_each_connection_is_counted(tmp_path: Path) -> None:
    command = [sys.executable, str(CHECKOUT / "tests" / "forking_server.py")]

    def told(server: subprocess.Popen[str]) -> int:
        assert server.stdout is not None
        return json.loads(server.stdout.readline())["port"]

    load = ("-c", "4", "-n", "250", "--requests-per-connection", "1", "--timeout", "30s")
    assert_counted_once(serve(command, tmp_path, told, *load))
