"""Reads ahead in a thread while earlier items are processed."""

from __future__ import annotations

import queue
import threading
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager, suppress
from typing import Generic, TypeVar

Item = TypeVar("Item")


class _Ahead(Generic[Item]):
    """Items of a generator, produced by one thread and consumed by another."""

    def __init__(self, items: Generator[Item], waiting: int) -> None:
        self._items = items
        self._queue: queue.Queue[Item | _End] = queue.Queue(waiting)
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._take_all, name="ahead", daemon=True)
        self._thread.start()

    def __iter__(self) -> Iterator[Item]:
        while True:
            item = self._queue.get()
            if isinstance(item, _End):
                if item.error is not None:
                    raise item.error
                return
            yield item

    def end(self) -> None:
        """Ends the thread, even if it is waiting."""
        self._is_over.set()
        while self._thread.is_alive():
            with suppress(queue.Empty):
                self._queue.get_nowait()
            self._thread.join(0.01)

    def _take_all(self) -> None:
        error: BaseException | None = None
        try:
            with closing(self._items):
                for item in self._items:
                    if self._is_over.is_set():
                        return
                    self._queue.put(item)
        except BaseException as raised:
            error = raised
        self._queue.put(_End(error))


class _End:
    """Marks the end of the items."""

    def __init__(self, error: BaseException | None) -> None:
        self.error = error


@contextmanager
def taken_ahead(items: Generator[Item], waiting: int) -> Generator[Iterator[Item]]:
    """Items of a generator, some of which are produced ahead.

    Its exception is raised after its last item. The generator runs in one thread only, and is
    closed with the block.

    Args:
        items: The generator.
        waiting: The most items produced ahead, which limits memory.
    """
    ahead = _Ahead(items, waiting)
    try:
        yield iter(ahead)
    finally:
        ahead.end()
