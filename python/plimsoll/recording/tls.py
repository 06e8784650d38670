"""TLS in a recording: what was requested, and what the handshakes agreed on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class RequestedTls:
    """TLS as requested, without anything secret.

    Attributes:
        server_name: The name that the certificate had to be for.
        trusted: `system`, `file` or `anyone`: whose certificates were accepted.
        has_client_certificate: Whether the load generator showed a certificate.
        version: The only version that was offered; null when all were.
        ciphers: The cipher suites that were offered; empty when all were.
        resume: `never` or `always`: whether sessions were resumed.
    """

    server_name: str
    trusted: str
    has_client_certificate: bool
    version: str | None
    ciphers: tuple[str, ...]
    resume: str


@dataclass(frozen=True)
class NegotiatedTls:
    """Handshakes that agreed on the same, counted by the engine.

    Attributes:
        version: `TLS 1.3`.
        cipher: IANA name of the cipher suite.
        group: Group of the key exchange; null where a session of TLS 1.2 was resumed.
        alpn: Protocol by ALPN; null where none was chosen.
        resumed: Whether an earlier session was resumed.
        connections: Number of handshakes.
    """

    version: str
    cipher: str
    group: str | None
    alpn: str | None
    resumed: bool
    connections: int
