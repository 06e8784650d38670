"""Servers really started: those that behave, and those that do not."""

from __future__ import annotations

import os
import re
import signal
import socket
from dataclasses import replace
from pathlib import Path

import pytest

import small_servers
from plimsoll import _engine
from plimsoll.errors import DiedUnderLoad, NotReady, PortTaken, StartFailed, StorageError
from plimsoll.processes import ports, process_table
from plimsoll.serving import observed
from plimsoll.serving.server import started
from small_servers import eventually, framework, living

pytestmark = pytest.mark.timeout(120)


def test_a_good_server_is_ready_runs_where_it_was_told_and_stops_cleanly(tmp_path: Path) -> None:
    core = min(os.sched_getaffinity(0))
    with started(
        framework(tmp_path, small_servers.GOOD), log=tmp_path / "log", cores=(core,)
    ) as server:
        assert server.alive()
        server.check_alive()
        assert server.start_s is not None
        assert server.place.workers == 1
        assert server.processes() == (server.pid,)
        assert os.sched_getaffinity(server.pid) == {core}
        assert {found.pid for found in ports.listeners(server.place.port)} == {server.pid}
    assert server.stopped is not None
    assert (server.stopped.clean, server.stopped.exit_code) == (True, 0)
    assert (server.stopped.killed, server.stopped.left) == (0, 0)
    assert server.stopped.port_free
    assert process_table.process(server.pid) is None


def test_a_server_at_an_address_of_ipv6_is_ready_and_can_be_reached(tmp_path: Path) -> None:
    if not socket.has_ipv6:
        pytest.skip("this host has no IPv6")
    subject = framework(tmp_path, small_servers.BY_IPV6, start_timeout_s=20.0)
    with started(subject, log=tmp_path / "log", host="::1") as server:
        assert server.place.address == f"[::1]:{server.place.port}"
        _engine.Connection(server.place.address, 10.0)
        assert observed.listening(server.place.address).listeners == 1


def test_the_server_stops_when_the_block_fails(tmp_path: Path) -> None:
    with (
        pytest.raises(ZeroDivisionError),
        started(framework(tmp_path, small_servers.GOOD), log=tmp_path / "log") as server,
    ):
        raise ZeroDivisionError
    assert server.stopped is not None
    assert server.stopped.clean


def test_a_server_that_ends_at_once_is_named_with_its_exit_code_and_last_lines(
    tmp_path: Path,
) -> None:
    subject = framework(tmp_path, small_servers.ENDS_AT_ONCE)
    with pytest.raises(StartFailed) as caught, started(subject, log=tmp_path / "log"):
        pass
    assert "`small` exited with code 3 before it was ready" in caught.value.message
    assert "no such table: users" in caught.value.message
    assert caught.value.hint


def test_a_start_command_that_cannot_be_run_is_a_failed_start(tmp_path: Path) -> None:
    subject = framework(tmp_path, "", build="make", start="exec ./not-built")
    with pytest.raises(StartFailed, match=r"exited with code 127.*\n.*not-built") as caught:
        with started(subject, log=tmp_path / "log"):
            pass
    assert "plimsoll install" in caught.value.hint


def test_what_has_no_build_is_not_sent_to_an_installation(tmp_path: Path) -> None:
    subject = framework(tmp_path, "", start='exec "$BUILD/app"')
    with pytest.raises(StartFailed) as caught, started(subject, log=tmp_path / "log"):
        pass
    assert "plimsoll install" not in caught.value.hint
    assert "framework.toml has no `build`" in caught.value.hint


def test_a_mere_command_that_ends_is_not_sent_to_an_installation(tmp_path: Path) -> None:
    served = framework(tmp_path, small_servers.ENDS_AT_ONCE)
    command = replace(served, language="", endpoints=())
    with pytest.raises(StartFailed) as caught, started(command, log=tmp_path / "log"):
        pass
    assert caught.value.hint.startswith("run the command alone")


def test_a_server_that_never_listens_is_not_ready(tmp_path: Path) -> None:
    subject = framework(tmp_path, small_servers.NEVER_LISTENS, start_timeout_s=0.5)
    with pytest.raises(NotReady, match="in the last probe, the server refused the connection"):
        with started(subject, log=tmp_path / "log"):
            pass


