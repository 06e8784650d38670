"""Kept paces: what each of the last runs on this host took, quantity by quantity.

They are in a user file, and may be deleted. Where it cannot be written, nothing is kept.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import astuple, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll import capacity
from plimsoll.errors import StorageError

if TYPE_CHECKING:
    from collections.abc import Mapping

HOST = ""
"""Key of what is no framework's."""

OF_CHECK = "check"
"""What stands for a run where a check estimated quantities, until a run measures them."""

MOST_RUNS = 5
"""Runs of which a quantity is kept."""

FILE = "paces.json"


@dataclass(frozen=True)
class RunValue:
    """A quantity of one run.

    Attributes:
        run: The run.
        count: How many trials or groups it is the mean of.
        value: The quantity.
        slowness: How many times as long as alone the run took.
    """

    run: str
    count: int
    value: float
    slowness: float


Series = tuple[RunValue, ...]
"""A quantity of the last runs, the last one last."""


@dataclass(frozen=True)
class Kept:
    """What the file has.

    Attributes:
        quantities: By framework, or `HOST`, and by name of the quantity.
        last_slowness: How many times as long as alone the last run took.
        last_at_s: When that was, in seconds since 1970.
    """

    quantities: Mapping[str, Mapping[str, Series]] = field(
        default_factory=dict[str, "Mapping[str, Series]"]
    )
    last_slowness: float = 1.0
    last_at_s: float = 0.0


def framework_key(folder: Path, variant: str) -> str:
    """Key of a framework.

    Args:
        folder: Its folder.
        variant: Its variant; may be empty.
    """
    return f"{folder.resolve()}:{variant}"


def add(kept: Kept, run: str, slowness: float, values: Mapping[str, Mapping[str, float]]) -> Kept:
    """What is kept, with what a run took; frameworks whose folder is gone are forgotten.

    Args:
        kept: What was kept.
        run: The run.
        slowness: How many times as long as alone it took so far.
        values: The quantities, by framework, or `HOST`, and by name.
    """
    known = {key: one for key, one in kept.quantities.items() if _is_there(key)}
    for key, quantities in values.items():
        series = dict(known.get(key, {}))
        for name, value in quantities.items():
            series[name] = _added(series.get(name, ()), RunValue(run, 1, value, slowness))
        known[key] = series
    return Kept(known, kept.last_slowness, kept.last_at_s)


def _is_there(key: str) -> bool:
    return key == HOST or Path(key.rpartition(":")[0]).is_dir()


def _added(series: Series, now: RunValue) -> Series:
    """A series with one more value; several of one run are their mean."""
    measured = tuple(one for one in series if one.run != OF_CHECK)
    own = next((one for one in measured if one.run == now.run), None)
    if own is None:
        return (*measured, now)[-MOST_RUNS:]
    count = own.count + 1
    mean = own.value + (now.value - own.value) / count
    merged = RunValue(now.run, count, mean, now.slowness)
    return tuple(merged if one is own else one for one in measured)


def read() -> Kept:
    """All that is kept; nothing of what is damaged, or of an earlier form."""
    try:
        content = json.loads(_file().read_text("utf-8"))
        return Kept(
            {
                key: {
                    name: tuple(RunValue(*one) for one in series)
                    for name, series in quantities.items()
                }
                for key, quantities in content["quantities"].items()
            },
            float(content["last_slowness"]),
            float(content["last_at_s"]),
        )
    except (OSError, StorageError, ValueError, TypeError, AttributeError, KeyError):
        return Kept()


def write(kept: Kept) -> None:
    """Replaces the file.

    Args:
        kept: All that is to be kept.
    """
    quantities = {
        key: {name: [astuple(one) for one in series] for name, series in each.items()}
        for key, each in kept.quantities.items()
    }
    content = {
        "quantities": quantities,
        "last_slowness": kept.last_slowness,
        "last_at_s": kept.last_at_s,
    }
    with suppress(OSError, StorageError):
        path = _file()
        partial = path.with_name(f"{path.name}.{os.getpid()}")
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_text(json.dumps(content), "utf-8")
        partial.replace(path)


def _file() -> Path:
    return capacity.state_folder() / FILE
