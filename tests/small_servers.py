"""Servers of a few lines that behave or misbehave, and the frameworks that start them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from plimsoll.campaign.framework import Framework
from plimsoll.processes import process_table

_PRELUDE = """
import os, signal, socket, subprocess, sys, time

def listen(port=None):
    return socket.create_server((os.environ["HOST"], port or int(os.environ["PORT"])))

def serve(listener, status=200):
    while True:
        connection, _ = listener.accept()
        connection.recv(65536)
        head = f"HTTP/1.1 {status} X\\r\\nContent-Length: 0\\r\\nConnection: close\\r\\n\\r\\n"
        connection.sendall(head.encode())
        connection.close()

def stop_cleanly(*_):
    os._exit(0)

def daemonise():
    if os.fork():
        return False
    os.setsid()
    if os.fork():
        os._exit(0)
    return True

signal.signal(signal.SIGTERM, stop_cleanly)
"""

GOOD = "serve(listen())"

BY_IPV6 = """
host, port = os.environ["HOST"], int(os.environ["PORT"])
listener = socket.create_server((host, port), family=socket.AF_INET6)
while True:
    connection, _ = listener.accept()
    status = 200 if f"Host: [{host}]:{port}".encode() in connection.recv(65536) else 400
    connection.sendall(f"HTTP/1.1 {status} X\\r\\nContent-Length: 0\\r\\n\\r\\n".encode())
    connection.close()
"""

ENDS_AT_ONCE = """
print("no such table: users", file=sys.stderr)
sys.exit(3)
"""

NEVER_LISTENS = "time.sleep(600)"

ANSWERS_500 = "serve(listen(), 500)"

TAKES_AND_IS_SILENT = """
listener = listen()
held = []
while True:
    held.append(listener.accept())
"""

RESPONDS_LATE = """
listener = listen()
while True:
    connection, _ = listener.accept()
    connection.recv(65536)
    time.sleep(2.5)
    try:
        connection.sendall(b"HTTP/1.1 200 X\\r\\nContent-Length: 0\\r\\n\\r\\n")
    except OSError:
        pass
    connection.close()
"""

LOSES_THE_FIRST = """
listener = listen()
lost = listener.accept()
serve(listener)
"""

LISTENS_ELSEWHERE = "serve(listen(int(os.environ['ELSEWHERE'])))"

IGNORES_TERM = """
signal.signal(signal.SIGTERM, signal.SIG_IGN)
serve(listen())
"""

LEAVES_A_DAEMON = """
listener = listen()
if daemonise():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    serve(listener)
serve(listener)
"""

BECOMES_A_DAEMON = """
listener = listen()
if daemonise():
    time.sleep(0.5)
    serve(listener)
"""

SPAWNS_MANY = """
signal.signal(signal.SIGTERM, signal.SIG_DFL)
for _ in range(40):
    if os.fork() == 0:
        os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(600)
serve(listen())
"""

EVERY_TRICK = """
signal.signal(signal.SIGTERM, signal.SIG_IGN)
listener = listen()
for _ in range(5):
    if daemonise():
        time.sleep(600)
subprocess.Popen(["sleep", "600"], start_new_session=True)
serve(listener)
"""

DIES_ON_DEMAND = """
signal.signal(signal.SIGUSR1, lambda *_: os._exit(7))
serve(listen())
"""


def framework(folder: Path, program: str, **changes: Any) -> Framework:
    """A framework whose application is a few lines of Python."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "app.py").write_text(_PRELUDE + program)
    given: dict[str, Any] = {
        "name": "small",
        "variant": "",
        "language": "Python",
        "folder": folder,
        "site": "",
        "needs": (),
        "build": "",
        "start": 'exec "$PYTHON" -S app.py',
        "version": "",
        "endpoints": ("empty",),
        "start_timeout_s": 20.0,
    }
    return Framework(**{**given, **changes})


def eventually(condition: Callable[[], bool], within_s: float = 15.0) -> bool:
    """Whether a condition comes true in time."""
    end_s = time.monotonic() + within_s
    while not condition():
        if time.monotonic() > end_s:
            return False
        time.sleep(0.02)
    return True


def living(marker: str) -> list[str]:
    """Names of the processes that have `marker` in their environment, but for this one."""
    found = process_table.marked(marker)
    return [f"{one.name} {one.pid}" for one in found if one.pid != os.getpid()]