def test_a_server_on_another_port_is_told_which_one(tmp_path: Path) -> None:
    elsewhere = ports.free_port()
    subject = framework(
        tmp_path,
        small_servers.LISTENS_ELSEWHERE,
        environment={"ELSEWHERE": str(elsewhere)},
        start_timeout_s=5.0,
    )
    with pytest.raises(NotReady, match=f"it listens on port {elsewhere}") as caught:
        with started(subject, log=tmp_path / "log"):
            pass
    assert "$HOST:$PORT" in caught.value.hint


def test_a_server_that_answers_500_is_not_ready_and_the_500_is_said(tmp_path: Path) -> None:
    subject = framework(tmp_path, small_servers.ANSWERS_500, start_timeout_s=5.0)
    said = r"within 5 s: in the last probe, the server responded 500"
    with pytest.raises(NotReady, match=said) as caught:
        with started(subject, log=tmp_path / "log"):
            pass
    assert caught.value.hint.startswith("correct how the server responds to `GET /empty`")


def test_a_server_at_another_address_of_the_port_is_told_which_one(tmp_path: Path) -> None:
    elsewhere = "127.0.0.2"
    subject = framework(
        tmp_path, f'os.environ["HOST"] = "{elsewhere}"\nserve(listen())', start_timeout_s=5.0
    )
    with pytest.raises(NotReady) as caught, started(subject, log=tmp_path / "log") as server:
        pytest.fail(f"{server.place.address} is not where it listens")
    said = rf"refused the connection; it listens on `{elsewhere}:(\d+)`, not on `127.0.0.1:\1`"
    assert re.search(said, caught.value.message)
    assert "$HOST:$PORT" in caught.value.hint


def test_a_service_that_a_server_does_not_speak_is_named_beside_this_start_of_its_log(
    tmp_path: Path,
) -> None:
    log = tmp_path / "log"
    log.write_text("of an earlier start\n")
    program = 'print("of this start", flush=True)\nserve(listen())'
    subject = framework(tmp_path, program, start_timeout_s=5.0)
    with pytest.raises(NotReady, match="for `GET /empty` by `h2c` within") as caught:
        with started(subject, log=log, service="h2c"):
            pass
    assert "remove `h2c` from `services` in framework.toml" in caught.value.hint
    assert "of this start" in caught.value.message
    assert "of an earlier start" not in caught.value.message


@pytest.mark.parametrize(
    ("endpoints", "asked"),
    [
        (("json", "2048", "empty"), "GET /empty"),
        (("json", "8192"), "GET /8192"),
        (("json",), "POST /json"),
        ((), "GET /"),
    ],
)
def test_a_server_is_asked_for_an_endpoint_that_it_serves(
    tmp_path: Path, endpoints: tuple[str, ...], asked: str
) -> None:
    refusing = small_servers.ANSWERS_500
    subject = framework(tmp_path, refusing, start_timeout_s=0.5, endpoints=endpoints)
    with pytest.raises(NotReady, match=f"did not return 200 for `{asked}` within"):
        with started(subject, log=tmp_path / "log"):
            pass


def test_a_server_that_takes_connections_and_is_silent_is_not_ready(tmp_path: Path) -> None:
    subject = framework(tmp_path, small_servers.TAKES_AND_IS_SILENT, start_timeout_s=5.0)
    with pytest.raises(NotReady, match="accepted the connection but sent no response"):
        with started(subject, log=tmp_path / "log"):
            pass


def test_a_server_that_takes_longer_than_the_first_request_waits_is_ready(tmp_path: Path) -> None:
    subject = framework(tmp_path, small_servers.RESPONDS_LATE, start_timeout_s=20.0)
    with started(subject, log=tmp_path / "log") as server:
        assert server.start_s is not None
        assert 2.5 < server.start_s < subject.start_timeout_s / 2


def test_a_server_that_lost_an_early_connection_is_soon_asked_again(tmp_path: Path) -> None:
    subject = framework(tmp_path, small_servers.LOSES_THE_FIRST, start_timeout_s=60.0)
    with started(subject, log=tmp_path / "log") as server:
        assert server.start_s is not None
        assert 2.0 < server.start_s < subject.start_timeout_s / 2


def test_a_server_that_ignores_the_stop_signal_is_killed(tmp_path: Path) -> None:
    subject = framework(tmp_path, small_servers.IGNORES_TERM)
    with started(subject, log=tmp_path / "log", grace_s=0.3) as server:
        pass
    assert server.stopped is not None
    assert server.stopped.exit_code is None
    assert not server.stopped.clean
    assert server.stopped.killed == 1
    assert server.stopped.port_free


