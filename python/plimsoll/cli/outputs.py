"""Standard output and standard error: what is written to them when their reader ends first."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_STDOUT = 1
_without_reader: set[int] = set()


class _Output(io.FileIO):
    """Standard output or standard error, whose reader may end before the command does.

    The rest goes to /dev/null then, so that the command still writes its files and ends with its
    exit code, as for `plimsoll run … | head`.
    """

    def write(self, data: ReadableBuffer, /) -> int | None:
        """Writes bytes; returns how many."""
        try:
            return super().write(data)
        except BrokenPipeError:
            _without_reader.add(self.fileno())
            with Path(os.devnull).open("wb") as nowhere:
                os.dup2(nowhere.fileno(), self.fileno())
            return super().write(data)


def make_fit() -> None:
    """Has both replace characters that they cannot encode by `?`, and go on without a reader.

    Writing to a closed stdout fails as on a full disk; output to a closed stderr is dropped.
    """
    for name in ("stdout", "stderr"):
        output: object = getattr(sys, name)
        if output is None:
            mode = os.O_RDONLY if name == "stdout" else os.O_WRONLY
            file = os.open(os.devnull, mode)
            setattr(sys, name, open(file, "w", encoding="utf-8"))  # noqa: PTH123
        elif isinstance(output, io.TextIOWrapper):
            setattr(sys, name, _fit(cast("io.TextIOWrapper", output)))


def _fit(output: io.TextIOWrapper) -> io.TextIOWrapper:
    output.flush()
    return io.TextIOWrapper(
        io.BufferedWriter(_Output(output.fileno(), "w", closefd=False)),
        encoding=output.encoding,
        errors="replace",
        line_buffering=output.line_buffering or output.write_through,
    )


def is_read() -> bool:
    """Whether standard output has a reader, as far as was seen when it was last written to."""
    return _STDOUT not in _without_reader
