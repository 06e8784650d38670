"""From which size on each fault of the catalogue is found: each ladder is climbed, smallest first.

Writes `docs/faults.json`, from which `make docs` writes the table in `docs/checks.md`. A size is
found when the check that must find it doubts the trial, and does not doubt its twin without the
fault. Name faults to measure those alone; the others keep what was found before.

Exit codes: 0 measured; others as Python's.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parents[1] / "tests"
sys.path.insert(0, str(TESTS))

from faults.catalogue import FAULTS, NO_CHECK, PROVED, Fault, Proved  # noqa: E402
from faults.trials import Seen, Trial, seen  # noqa: E402

DATA = TESTS.parent / "docs" / "faults.json"

Row = dict[str, Any]


@cache
def _seen(trial: Trial) -> Seen:
    with tempfile.TemporaryDirectory() as folder:
        return seen(trial, Path(folder))


def climbed(fault: Fault) -> Row:
    """Climbs a ladder up to the first size that is found.

    Returns:
        The fault in words, and: `first`, the size, or null where none is found; `twin_doubted`,
        whether the check doubts the trial without the fault, too; how many `trials` were made, and
        how many of them other programs `disturbed`.
    """
    made = [_seen(fault.make(0))]
    twin_doubted = fault.found_by != NO_CHECK and fault.is_found(made[0])
    first = None
    for size in () if twin_doubted else fault.sizes:
        made.append(_seen(fault.make(size)))
        if fault.found_by != NO_CHECK and fault.is_found(made[-1]):
            first = size
            break
    return {
        **unmeasured(fault),
        "first": first,
        "twin_doubted": twin_doubted,
        "trials": len(made),
        "disturbed": sum(one.is_disturbed for one in made),
    }


def unmeasured(fault: Fault) -> Row:
    """A fault whose ladder was not climbed yet."""
    missing = {"first": None, "twin_doubted": False, "trials": 0, "disturbed": 0}
    return {**_words(fault), "test": "", **missing}


def proved(fault: Proved) -> Row:
    """A fault whose own test finds it at all of its sizes."""
    return {
        **_words(fault),
        "test": fault.test,
        "first": fault.sizes[0],
        "twin_doubted": False,
        "trials": 0,
        "disturbed": 0,
    }


def _words(fault: Fault | Proved) -> Row:
    return {
        "name": fault.name,
        "what": fault.what,
        "side": fault.side,
        "unit": fault.unit,
        "sizes": list(fault.sizes),
        "found_by": fault.found_by,
        "why": fault.why if isinstance(fault, Fault) else "",
        "needs_quiet": isinstance(fault, Fault) and fault.needs_quiet,
    }


def _known() -> dict[str, Row]:
    if not DATA.exists():
        return {}
    return {row["name"]: row for row in json.loads(DATA.read_text(encoding="utf-8"))["faults"]}


def _write(rows: list[Row]) -> None:
    DATA.write_text(json.dumps({"faults": rows}, indent=1, ensure_ascii=False) + "\n", "utf-8")


def main() -> None:
    """Climbs the ladders and writes what was found, after each one."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="faults; all without one")
    names = set(parser.parse_args().names)
    measured = _known()
    known = {
        one.name: {**unmeasured(one), **measured.get(one.name, {}), **_words(one)} for one in FAULTS
    }
    for fault in FAULTS:
        if not names or fault.name in names:
            row = known[fault.name] = climbed(fault)
            print(f"{fault.name}: {_told(row)}", flush=True)
            _write(list(known.values()))
    known |= {fault.name: proved(fault) for fault in PROVED}
    _write([known[fault.name] for fault in (*FAULTS, *PROVED) if fault.name in known])


def _told(row: Row) -> str:
    if row["twin_doubted"]:
        return "doubted without the fault, too"
    return "not found" if row["first"] is None else f"from {row['first']:g} {row['unit']} on"


if __name__ == "__main__":
    main()
