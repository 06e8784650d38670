"""Bodies as the engine writes them down, for tests."""

from pathlib import Path

import numpy as np

from plimsoll.conduct.written_bodies import FILE
from plimsoll.drivers import records


def written(into: Path, *bodies: tuple[int, int, bytes]) -> Path:
    """The folder with the engine's file of bodies.

    Args:
        into: The folder.
        bodies: Request, instant and body of each.
    """
    dtype = records.record_dtype("bodies")
    parts: list[bytes] = []
    for request, done_ns, body in bodies:
        row = np.zeros(1, dtype)
        row["request"], row["done_ns"], row["length_bytes"] = request, done_ns, len(body)
        parts += [row.tobytes(), body]
    (into / FILE).write_bytes(b"".join(parts))
    return into
