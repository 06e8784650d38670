"""Hosts: one load that several machines generate together, and servers on another machine.

`lab` is the lab's side, and `agent` what runs on each other host; neither imports the other. What
both share is here: `host` is what a host is, `certificates` let all trust each other, and `network`
is what dask and TLS are told. The lab sends `orders`, among them a `host_job` for each load, and
the agents send `answers`. `counts` counts rows where they are and adds what was counted, and `disk`
says what a full disk means.

What needs `distributed` or `cryptography` is imported at its first use: one machine does without.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from plimsoll import doors
from plimsoll.errors import HostError

if TYPE_CHECKING:
    from plimsoll.hosts import agent as agent
    from plimsoll.hosts import certificates as certificates
    from plimsoll.hosts import lab as lab

__getattr__ = doors.of_modules(__name__, ("agent", "certificates", "lab"))


def require() -> None:
    """Requires the packages that several hosts need.

    Raises:
        HostError: One of them is not installed.
    """
    for package in ("distributed", "cryptography"):
        if find_spec(package) is None:
            message = f"loads from several hosts need the Python package `{package}`"
            raise HostError(message, "`pip install 'plimsoll-bench[hosts]'`")
