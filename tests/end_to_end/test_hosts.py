"""`plimsoll load --hosts`: one load of several hosts, and everything that goes wrong with them."""

from __future__ import annotations

import hashlib
import json
import os
import re
import resource
import shutil
import signal
import socket
import ssl
import time
from collections import Counter
from collections.abc import Generator, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import labs
import preloads
from command_line import Ran, Running, run
from labs import LabAtWork, in_namespaces, on_loopback
from plimsoll.drivers import records
from plimsoll.errors import InputError, StorageError
from plimsoll.hosts import certificates
from plimsoll.hosts.agent.membership import RETRY_S
from plimsoll.hosts.lab import hosts_file
from plimsoll.processes.ports import free_port
from plimsoll.storage import digests
from small_disks import small_disk
from small_servers import eventually

pytestmark = [pytest.mark.long, pytest.mark.timeout(300)]

VOID = 1
INTERRUPTED = 130
UNFIT = 3
DELAY_S = 0.01
STAYED = "Rows stayed on their hosts"


def recorded(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "trials" / "load" / "trial.json").read_text("utf-8"))


def rows_by_host(folder: Path) -> Counter[str]:
    rows = pq.read_table(folder / "trials" / "load" / "requests.parquet", columns=["host"])
    return Counter(rows["host"].to_pylist())


def levels(stdout: str) -> dict[str, str]:
    return {one["check"]: one["level"] for one in json.loads(stdout)["verdicts"]}


def said_of(stdout: str, check: str) -> str:
    (verdict,) = (one for one in json.loads(stdout)["verdicts"] if one["check"] == check)
    return " ".join(sentence["text"] for sentence in verdict["sentences"])


def load(lab: LabAtWork, address: str, *options: object, into: Path | None = None) -> Any:
    """A load that is kept in a folder; in that of the lab where none is given."""
    return told_load(lab, address, "--json", *options, into=into)


def told_load(lab: LabAtWork, address: str, *options: object, into: Path | None = None) -> Any:
    """A load that says what happens, which JSON does without."""
    record = (into or lab.folder) / "recorded"
    return lab.lab("load", f"http://{address}/plaintext", "--record", record, *options)


@pytest.fixture(scope="module")
def waiting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[LabAtWork, str]]:
    """A lab with two hosts that wait, and a server, for tests that leave them as they are."""
    lab = on_loopback(tmp_path_factory.mktemp("waiting"))
    with lab.served() as address, lab.agents():
        yield lab, address


def rows_fetched(lab: LabAtWork, results: Path, *options: object) -> Any:
    return lab.lab("host", "rows", results, *options).end()


STAYS = ("-c", "4", "-d", "800ms", "-R", "2000", "--keep-rows", "remote")


@dataclass(frozen=True)
class Kept:
    """A load of 1,600 requests whose rows stayed on its two hosts, whose agents wait.

    Attributes:
        lab: The lab.
        results: What the lab has of it.
        stdout: What it printed.
    """

    lab: LabAtWork
    results: Path
    stdout: str

    @property
    def folders(self) -> list[Path]:
        """Where each host keeps its rows."""
        return [Path(one["kept"]["folder"]) for one in recorded(self.results)["hosts"]]

    def fetched(self, *options: object) -> Any:
        """`plimsoll host rows`, which fetches them."""
        return rows_fetched(self.lab, self.results, *options)

    def judged(self) -> tuple[dict[str, str], str]:
        """Level of each check, and all that they say."""
        ran = run("judge", self.results, "--json", folder=self.results.parent)
        (trial,) = json.loads(ran.stdout)
        return {one["check"]: one["level"] for one in trial["verdicts"]}, ran.stdout


@pytest.fixture(scope="module")
def load_that_stayed(
    waiting: tuple[LabAtWork, str], tmp_path_factory: pytest.TempPathFactory
) -> Kept:
    """One load for all tests of rows that stayed."""
    folder = tmp_path_factory.mktemp("stayed")
    ran = load(*waiting, *STAYS, into=folder).end()
    assert ran.code in {0, VOID}, ran.said
    return Kept(waiting[0], folder / "recorded", ran.stdout)


@pytest.fixture
def kept(load_that_stayed: Kept, tmp_path: Path) -> Kept:
    """The same with a copy of the lab's results; what a test changes on a host, it restores."""
    copy = tmp_path / "recorded"
    shutil.copytree(load_that_stayed.results, copy)
    return replace(load_that_stayed, results=copy)


@contextmanager
def changed(rows: Path, begin: bytes) -> Generator[None]:
    """Rows on a host that begin with other bytes for as long as the block runs."""
    known = rows.read_bytes()
    with rows.open("r+b") as file:
        file.write(begin)
    try:
        yield
    finally:
        rows.write_bytes(known)


def test_two_hosts_generate_exactly_one_load(
    tmp_path: Path, waiting: tuple[LabAtWork, str]
) -> None:
    ran = load(*waiting, "-c", "5", "-d", "800ms", "-R", "500", into=tmp_path).end()
    assert ran.code in {0, VOID}, ran.said
    found = recorded(tmp_path / "recorded")
    assert [one["host"] for one in found["hosts"]] == ["one", "two"]
    assert [one["driver"]["connections_requested"] for one in found["hosts"]] == [3, 2]
    counted = {one["host"]: sum(one["driver"]["outcomes"].values()) for one in found["hosts"]}
    assert rows_by_host(tmp_path / "recorded") == counted
    assert counted == {"one": 240, "two": 160}  # 500/s for 0.8 s, on 3 and 2 of 5 connections
    assert sum(found["driver"]["outcomes"].values()) == 400
    given = levels(ran.stdout)
    assert not labs.void_beyond(given)
    assert given["conservation"] == given["drivers_completed"] == "sound"
    assert given["started_together"] != "not_checked"


