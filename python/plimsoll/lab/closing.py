"""Results that stay open until they are closed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Self

from plimsoll.errors import StorageError


class Closable(ABC):
    """Results that stay open until `close`, the end of a `with` block, or the end of the object."""

    def __enter__(self) -> Self:
        """The same, closed after the block."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close them."""
        self.close()

    @abstractmethod
    def close(self) -> None:
        """Closes the storage; what was not recorded is removed, what was read already stays."""


def closed() -> StorageError:
    """The error for whatever is read of results that are closed."""
    hint = "read it before `close()` or the end of its `with`; `plimsoll.read` opens what is kept"
    return StorageError("the result is closed", hint)
