"""`plimsoll load https://…`: what is measured by TLS, and each mistake in one sentence."""

from __future__ import annotations

import json
import os
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import plimsoll
from command_line import Ran, run
from labs import on_loopback

pytestmark = pytest.mark.timeout(300)

KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
LOOPBACK = "DNS:localhost,IP:127.0.0.1"


@dataclass(frozen=True)
class Certificates:
    """An authority in `ca.pem`, and certificates that it has signed."""

    folder: Path

    @property
    def ca(self) -> Path:
        return self.folder / "ca.pem"

    def signed(self, name: str, *, of: str = LOOPBACK, days: str = "3650") -> tuple[Path, Path]:
        """Files of a certificate and of its key."""
        file = self.folder / name
        names = file.with_suffix(".names")
        names.write_text(f"subjectAltName={of}\n", "utf-8")
        _openssl(
            "req", *KEY, "-subj", f"/CN={name}", "-keyout", f"{file}.key", "-out", f"{file}.csr"
        )
        _openssl(
            *("x509", "-req", "-in", f"{file}.csr", "-CA", str(self.ca)),
            *("-CAkey", str(self.folder / "ca.key"), "-CAcreateserial", "-days", days),
            *("-extfile", str(names), "-out", f"{file}.pem"),
        )
        return Path(f"{file}.pem"), Path(f"{file}.key")


def _openssl(*arguments: str) -> None:
    subprocess.run(["openssl", *arguments], check=True, capture_output=True)


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    made = Certificates(tmp_path_factory.mktemp("certificates"))
    constraint = ("-addext", "basicConstraints=critical,CA:TRUE")
    files = ("-keyout", str(made.folder / "ca.key"), "-out", str(made.ca))
    try:
        _openssl(
            "req", "-x509", *KEY, "-days", "3650", "-subj", "/CN=authority", *constraint, *files
        )
    except FileNotFoundError:
        pytest.skip("openssl is not installed")
    return made


@contextmanager
def reference(certificate: Path, key: Path) -> Iterator[str]:
    """Address of a reference server that serves by TLS."""
    files = ("--tls-cert", str(certificate), "--tls-key", str(key))
    server = subprocess.Popen(
        [sys.executable, "-m", "plimsoll.reference", "--port", "0", *files],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "HOST": "127.0.0.1"},
    )
    try:
        assert server.stdout is not None
        yield json.loads(server.stdout.readline())["address"]
    finally:
        server.terminate()
        server.communicate(timeout=20)


@pytest.fixture(scope="module")
def secured(certificates: Certificates) -> Iterator[str]:
    """Address of a reference server whose certificate is right for loopback."""
    with reference(*certificates.signed("right")) as address:
        yield address


