"""The little of `distributed` that is used: partly typed, it fails strict checks."""

from collections.abc import Callable, Generator
from typing import Any, Self

from distributed.core import ConnectionPool
from distributed.security import Security

class _Server:
    handlers: dict[str, Callable[..., Any]]
    rpc: ConnectionPool

    def __await__(self) -> Generator[Any, Any, Self]: ...
    async def finished(self) -> None: ...
    async def close(self) -> None: ...

class Scheduler(_Server):
    """Knows who is there."""

    aliases: dict[str, str]

    def __init__(
        self,
        *,
        host: str,
        port: int,
        protocol: str,
        security: Security,
        dashboard: bool,
        dashboard_address: str,
    ) -> None: ...
    async def add_worker(self, comm: Any, **told: Any) -> None: ...
    async def remove_worker(self, address: str, *, stimulus_id: str) -> str: ...
    def heartbeat_worker(self, *args: Any, **told: Any) -> dict[str, object]: ...

class Worker(_Server):
    """Does what it is told."""

    def __init__(
        self,
        scheduler_ip: str,
        *,
        nthreads: int,
        name: str,
        host: str,
        protocol: str,
        security: Security,
        local_directory: str,
        memory_limit: int,
        dashboard: bool,
        dashboard_address: str,
        death_timeout: float,
    ) -> None: ...
    async def close(self, *args: Any, reason: str = "worker-close", **told: Any) -> None: ...
