"""Certificates of a lab: who trusts whom, under which name, and who may read the keys."""

import ssl
from dataclasses import replace
from datetime import timedelta
from io import BytesIO
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization

from plimsoll.errors import HostError, StorageError
from plimsoll.hosts import certificates
from plimsoll.hosts.host import Host, Hosts
from plimsoll.hosts.lab import control

LAB = ip_address("127.0.0.1")
HOSTS = Hosts(LAB, 1, Path(), 1.0, 1.0, (Host("one", "driver", ip_address("127.0.0.2")),))


def handshake(folder: Path, server: str, client: str | None, expected: str) -> ssl.SSLObject:
    """The server's side of a handshake in memory, complete on both sides."""
    serving = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(folder / "ca.pem"))
    serving.verify_mode = ssl.CERT_REQUIRED
    serving.load_cert_chain(folder / f"{server}.pem", folder / f"{server}.key")
    asking = ssl.create_default_context(cafile=str(folder / "ca.pem"))
    if client is not None:
        asking.load_cert_chain(folder / f"{client}.pem", folder / f"{client}.key")
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    sides = (
        asking.wrap_bio(to_client, to_server, server_hostname=expected),
        serving.wrap_bio(to_server, to_client, server_side=True),
    )
    for _ in range(4):
        for side in sides:
            try:
                side.do_handshake()
            except ssl.SSLWantReadError:
                pass
    return sides[1]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("made") / "certificates"
    assert certificates.make(HOSTS, made) == ("lab", "one")
    return made


@pytest.mark.parametrize("expected", ["127.0.0.1", "lab"])
def test_lab_and_host_trust_each_other(folder: Path, expected: str) -> None:
    found = dict(handshake(folder, "lab", "one", expected).getpeercert() or {})
    assert found["subjectAltName"] == (("DNS", "one"), ("IP Address", "127.0.0.2"))


def test_a_certificate_is_for_its_holder_only(folder: Path) -> None:
    with pytest.raises(ssl.SSLCertVerificationError, match="IP address mismatch"):
        handshake(folder, "one", "lab", "127.0.0.1")


def test_whoever_shows_no_certificate_is_refused(folder: Path) -> None:
    with pytest.raises(ssl.SSLError, match="did not return a certificate"):
        handshake(folder, "lab", None, "lab")


def test_a_host_of_another_lab_is_refused(folder: Path, tmp_path: Path) -> None:
    certificates.make(HOSTS, tmp_path)
    for ending in ("pem", "key"):
        (folder / f"stranger.{ending}").write_bytes((tmp_path / f"one.{ending}").read_bytes())
    with pytest.raises(ssl.SSLCertVerificationError):
        handshake(folder, "lab", "stranger", "lab")


def test_keys_can_be_read_by_their_owner_only_and_the_authority_has_none(folder: Path) -> None:
    for name in ("lab", "one"):
        assert (folder / f"{name}.key").stat().st_mode & 0o777 == 0o600
    assert not (folder / "ca.key").exists()


def test_certificates_are_never_written_over(folder: Path) -> None:
    before = (folder / "lab.key").read_bytes()
    with pytest.raises(StorageError, match="already holds certificates"):
        certificates.make(HOSTS, folder)
    assert (folder / "lab.key").read_bytes() == before


def test_credentials_come_through_a_stream_as_they_were(folder: Path, tmp_path: Path) -> None:
    own = certificates.identity(folder, "one")
    stream = BytesIO(own.credentials() + b"more")
    found = certificates.received(stream, tmp_path)
    assert stream.read() == b"more"
    assert found.credentials() == own.credentials()
    assert found.key.read_bytes() == own.key.read_bytes()
    assert found.key.stat().st_mode & 0o777 == 0o600
    certificates.received(BytesIO(own.credentials()), tmp_path)  # a second time


@pytest.mark.parametrize("kept", [0, 100, 700])
def test_credentials_that_are_cut_are_refused(folder: Path, tmp_path: Path, kept: int) -> None:
    cut = certificates.identity(folder, "one").credentials()[:kept]
    with pytest.raises(HostError, match="ended before all credentials"):
        certificates.received(BytesIO(cut), tmp_path)


def folders(tmp_path: Path) -> tuple[Path, Path]:
    """Two folders of certificates, each with an authority of its own."""
    for name in ("made", "other"):
        certificates.make(HOSTS, tmp_path / name)
    return tmp_path / "made", tmp_path / "other"


def unusable(identity: certificates.Identity) -> str:
    with pytest.raises(HostError) as caught:
        certificates.require_usable(identity)
    assert caught.value.hint
    return caught.value.message


def test_files_that_belong_together_are_usable(tmp_path: Path) -> None:
    certificates.make(HOSTS, tmp_path / "made", days=1)
    for name in ("lab", "one"):
        certificates.require_usable(certificates.identity(tmp_path / "made", name))


def test_files_that_do_not_belong_together_are_named(tmp_path: Path) -> None:
    made, other = folders(tmp_path)
    own = certificates.identity(made, "one")
    assert "is not the private key of" in unusable(replace(own, key=made / "lab.key"))
    assert "is not the authority" in unusable(replace(own, authority=other / "ca.pem"))
    swapped = unusable(replace(own, certificate=own.key, key=own.certificate))
    assert f"`{own.key}` holds no certificate" in swapped
    assert "cannot be read: No such file" in unusable(replace(own, key=made / "nobody.key"))


def test_a_key_with_a_passphrase_is_refused_instead_of_asked_for(tmp_path: Path) -> None:
    made, _ = folders(tmp_path)
    own = certificates.identity(made, "one")
    key = serialization.load_pem_private_key(own.key.read_bytes(), None)
    own.key.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.BestAvailableEncryption(b"secret"),
        )
    )
    assert "holds no private key" in unusable(own)


@pytest.mark.parametrize(
    ("before", "days", "words"),
    [(timedelta(days=2), -1, "expired on"), (-timedelta(days=1), 2, "is valid from")],
)
def test_a_certificate_is_usable_in_its_time_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: timedelta, days: int, words: str
) -> None:
    monkeypatch.setattr(certificates, "_BEFORE", before)
    certificates.make(HOSTS, tmp_path / "made", days=days)
    for name in ("lab", "one"):
        assert words in unusable(certificates.identity(tmp_path / "made", name))


def test_a_lab_with_an_expired_certificate_does_not_wait_for_anybody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(certificates, "_BEFORE", timedelta(days=2))
    certificates.make(HOSTS, tmp_path / "made", days=-1)
    lab = control.opened(replace(HOSTS, certificates=tmp_path / "made"))
    with pytest.raises(HostError, match=r"lab.pem` expired on"), lab:
        pass
