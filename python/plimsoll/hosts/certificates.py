"""Certificates: an authority for one lab, and one certificate for the lab and each of its hosts.

Each certificate names its holder twice: by name, which the lab checks when a host joins, and by
address, which is checked whenever a connection is opened. Whoever holds one may run code on every
machine of the lab (`docs/security.md`). So keys can be read by their owner only, and the
authority's own key is thrown away once it has signed: another host means new certificates for all.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import IO, TYPE_CHECKING

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from plimsoll.errors import HostError, StorageError
from plimsoll.hosts.host import AUTHORITY, DAYS, LAB

if TYPE_CHECKING:
    from collections.abc import Callable
    from ipaddress import IPv4Address, IPv6Address
    from pathlib import Path
    from typing import TypeVar

    from plimsoll.hosts.host import Hosts

    T = TypeVar("T")

NEW = "make new ones for the lab and all hosts: `plimsoll host certificates --help`"
"""What to do about certificates that are of no use."""

_BEFORE = timedelta(minutes=5)
"""How long before now they are valid: clocks of hosts may be behind."""

Key = ec.EllipticCurvePrivateKey


@dataclass(frozen=True)
class Identity:
    """The files by which a machine proves who it is, and recognises others.

    Attributes:
        certificate: Its certificate, PEM.
        key: Its private key, PEM.
        authority: Certificate of the authority, PEM.
    """

    certificate: Path
    key: Path
    authority: Path

    def credentials(self) -> bytes:
        """The three files one after the other, for whoever takes them from a stream."""
        return b"".join(path.read_bytes() for path in (self.certificate, self.key, self.authority))


def received(stream: IO[bytes], folder: Path) -> Identity:
    """Reads `Identity.credentials` from a stream, and no further.

    Args:
        stream: The stream.
        folder: Where the files are written, which nobody else can read.

    Raises:
        HostError: The stream ended before.
    """
    files = Identity(folder / "own.pem", folder / "own.key", folder / f"{AUTHORITY}.pem")
    for path in (files.certificate, files.key, files.authority):
        path.touch(mode=0o600)
        with path.open("wb") as file:
            while not (line := stream.readline()).startswith(b"-----END "):
                if not line:
                    hint = "it needs a certificate, its key and the authority's certificate, as PEM"
                    raise HostError("standard input ended before all credentials", hint)
                file.write(line)
            file.write(line)
    return files


def identity(folder: Path, name: str) -> Identity:
    """Where the files of a machine are, in a folder of certificates."""
    return Identity(folder / f"{name}.pem", folder / f"{name}.key", folder / f"{AUTHORITY}.pem")


def require_usable(own: Identity) -> None:
    """Requires files by which a machine can prove who it is, today.

    Raises:
        HostError: One cannot be read, they do not belong together, or the certificate has expired.
    """
    certificate = _read(own.certificate, "certificate", x509.load_pem_x509_certificate)
    authority = _read(own.authority, "certificate", x509.load_pem_x509_certificate)
    key = _read(own.key, "private key", lambda text: load_pem_private_key(text, None))
    if key.public_key() != certificate.public_key():
        message = f"`{own.key}` is not the private key of `{own.certificate}`"
        raise HostError(message, "give both files of the same host")
    for path, one in ((own.certificate, certificate), (own.authority, authority)):
        _require_valid_today(path, one)
    try:
        certificate.verify_directly_issued_by(authority)
    except (ValueError, TypeError, InvalidSignature) as error:
        message = f"`{own.authority}` is not the authority that signed `{own.certificate}`"
        raise HostError(message, "give the files of one folder of certificates") from error


def _read(path: Path, kind: str, parse: Callable[[bytes], T]) -> T:
    """What a file of an identity holds.

    Raises:
        HostError: It cannot be read, or holds something else.
    """
    try:
        return parse(path.read_bytes())
    except OSError as error:
        hint = f"make them with `plimsoll host certificates {path.parent}`"
        raise HostError(f"`{path}` cannot be read: {error.strerror}", hint) from error
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        message = f"`{path}` holds no {kind} in the PEM format that can be used as it is"
        raise HostError(message, NEW) from error


def _require_valid_today(path: Path, certificate: x509.Certificate) -> None:
    """Requires a certificate whose time has come, and not passed.

    Raises:
        HostError: It has not, or it has.
    """
    now = datetime.now(UTC)
    if now >= certificate.not_valid_after_utc:
        message = f"`{path}` expired on {certificate.not_valid_after_utc:%Y-%m-%d %H:%M} UTC"
        raise HostError(message, NEW)
    if now < certificate.not_valid_before_utc:
        message = f"`{path}` is valid from {certificate.not_valid_before_utc:%Y-%m-%d %H:%M} UTC on"
        raise HostError(message, "set the clock of this host")


def make(hosts: Hosts, folder: Path, days: int = DAYS) -> tuple[str, ...]:
    """Makes an authority, and certificates of the lab and of every host.

    Args:
        hosts: The hosts.
        folder: A folder without certificates.
        days: How many days they are valid.

    Returns:
        The names of their holders: three files each lie there, `NAME.pem`, `NAME.key`, `ca.pem`.

    Raises:
        StorageError: The folder holds certificates, or cannot be written.
    """
    if identity(folder, LAB).authority.exists():
        message = f"`{folder}` already holds certificates"
        raise StorageError(message, "remove the folder, or choose another one")
    holders = {LAB: hosts.address, **{host.name: host.address for host in hosts.hosts}}
    authority_key = ec.generate_private_key(ec.SECP256R1())
    authority = _authority(authority_key, days)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, address in holders.items():
            files, key = identity(folder, name), ec.generate_private_key(ec.SECP256R1())
            _write_key(files.key, key)
            signed = _signed(name, address, key, authority, authority_key)
            files.certificate.write_bytes(signed.public_bytes(serialization.Encoding.PEM))
        # The last file: a folder that has it is complete.
        text = authority.public_bytes(serialization.Encoding.PEM)
        identity(folder, LAB).authority.write_bytes(text)
    except OSError as error:
        message = f"`{folder}` cannot be written: {error.strerror}"
        raise StorageError(message, "make it writable, or name another folder") from error
    return tuple(holders)


def _authority(key: Key, days: int) -> x509.Certificate:
    name, now = _name("Plimsoll authority"), datetime.now(UTC)
    return (
        _begun(name, name, key.public_key(), now + timedelta(days=days))
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs_certificates=True), critical=True)
        .sign(key, hashes.SHA256())
    )


def _signed(
    name: str,
    address: IPv4Address | IPv6Address,
    key: Key,
    authority: x509.Certificate,
    authority_key: Key,
) -> x509.Certificate:
    """A certificate that its holder may use on both sides of a connection."""
    names = x509.SubjectAlternativeName([x509.DNSName(name), x509.IPAddress(address)])
    both = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH])
    until = authority.not_valid_after_utc
    signer = x509.AuthorityKeyIdentifier.from_issuer_public_key(authority_key.public_key())
    return (
        _begun(_name(name), authority.subject, key.public_key(), until)
        .add_extension(names, critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signs_certificates=False), critical=True)
        .add_extension(both, critical=False)
        .add_extension(signer, critical=False)
        .sign(authority_key, hashes.SHA256())
    )


def _begun(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, until: datetime
) -> x509.CertificateBuilder:
    identifier = x509.SubjectKeyIdentifier.from_public_key(key)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(datetime.now(UTC) - _BEFORE)
        .not_valid_after(until)
        .add_extension(identifier, critical=False)
    )


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _write_key(path: Path, key: Key) -> None:
    """Writes a private key that nobody but its owner can read at any time."""
    text = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(handle, "wb") as file:  # noqa: PTH123 - the handle has the mode
        file.write(text)
