"""Suites that others wrote find nothing wrong with the reference server, nor with our clients."""

from __future__ import annotations

import asyncio
import html
import json
import random
import re
import shutil
import subprocess
import sys
import threading
import time
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from typing import IO, Any, cast
from urllib.request import urlopen

import kosoku
import pytest

import reference_servers
from plimsoll import _engine, machine
from plimsoll.processes.ports import free_port
from workbench import engine

pytestmark = pytest.mark.timeout(300)

TIMEOUT_S = 20.0

NO_CODE = (1005).to_bytes(2)
"""How a close frame without a code is read."""

SSLYZE = "sslyze==6.3.1"
"""It needs an older `cryptography` than Plimsoll does, so it gets an environment of its own."""

H2SPEC = "github.com/summerwind/h2spec/cmd/"
MODULE = Path(__file__).with_name("h2spec")
"""Its `go.mod` pins the version and all that it needs."""

BESIDE_HTTP1 = "http2/3.5 Sends invalid connection preface"
"""Without TLS the port serves HTTP/1.1 as well, which answers 400 before it closes."""

COMPRESSED = ("12", "13")
"""Autobahn's cases of compression, which the reference server does not choose."""

LARGE = ("9",)
"""Its cases of large and many messages."""

VERSIONS = ("tls_1_2", "tls_1_3")
"""Versions of TLS that are served."""


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """Files of a certificate for loopback, and of its key."""
    return reference_servers.certificate(tmp_path_factory.mktemp("certificate"))


def built(name: str, folder: Path) -> Path:
    """A program of h2spec, from the Go module proxy; Go keeps what it has built."""
    if shutil.which("go") is None:
        pytest.skip("`go` is not on the PATH: h2spec cannot be built")
    program = folder / name
    command = ("go", "build", "-mod=readonly", "-o", str(program), H2SPEC + name)
    subprocess.run(command, cwd=MODULE, check=True, capture_output=True, timeout=280)
    return program


