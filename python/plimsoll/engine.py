"""The engine as a process: `python -m plimsoll.engine SPEC.json`.

Stdout has one JSON object per line: `started`, then `progress` once a second, then `finished`.
SIGINT and SIGTERM end the load early and cleanly. The engine also ends when its stdout is closed,
so that no load outlives the process that started it.

Exit codes: 0 finished or interrupted, 2 invalid specification, 3 a limit of this host is too low, 5
the engine failed, 6 the rows could not be written. If it is not 0, the last line of stderr is
`{"error": …, "hint": …}`.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from plimsoll import _engine

SIGNALS = (signal.SIGINT, signal.SIGTERM)
"""Signals that end the load early."""


class _Interrupted(Exception):  # noqa: N818 - it never leaves this module
    """A signal requested the end."""


def _interrupt(number: int, frame: object) -> NoReturn:
    raise _Interrupted


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _finish(spec: str) -> str:
    """Generates the load of a specification and returns the content of `finish.json`.

    A signal after the end of the load has no effect.
    """
    try:
        return _engine.run(spec, _say)
    except _Interrupted:
        path = Path(json.loads(spec)["into"]) / "finish.json"
        if not path.exists():
            raise
        return path.read_text(encoding="utf-8")
    finally:
        for number in SIGNALS:
            signal.signal(number, signal.SIG_IGN)


def _complain(error: str, hint: str) -> None:
    """Writes the last line of stderr; its disk may be full."""
    with suppress(OSError):
        os.write(2, (json.dumps({"error": error, "hint": hint}) + "\n").encode())


def main(arguments: list[str]) -> int:
    """Generates the load of a specification.

    Args:
        arguments: The path of the specification.

    Returns:
        The exit code.
    """
    for number in SIGNALS:
        signal.signal(number, _interrupt)
    try:
        spec = Path(arguments[0]).read_text(encoding="utf-8")
        finish = _finish(spec)
        _say(json.dumps({"event": "finished", **json.loads(finish)}))
    except _engine.EngineFailure as failure:
        message, hint, exit_code = failure.args
        _complain(message, hint)
        return int(exit_code)
    except (OSError, IndexError) as error:
        hint = "usage: python -m plimsoll.engine SPEC.json"
        _complain(str(error), hint)
        return 2
    except _Interrupted:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
