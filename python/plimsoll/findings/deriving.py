"""Deriving: what follows from many trials at the same time, some of them on each core.

Trials depend on no other, and one process keeps one core busy. So where many are to be derived,
further processes derive a share each and keep it in the folder of the campaign, from where this one
reads it. Run as a program, the module is such a process: it reads an order from its standard input,
and writes a JSON list of the trials that are derived.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll import aggregate, storage, wording
from plimsoll.events import Listener, Step, ignore
from plimsoll.findings import derivation
from plimsoll.processes import beside
from plimsoll.processes.beside import Beside

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.findings.trial import TrialFindings
    from plimsoll.storage.results import Results

FEWEST = 8
"""Trials from which on further processes are worth their start, which takes as long as two."""

MOST = 8
"""The most processes: each may hold as many rows in memory as a query may (`database.MEMORY`)."""


def of_trials(
    results: Results, trial_ids: Sequence[str], *, again: bool = False, on_event: Listener = ignore
) -> list[TrialFindings]:
    """What is known of some trials: what was kept of them, or else derived now, and kept.

    Args:
        results: Where their rows are.
        trial_ids: The trials.
        again: Whether they are derived anew, whatever was kept.
        on_event: Called with a `Step` before a trial is read or derived.

    Raises:
        StorageError: Rows could not be read, or what follows from them not be kept.
    """
    found: dict[str, TrialFindings] = {}
    told = 0

    def tell(count: int = 1) -> None:
        nonlocal told
        told = min(told + count, len(trial_ids))
        on_event(Step(f"reading trials: {wording.progress(told, len(trial_ids))}"))

    for trial_id in () if again else trial_ids:
        kept = derivation.kept(results, results.recording(trial_id))
        if kept is not None:
            tell()
            found[trial_id] = kept
    missing = [one for one in trial_ids if one not in found]
    processes = _processes(results, len(missing))
    shares = [missing[first::processes] for first in range(processes)]
    with ExitStack() as closing:
        others = [closing.enter_context(_beside(results, share)) for share in shares[1:]]
        if missing:
            closing.enter_context(aggregate.database.shared())
        for trial_id in shares[0]:
            tell(processes)
            found[trial_id] = derivation.derived(results, results.recording(trial_id))
        elsewhere = [trial_id for other in others for trial_id in _done(other)]
    for trial_id in missing:
        if trial_id not in found:
            recording = results.recording(trial_id)
            is_missing = trial_id not in elsewhere
            found[trial_id] = derivation.of_trial(results, recording, again=is_missing)
    return [found[one] for one in trial_ids]


def _processes(results: Results, missing: int) -> int:
    """How many processes derive trials, this one included."""
    if not results.is_shared:
        return 1
    return min(beside.cores_for(missing, FEWEST), MOST)


def _beside(results: Results, trial_ids: Sequence[str]) -> Beside:
    order = {"folder": str(results.folder), "trials": trial_ids, "ordered_by": os.getpid()}
    return Beside(__name__, json.dumps(order))


def _done(other: Beside) -> list[str]:
    """The trials that a process derived; none where it could not, so that this one says why."""
    return json.loads(other.written() or "[]")


def main() -> None:
    """Derives the trials of an order, as long as whoever gave it runs."""
    order = json.load(sys.stdin)
    done: list[str] = []
    with storage.opened(Path(order["folder"])) as results, aggregate.database.shared():
        for trial_id in order["trials"]:
            if os.getppid() != order["ordered_by"]:
                break
            derivation.derived(results, results.recording(trial_id))
            done.append(trial_id)
    json.dump(done, sys.stdout)


if __name__ == "__main__":
    main()
