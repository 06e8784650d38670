"""What lab and hosts have in common on the network: TLS both ways, and dask's settings.

An agent is a worker of `distributed` and the lab its scheduler, which knows who is there and who is
gone. Orders are calls of handlers, never tasks: dask runs the task of a lost worker again on
another one, and a load must not be run twice.
"""

from __future__ import annotations

import logging
import ssl
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypedDict

import dask
from distributed.security import Security

if TYPE_CHECKING:
    from collections.abc import Generator
    from ipaddress import IPv4Address, IPv6Address

    from plimsoll.hosts.certificates import Identity

CLOCK = "plimsoll_clock"
"""Handler of an agent that reads its clock."""

ORDER = "plimsoll_order"
"""Handler of an agent that carries out an order."""

HTTP_ADDRESS = "127.0.0.1:0"
"""Where dask's own HTTP server listens, which nobody asks: out of reach, and on any free port."""

LOST_S = 10.0
"""Seconds after which whoever does not respond is gone."""

HEARTBEAT_S = 2.5
"""How often an agent gives dask a sign of life, in seconds; dask's own half a second costs more
than the load's orders, which are signs of life as well."""

ASK_S = 1.0
"""How often the lab asks each host under load, in seconds, as long as they are few."""

SOON_S = 0.1
"""The same when the load should be over, in seconds."""

ASK_MOST_S = 2.0
"""The same where they are many, of which each costs the lab an order."""

MANY = 50
"""Hosts that the lab asks once a second; more of them less often."""

ANSWER_S = LOST_S - ASK_MOST_S
"""How long the lab waits for an answer, in seconds: it finds a lost host within `LOST_S`."""

SETTINGS: dict[str, object] = {
    "distributed.scheduler.allowed-failures": 0,
    "distributed.scheduler.work-stealing": False,
    "distributed.scheduler.worker-ttl": f"{LOST_S}s",
    # Nobody but the lab itself orders anything, and it has no client.
    "distributed.scheduler.blocked-handlers": ["register-client", "broadcast", "run_function"],
    "distributed.scheduler.active-memory-manager.start": False,
    "distributed.worker.blocked-handlers": ["run", "run_coroutine", "compute-task", "plugin-add"],
    "distributed.worker.profile.enabled": False,
    "distributed.worker.memory.target": False,
    "distributed.worker.memory.spill": False,
    "distributed.worker.memory.pause": False,
    "distributed.worker.memory.terminate": False,
    "distributed.admin.tick.interval": "10s",
    "distributed.admin.tick.cycle": "10s",
    "distributed.admin.tick.limit": "1h",
    "distributed.admin.system-monitor.interval": "10s",
    "distributed.admin.system-monitor.gil.enabled": False,
    "distributed.admin.system-monitor.disk": False,
    "distributed.diagnostics.nvml": False,
    "distributed.comm.compression": False,
    "distributed.comm.timeouts.connect": f"{LOST_S}s",
    "distributed.comm.timeouts.tcp": "12s",  # the shortest that dask takes
    "distributed.comm.retry.count": 0,
}
"""Dask's settings; idle, an agent then takes 0.4 % of a core instead of 4 %."""


LOGGERS = ("distributed", "tornado", "tornado.application")
"""Loggers to which dask gives a level of their own."""


TLS_LOGGER = "distributed.comm.tcp"
"""Logger in which dask says which handshakes fail."""

HANDSHAKE_ARGUMENTS = 3
"""What it says of one: the listener, the other end, and the error."""

OF_CERTIFICATES = ("alert unknown ca", "certificate")
"""What the reason has of whoever refuses a certificate; others speak no TLS, or another one.

Source: the alerts of RFC 8446, section 6.2, by their names in OpenSSL.
"""


class PeerCertificate(TypedDict, total=False):
    """What of `ssl.SSLSocket.getpeercert` is looked at.

    Attributes:
        subjectAltName: Kind and value of each name that the certificate is for.
    """

    subjectAltName: tuple[tuple[str, str], ...]


