"""Servers of asyncio in a thread of their own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager


@contextmanager
def in_thread(listen: Callable[[], Awaitable[asyncio.Server]]) -> Generator[tuple[str, int]]:
    """Runs what `listen` starts; gives its address."""
    ready, place = threading.Event(), list[tuple[str, int]]()
    loop, stop = asyncio.new_event_loop(), asyncio.Event()

    async def serve() -> None:
        listening = await listen()
        place.append(listening.sockets[0].getsockname())
        ready.set()
        async with listening:
            await stop.wait()
        # Who still talks closes its connection, which takes a further turn of the loop.
        talking = asyncio.all_tasks() - {asyncio.current_task()}
        for task in talking:
            task.cancel()
        await asyncio.gather(*talking, return_exceptions=True)
        await asyncio.sleep(0)

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    try:
        assert ready.wait(10)
        yield place[0]
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        loop.close()
