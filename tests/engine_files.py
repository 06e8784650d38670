"""Files as the engine writes them, of loads that never ran."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from plimsoll.drivers import records

SECOND_NS = 1_000_000_000
NONE = np.iinfo(np.uint64).max
NO_BYTES = np.iinfo(np.uint32).max
COMPLETE = ("ok", "wrong_status", "wrong_length", "wrong_body")


def written(folder: Path, count: int, names: Sequence[str], seed: int = 1, kinds: int = 1) -> None:
    """Records of requests that end in every one of some ways, and of their connections."""
    random = np.random.default_rng(seed)
    codes = {name: code for code, name in records.outcome_names().items()}
    rows = np.zeros(count, records.record_dtype("requests"))
    rows["due_ns"] = np.sort(random.integers(0, 13 * SECOND_NS, count))
    rows["sent_ns"] = rows["due_ns"] + random.integers(0, 1000, count)
    rows["first_byte_ns"] = rows["sent_ns"] + random.lognormal(12, 2, count).astype(np.uint64)
    rows["done_ns"] = rows["first_byte_ns"] + random.integers(0, 100_000, count)
    rows["received_bytes"] = 100
    rows["outcome"] = random.choice([codes[name] for name in names], count)
    rows["status"] = np.where(rows["outcome"] == codes["ok"], 200, 404)
    for name in ("unfinished", "not_sent", "timed_out_waiting", "connect_refused"):
        found = rows["outcome"] == codes[name]
        rows["first_byte_ns"][found] = NONE
        rows["status"][found] = 0
        if name != "timed_out_waiting":
            rows["done_ns"][found] = NONE
    rows["errno"][rows["outcome"] == codes["connect_refused"]] = 111
    complete = np.isin(rows["outcome"], [codes[name] for name in COMPLETE])
    compared = random.choice([0, 1, NO_BYTES], count, p=(0.2, 0.2, 0.6))
    rows["compared"] = np.where(complete, compared, NO_BYTES)
    rows["compared"][rows["outcome"] == codes["wrong_body"]] = 1
    rows["body_bytes"] = np.where(
        complete, random.choice([90, 91, 92], count, p=(0.8, 0.1, 0.1)), NO_BYTES
    )
    rows["request"] = random.integers(0, kinds, count)
    rows["connection"] = random.integers(0, 40, count)
    rows.tofile(folder / "requests.bin")
    tried = np.zeros(40, records.record_dtype("connections"))
    tried["due_ns"] = np.arange(40) * 1000
    tried["connected_ns"] = tried["due_ns"] + random.integers(1000, 90_000, 40)
    tried["closed_ns"] = 13 * SECOND_NS
    tried["closed_ns"][::3] = random.integers(SECOND_NS, 12 * SECOND_NS, 14)
    tried["closed_ns"][30:] = NONE
    tried["responses"] = np.arange(40) % 5
    tried["connection"] = np.arange(40)
    tried["outcome"] = random.choice([codes["still_open"], codes["reset_waiting"]], 40)
    tried["outcome"][:7] = codes["connect_refused"]
    tried["errno"][:7] = 111
    tried["connected_ns"][:7] = NONE
    tried.tofile(folder / "connections.bin")
