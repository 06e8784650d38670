"""What is sampled while a driver works."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from plimsoll import addresses
from plimsoll.drivers.job import DriverCallbacks
from plimsoll.processes.tree import ProcessTree
from plimsoll.sampling.scope import Scope

if TYPE_CHECKING:
    from collections.abc import Callable

    from plimsoll.events import Progress
    from plimsoll.processes.interruption import Interruption
    from plimsoll.sampling.sampler import Sampler


def callbacks(
    sampler: Sampler,
    address: str,
    go_on: Callable[[], bool],
    interruption: Interruption,
    tell: Callable[[Progress], None],
    zero: Callable[[int], None] | None = None,
) -> DriverCallbacks:
    """Callbacks that have a driver's processes sampled, at whole seconds after its zero.

    Args:
        sampler: Reads resources once a second.
        address: Address of the server.
        go_on: Whether the load goes on.
        interruption: Knows of Ctrl-C.
        tell: Gets the progress, with the cores that server and driver keep busy.
        zero: Gets the zero of the load, as the sampler does; None for nothing.
    """
    tree: ProcessTree | None = None

    def begun(root: int) -> None:
        nonlocal tree
        tree = tree.followed_by(root) if tree else ProcessTree(root, with_root=False)
        peer = "" if addresses.is_unix(address) else address
        sampler.watch(Scope("driver", tree, peer=peer))

    def progress(progress: Progress) -> bool:
        server, driver = sampler.busy_cores("server"), progress.driver_busy_cores
        if driver is None:
            driver = sampler.busy_cores("driver")
        tell(replace(progress, server_busy_cores=server, driver_busy_cores=driver))
        return go_on()

    def aligned(zero_ns: int) -> None:
        sampler.align(zero_ns)
        if zero is not None:
            zero(zero_ns)

    return DriverCallbacks(begun, aligned, progress, interruption)