@contextmanager
def python_server(
    certificate: tuple[Path, Path], change: Callable[[ssl.SSLContext], object] = id
) -> Iterator[str]:
    """Address of a server of Python's own TLS that answers one request a connection."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    change(context)
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer(connection: socket.socket) -> None:
            with suppress(OSError), context.wrap_socket(connection, server_side=True) as stream:
                while stream.recv(65536):
                    stream.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")

        def serve() -> None:
            with suppress(OSError):
                while True:
                    threading.Thread(target=answer, args=listener.accept()[:1], daemon=True).start()

        threading.Thread(target=serve, daemon=True).start()
        yield f"127.0.0.1:{listener.getsockname()[1]}"
        listener.shutdown(socket.SHUT_RDWR)


def asking(certificates: Certificates, name: str) -> AbstractContextManager[str]:
    """Address of a server that asks for a certificate of its authority."""

    def asks(context: ssl.SSLContext) -> None:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(certificates.ca)

    return python_server(certificates.signed(name), asks)


def short(address: str, *options: object, folder: Path) -> Ran:
    return run("load", f"https://{address}/2048", "-c", 4, "-n", 400, *options, folder=folder)


def test_a_load_by_tls_says_what_was_agreed_on_and_keeps_it(
    secured: str, certificates: Certificates, tmp_path: Path
) -> None:
    kept = tmp_path / "kept"
    ran = short(secured, "--cacert", certificates.ca, "--record", kept, "--json", folder=tmp_path)
    assert ran.code in (0, 1), ran.stderr
    found = json.loads(ran.stdout)
    assert found["summary"]["failed"] == 0
    assert found["summary"]["completed"] == 400
    (agreed,) = found["tls"]["negotiated"]
    assert (agreed["version"], agreed["resumed"], agreed["connections"]) == ("TLS 1.3", False, 4)
    assert found["tls"]["trusted"] == "file"
    rows = pq.read_table(kept / "trials" / "load" / "connections.parquet").to_pylist()
    assert len(rows) == 4
    for row in rows:
        assert row["due_ns"] <= row["tcp_connected_ns"] < row["connected_ns"]
        assert (row["resumed"], row["alert"]) == (False, None)


def test_a_screen_has_a_line_of_tls(secured: str, tmp_path: Path) -> None:
    ran = short(secured, "--insecure", "--tls-version", "1.2", folder=tmp_path)
    assert "TLS             TLS 1.2, TLS_ECDHE_ECDSA" in ran.stdout
    assert "4 full handshakes, 0 resumed; any certificate accepted" in " ".join(ran.stdout.split())


def test_sessions_are_resumed_when_asked_for(secured: str, certificates: Certificates) -> None:
    with plimsoll.load(
        f"https://{secured}/2048",
        connections=2,
        requests=100,
        keep_alive=False,
        cacert=certificates.ca,
        tls_resume="always",
    ) as result:
        driver = result.recording.driver
        assert driver is not None
        counts = {one.resumed: one.connections for one in driver.tls}
        rows = result.connections.aggregate("resumed, count(*) AS connections").fetchall()
    assert counts[True] > counts[False]
    assert sum(counts.values()) == 100
    assert {resumed: count for resumed, count in rows if resumed is not None} == counts


def test_another_program_of_tls_is_measured(certificates: Certificates, tmp_path: Path) -> None:
    with python_server(certificates.signed("python")) as address:
        ran = short(address, "--cacert", certificates.ca, "--json", folder=tmp_path)
    assert json.loads(ran.stdout)["summary"]["failed"] == 0


def test_a_client_certificate_is_shown_and_its_lack_is_told(
    certificates: Certificates, tmp_path: Path
) -> None:
    certificate, key = certificates.signed("client")
    own = ("--cert", certificate, "--key", key)
    with asking(certificates, "asking") as address:
        shown = short(address, "--cacert", certificates.ca, *own, "--json", folder=tmp_path)
        assert json.loads(shown.stdout)["summary"]["failed"] == 0
        ran = short(address, "--cacert", certificates.ca, folder=tmp_path)
    assert ran.code == 4
    assert "CertificateRequired" in ran.stderr
    assert "hint: if the server asks for a certificate, give one with `--cert`" in ran.stderr
    assert str(key) not in json.dumps(json.loads(shown.stdout))


@pytest.mark.thorough
def test_every_host_shows_the_client_certificate(
    certificates: Certificates, tmp_path: Path
) -> None:
    certificate, key = certificates.signed("of-hosts")
    files = ("--cacert", certificates.ca, "--cert", certificate, "--key", key)
    lab = on_loopback(tmp_path)
    with asking(certificates, "asking-hosts") as address, lab.agents():
        ran = lab.lab("load", f"https://{address}/", "-c", 4, "-n", 100, *files, "--json").end()
    assert ran.code in (0, 1), ran.said
    found = json.loads(ran.stdout)
    assert (found["summary"]["completed"], found["summary"]["failed"]) == (100, 0)
    assert sum(one["connections"] for one in found["tls"]["negotiated"]) == 4
    assert not [*tmp_path.rglob("tls-key.pem")], "an agent leaves no key behind"


@pytest.mark.parametrize(
    ("of", "days", "message"),
    [
        ("DNS:other.example", "3650", "is not for `127.0.0.1`"),
        (LOOPBACK, "-1", "has expired or is not yet valid"),
    ],
)
def test_a_certificate_that_is_wrong_is_one_sentence(
    certificates: Certificates, tmp_path: Path, of: str, days: str, message: str
) -> None:
    certificate = certificates.signed(f"wrong{days}", of=of, days=days)
    with reference(*certificate) as address:
        ran = short(address, "--cacert", certificates.ca, folder=tmp_path)
    assert ran.code == 4
    assert message in ran.stderr
    assert "`--insecure`" in ran.stderr
    assert len(ran.stderr.splitlines()) == 2


@pytest.mark.parametrize(
    "protocol", [(), pytest.param(("--http2", "--streams", "4"), marks=pytest.mark.thorough)]
)
def test_a_load_line_is_searched_by_tls(
    protocol: tuple[str, ...], secured: str, certificates: Certificates, tmp_path: Path
) -> None:
    trusted = ("--cacert", certificates.ca, *protocol)
    short = ("--budget", "5s", "--until", "40%", "-c", "16", "--p99", "100ms")
    ran = run(
        "line", f"https://{secured}/empty", *trusted, *short, "--json", "--record", "kept",
        folder=tmp_path,
    )  # fmt: skip
    line = json.loads(ran.stdout)
    assert line["closed_peak_per_s"] > 0, ran.said
    with plimsoll.read(tmp_path / "kept") as kept:
        (tried, *_) = (one.recording for one in kept.trials if one.id == "try-001")
        assert tried.driver is not None
        assert tried.driver.tls
        assert tried.load.protocol == ("http2" if protocol else "http1")


def test_a_load_line_of_an_untrusted_server_is_one_sentence(secured: str, tmp_path: Path) -> None:
    ran = run("line", f"https://{secured}/empty", "--p99", "1s", folder=tmp_path)
    assert (ran.code, len(ran.stderr.splitlines())) == (4, 2)
    assert "no trusted authority has signed" in ran.stderr


def test_an_authority_that_is_not_trusted_is_one_sentence(secured: str, tmp_path: Path) -> None:
    ran = short(secured, folder=tmp_path)
    assert (ran.code, ran.stderr.splitlines()) == (
        4,
        [
            f"error: no trusted authority has signed the certificate of `{secured}`",
            "hint: name the file of its authority with `--cacert`, or accept any certificate with "
            "`--insecure`",
        ],
    )


def test_a_certificate_is_of_the_name_that_was_typed(secured: str, tmp_path: Path) -> None:
    typed = f"localhost:{secured.rpartition(':')[2]}"
    ran = short(typed, folder=tmp_path)
    assert (ran.code, f"the certificate of `{typed}`" in ran.stderr) == (4, True)


def test_plain_http_to_tls_and_tls_to_plain_http_are_told(
    secured: str, reference_server: str, tmp_path: Path
) -> None:
    plain = run("load", f"http://{secured}/2048", "-n", 4, folder=tmp_path)
    assert (plain.code, plain.stderr.splitlines()[0]) == (
        4,
        f"error: `{secured}` speaks TLS, not plain HTTP",
    )
    by_tls = short(reference_server, "--insecure", folder=tmp_path)
    assert (by_tls.code, by_tls.stderr.splitlines()[0]) == (
        4,
        f"error: `{reference_server}` does not speak TLS",
    )


def test_nothing_in_common_is_told(certificates: Certificates, tmp_path: Path) -> None:
    def only_13(context: ssl.SSLContext) -> None:
        context.minimum_version = ssl.TLSVersion.TLSv1_3

    with python_server(certificates.signed("newest"), only_13) as address:
        ran = short(address, "--insecure", "--tls-version", "1.2", folder=tmp_path)
    assert ran.code == 4
    assert "have no TLS version and cipher in common" in ran.stderr
    assert "remove `--tls-version`" in ran.stderr


def test_a_cipher_that_is_unknown_is_told_with_those_that_are_known(
    secured: str, tmp_path: Path
) -> None:
    ran = short(secured, "--insecure", "--ciphers", "RC4", folder=tmp_path)
    assert ran.code == 2
    assert "cipher `RC4` is none of TLS_AES_256_GCM_SHA384" in ran.stderr
