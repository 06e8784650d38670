"""The address space limit, checked before loading libraries that abort when it is too low."""

from __future__ import annotations

import resource

from plimsoll import wording
from plimsoll.errors import LimitTooLow

ROWS_BYTES = 4 << 30
"""Address space that Arrow and DuckDB reserve, with threads and mapped files; they use little.

Below about 3 GiB they crash the process (`std::bad_alloc`, `SIGSEGV`), which Python cannot catch.
"""

CHARTS_BYTES = 2 << 40
"""Address space that V8, which draws the charts, reserves; with 64 GiB it crashes."""

NEEDED_BYTES = {
    "calibrate": ROWS_BYTES, "line": CHARTS_BYTES, "load": ROWS_BYTES, "import": ROWS_BYTES,
    "judge": ROWS_BYTES, "export": ROWS_BYTES, "run": CHARTS_BYTES, "report": CHARTS_BYTES,
    "history": CHARTS_BYTES,
}  # fmt: skip
"""Address space needed by each verb that reads or writes rows, or draws charts."""


def require(verb: str) -> None:
    """Requires the address space that a verb needs.

    Raises:
        LimitTooLow: `RLIMIT_AS` is lower.
    """
    needed = NEEDED_BYTES.get(verb, 0)
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    if most == resource.RLIM_INFINITY or most >= needed:
        return
    message = (
        f"the address space is limited to {wording.count(most >> 20)} MiB (`ulimit -v`), but "
        f"`{verb}` reserves"
        f" {wording.count(needed >> 20)} MiB"
    )
    hint = "run `ulimit -v unlimited`; to limit memory, use a control group"
    raise LimitTooLow(message, hint)
