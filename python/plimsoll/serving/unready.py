"""Why a server did not become ready, and what to correct."""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import ip_address
from typing import TYPE_CHECKING

from plimsoll import addresses, wording
from plimsoll.campaign.load import OF_HTTP2, OVER_TLS, SERVICES
from plimsoll.errors import NotReady
from plimsoll.serving import ready
from plimsoll.serving.asking import authority

if TYPE_CHECKING:
    from collections.abc import Collection

    from plimsoll.campaign.framework import Framework
    from plimsoll.campaign.load import Service
    from plimsoll.campaign.requests import Request
    from plimsoll.serving.asking import Address

_LISTENS = "the command must listen on `$HOST:$PORT`, which are set for it"
_REQUESTED = "request a path that the server serves"
_LONGER = "raise `start_timeout` in framework.toml"
_UNTIL_READY = f"{ready.RESPONDED} 503"
_ANY_OF_IPV6 = bytes(16)
_USES_BUILD = re.compile(r"\$(?:BUILD\b|\{BUILD\b)")


@dataclass(frozen=True)
class UnreadyServer:
    """A server that runs, and did not return 200 in the time it has to start.

    Attributes:
        framework: What runs.
        address: Where it should listen.
        service: What it should serve; None for HTTP/1.1 without TLS.
        bound: Addresses, as `addresses.ip` gives them, and ports on which its processes listen.
        answer: What was wrong in the last probe, after the words "the server …".
        see_log: Where its log is, as a hint.
    """

    framework: Framework
    address: Address
    service: Service | None
    bound: Collection[tuple[bytes, int]]
    answer: str
    see_log: str

    def error(self, probe: Request, log: str) -> NotReady:
        """The error with what was seen, and what to correct.

        Args:
            probe: The request that it did not answer.
            log: The last lines of its log, as the end of a sentence.
        """
        by = f" by `{self.service}`" if self.service else ""
        limit = wording.exact(self.framework.start_timeout_s)
        asked = f"`{probe.method} {probe.target}`{by}"
        message = f"`{self.framework.title}` did not return 200 for {asked} within {limit} s"
        elsewhere = self._elsewhere()
        where = f"; it listens on {elsewhere}, not on `{authority(self.address)}`"
        last = f"in the last probe, the server {self.answer}{where if elsewhere else ''}"
        return NotReady(f"{message}: {last}; {log}", self._hint(probe, bool(elsewhere)))

    def _hint(self, probe: Request, is_elsewhere: bool) -> str:
        """What to correct."""
        if is_elsewhere:
            return _LISTENS if self._is_command() else "`start` must listen on `$HOST:$PORT`"
        if self.answer.startswith(ready.NOT_HTTP):
            return f"{self._who()} must serve HTTP/1.1 without TLS where `TLS_CERT` is not set"
        if self.answer.startswith(ready.RESPONDED):
            return _REQUESTED if self._is_command() else self._corrected(probe)
        if self.service and self._reached():
            required = f"{self._who()} must {_required(self.service)}"
            remove = f"; or remove `{self.service}` from `services` in framework.toml"
            return required if self._is_command() else f"{required}{remove}"
        if self._is_command():
            return self.see_log if self._reached() else _LISTENS
        return f"{self.see_log}, or {_LONGER}"

    def _corrected(self, probe: Request) -> str:
        """What to do about a response other than 200, which a server may give until it is ready."""
        right = f"correct how the server responds to `{probe.method} {probe.target}`"
        if self.answer == _UNTIL_READY:
            return f"{right}, or {_LONGER} if it responds 503 only until it is ready"
        return f"{right}: it listens already, so more time does not help"

    def _is_command(self) -> bool:
        return not self.framework.is_framework

    def _who(self) -> str:
        return "the command" if self._is_command() else "`start`"

    def _elsewhere(self) -> str:
        """Where it listens instead; empty if it listens where it should, or nowhere."""
        if self._reached():
            return ""
        _, port = self.address
        here = {ip_address(bound).compressed for bound, number in self.bound if number == port}
        others = sorted({number for _, number in self.bound if number != port})
        parts = [f"`{authority((host, port))}`" for host in sorted(here)]
        if others:
            parts.append(f"port {', '.join(map(str, others))}")
        return " and ".join(parts)

    def _reached(self) -> bool:
        """Whether it listens where connections to its address arrive.

        A socket at `::` takes connections of IPv4 too, unless the server forbids that; then they
        are refused.
        """
        host, port = self.address
        reached = addresses.reached((bound for bound, number in self.bound if number == port), host)
        if self.answer == ready.REFUSED and ":" not in host:
            reached = reached - {_ANY_OF_IPV6}
        return bool(reached)


def of_ended(framework: Framework, see_log: str) -> str:
    """What to do about a framework whose server ended before it was ready.

    Args:
        framework: The framework.
        see_log: Where its log is, as a hint.
    """
    if framework.build:
        return f"{see_log}; if it is not built, run `plimsoll install`"
    if _USES_BUILD.search(framework.start):
        missing = "`start` uses `$BUILD`, but framework.toml has no `build`"
        return f"{see_log}; {missing}: add the command that builds it"
    return see_log


def _required(service: Service) -> str:
    """What a server has to do for a service."""
    given = [f"`PROTOCOL` is `{'http2' if service in OF_HTTP2 else 'http1'}`"]
    given += ["`TLS_CERT` is set"] if service in OVER_TLS else ["`TLS_CERT` is not"]
    return f"serve {SERVICES[service]} where {' and '.join(given)}"
