"""The little of it that is used."""

from typing import Any

class ConnectionPool:
    """Connections to other servers."""

    def __call__(self, addr: str) -> Any: ...
