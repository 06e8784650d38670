"""A stand-in for the engine, which keeps to its seam: no socket is touched unless it is told to.

It "puts on" the load of a specification at once, a line of progress for each second of it, and
writes ten records a second. `FAKE_ENGINE` holds JSON that changes that:

- `exit`, `error`, `hint`: end with this exit code and these last words
- `say`: say this line after `started`
- `stay`: go on, twenty "seconds" a second, until a signal comes
- `deaf`: do not end upon SIGINT
- `silent`: say nothing at all and wait
- `requests`: really send so many requests to the server first
- `missing`: write so many records less than it says
- `ends_after_s`: end after so many "seconds", because enough requests were sent
- `fill`: write records until the disk is full, then end as the engine does
"""

import errno
import http.client
import json
import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from plimsoll.drivers import records

MODE: dict[str, Any] = json.loads(os.environ.get("FAKE_ENGINE", "{}"))
STOPPED: list[int] = []
NEVER = 2**64 - 1


def say(**line: Any) -> None:
    print(json.dumps(line), flush=True)


def fail(code: int, error: str, hint: str = "") -> None:
    words = "words for people\n" + json.dumps({"error": error, "hint": hint}) + "\n"
    with suppress(OSError):
        os.write(2, words.encode())
    sys.exit(code)


def rows(seconds: int) -> np.ndarray:
    """Ten requests a second, each answered after a millisecond; the last one is unfinished."""
    made = np.zeros(10 * seconds, records.record_dtype("requests"))
    made["due_ns"] = np.arange(len(made)) * 100_000_000
    made["sent_ns"] = made["due_ns"] + 1000
    made["first_byte_ns"] = made["sent_ns"] + 900_000
    made["done_ns"] = made["sent_ns"] + 1_000_000
    made["received_bytes"] = 100
    made["status"] = 200
    if len(made):
        made[-1]["first_byte_ns"] = made[-1]["done_ns"] = NEVER
        made[-1]["status"], made[-1]["outcome"] = 0, 50
    return made


def attempts() -> np.ndarray:
    made = np.zeros(2, records.record_dtype("connections"))
    made["closed_ns"] = NEVER
    made["connected_ns"] = [1000, NEVER]
    made["outcome"], made["errno"] = [62, 10], [0, 111]
    return made


def stages(load: dict[str, Any]) -> list[dict[str, Any]]:
    made, start = [], 0
    for stage in load["stages"]:
        end = start + stage["duration_ns"]
        made.append({"kind": stage["kind"], "start_ns": start, "end_ns": end})
        start = end
    return made


def ask_server(address: str) -> None:
    host, port = address.split(":")
    for _ in range(MODE.get("requests", 0)):
        try:
            connection = http.client.HTTPConnection(host, int(port), timeout=5)
            connection.request("GET", "/empty")
            connection.getresponse().read()
            connection.close()
        except (OSError, http.client.HTTPException):
            return


def fill(into: Path) -> None:
    with (into / "requests.bin").open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(56 * 4096))
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
    fail(6, f"the rows could not be written to {into}: no space left", "free disk space")


def progress(second: int) -> None:
    say(
        event="progress", at_ns=second * 10**9, stage="hold", connections_requested=1,
        connections_open=1, in_flight=1, in_flight_mean=0.5, requests_sent=10 * second,
        requests_ended=10 * second - 1, outcomes={"ok": 10 * second - 1},
        received_bytes=1000 * second, opened=1, refused=1, lost_rows=0,
    )  # fmt: skip


def stop(*_: object) -> None:
    """Ends cleanly upon the first signal, at once upon the second, as the engine does."""
    if STOPPED:
        os._exit(130)
    if not MODE.get("deaf"):
        STOPPED.append(1)


def main() -> None:
    spec = json.loads(Path(sys.argv[1]).read_text())
    signal.signal(signal.SIGINT, stop)
    into, load = Path(spec["into"]), spec["load"]
    if "exit" in MODE:
        fail(MODE["exit"], MODE.get("error", "it went wrong"), MODE.get("hint", ""))
    while MODE.get("silent") and not STOPPED:
        time.sleep(0.01)
    if MODE.get("fill"):
        fill(into)
    zero = time.monotonic_ns()
    say(event="started", zero_monotonic_ns=zero, zero_utc_ns=time.time_ns(), stages=stages(load))
    if "say" in MODE:
        print(MODE["say"], flush=True)
    ask_server(spec["address"])
    ended_by = "request_limit" if "ends_after_s" in MODE else "schedule"
    whole = round(stages(load)[-1]["end_ns"] / 1e9)
    seconds = int(MODE.get("ends_after_s", whole))
    for second in range(1, seconds + 1):
        progress(second)
    while MODE.get("stay") and not STOPPED:
        seconds += 1
        progress(seconds)
        time.sleep(0.05)
    if STOPPED:
        progress(seconds + 1)
        time.sleep(0.05)
    made, tried = rows(seconds), attempts()
    made[: len(made) - MODE.get("missing", 0)].tofile(into / "requests.bin")
    tried.tofile(into / "connections.bin")
    finish = {
        "format": 1, "version": "0.0.fake", "ended_by": "interrupt" if STOPPED else ended_by,
        "zero_monotonic_ns": zero, "ended_ns": seconds * 10**9, "stages": stages(load),
        "threads": spec["threads"], "cores": spec["cores"] or [], "connections_requested": 1,
        "sent": len(made), "outcomes": {"ok": len(made) - 1, "unfinished": 1}, "opened": 1,
        "refused": 1, "requests_rows": len(made), "connections_rows": len(tried), "lost_rows": 0,
        "tls": [], "bodies_compared": 1, "cpu_s": 0.1, "peak_rss_bytes": 1 << 20,
        "longest_pause_ns": 1, "redirects": 0, "sent_bytes": 0, "unsent_bytes": 0,
        "fewest_streams": None, "decoded": {},
    }  # fmt: skip
    (into / "finish.json").write_text(json.dumps(finish))
    say(event="finished", **finish)


if __name__ == "__main__":
    main()
