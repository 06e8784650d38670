"""A link with a delay, by two interfaces: packets into one come out of the other so much later.

    python slow_link.py NAME OTHER DELAY_S

Makes the interfaces, says so in a line, and runs until its standard input ends.
"""

from __future__ import annotations

import fcntl
import os
import select
import struct
import sys
import time
from collections import deque
from contextlib import suppress

_SET = 0x400454CA
_TUN, _WITHOUT_HEADER = 0x0001, 0x1000
_REQUEST = struct.Struct("16sH22x")
_BYTES = 65_536
_AT_ONCE = 64
_MOST_WAITING = 20_000
"""Packets on the way beyond which more are dropped."""


def made(name: str) -> int:
    """Makes an interface; its packets are read from, and written to, the descriptor."""
    opened = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(opened, _SET, _REQUEST.pack(name.encode(), _TUN | _WITHOUT_HEADER))
    return opened


def arrived(side: int) -> list[bytes]:
    """The packets that an interface has sent; nothing from one that is down."""
    packets: list[bytes] = []
    with suppress(OSError):
        while len(packets) < _AT_ONCE:
            packets.append(os.read(side, _BYTES))
    return packets


def relay(first: int, second: int, delay_s: float) -> None:
    """Passes packets on in both directions until standard input ends."""
    other, end = {first: second, second: first}, sys.stdin.fileno()
    waiting = deque[tuple[float, int, bytes]]()
    while True:
        left_s = max(waiting[0][0] - time.monotonic(), 0.0) if waiting else None
        ready, _, _ = select.select([*other, end], [], [], left_s)
        if end in ready:
            return
        due_s = time.monotonic() + delay_s
        for side in ready:
            found = arrived(side)[: _MOST_WAITING - len(waiting)]
            waiting += [(due_s, other[side], packet) for packet in found]
        while waiting and waiting[0][0] <= time.monotonic():
            _, side, packet = waiting.popleft()
            with suppress(OSError):
                os.write(side, packet)


if __name__ == "__main__":
    name, other_name, delay = sys.argv[1:]
    sides = made(name), made(other_name)
    print("made", flush=True)
    relay(*sides, float(delay))
