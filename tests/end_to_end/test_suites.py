"""Suites that others wrote find nothing wrong with the reference server."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import kosoku
import pytest

import reference_servers

pytestmark = pytest.mark.timeout(300)

SSLYZE = "sslyze==6.3.1"
"""It needs an older `cryptography` than Plimsoll does, so it gets an environment of its own."""

H2SPEC = "github.com/summerwind/h2spec/cmd/h2spec"
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


@pytest.fixture(scope="module")
def h2spec(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program, from the Go module proxy; Go keeps what it has built for the next time."""
    if shutil.which("go") is None:
        pytest.skip("`go` is not on the PATH: h2spec cannot be built")
    program = tmp_path_factory.mktemp("h2spec") / "h2spec"
    command = ("go", "build", "-mod=readonly", "-o", str(program), H2SPEC)
    subprocess.run(command, cwd=MODULE, check=True, capture_output=True, timeout=280)
    return program


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
