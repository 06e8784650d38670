"""Remedies that several checks give: for a campaign, for `load`, an import, and for hosts."""

from __future__ import annotations

from plimsoll.verdicts.finding import Remedy

REPEAT = Remedy(
    "Do not use this trial; repeat it, and report a bug if it happens again",
    "Do not use these numbers; repeat the load, and report a bug if it happens again",
    "Do not use these numbers; repeat the test, or check that the file is complete",
)

LONGER_HOLD = Remedy(
    "Hold the load for longer: `duration` of its last stage",
    "Load for longer: `-d 30s`",
    "Record a longer test",
    counted="Load with more requests: `-n`",
)

QUIET_HOST = Remedy(
    "Stop other programs on this host, and repeat the trial",
    "Stop other programs on this host, and repeat the load",
    "Repeat the test on a host where nothing else runs",
    "Stop other programs on these hosts, and repeat the load",
)

DRIVER_CORES = Remedy(
    "Give the load generator more cores (`driver_cores`, `threads`), or the server fewer "
    "(`server_cores`)",
    "Give the load generator more threads (`-t`), or the server fewer cores (`--server-cores`)",
    "Give the load generator more cores, or a host of its own",
    "Add hosts that generate load, or give them more `cores` or `threads` in the file of hosts",
)

OWN_CORES = Remedy(
    "Give server and load generator cores of their own (`server_cores`, `driver_cores`)",
    "Give server and load generator cores of their own (`--server-cores`, `--driver-cores`)",
    "Run server and load generator on different hosts",
    "Run the server on a host that generates no load, or give each side `cores` of its own in the "
    "file of hosts",
)

KEEP_OR_NOT = Remedy(
    "Let the server keep connections open, or measure it without keep-alive (`keep_alive = false`)",
    "Let the server keep connections open, or measure it without keep-alive (`--no-keepalive`)",
    "Let the server keep connections open, or repeat the test without keep-alive",
)
"""What to do about a server that closes each connection after one response."""

NO_RESPONSE = Remedy(
    "Find in `server.log` why it did not respond", "Find in the server's log why it did not respond"
)

WHY_IT_STALLED = Remedy("Find in the throughput chart when the server stalled, and why")
