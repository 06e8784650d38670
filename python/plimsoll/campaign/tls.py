"""TLS between the load generator and a server, as requested."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from pathlib import Path

Version = Literal["1.2", "1.3"]
"""A version of TLS."""

Resume = Literal["never", "always"]
"""Whether a connection resumes the session of an earlier one."""

VERSIONS: tuple[Version, ...] = ("1.2", "1.3")
"""The versions that the engine speaks."""


@dataclass(frozen=True)
class Tls:
    """TLS between the load generator and a server.

    Attributes:
        server_name: Host name or address that the certificate must be for; a name is sent by SNI.
        ca: PEM file with the trusted authorities; None for those of this host.
        insecure: Whether any certificate is accepted.
        cert: PEM file with the client's certificates; None for none.
        key: PEM file with the private key to them.
        version: The only version that is offered; None offers all.
        ciphers: IANA names of the cipher suites that are offered; empty offers all.
        resume: Whether sessions are resumed.
        alpn: Protocols that are offered by ALPN; empty offers none.
    """

    server_name: str
    ca: Path | None = None
    insecure: bool = False
    cert: Path | None = None
    key: Path | None = None
    version: Version | None = None
    ciphers: tuple[str, ...] = ()
    resume: Resume = "never"
    alpn: tuple[str, ...] = ()

    @property
    def block(self) -> dict[str, object]:
        """The block `tls` of the engine's specification."""
        return {
            "server_name": self.server_name,
            "ca": [] if self.ca is None else [_absolute(self.ca)],
            "insecure": self.insecure,
            "certificate": self.cert and _absolute(self.cert),
            "key": self.key and _absolute(self.key),
            "min_version": self.version or VERSIONS[0],
            "max_version": self.version or VERSIONS[-1],
            "ciphers": list(self.ciphers),
            "resume": self.resume,
            "alpn": list(self.alpn),
        }


def _absolute(path: Path) -> str:
    return str(path.resolve())
