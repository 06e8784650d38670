"""Loads a trial and stays in the middle of it: something to kill.

Usage: loads_and_stays.py FOLDER, with the address of a database in `URL`.
"""

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds

from plimsoll import storage
from plimsoll.storage.postgres import trials
from stored_trials import put, recording, requests

batches = trials._batches


def stay(rows: ds.Dataset) -> Iterator[pa.RecordBatch]:
    yield from batches(rows)
    print("in the middle", flush=True)
    time.sleep(600)


trials._batches = stay
with storage.opened(Path(sys.argv[1]), os.environ["URL"]) as results:
    put(results, recording(order=2), requests=requests(60_000))
