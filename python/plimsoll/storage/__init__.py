"""Where tables are kept, one module for each way to keep them.

A module has one type with `trial_ids`, `recording`, `table`, `write_derived` and `read_derived`,
made by its function `results(folder)`.
"""

from plimsoll.storage import parquet

STORAGES = (parquet,)
"""Every storage."""
