"""Hosts: one load that several machines generate together, and servers on another machine.

`hosts_file` reads which machines there are (`host`), `certificates` lets them trust each other, and
`clocks` relates their clocks. `control` is the lab's side and `agent` what runs on each host;
`membership` connects an agent with the lab, and `copying` brings files of a host to the lab.
`driver` makes all hosts one driver for those who conduct trials. `server` and `served` (on the
host) make one a place for servers; their turns are in `server_turns` and `served_turns` (on the
host). `database` and `database_here` (on the host) make one a place for PostgreSQL. `contact` gives
both signs of life, `steps` is what takes long there, `staying` where rows stay there, and `disk`
what a full disk means. `campaign` is all of this for a whole campaign, and `fitness` looks at all
beforehand.

What needs `distributed` or `cryptography` is imported at its first use: one machine does without.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from plimsoll import doors
from plimsoll.errors import HostError

if TYPE_CHECKING:
    from plimsoll.hosts import campaign as campaign
    from plimsoll.hosts import certificates as certificates
    from plimsoll.hosts import control as control
    from plimsoll.hosts import copying as copying
    from plimsoll.hosts import driver as driver
    from plimsoll.hosts import fitness as fitness
    from plimsoll.hosts import hosts_file as hosts_file
    from plimsoll.hosts import membership as membership

__getattr__ = doors.of_modules(
    __name__,
    (
        "campaign",
        "certificates",
        "control",
        "copying",
        "driver",
        "fitness",
        "hosts_file",
        "membership",
    ),
)


def require() -> None:
    """Requires the packages that several hosts need.

    Raises:
        HostError: One of them is not installed.
    """
    for package in ("distributed", "cryptography"):
        if find_spec(package) is None:
            message = f"loads from several hosts need the Python package `{package}`"
            raise HostError(message, "`pip install 'plimsoll-bench[hosts]'`")
