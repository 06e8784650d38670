"""What runs on another host: does what the lab orders, and knows nothing of how the lab does it.

`membership` connects an agent with the lab, and `agent` carries out the orders: loads, rows and
servers. `turns` is what it does with loads that take turns, `kept_rows` with rows that stay on the
host. `server`, `server_turns` and `database` are what it does with a server, its turns, and
PostgreSQL; `steps` is what takes long of that, and `readings` what is read of both under load.

What needs `distributed` is imported at its first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll import doors

if TYPE_CHECKING:
    from plimsoll.hosts.agent import membership as membership

__getattr__ = doors.of_modules(__name__, ("membership",))