@pytest.mark.parametrize("requests", ["1", "2", "3", "30"])
def test_connections_without_a_request_are_no_lost_load_generator(
    tmp_path: Path, waiting: tuple[LabAtWork, str], requests: str
) -> None:
    ran = load(*waiting, "-n", requests, "-c", "50", into=tmp_path).end()
    assert ran.code == 0, ran.said
    given = levels(ran.stdout)
    assert "void" not in given.values()
    assert given["long_enough"] == "doubtful"


def test_rows_that_stay_on_their_hosts_are_counted_there_and_found_again(
    load_that_stayed: Kept,
) -> None:
    results = load_that_stayed.results
    found = recorded(results)
    assert not (results / "trials" / "load" / "requests.parquet").exists()
    times_ns: list[int] = []
    (hold,) = found["stages"]
    for one in found["hosts"]:
        kept = Path(one["kept"]["folder"])
        assert one["kept"]["requests"] == sum(one["driver"]["outcomes"].values()) == 800
        for name, digest in one["kept"]["sha256"].items():
            assert hashlib.sha256((kept / name).read_bytes()).hexdigest() == digest
        rows = np.fromfile(kept / "requests.bin", records.record_dtype("requests"))
        # What the end of the load cut short has no end, and may have a status.
        rows = rows[rows["done_ns"] != np.iinfo(np.uint64).max]
        done_ns = rows["done_ns"] + np.uint64(one["zero_ns"])
        held = (rows["status"] > 0) & (done_ns >= hold["start_ns"]) & (done_ns < hold["end_ns"])
        times_ns += (rows["done_ns"] - rows["due_ns"])[held].tolist()
    figures = found["driver"]["figures"]
    assert figures["requests"] == len(times_ns)
    times_ns.sort()
    known_s = figures["response_times_s"]
    assert (known_s["min"], known_s["max"]) == (times_ns[0] / 1e9, times_ns[-1] / 1e9)
    assert known_s["p50"] == times_ns[(len(times_ns) + 1) // 2 - 1] / 1e9
    told = json.loads(load_that_stayed.stdout)
    assert (told["connections"]["opened"], told["connections"]["refused"]) == (4, 0)
    assert told["summary"]["unfinished"] is not None
    given = levels(load_that_stayed.stdout)
    assert not labs.void_beyond(given)
    assert given["drivers_completed"] == "sound"
    assert given["hidden_stalls"] == "not_checked"


@pytest.mark.thorough
def test_check_shows_every_host_and_leaves_agents_waiting_for_the_next_lab(tmp_path: Path) -> None:
    lab = on_loopback(tmp_path)
    with lab.agents() as agents:
        first = lab.lab("host", "check", "-c", "10").end()
        agents["one"].wait_until_it_says("waiting for the next")
        second = lab.lab("host", "check", "-c", "10").end()
    assert (first.code, second.code) == (0, 0), second.said
    for name in lab.names:
        assert f"{name} (driver, {lab.addresses[name]}): Plimsoll" in first.said


def test_a_lab_and_its_hosts_may_have_addresses_of_ipv6(tmp_path: Path) -> None:
    if not Path("/proc/net/if_inet6").exists():
        pytest.skip("this machine has no IPv6")
    addresses = {"lab": "::1", "one": "::1"}
    lab = labs.LabAtWork(tmp_path, ("one",), addresses, free_port())
    lab.write()
    with lab.served() as address, lab.agents():
        ran = load(lab, address, "-c", "4", "-d", "500ms", "-R", "200").end()
    assert ran.code in {0, VOID}, ran.said
    assert rows_by_host(tmp_path / "recorded") == {"one": 100}


def test_check_names_a_host_that_does_not_reach_that_of_the_servers(tmp_path: Path) -> None:
    with in_namespaces(tmp_path, ("one", "two"), has_server=True) as lab, lab.agents():
        labs.without_way(lab, "two", "server")
        ran = lab.lab("host", "check", "-c", "10").end()
    assert ran.code == UNFIT, ran.said
    away = lab.addresses["server"]
    assert f"cannot reach {away}: No route to host (`server`, which runs the servers)" in ran.said
    assert ran.said.count("cannot reach") == 1


@pytest.mark.parametrize(
    ("redirection", "words"),
    [("< own.pem", "standard input is a file"), ("<&-", "standard input is closed")],
)
def test_credentials_that_come_from_no_pipe_are_refused_with_a_remedy(
    tmp_path: Path, redirection: str, words: str
) -> None:
    lab = on_loopback(tmp_path, ("one",))
    (tmp_path / "own.pem").write_bytes(certificates.identity(lab.certificates, "one").credentials())
    agent = ("host", "serve", "--join", f"tls://127.0.0.1:{lab.port}", "--name", "one")
    before = ("sh", "-c", f'exec "$0" "$@" {redirection}')
    ran = run(*agent, "--credentials-stdin", folder=tmp_path, before=before)
    assert ran.code == UNFIT
    assert words in ran.said
    assert "write them to a pipe that stays open" in ran.said


def test_a_host_that_does_not_join_is_named_with_what_to_start(tmp_path: Path) -> None:
    lab = on_loopback(tmp_path)
    lab.write(wait="100ms")
    with lab.served() as address:
        ran = load(lab, address).end()
    assert ran.code == UNFIT
    assert "`one`, `two` did not join" in ran.said
    assert "plimsoll host serve --join tls://127.0.0.1:" in ran.said


@pytest.mark.thorough
def test_a_second_lab_on_the_same_port_is_refused(tmp_path: Path) -> None:
    lab = on_loopback(tmp_path)
    first = lab.lab("host", "check")
    first.wait_until_it_says("waiting for")
    second = lab.lab("host", "check").end()
    first.press_ctrl_c()
    first.end()
    assert second.code == UNFIT
    assert "the lab cannot listen on" in second.said
    assert "in use" in second.said


@pytest.mark.thorough
def test_a_second_lab_on_another_port_does_not_get_agents_that_work(tmp_path: Path) -> None:
    lab = on_loopback(tmp_path)
    (tmp_path / "second").mkdir()
    second = replace(lab, folder=tmp_path / "second", port=free_port())
    shutil.copytree(lab.certificates, second.certificates)
    second.write(wait="1s")
    with lab.served() as address, lab.agents() as agents:
        running = load(lab, address, "-c", "4", "-d", "4s", "-R", "50")
        agents["two"].wait_until_it_drives()
        refused = second.lab("host", "check").end()
        ran = running.end()
    assert refused.code == UNFIT
    assert "`one`, `two` did not join" in refused.said
    assert ran.code in {0, VOID}, ran.said
    assert levels(ran.stdout)["drivers_completed"] == "sound"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (('"127.0.0.1"', '"192.0.2.1"'), "change `address` in the table `[lab]` to an address of"),
        (("[lab]", '[lab]\ncertificates = "none"'), "none --hosts FILE`"),
    ],
)
def test_a_lab_that_cannot_listen_says_what_to_change(
    tmp_path: Path, change: tuple[str, str], words: str
) -> None:
    lab = on_loopback(tmp_path)
    lab.file.write_text(lab.file.read_text("utf-8").replace(*change), "utf-8")
    ran = lab.lab("host", "check").end()
    assert ran.code == UNFIT
    assert words in ran.said