class CheckedSecurity(Security):
    """TLS in which who opens a connection checks the name of whom it reaches.

    Dask's own checks that the certificate is signed, and not whose it is.
    """

    def get_connection_args(self, role: str) -> dict[str, object]:
        """Arguments for a connection that is opened."""
        arguments = super().get_connection_args(role)
        context: ssl.SSLContext = arguments["ssl_context"]
        context.check_hostname = True
        return arguments


def ask_s(hosts: int, left_s: float) -> float:
    """How often the lab asks each host under load, in seconds.

    Args:
        hosts: How many there are.
        left_s: How much longer the load is to take, in seconds.
    """
    each_s = min(max(ASK_S, hosts / MANY), ASK_MOST_S)
    return min(each_s, max(left_s, 0.0) + SOON_S * max(1.0, hosts / MANY))


def security(identity: Identity) -> Security:
    """TLS of a machine, with the same certificate in every role."""
    certificate, key = str(identity.certificate), str(identity.key)
    roles = {
        f"tls_{role}_{part}": path
        for role in ("scheduler", "worker", "client")
        for part, path in (("cert", certificate), ("key", key))
    }
    return CheckedSecurity(
        require_encryption=True,
        tls_ca_file=str(identity.authority),
        tls_min_version=ssl.TLSVersion.TLSv1_3,
        **roles,
    )


def context(identity: Identity) -> ssl.SSLContext:
    """TLS of a machine for a connection of its own to another one, whose name is checked."""
    made = ssl.create_default_context(cafile=str(identity.authority))
    made.minimum_version = ssl.TLSVersion.TLSv1_3
    made.load_cert_chain(identity.certificate, identity.key)
    return made


def configure() -> None:
    """Applies dask's settings to this process; what it has to say is not for our users."""
    dask.config.set(SETTINGS)
    for name in LOGGERS:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)


def names(certificate: PeerCertificate) -> tuple[str, ...]:
    """The names that a certificate is for."""
    return tuple(name for kind, name in certificate.get("subjectAltName", ()) if kind == "DNS")


class RefusedHandshakes(logging.Handler):
    """Remembers whose TLS failed by a certificate: to a scheduler they have never been there.

    Attributes:
        reasons: Why, by the address from which each came.
    """

    def __init__(self) -> None:
        """Nobody has come."""
        super().__init__(logging.WARNING)
        self.reasons: dict[str, str] = {}

    def emit(self, record: logging.LogRecord) -> None:
        """Looks at what dask says of a handshake."""
        if not isinstance(record.args, tuple) or len(record.args) != HANDSHAKE_ARGUMENTS:
            return
        _, remote, error = record.args
        reason = tls_reason(error)
        if any(word in reason for word in OF_CERTIFICATES):
            host = str(remote).rpartition("://")[2].rpartition(":")[0]
            self.reasons[host.strip("[]")] = reason


@contextmanager
def refused_handshakes() -> Generator[RefusedHandshakes]:
    """Remembers handshakes that fail in the block; they go to no other log."""
    logger, handler = logging.getLogger(TLS_LOGGER), RefusedHandshakes()
    before = (logger.level, logger.propagate)
    logger.addHandler(handler)
    logger.setLevel(logging.WARNING)
    logger.propagate = False
    try:
        yield handler
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before[0])
        logger.propagate = before[1]


def tls_reason(error: object) -> str:
    """Why TLS failed, in words of OpenSSL."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"certificate: {error.verify_message}"
    reason = error.reason if isinstance(error, ssl.SSLError) else None
    return (reason or str(error)).lower().replace("_", " ")


def address(host: IPv4Address | IPv6Address, port: int) -> str:
    """Where somebody listens, as dask and the option `--join` write it."""
    return f"tls://{place(host, port)}"


def place(host: IPv4Address | IPv6Address, port: int) -> str:
    """An address and a port, as URLs write them."""
    return f"{bracketed(host)}:{port}"


def bracketed(host: IPv4Address | IPv6Address) -> str:
    """An address as it stands where a port may follow; dask takes no other."""
    return str(host) if host.version == 4 else f"[{host}]"  # noqa: PLR2004
