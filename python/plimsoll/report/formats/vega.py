"""Vega: the chart library of a page, as one script.

Bundling it takes 1.7 s of CPU time, more than all else that a report of one trial takes, and gives
the same script each time. So it is kept in the user's cache, by the version of the converter.
"""

from __future__ import annotations

import os
from contextlib import suppress
from functools import cache
from importlib.metadata import version

import vl_convert

from plimsoll.campaign.places import user_cache
from plimsoll.errors import StorageError


@cache
def library() -> str:
    """Vega, Vega-Lite and their embedding as one script."""
    # No home folder, a name that no file system takes, a full disk: a page needs no cache.
    with suppress(OSError, StorageError, ValueError):
        return _kept()
    return _bundled()


def _kept() -> str:
    path = user_cache() / f"vega-{version('vl-convert-python')}.js"
    if not path.is_file():
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(f"{path.name}.{os.getpid()}")
        try:
            partial.write_text(_bundled(), encoding="utf-8")
            partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)
    return path.read_text(encoding="utf-8")


def _bundled() -> str:
    return str(vl_convert.javascript_bundle())  # pyright: ignore[reportCallIssue, reportUnknownArgumentType]