def test_an_agent_waits_while_a_lab_works_that_does_without_its_host(tmp_path: Path) -> None:
    lab = on_loopback(tmp_path)
    smaller = replace(lab, names=("one",), folder=tmp_path / "smaller")
    smaller.folder.mkdir()
    shutil.copytree(lab.certificates, smaller.certificates)
    smaller.write(wait="60s")
    waiting = smaller.lab("host", "check", "-c", "10")
    waiting.wait_until_it_says("waiting for")
    with ExitStack() as closing:
        two = lab.agent("two")
        closing.callback(labs.ended, two)
        two.wait_until_it_says("`two` is not in the file of hosts; waiting for the next one")
        closing.callback(labs.ended, lab.agent("one"))
        assert waiting.end().code == 0
        assert lab.lab("host", "check", "-c", "10").end().code == 0
        assert two.stderr.count("is not in the file of hosts") == 1


@pytest.mark.parametrize(
    ("before", "number", "words"),
    [
        ((), signal.SIGINT, "Ctrl-C ends it"),
        ((), signal.SIGTERM, "Ctrl-C ends it"),
        (("env", "--ignore-signal=INT"), signal.SIGTERM, "SIGTERM ends it"),
    ],
)
def test_an_agent_that_waits_says_what_ends_it_and_ends_without_an_error(
    tmp_path: Path, before: tuple[str, ...], number: signal.Signals, words: str
) -> None:
    lab = on_loopback(tmp_path, ("one",))
    lab.before = before
    agent = lab.agent("one")
    agent.wait_until_it_says(words)
    time.sleep(2 * RETRY_S)
    os.killpg(agent.process.pid, number)
    ran = agent.end()
    assert ran.code == 0
    assert "error" not in ran.said


