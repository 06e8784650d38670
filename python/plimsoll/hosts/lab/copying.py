"""Files of a host come to the lab: in pieces, checked by digest, on from where they stopped."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, cast

from plimsoll.errors import EngineFailed, HostError, HostLost
from plimsoll.hosts.lab.control import of_host

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from plimsoll.hosts.answers import HostFile
    from plimsoll.hosts.lab.control import Lab


def _nobody(_copied_bytes: int) -> None:
    """Nobody wants to know how much is here."""


def fetch(
    lab: Lab,
    host: str,
    file: HostFile,
    into: Path,
    order: tuple[object, ...],
    tell: Callable[[int], None] = _nobody,
) -> None:
    """Copies a file of a host; what an earlier copy left at `into` is not copied again.

    Args:
        lab: The lab.
        host: Name of the host.
        file: The file.
        into: Its copy; removed if it is damaged.
        order: What orders a piece, without the offset at which that begins.
        tell: Told after each piece how many bytes are here.

    Raises:
        HostLost: The host is gone, and did not come back.
        EngineFailed: What came is not what was described.
        OSError: It cannot be written.
    """
    with into.open("a+b") as target:
        target.seek(0)
        digest = hashlib.file_digest(target, "sha256")
        offset = target.tell()
        while offset < file.size_bytes:
            piece = cast("bytes", patiently(lab, host, *order, offset))
            if not piece:
                break
            target.write(piece)
            digest.update(piece)
            offset += len(piece)
            tell(offset)
    if digest.hexdigest() != file.sha256:
        into.unlink()
        message = f"`{file.name}` of `{host}` arrived damaged: {offset} of {file.size_bytes} bytes"
        raise EngineFailed(message, "repeat it")


def patiently(lab: Lab, host: str, *order: object) -> object:
    """What an order gives, once more if the host was cut off and has joined again.

    Args:
        lab: The lab.
        host: Name of the host.
        order: The order, and what it is given.

    Raises:
        HostLost: The host is gone, and did not join again in time; or what it had is.
        PlimsollError: What the method raised.
    """
    name, *arguments = order
    try:
        return lab.order(host, str(name), *arguments)
    except HostLost as error:
        try:
            lab.wait([host], lambda _: None)
        except HostError:
            raise error from None
    try:
        return lab.order(host, str(name), *arguments)
    except HostLost as error:
        raise of_host(host, error) from error
