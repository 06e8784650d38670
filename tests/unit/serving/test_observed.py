"""What is noted of a server before any load is on it."""

from __future__ import annotations

from pathlib import Path

import small_servers
from plimsoll.campaign.requests import Request
from plimsoll.serving import observed, ready
from plimsoll.serving.server import started

MORE = Request("more", "GET", "/more")

GROWS = """
def more(backlog):
    address = (os.environ["HOST"], int(os.environ["PORT"]))
    return socket.create_server(address, backlog=backlog, reuse_port=True)

listener, others = more(7), []
while True:
    connection, _ = listener.accept()
    if b"/more" in connection.recv(65536):
        others.append(more(5))
    connection.sendall(b"HTTP/1.1 200 X\\r\\nContent-Length: 0\\r\\nConnection: close\\r\\n\\r\\n")
    connection.close()
"""
"""Listens on one socket, and on one more each time that `/more` is asked for."""


def test_every_listening_socket_is_noted_also_one_that_came_after_the_first_answer(
    tmp_path: Path,
) -> None:
    subject = small_servers.framework(tmp_path, GROWS)
    with started(subject, log=tmp_path / "log") as running:
        first = observed.serving(running)
        while observed.serving(running).listeners == 1:
            # The kernel gives a connection to either socket, and nobody accepts at the second.
            assert not ready.ask(running.place.host, running.place.port, MORE, 5.0)
        later = observed.at_rest(running)
    assert (first.listeners, first.backlog, first.backlogs) == (1, 7, (7,))
    assert (later.listeners, later.backlog) == (2, 7)
    assert sorted(later.backlogs) == [5, 7]
    assert later.backlog_required == 4096


def test_memory_at_rest_is_that_of_all_processes_of_the_server(tmp_path: Path) -> None:
    alone = small_servers.framework(tmp_path / "alone", small_servers.GOOD)
    child = 'subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])\n'
    parent = small_servers.framework(tmp_path / "parent", child + small_servers.GOOD)
    with started(alone, log=tmp_path / "log") as running:
        one = observed.at_rest(running)
    with started(parent, log=tmp_path / "log", grace_s=0.5) as running:
        two = observed.at_rest(running)
    assert one.rest_rss_bytes is not None
    assert two.rest_rss_bytes is not None
    assert two.rest_rss_bytes > one.rest_rss_bytes + (1 << 20)
    assert two.rest_pss_bytes is None or two.rest_pss_bytes < two.rest_rss_bytes


def test_of_a_server_that_is_gone_no_memory_is_noted(tmp_path: Path) -> None:
    subject = small_servers.framework(tmp_path, small_servers.GOOD)
    with started(subject, log=tmp_path / "log") as running:
        running.stop()
        seen = observed.at_rest(running)
    assert (seen.rest_rss_bytes, seen.rest_pss_bytes) == (None, None)
