"""Reads request logs of other tools into Plimsoll's tables, one module per tool.

A reader has `NAME`, `recognises(beginning)` and `read(stream, options, tally)`, which yields
batches of the schema `rows.ROWS`. Readers do not import each other. What a tool does not log is
null.
"""

from plimsoll.intake import ab, h2load, jmeter, k6, oha, vegeta
from plimsoll.intake.rows import Reader

READERS: tuple[Reader, ...] = (jmeter, ab, h2load, k6, oha, vegeta)
"""Every reader; the first that recognises the beginning of a file reads it."""


def named(name: str) -> Reader:
    """The reader of a tool.

    Args:
        name: `NAME` of one of them.
    """
    return next(reader for reader in READERS if reader.NAME == name)
