"""The lab's side of its hosts: who is there, and what they measure together.

`hosts_file` reads which hosts there are, and `control` gives them orders; `ssh` starts agents, and
`clocks` relates the clocks of all. `fitness` looks at the hosts beforehand, and `campaign` is
everything for a whole campaign.

`driver` makes all hosts one driver for those who conduct trials, and `turns` does so where loads
take turns. `combined` makes one result of all, `printed` one of what tools print, and `copying`
brings files of a host. `server`, `server_turns` and `database` make a host a place for servers and
for PostgreSQL; `contact` gives these signs of life.

What needs `distributed` or `cryptography` is imported at its first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll import doors

if TYPE_CHECKING:
    from plimsoll.hosts.lab import campaign as campaign
    from plimsoll.hosts.lab import control as control
    from plimsoll.hosts.lab import copying as copying
    from plimsoll.hosts.lab import driver as driver
    from plimsoll.hosts.lab import fitness as fitness
    from plimsoll.hosts.lab import hosts_file as hosts_file

__getattr__ = doors.of_modules(
    __name__,
    ("campaign", "control", "copying", "driver", "fitness", "hosts_file"),
)