def expired(lab: LabAtWork, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Certificates that were valid until yesterday."""
    folder = lab.folder / "expired"
    monkeypatch.setattr(certificates, "_BEFORE", timedelta(days=2))
    certificates.make(hosts_file.read(lab.file), folder, days=-1)
    return folder


@pytest.mark.thorough
def test_certificates_that_are_expired_end_the_agent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = on_loopback(tmp_path)
    ran = lab.agent("one", folder=expired(lab, monkeypatch)).end()
    assert ran.code == UNFIT
    assert "one.pem` expired on" in ran.said


def test_an_agent_waits_while_a_lab_with_other_certificates_works(tmp_path: Path) -> None:
    """It joins once it has the right ones, or the lab has."""
    lab = on_loopback(tmp_path, ("one",))
    folder = tmp_path / "foreign"
    certificates.make(hosts_file.read(lab.file), folder)
    waiting = lab.lab("host", "check", "-c", "10")
    with ExitStack() as closing:
        agent = lab.agent("one", folder=folder)
        closing.callback(labs.ended, agent)
        agent.wait_until_it_says("the lab's certificate is not accepted")
        agent.wait_until_it_says("copy `one.pem`, `one.key` and `ca.pem` again")
        waiting.wait_until_it_says("has other certificates")
        for name in ("one.key", "one.pem", "ca.pem"):
            shutil.copyfile(lab.certificates / name, folder / name)
        assert waiting.end().code == 0
        assert agent.stderr.count("is not accepted") == 1


def test_a_host_under_a_name_that_is_not_its_own_is_refused_on_both_sides(tmp_path: Path) -> None:
    lab = on_loopback(tmp_path)
    lab.write(wait="60s")
    waiting = lab.lab("host", "check")
    waiting.wait_until_it_says("waiting for")
    ran = lab.agent("two", certified="one").end()
    assert ran.code == UNFIT
    assert "the lab refuses this host: `two` has a certificate for `one`" in ran.said
    waiting.press_ctrl_c()
    waiting.end()


@pytest.mark.thorough
def test_an_agent_waits_until_the_lab_knows_that_the_one_before_it_is_gone(tmp_path: Path) -> None:
    lab = on_loopback(tmp_path)
    waiting = lab.lab("host", "check")
    waiting.wait_until_it_says("waiting for")
    first = lab.agent("one")
    first.wait_until_it_says("joined the lab")
    os.kill(first.process.pid, signal.SIGSTOP)
    again = lab.agent("one")
    again.wait_until_it_says("joined the lab")
    os.kill(first.process.pid, signal.SIGKILL)
    first.process.wait()
    waiting.press_ctrl_c()
    waiting.end()
    labs.ended(again)


OTHER_ANSWERS = (b"", b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\x16\x03\x01\x02\x00\x01", None)
"""What a program that is not the lab sends before it closes a connection; None for at once."""


def test_an_agent_waits_on_where_something_else_than_the_lab_listens(tmp_path: Path) -> None:
    lab = on_loopback(tmp_path, ("one",))
    with ExitStack() as closing:
        with socket.create_server(("127.0.0.1", lab.port)) as other:
            other.settimeout(30)
            agent = lab.agent("one")
            closing.callback(labs.ended, agent)
            for answer in (*OTHER_ANSWERS, b""):  # it comes again after each
                connection, _ = other.accept()
                with connection:
                    if answer is not None:
                        connection.recv(1 << 16)
                        connection.sendall(answer)
        assert lab.lab("host", "check", "-c", "10").end().code == 0


def test_an_agent_of_the_labs_machine_that_gets_the_labs_port_is_not_taken_for_another_program(
    tmp_path: Path,
) -> None:
    with in_namespaces(tmp_path, ("one",)) as lab:
        lab.addresses["one"], lab.namespaces["one"] = lab.addresses["lab"], lab.namespaces["lab"]
        shutil.rmtree(lab.certificates)
        lab.write()
        with ExitStack() as closing:
            with labs.one_port(lab, "lab", lab.port):
                agent = lab.agent("one")
                closing.callback(labs.ended, agent)
                agent.wait_until_it_says("waits for the lab")
                time.sleep(2 * RETRY_S)
            ran = lab.lab("host", "check", "-c", "10").end()
            assert ran.code == 0, ran.said
            assert "not the lab" not in agent.stderr


@pytest.mark.thorough
def test_whoever_scans_the_port_or_sends_garbage_gets_no_word_and_stops_nothing(
    tmp_path: Path,
) -> None:
    lab = on_loopback(tmp_path)
    waiting = lab.lab("host", "check", "-c", "10")
    waiting.wait_until_it_says("waiting for")
    place = ("127.0.0.1", lab.port)
    for _ in range(300):
        socket.create_connection(place).close()
    for junk in (b"", b"GET / HTTP/1.1\r\n\r\n", os.urandom(4096)):
        with socket.create_connection(place) as scanner:
            scanner.sendall(junk)
    context = ssl.create_default_context(cafile=str(lab.certificates / "ca.pem"))
    with (
        socket.create_connection(place) as plain,
        context.wrap_socket(plain, server_hostname="127.0.0.1") as nobody,
        pytest.raises(ssl.SSLError, match="required"),
    ):
        nobody.recv(1)
    with ExitStack() as scans:
        for _ in range(50):  # who begins a handshake and stays is in nobody's way
            begun = scans.enter_context(socket.create_connection(place))
            begun.sendall(b"\x16\x03\x01\x02\x00\x01")
        with lab.agents():
            assert waiting.end().code == 0


def test_ctrl_c_ends_the_load_on_every_host_and_shows_what_there_is(tmp_path: Path) -> None:
    lab = on_loopback(tmp_path)
    with lab.served() as address, lab.agents() as agents:
        running = lab.lab(
            "load", f"http://{address}/plaintext", "-c", "4", "-d", "60s", "-R", "4000"
        )
        for agent in agents.values():
            agent.wait_until_rows_are_kept()
        running.press_ctrl_c()
        ran = running.end()
        assert running.leaves_nothing()
        for agent in agents.values():
            agent.wait_until_it_says("the lab has ended; waiting for the next")
            assert len(agent.processes()) == 1, agent.processes()
    assert ran.code == INTERRUPTED, ran.said
    assert re.search(r"Interrupted: a signal ended the load after [0-9.]+ of 60 s", ran.stdout)
    assert "p99" in ran.stdout
    assert "0 failed" in ran.stdout


def test_a_host_with_too_few_ports_is_named_before_the_load(tmp_path: Path) -> None:
    with in_namespaces(tmp_path, ("one", "two")) as lab, lab.served() as address, lab.agents():
        labs.few_ports(lab, "two", 300)
        checked = lab.lab("host", "check", "-c", "200").end()
        loaded = load(lab, address, "-c", "200", "-d", "1s").end()
    for ran in (checked, loaded):
        assert ran.code == UNFIT, ran.said
        assert "has ports for 44 connections to one server, and 100 are needed" in ran.said


def test_an_engine_that_cannot_begin_ends_the_load_on_every_host(tmp_path: Path) -> None:
    lab = on_loopback(tmp_path)
    with small_disk(tmp_path / "small", 2) as disk, lab.served() as address:
        lab.environments["two"] = {"TMPDIR": str(disk)}
        lab.write(lead="20s")
        with lab.agents() as agents:
            agents["two"].wait_until_it_says("waits for the lab")
            running = load(lab, address, "-c", "4", "-d", "60s", "-R", "4000")
            agents["two"].wait_until_it_says("joined")
            with suppress(OSError):
                (disk / "full").write_bytes(bytes(4 << 20))
            ran = running.end()
    # The disk is full before the lab looks at it, or after.
    assert ran.code in {UNFIT, StorageError.exit_code}, ran.said
    assert "`two`: no space left" in ran.said or "`two`: has 0 B of free space" in ran.said
    assert "start its agent with `TMPDIR` on a larger disk" in ran.said


def test_an_agent_whose_disk_fills_up_under_load_is_lost_with_its_folder(tmp_path: Path) -> None:
    lab = on_loopback(tmp_path)
    with small_disk(tmp_path / "small", 1) as disk, lab.served() as address:
        lab.environments["two"] = {"TMPDIR": str(disk)}
        with lab.agents():
            ran = load(lab, address, "-c", "4", "-d", "4s", "-R", "16000").end()
    assert ran.code == VOID, ran.said
    said = said_of(ran.stdout, "drivers_completed")
    assert f"no space left for results in `{disk}" in said
    assert "has 0 B free" in said
    assert set(rows_by_host(tmp_path / "recorded")) == {"one"}


def test_check_refuses_a_host_without_disk_space_as_a_load_does(tmp_path: Path) -> None:
    lab = on_loopback(tmp_path)
    with small_disk(tmp_path / "agent-two-None", 1) as home:
        (home / "full").write_bytes(bytes(900_000))
        with lab.served() as address, lab.agents():
            checked = lab.lab("host", "check", "-c", "4").end()
            loaded = load(lab, address, "-c", "4", "-d", "300ms").end()
    assert checked.code == loaded.code == UNFIT, checked.said + loaded.said
    for ran in (checked, loaded):
        assert "kB of free space for rows" in ran.said


@pytest.mark.thorough
def test_rows_stay_on_their_hosts_where_the_lab_has_no_room_for_them(tmp_path: Path) -> None:
    lab = on_loopback(tmp_path)
    with small_disk(tmp_path / "small", 2) as disk, lab.served() as address, lab.agents():
        record = ("--record", disk / "recorded")
        options = ("-c", "4", "-d", "3s", "-R", "10000", *record)
        ran = lab.lab("load", f"http://{address}/plaintext", *options).end()
        listed = lab.lab("host", "rows", disk / "recorded", "--list").end()
        found = recorded(disk / "recorded")
    assert ran.code in {0, VOID}, ran.said
    assert re.search(
        rf"`{disk}\S*` cannot be written: No space left on device: rows stay", ran.said
    )
    assert sum(one["kept"]["requests"] for one in found["hosts"]) == 30_000
    assert listed.code == 0, listed.said
    assert listed.said.count("there: ") == 2


def test_an_agent_that_is_killed_takes_its_engine_along_and_voids_the_load(tmp_path: Path) -> None:
    """Its loss is announced while the other goes on."""
    lab = on_loopback(tmp_path)
    with lab.served() as address, lab.agents() as agents:
        running = told_load(lab, address, "-c", "4", "-d", "12s", "-R", "4000")
        lost = agents["two"]
        lost.wait_until_rows_are_kept()
        os.kill(lost.process.pid, signal.SIGKILL)
        assert eventually(lambda: not lost.processes()), lost.processes()
        running.wait_until_it_says("`two` disconnected, between ")
        running.wait_until_it_says(" 2 of 4 connections open")
        ran = running.end()
    assert ran.code == VOID, ran.said
    assert "`two` was lost" in ran.said
    assert "% of the requested load ran" in ran.said
    assert set(rows_by_host(tmp_path / "recorded")) == {"one"}


@pytest.mark.thorough
def test_a_load_generator_that_stands_still_for_a_while_is_named(tmp_path: Path) -> None:
    lab = on_loopback(tmp_path)
    with lab.served() as address, lab.agents() as agents:
        running = load(lab, address, "-c", "4", "-d", "10s", "-R", "8000")
        agents["two"].wait_until_rows_are_kept()
        engine = agents["two"].engine()
        os.kill(engine, signal.SIGSTOP)
        time.sleep(1.0)
        os.kill(engine, signal.SIGCONT)
        ran = running.end()
    assert ran.code == VOID, ran.said
    assert levels(ran.stdout)["drivers_completed"] == "sound", "its rows are there"
    assert "load generator of `two` stalled for" in said_of(ran.stdout, "driver_uninterrupted")


@pytest.mark.thorough
def test_a_load_generator_that_is_slower_than_the_others_is_named(tmp_path: Path) -> None:
    lab = on_loopback(tmp_path)
    with lab.served() as address, lab.agents() as agents:
        running = load(lab, address, "-c", "4", "-d", "12s", "-R", "4000")
        agents["two"].wait_until_rows_are_kept()
        engine = agents["two"].engine()
        for _ in range(15):  # it has half of its time
            os.kill(engine, signal.SIGSTOP)
            time.sleep(0.1)
            os.kill(engine, signal.SIGCONT)
            time.sleep(0.1)
        ran = running.end()
    assert ran.code == VOID, ran.said
    assert levels(ran.stdout)["drivers_completed"] == "sound", "its rows are there"
    assert levels(ran.stdout)["driver_uninterrupted"] in {"doubtful", "void"}
    assert "load generator of `two` stalled for" in said_of(ran.stdout, "driver_uninterrupted")


@pytest.mark.thorough
def test_an_agent_that_is_frozen_is_lost_within_seconds(tmp_path: Path) -> None:
    lab = on_loopback(tmp_path)
    with lab.served() as address, lab.agents() as agents:
        running = load(lab, address, "-c", "4", "-d", "20s", "-R", "200")
        frozen = agents["two"]
        frozen.wait_until_it_drives()
        pids = [int(one.rpartition(" ")[2]) for one in frozen.processes()]
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        ran = running.end()
        for pid in pids:
            os.kill(pid, signal.SIGCONT)
    assert ran.code == VOID, ran.said
    said = said_of(ran.stdout, "drivers_completed")
    assert "`two` did not respond for 8 s" in said
    assert set(rows_by_host(tmp_path / "recorded")) == {"one"}
    assert levels(ran.stdout)["trial_completed"] == "sound", "the other ran to its end"


@pytest.mark.thorough
def test_a_lab_that_is_killed_leaves_no_load_behind(tmp_path: Path) -> None:
    lab = on_loopback(tmp_path)
    with lab.served() as address, lab.agents() as agents:
        running = load(lab, address, "-c", "4", "-d", "120s", "-R", "50")
        for agent in agents.values():
            agent.wait_until_it_drives()
        os.kill(running.process.pid, signal.SIGKILL)
        for agent in agents.values():
            agent.wait_until_it_says("waiting for the next")
            assert len(agent.processes()) == 1, agent.processes()
        running.process.wait()


@pytest.mark.thorough
def test_three_drivers_in_namespaces_onto_one_server(tmp_path: Path) -> None:
    with in_namespaces(tmp_path) as lab, lab.served() as address, lab.agents():
        ran = load(lab, address, "-c", "90", "-d", "2s").end()
        assert ran.code in {0, VOID}, ran.said
        found = recorded(tmp_path / "recorded")
        counted = {one["host"]: sum(one["driver"]["outcomes"].values()) for one in found["hosts"]}
        assert rows_by_host(tmp_path / "recorded") == counted
        assert [one["driver"]["opened"] for one in found["hosts"]] == [30, 30, 30]
        assert [one["link"]["hops"] for one in found["hosts"]] == [1, 1, 1]
        assert all(one["link"]["rtt_s"] > 0 for one in found["hosts"])
        given = levels(ran.stdout)
        assert not labs.void_beyond(given)
        assert given["conservation"] == given["drivers_completed"] == "sound"


@pytest.mark.thorough
@pytest.mark.parametrize(("connections", "drivers", "servers"), [(9_000, 3, 1), (60_000, 6, 4)])
def test_many_connections_from_several_source_addresses(
    tmp_path: Path, connections: int, drivers: int, servers: int
) -> None:
    held = max(connections // drivers, connections // servers)
    if resource.getrlimit(resource.RLIMIT_NOFILE)[1] < held + 1000:
        pytest.skip("a process may not open so many files here")
    names = [f"driver{number}" for number in range(drivers)]
    with (
        in_namespaces(tmp_path, names) as lab,
        lab.served_by_several(servers) as address,
        lab.agents(),
    ):
        stages = ("--ramp", "4s", "-d", "2s", "--timeout", "60s")
        ran = load(lab, address, "-c", connections, *stages).end()
        assert ran.code in {0, VOID}, ran.said
        found = recorded(tmp_path / "recorded")
        counted = {one["host"]: sum(one["driver"]["outcomes"].values()) for one in found["hosts"]}
        assert rows_by_host(tmp_path / "recorded") == counted
        assert sum(one["driver"]["opened"] for one in found["hosts"]) >= connections
        given = levels(ran.stdout)
        assert not labs.void_beyond(given)
        assert given["conservation"] == given["drivers_completed"] == "sound"


def conserved(lab: LabAtWork, address: str, *faults: str) -> Ran:
    """A load that loses no row, whatever happens on the way, and is void for these checks alone."""
    ran = load(lab, address, "-c", "60", "-d", "3s").end()
    assert ran.code in {0, VOID}, ran.said
    found = recorded(lab.folder / "recorded")
    counted = {one["host"]: sum(one["driver"]["outcomes"].values()) for one in found["hosts"]}
    assert rows_by_host(lab.folder / "recorded") == counted
    given = levels(ran.stdout)
    assert not labs.void_beyond(given, *faults)
    assert given["conservation"] == given["drivers_completed"] == "sound"
    return ran


@pytest.mark.thorough
def test_a_host_behind_a_slow_link_that_loses_packets_is_named(tmp_path: Path) -> None:
    with in_namespaces(tmp_path) as lab, lab.served() as address, lab.agents():
        labs.limit(lab, "three", "2mbit")
        ran = conserved(lab, address, "segments_lost", "link_headroom")
        given = levels(ran.stdout)
        assert given["hosts_agree"] == "doubtful"
        assert "`three`" in said_of(ran.stdout, "hosts_agree")
        busy = {given["undisturbed"], given["driver_uninterrupted"]}
        assert given["evenly_served"] == "not_checked" or "void" in busy, "it has one cause"


@pytest.mark.thorough
def test_a_host_that_loses_packets_is_named_and_no_request_is_lost(tmp_path: Path) -> None:
    with in_namespaces(tmp_path) as lab, lab.served() as address, lab.agents():
        labs.lossy(lab, "three", 20)
        ran = conserved(lab, address, "segments_lost", "evenly_served")
        given = levels(ran.stdout)
        assert given["segments_lost"] == "doubtful"
        assert "segments of `three` were retransmitted" in said_of(ran.stdout, "segments_lost")


@pytest.mark.thorough
def test_a_host_behind_a_long_link_has_its_delay_in_latency_and_clock(tmp_path: Path) -> None:
    with (
        in_namespaces(tmp_path) as lab,
        labs.delayed(lab, "two", DELAY_S),
        lab.served() as address,
        lab.agents(),
    ):
        ran = load(lab, address, "-c", "6", "-d", "2s", "-R", "150").end()
        assert ran.code in {0, VOID}, ran.said
        found = recorded(tmp_path / "recorded")["hosts"]
        two = found[1]
        assert two["link"]["hops"] == 2
        assert two["link"]["rtt_s"] >= 2 * DELAY_S
        assert two["clock"]["bound_ns"] >= DELAY_S * 1e9
        path = tmp_path / "recorded" / "trials" / "load" / "requests.parquet"
        rows = pq.read_table(path, columns=["host", "sent_ns", "done_ns"]).to_pylist()
        least_s = {
            one["host"]: min(
                (row["done_ns"] - row["sent_ns"]) / 1e9
                for row in rows
                if row["host"] == one["host"] and row["done_ns"] is not None
            )
            for one in found
        }
        assert least_s["two"] >= 2 * DELAY_S > least_s["one"]
        given = levels(ran.stdout)
        assert not labs.void_beyond(given)
        assert given["conservation"] == given["drivers_completed"] == "sound"
        assert {check: given[check] for check in ("clocks_agree", "hosts_agree")} == {
            "clocks_agree": "doubtful",
            "hosts_agree": "doubtful",
        }
        assert "`two`" in said_of(ran.stdout, "hosts_agree")


@pytest.mark.thorough
def test_hosts_whose_clocks_have_nothing_in_common_are_one_load(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("time namespaces need root")
    lab = on_loopback(tmp_path)
    lab.ahead_s["two"] = 100_000
    # With libfaketime 0.9.10 who sleeps until a time of the monotonic clock gets an error.
    wall_clock = preloads.preloaded("jumping_clock", tmp_path)
    lab.environments["two"] = {**wall_clock, "AHEAD_S": "600"}
    with lab.served() as address, lab.agents():
        checked = lab.lab("host", "check", "-c", "10").end()
        ran = load(lab, address, "-c", "4", "-d", "800ms", "-R", "500").end()
    assert checked.code == 0, checked.said
    assert "its wall clock is" in checked.said
    assert ran.code in {0, VOID}, ran.said
    one, two = recorded(tmp_path / "recorded")["hosts"]
    apart_s = (two["clock"]["offset_ns"] - one["clock"]["offset_ns"]) / 1e9
    assert apart_s == pytest.approx(100_000, abs=1)
    rows = pq.read_table(tmp_path / "recorded" / "trials" / "load" / "requests.parquet")
    assert rows_by_host(tmp_path / "recorded") == {"one": 200, "two": 200}
    assert all(0 <= at_ns < 60e9 for at_ns in rows["due_ns"].to_pylist())
    given = levels(ran.stdout)
    assert not labs.void_beyond(given)
    assert given["conservation"] == "sound"


@pytest.mark.thorough
def test_a_link_that_is_cut_while_rows_are_copied_costs_no_row(tmp_path: Path) -> None:
    with (
        in_namespaces(tmp_path, ("one", "two")) as lab,
        lab.served() as address,
        lab.agents() as agents,
    ):
        labs.limit(lab, "lab", "4mbit")
        running = load(lab, address, "-c", "8", "-d", "2s", "-R", "20000")
        copies = tmp_path / "recorded"
        assert eventually(lambda: any(one.is_dir() for one in copies.rglob("two")), 240.0)
        labs.cut(lab, "two")
        agents["two"].wait_until_it_says("waiting for the next")
        labs.mend(lab, "two")
        ran = running.end()
        assert ran.code in {0, VOID}, ran.said
        found = recorded(tmp_path / "recorded")
        assert [one["error"] for one in found["hosts"]] == ["", ""]
        counted = {one["host"]: sum(one["driver"]["outcomes"].values()) for one in found["hosts"]}
        assert rows_by_host(tmp_path / "recorded") == counted
        given = levels(ran.stdout)
        assert not labs.void_beyond(given)
        assert given["conservation"] == given["drivers_completed"] == "sound"


@pytest.mark.thorough
def test_a_link_that_is_cut_loses_its_host_within_seconds(tmp_path: Path) -> None:
    with in_namespaces(tmp_path) as lab, lab.served() as address, lab.agents() as agents:
        running = load(lab, address, "-c", "6", "-d", "25s", "-R", "60")
        agents["three"].wait_until_it_drives()
        labs.cut(lab, "three")
        ran = running.end()
        assert ran.code == VOID, ran.said
        assert labs.void_beyond(levels(ran.stdout)) == {"drivers_completed"}
        assert "`three` was lost" in said_of(ran.stdout, "drivers_completed")
        assert set(rows_by_host(tmp_path / "recorded")) == {"one", "two"}
        assert levels(ran.stdout)["trial_completed"] == "sound", "the others ran to their end"


def test_rows_that_stayed_are_fetched_and_every_check_is_judged(kept: Kept) -> None:
    results = kept.results
    before, folders = recorded(results), kept.folders
    usage = pq.read_table(results / "trials" / "load" / "usage.parquet")
    without, said = kept.judged()
    assert STAYED in said
    exported = run("export", results, "--to", "exported", folder=results.parent)
    assert exported.code == StorageError.exit_code, exported.said
    assert "the rows of `load` are on `one`, `two`" in exported.said
    assert f"fetch them with `plimsoll host rows {results} " in exported.said
    assert not (results.parent / "exported").exists()
    listed = kept.fetched("--list")
    assert not (results / "fetched").exists()
    ran = kept.fetched()
    again = kept.fetched()
    assert (listed.code, ran.code, again.code) == (0, 0, 0), ran.said
    for host, folder in zip(kept.lab.names, folders, strict=True):
        assert f"load: {host}: 800 requests, " in listed.said
        assert f"there: {folder}" in listed.said
        assert (folder / "requests.bin").exists(), "rows on the hosts are not removed"
    assert "load: fetched 1,600 rows" in ran.said
    assert "stayed on hosts" in again.said
    assert rows_by_host(results) == {"one": 800, "two": 800}
    found = recorded(results)
    assert found["driver"]["outcomes"] == before["driver"]["outcomes"]
    given, said = kept.judged()
    assert STAYED not in said
    assert given["conservation"] == given["drivers_completed"] == "sound"
    assert (without["hosts_agree"], without["evenly_served"]) == ("not_checked", "not_checked")
    for check in ("hosts_agree", "evenly_served"):
        # Hosts that differ in so short a load may be a matter of its length, which is judged too.
        assert given[check] != "not_checked" or said_of(said, check).startswith("See "), said
    assert not (results / "fetched").exists()
    assert pq.read_table(results / "trials" / "load" / "usage.parquet").equals(usage)


def test_a_copy_of_rows_that_was_interrupted_goes_on(kept: Kept) -> None:
    here = kept.results / "fetched" / "load"
    for host, folder in zip(kept.lab.names, kept.folders, strict=True):
        (here / host).mkdir(parents=True)
        whole = (folder / "requests.bin").read_bytes()
        (here / host / "requests.bin").write_bytes(whole[:1000])
    with changed(kept.folders[1] / "requests.bin", bytes(1000)):  # what is here is not read again
        listed, ran = kept.fetched("--list"), kept.fetched()
    assert " kB of them copied: " in listed.said
    assert ran.code == 0, ran.said
    assert rows_by_host(kept.results) == {"one": 800, "two": 800}


def interrupted_copy(lab: LabAtWork, agents: Iterable[Running], *, is_whole: bool) -> Any:
    """A load whose copy of rows is interrupted, and before it perhaps the load as well."""
    duration_s = 2 if is_whole else 60
    options = ("-c", "4", "-d", f"{duration_s}s", "-R", "8000")
    with lab.served() as address:
        running = told_load(lab, address, *options)
        if not is_whole:
            for agent in agents:
                agent.wait_until_rows_are_kept()
            running.press_ctrl_c()
        copied = lab.folder / "recorded"
        running.wait_until(lambda: any(one.stat().st_size for one in copied.rglob("requests.bin")))
        running.press_ctrl_c()
        return running.end()


@pytest.mark.parametrize("is_whole", [True, pytest.param(False, marks=pytest.mark.thorough)])
def test_a_signal_while_rows_are_copied_leaves_them_on_their_hosts(
    tmp_path: Path, *, is_whole: bool
) -> None:
    with in_namespaces(tmp_path, ("one", "two")) as lab, lab.agents() as agents:
        labs.limit(lab, "lab", "2mbit")
        ran = interrupted_copy(lab, agents.values(), is_whole=is_whole)
        assert ran.code == INTERRUPTED, ran.said
        assert "a signal ended the copy of rows: rows stay on their hosts" in ran.said
        results = tmp_path / "recorded"
        assert f"`plimsoll host rows {results} --hosts {lab.file}` fetches them" in ran.said
        found = recorded(results)
        assert found["ending"]["kind"] == ("completed" if is_whole else "Interrupted")
        assert found["driver"]["figures"]["requests"]
        assert any((results / "fetched").rglob("requests.bin")), "what was copied is not lost"
        labs.unlimited(lab, "lab")
        fetched = rows_fetched(lab, results)
        assert fetched.code == 0, fetched.said
        counted = {one["host"]: sum(one["driver"]["outcomes"].values()) for one in found["hosts"]}
        assert rows_by_host(results) == counted


@pytest.mark.parametrize("has_more", [False, True])
def test_a_signal_after_the_copy_waits_for_figures_and_a_second_one_names_the_folder(
    tmp_path: Path, waiting: tuple[LabAtWork, str], *, has_more: bool
) -> None:
    running = told_load(*waiting, "-c", "4", "-d", "1s", into=tmp_path)
    results = tmp_path / "recorded"
    running.wait_until((results / "trials" / "load" / "trial.json").exists)
    running.press_ctrl_c()
    while has_more and running.process.poll() is None:
        running.press_ctrl_c()
        time.sleep(0.05)
    ran = running.end()
    assert ran.code == INTERRUPTED, ran.said
    if has_more:
        assert f"the load is kept in `{results}`" in ran.said
        assert f"`plimsoll report {results}` shows it" in ran.said
    else:
        assert "throughput" in ran.stdout


def test_rows_that_find_no_room_on_their_host_are_named_kept_and_fetched(tmp_path: Path) -> None:
    lab = on_loopback(tmp_path)
    home = tmp_path / "agent-two-None"
    home.mkdir()
    with small_disk(home / "plimsoll-rows", 1):
        with lab.served() as address, lab.agents():
            options = ("-c", "4", "-d", "3s", "-R", "16000", "--keep-rows", "remote")
            ran = told_load(lab, address, *options).end()
        assert ran.code in {0, VOID}, ran.said
        stayed = Kept(lab, tmp_path / "recorded", ran.stdout)
        one, two = stayed.folders
        assert f"`two`: `{home / 'plimsoll-rows'}/" in ran.said
        assert f"No space left on device: its rows are in `{two}`" in ran.said
        assert (one.parent.name, two.parent) == ("plimsoll-rows", home)
        with lab.agents():
            fetched = stayed.fetched()
    assert fetched.code == 0, fetched.said
    assert rows_by_host(tmp_path / "recorded") == {"one": 24_000, "two": 24_000}


def test_rows_that_changed_on_their_host_are_refused_and_others_are_fetched(
    tmp_path: Path, kept: Kept
) -> None:
    before, changing = recorded(kept.results), kept.folders[1]
    second = kept.results / "trials" / "second"
    shutil.copytree(kept.results / "trials" / "load", second)
    shutil.copytree(changing, tmp_path / "unchanged")
    text = json.dumps({**before, "trial": "second"})
    (second / "trial.json").write_text(
        text.replace(str(changing), f"{tmp_path}/unchanged"), "utf-8"
    )
    digests.keep(second)
    with changed(changing / "requests.bin", bytes(range(100))):
        ran = kept.fetched()
    assert ran.code == UNFIT, ran.said
    assert "`requests.bin` of `two` arrived damaged" in ran.said
    assert f"1 trial without rows: those of `load` on `two` are changed: `{changing}`" in ran.said
    assert recorded(kept.results) == before
    assert not (kept.results / "fetched" / "load" / "two" / "requests.bin").exists()
    assert "second: fetched 1,600 rows" in ran.said
    assert pq.read_table(second / "requests.parquet").num_rows == 1600


def test_rows_that_are_gone_are_named_until_their_new_place_is(tmp_path: Path, kept: Kept) -> None:
    gone = kept.folders[0]
    gone.rename(tmp_path / "elsewhere")
    ran = kept.fetched()
    (tmp_path / "elsewhere").rename(gone)
    assert ran.code == UNFIT
    assert f"those of `load` on `one` are gone: `{gone}`" in ran.said
    assert "`--rows`" in ran.said
    assert kept.fetched().code == 0


def test_a_file_of_other_hosts_is_refused_before_anything_listens(
    tmp_path: Path, kept: Kept
) -> None:
    other = replace(kept.lab, folder=tmp_path)
    other.file.write_text(kept.lab.file.read_text("utf-8").replace('"two"', '"other"'), "utf-8")
    ran = replace(kept, lab=other).fetched()
    assert ran.code == InputError.exit_code
    assert "has no host `two`" in ran.said
