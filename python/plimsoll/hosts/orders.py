"""What the lab orders agents to do: the names of its orders, and what a server needs.

What a load needs is in `host_job`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from plimsoll.campaign import framework as frameworks
from plimsoll.errors import InputError, NotInstalled
from plimsoll.install import sources
from plimsoll.provenance import differences, named

if TYPE_CHECKING:
    from collections.abc import Mapping
    from ipaddress import IPv4Address, IPv6Address

    from plimsoll.campaign.framework import Framework
    from plimsoll.campaign.load import Service
    from plimsoll.provenance import Part

ORDERS = frozenset(
    {"facts", "reach"}
    | {"arm", "poll", "end", "collect", "read", "count", "counted", "release"}
    | {"keep", "keeping", "kept", "read_kept"}
    | {"begin", "server", "at_turn", "run_control", "align", "server_log", "kill_server"}
    | {"arm_turns", "read_before_turn", "take_turn", "turned", "end_turns"}
    | {"read_turned", "release_turns"}
)
"""The orders that an agent carries out: those of a load, of its rows, of a server, and of turns."""


@dataclass(frozen=True)
class OrderedFramework:
    """A framework as the lab has it.

    Attributes:
        framework: Its definition, which counts on every host; its folder is the lab's.
        sources: What its folder holds.
    """

    framework: Framework
    sources: tuple[Part, ...]

    @classmethod
    def of(cls, framework: Framework) -> OrderedFramework:
        """A framework of this machine."""
        return cls(framework, sources.of(framework))

    def here(self) -> Framework:
        """The same framework in a folder of this host.

        Raises:
            NotInstalled: There is none, or it is another one.
        """
        name = self.framework.name
        try:
            (found,) = frameworks.choose(frameworks.locate(), (name,))
        except InputError as error:
            hint = f"copy the lab's folder into `${frameworks.VARIABLE}` of that host"
            raise NotInstalled(f"`{name}` is not there: {error.message}", hint) from error
        own = replace(self.framework, folder=found.folder)
        if differing := differences(self.sources, sources.of(own)):
            hint = f"copy the lab's folder `{name}` there, or install the same version"
            raise NotInstalled(f"`{name}` is not the lab's: {named(differing)}", hint)
        return own


@dataclass(frozen=True)
class ServerOrder:
    """A server that is to be started.

    Attributes:
        ordered: The framework.
        address: Address to listen on.
        client: Address of a host that connects to it.
        cores: Its cores; empty for all.
        service: What it is to serve; None for HTTP/1.1 without TLS.
        environment: What its environment has besides.
        seed: Seed of its fixtures.
    """

    ordered: OrderedFramework
    address: IPv4Address | IPv6Address
    client: IPv4Address | IPv6Address
    cores: tuple[int, ...]
    service: Service | None
    environment: Mapping[str, str]
    seed: int


@dataclass(frozen=True)
class DatabaseOrder:
    """PostgreSQL that is to be started.

    Attributes:
        address: Address to listen on.
        cores: Its cores; empty for all.
    """

    address: IPv4Address | IPv6Address
    cores: tuple[int, ...]
