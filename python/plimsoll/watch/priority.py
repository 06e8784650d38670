"""Priority of who looks on: no core is taken from server and driver, as far as there are others.

What it takes all the same is counted among other programs by the check `undisturbed`, like anything
else on the host.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress

from plimsoll.processes import affinity

NICENESS = 10
"""Priority by nice(2): a tenth of a core beside a program that wants all of it.

At 19 it would be a hundredth, and the page of a load that takes every core would not start.
"""


def lower_priority() -> None:
    """Gives this thread, and those it starts from now on, a low priority."""
    with suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, max(NICENESS, os.getpriority(os.PRIO_PROCESS, 0)))


def keep_off(cores: Iterable[int], allowed: Iterable[int]) -> None:
    """Has every thread of this process run on other cores than some, if there are others.

    Args:
        cores: Cores of server and driver; empty where these may use all.
        allowed: Cores that this process was started with.
    """
    others = {*allowed} - {*cores}
    affinity.confine((os.getpid(),), others or allowed)