def test_a_daemon_that_keeps_the_port_belongs_to_the_server_and_is_killed(tmp_path: Path) -> None:
    subject = framework(tmp_path, small_servers.LEAVES_A_DAEMON)
    with started(subject, log=tmp_path / "log", grace_s=0.3) as server:
        assert eventually(lambda: len(server.processes()) == 2)
    assert server.stopped is not None
    assert server.stopped.exit_code == 0
    assert not server.stopped.clean
    assert server.stopped.killed == 1
    assert server.stopped.port_free


def test_a_server_that_becomes_a_daemon_is_told_to_stay_in_the_foreground(tmp_path: Path) -> None:
    subject = framework(
        tmp_path,
        small_servers.BECOMES_A_DAEMON,
        environment={"PLIMSOLL_TEST": tmp_path.name},
    )
    with pytest.raises(StartFailed, match="and left 1 process running") as caught:
        with started(subject, log=tmp_path / "log"):
            pass
    assert "foreground" in caught.value.hint
    assert living(f"PLIMSOLL_TEST={tmp_path.name}") == []


def test_many_children_are_stopped_with_their_server(tmp_path: Path) -> None:
    subject = framework(
        tmp_path, small_servers.SPAWNS_MANY, environment={"PLIMSOLL_TEST": tmp_path.name}
    )
    with started(subject, log=tmp_path / "log", grace_s=0.3) as server:
        assert len(server.processes()) == 41
    assert server.stopped is not None
    assert server.stopped.killed == 40
    assert living(f"PLIMSOLL_TEST={tmp_path.name}") == []


def test_a_port_that_is_taken_is_named_with_who_holds_it(tmp_path: Path) -> None:
    with socket.create_server((ports.LOOPBACK, 0)) as holder:
        port = holder.getsockname()[1]
        subject = framework(tmp_path, small_servers.GOOD)
        with pytest.raises(PortTaken) as caught, started(subject, log=tmp_path / "log", port=port):
            pass
    assert f"port {port} of 127.0.0.1 is in use by" in caught.value.message
    assert f"(process {os.getpid()})" in caught.value.message
    assert caught.value.exit_code == 3


@pytest.mark.parametrize("program", ["NEVER_LISTENS", "GOOD"])
def test_a_stranger_that_answers_on_the_port_is_not_mistaken_for_the_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str
) -> None:
    stranger = framework(tmp_path / "stranger", small_servers.GOOD, name="stranger")
    subject = framework(tmp_path / "subject", getattr(small_servers, program))
    with started(stranger, log=tmp_path / "stranger.log") as other:
        monkeypatch.setattr(ports, "is_free", lambda *_: True)
        with pytest.raises(PortTaken, match=f"process {other.pid}"):
            with started(subject, log=tmp_path / "log", port=other.place.port):
                pass


def test_a_server_that_dies_under_load_is_noticed(tmp_path: Path) -> None:
    subject = framework(tmp_path, small_servers.DIES_ON_DEMAND)
    with started(subject, log=tmp_path / "log") as server:
        os.kill(server.pid, signal.SIGUSR1)
        assert eventually(lambda: not server.alive())
        with pytest.raises(DiedUnderLoad, match="exited with code 7 under load"):
            server.check_alive()
    assert server.stopped is not None
    assert server.stopped.exit_code == 7
    assert not server.stopped.clean


def test_exit_codes_that_the_framework_names_are_clean(tmp_path: Path) -> None:
    program = "signal.signal(signal.SIGTERM, signal.SIG_DFL)\nserve(listen())"
    subject = framework(tmp_path, program, clean_exit_codes=(-15,))
    with started(subject, log=tmp_path / "log") as server:
        pass
    assert server.stopped is not None
    assert (server.stopped.exit_code, server.stopped.clean) == (-15, True)


@pytest.mark.parametrize("how", ["folder", "file"])
def test_a_log_that_cannot_be_written_is_said(tmp_path: Path, how: str) -> None:
    blocked = tmp_path / "blocked"
    if how == "folder":
        blocked.mkdir()
        log = blocked
    else:
        blocked.touch()
        log = blocked / "log"
    subject = framework(tmp_path / "app", small_servers.GOOD)
    with pytest.raises(StorageError, match="cannot be written"), started(subject, log=log):
        pass
