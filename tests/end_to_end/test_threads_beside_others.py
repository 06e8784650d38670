"""A server with a process for each connection, beside a program that uses its core."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from command_line import run

pytestmark = [pytest.mark.timeout(120), pytest.mark.alone]

SLOW_S = 0.05
CONNECTIONS = 32

SERVER = f"""
import os, signal, socket, time
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
listener = socket.create_server(("127.0.0.1", 0), backlog=512)
print(listener.getsockname()[1], flush=True)
while True:
    connection, _ = listener.accept()
    if os.fork():
        connection.close()
        continue
    while request := connection.recv(65536):
        if request.startswith(b"GET /slow"):
            time.sleep({SLOW_S})
        connection.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\nok")
    os._exit(0)
"""
"""Half of its requests take 50 ms in which it does nothing; the others take none."""


def on_first_core(*command: str) -> subprocess.Popen[str]:
    first = min(os.sched_getaffinity(0))
    return subprocess.Popen(
        ["taskset", "-c", str(first), sys.executable, *command],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def test_waits_of_many_processes_that_sleep_are_not_added_up(tmp_path: Path) -> None:
    """No load of so many connections has more responses than by the sleep alone."""
    with on_first_core("-c", SERVER) as server, on_first_core("-c", "while True: pass") as burner:
        try:
            assert server.stdout is not None
            port = server.stdout.readline().strip()
            urls = (f":{port}/fast", f":{port}/slow")
            ran = run("load", *urls, "-c", CONNECTIONS, "-d", "3s", "--json", folder=tmp_path)
        finally:
            for process in (burner, server):
                os.killpg(process.pid, 9)
    found = json.loads(ran.stdout)
    (given,) = (one for one in found["verdicts"] if one["check"] == "undisturbed")
    undisturbed_per_s = found["summary"]["throughput_per_s"] / (1 - given["measured"])
    assert undisturbed_per_s <= 1.2 * CONNECTIONS / (SLOW_S / 2)