@pytest.fixture(scope="module")
def h2spec(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Asks a server."""
    return built("h2spec", tmp_path_factory.mktemp("h2spec"))


def wrong_by_h2spec(h2spec: Path, address: str, folder: Path, *options: str) -> list[str]:
    """Cases of h2spec that did not pass."""
    host, _, port = address.rpartition(":")
    report = folder / "h2spec.xml"
    place = ("-h", host, "-p", port, "-P", "/2048", "--timeout", "20")
    command = [str(h2spec), "--strict", *place, "--junit-report", str(report), *options]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=280, check=False)
    assert report.exists(), ran.stdout + ran.stderr
    cases = [*ET.parse(report).iter("testcase")]  # noqa: S314 - h2spec wrote it
    assert len(cases) > 140
    return [f"{case.get('package')} {case.get('classname')}" for case in cases if len(case)]


def test_h2spec_finds_nothing_wrong_without_tls(h2spec: Path, tmp_path: Path) -> None:
    with reference_servers.reference() as address:
        assert wrong_by_h2spec(h2spec, address, tmp_path) == [BESIDE_HTTP1]


def test_h2spec_finds_nothing_wrong_by_tls(
    h2spec: Path, certificate: tuple[str, str], tmp_path: Path
) -> None:
    pem, key = certificate
    with reference_servers.reference("--tls-cert", pem, "--tls-key", key) as address:
        assert wrong_by_h2spec(h2spec, address, tmp_path, "--tls", "--insecure") == []


class CasesForClients:
    """h2specd, which has a port for each of its cases, and says how each connection ended."""

    def __init__(self, program: Path) -> None:
        self._found: dict[str, str] = {}
        self._said = threading.Condition()
        first, report = random.randrange(20_000, 30_000), free_port()
        place = ("--host", "127.0.0.1", "--port", str(report), "--from-port", str(first))
        command = [str(program), *place, "--timeout", "20"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()
        self.ports = self._read_ports(f"http://127.0.0.1:{report}/")

    def _read_ports(self, page: str) -> dict[str, int]:
        """The port of each case, by its description; none if another program has one of them."""
        while self.process.poll() is None:
            with suppress(OSError), urlopen(page, timeout=20) as response:
                shown = response.read().decode()
                cases = re.findall(r'href="http://127.0.0.1:(\d+)/".*?</a>(.*?)</div>', shown)
                return {html.unescape(case): int(port) for port, case in cases}
            time.sleep(0.05)
        return {}

    def _listen(self) -> None:
        with cast("IO[str]", self.process.stdout) as said:
            for line in said:
                self._take(line)

    def _take(self, line: str) -> None:
        if found := re.match(r"\s*([✔×]) \d+: (.*)", line):
            with self._said:
                self._found.setdefault(found[2], found[1])
                self._said.notify_all()

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        self._listener.join()

    def result(self, case: str) -> str:
        """How the first connection of a case ended."""
        with self._said:
            assert self._said.wait_for(lambda: case in self._found, timeout=60), case
            return self._found[case]


def cases_for_clients(program: Path) -> CasesForClients:
    """h2specd on ports that are free."""
    cases = CasesForClients(program)
    for _ in range(9):
        if cases.ports:
            break
        cases.close()
        cases = CasesForClients(program)
    return cases


def ends_well(cases: CasesForClients, case: str, folder: Path) -> bool:
    """Whether a case is content with a load of the engine."""
    into = folder / str(cases.ports[case])
    into.mkdir()
    address = f"127.0.0.1:{cases.ports[case]}"
    job = engine.DriverJob(
        address, into, machine.allowed_cores()[:1], 1, 60, record=False, streams=1
    )
    with subprocess.Popen(engine.command(job), stdout=subprocess.DEVNULL) as load:
        try:
            return cases.result(case) == "✔"
        finally:
            load.terminate()


def test_h2specd_finds_nothing_wrong_with_the_engine(
    tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    program = built("h2specd", tmp_path_factory.mktemp("h2specd"))
    with closing(cases_for_clients(program)) as cases, ThreadPoolExecutor(4) as pool:
        assert len(cases.ports) > 50
        ended = pool.map(lambda case: ends_well(cases, case, tmp_path), cases.ports)
        wrong = [case for case, is_right in zip(cases.ports, ended, strict=True) if not is_right]
    assert wrong == []


async def _wrong_by_autobahn(address: str, left_out: Sequence[str]) -> list[str]:
    """Cases that ended in another way than expected; informational ones have no right or wrong."""
    results = await kosoku.run_fuzzingclient(
        f"ws://{address}/echo", exclude_cases=[f"{group}.*" for group in left_out], concurrency=4
    )
    assert results
    right = ("OK", "INFORMATIONAL")
    return [
        f"{one.case_id}: {one.behavior.value}, {one.behavior_close.value}"
        for one in results
        if one.behavior.value not in right or one.behavior_close.value not in right
    ]


def test_autobahn_finds_nothing_wrong() -> None:
    with reference_servers.reference() as address:
        left_out = (*COMPRESSED, *LARGE)
        assert asyncio.run(_wrong_by_autobahn(address, left_out)) == []


@pytest.mark.thorough
def test_autobahn_finds_nothing_wrong_with_large_and_many_messages() -> None:
    with reference_servers.reference() as address:
        left_out = (*COMPRESSED, *map(str, (*range(1, 8), 10)))
        assert asyncio.run(_wrong_by_autobahn(address, left_out)) == []


def echo(address: str, target: str) -> bytes:
    """Returns all messages of a connection until it ends; gives the last text."""
    connection = _engine.Connection(address, TIMEOUT_S)
    head = f"GET {target} HTTP/1.1\r\nHost: {address}\r\n\r\n"
    assert connection.upgrade(head.encode(), TIMEOUT_S) == 101
    text = b""
    with suppress(_engine.NoResponse):
        while True:
            kind, payload = connection.next_message(TIMEOUT_S)
            if kind == "ping":
                connection.send_frame("pong", payload, True, TIMEOUT_S)
            elif kind == "close":
                code = b"" if payload == NO_CODE else payload
                connection.send_frame("close", code, True, TIMEOUT_S)
            elif kind != "pong":
                text = payload if kind == "text" else text
                connection.send_frame(kind, payload, True, TIMEOUT_S)
    return text


async def _wrong_with_the_client() -> list[str]:
    """Cases of Autobahn that are not content with our reader of frames."""
    left_out = [f"{group}.*" for group in (*COMPRESSED, *LARGE)]
    results = list[Any]()
    async with kosoku.run_fuzzingserver(exclude_cases=left_out, port=0) as server:
        address = f"{server.address}:{server.port}"
        count = int(await asyncio.to_thread(echo, address, "/getCaseCount"))
        cases = (f"/runCase?case={case}&agent=plimsoll" for case in range(1, count + 1))
        await asyncio.gather(*(asyncio.to_thread(echo, address, case) for case in cases))
        await asyncio.to_thread(echo, address, "/updateReports?agent=plimsoll")
        try:
            results = await server.get_result()
        except kosoku.FailureError as failure:
            results = failure.results
    assert len(results) > 200
    return [one.case_id for one in results if not one.passed]


def test_autobahn_finds_nothing_wrong_with_the_client() -> None:
    assert asyncio.run(_wrong_with_the_client()) == []


@pytest.fixture(scope="module")
def scanned(
    certificate: tuple[str, str], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Any]:
    """What sslyze found, by the name of each scan."""
    folder = tmp_path_factory.mktemp("sslyze")
    subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True, timeout=120)
    python = str(folder / "venv" / "bin" / "python")
    install = (python, "-m", "pip", "install", "--quiet", SSLYZE)
    if subprocess.run(install, timeout=280, check=False).returncode:
        pytest.skip(f"`{SSLYZE}` cannot be installed")
    report, (pem, key) = folder / "found.json", certificate
    with reference_servers.reference("--tls-cert", pem, "--tls-key", key) as address:
        command = (python, "-m", "sslyze", f"--json_out={report}", address)
        ran = subprocess.run(command, capture_output=True, text=True, timeout=280, check=False)
    assert report.exists(), ran.stdout + ran.stderr
    (server,) = json.loads(report.read_text())["server_scan_results"]
    found = server["scan_result"]
    assert not [name for name, one in found.items() if one["status"] == "ERROR"]
    return {name: one["result"] for name, one in found.items() if one["result"] is not None}


@pytest.mark.thorough
def test_sslyze_finds_safe_versions_and_ciphers_of_tls_only(scanned: dict[str, Any]) -> None:
    accepted = {
        scan.removesuffix("_cipher_suites"): [
            one["cipher_suite"]["name"] for one in found["accepted_cipher_suites"]
        ]
        for scan, found in scanned.items()
        if scan.endswith("_cipher_suites")
    }
    assert sorted(version for version, suites in accepted.items() if suites) == [*VERSIONS]
    assert all(
        "_GCM_" in one or "CHACHA20" in one for suites in accepted.values() for one in suites
    )
    assert all(one.startswith("TLS_ECDHE_") for one in accepted["tls_1_2"])


@pytest.mark.thorough
def test_sslyze_finds_no_known_weakness(scanned: dict[str, Any]) -> None:
    assert not scanned["heartbleed"]["is_vulnerable_to_heartbleed"]
    assert not scanned["openssl_ccs_injection"]["is_vulnerable_to_ccs_injection"]
    assert not scanned["tls_compression"]["supports_compression"]
    assert not scanned["session_renegotiation"]["is_vulnerable_to_client_renegotiation_dos"]
    assert "NOT_VULNERABLE" in scanned["robot"]["robot_result"]
