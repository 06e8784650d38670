"""Lines of `framework.toml` that declare violations which are the author's to decide."""

from __future__ import annotations

import json
import signal
from typing import TYPE_CHECKING

from plimsoll.campaign.endpoints import mix
from plimsoll.serving import surroundings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from plimsoll.campaign.framework import Framework
    from plimsoll.recording.framework_check import FrameworkCheck

_ABSENT = "the status is `404`"
_AS_A_SHELL = 128
"""A shell adds this to the number of the signal that ended its command."""


def lines(framework: Framework, found: FrameworkCheck) -> list[str]:
    """The lines of `framework.toml` with which some violations would be in order; may be empty.

    An endpoint that is not there, a short backlog, an end by the stop signal, and rules from which
    a note exempts.

    Args:
        framework: The framework.
        found: The outcome of its check.
    """
    keys = [*_endpoints(framework, found), *_backlog(framework, found), *_exit(framework, found)]
    rules = [*_rules(found)]
    heading = f"[variant.{framework.variant}]" if framework.variant else ""
    table = f"[variant.{framework.variant}.contract_notes]" if heading else "[contract_notes]"
    return [
        *([heading] if heading and keys else []),
        *keys,
        *([table] if rules else []),
        *rules,
    ]


def _endpoints(framework: Framework, found: FrameworkCheck) -> Iterator[str]:
    """All endpoints but those whose first request got 404."""
    absent = {
        part.name
        for part in found.parts
        if part.violations and part.violations[0].problem.startswith(_ABSENT)
    }
    served = [name for name in framework.endpoints if name not in absent]
    if not absent & {*framework.endpoints} or not served:
        return
    if not {*mix.PARTS} <= {*served}:
        served = [name for name in served if name != mix.NAME]
    yield f"endpoints = {_listed(served)}"


def _backlog(framework: Framework, found: FrameworkCheck) -> Iterator[str]:
    if any(part.name == "backlog" and part.violations for part in found.parts):
        note = f"The listen backlog is {min(found.measurements.backlogs)}: …"
        yield f"notes = {_listed([*framework.notes, note])}"


def _exit(framework: Framework, found: FrameworkCheck) -> Iterator[str]:
    """The exit code of a server that ended by the stop signal."""
    number = signal.Signals[f"SIG{framework.stop_signal}"]
    code = found.measurements.exit_code
    if code in (-number, _AS_A_SHELL + number) and code not in framework.clean_exit_codes:
        yield f"clean_exit_codes = {_listed([*framework.clean_exit_codes, code])}"


def _rules(found: FrameworkCheck) -> Iterator[str]:
    """Rules that a note exempts from, if nothing else is wrong at the same endpoint."""
    noted = {*surroundings.BY_NAME.values()}
    rules = [{one.rule for one in part.violations} for part in found.parts]
    broken = {rule for of_part in rules if of_part <= noted for rule in of_part}
    for name, rule in surroundings.BY_NAME.items():
        if rule in broken:
            yield f'{name} = "…"'


def _listed(values: Sequence[str | int]) -> str:
    """A list in TOML, whose strings are written as in JSON."""
    return json.dumps(values, ensure_ascii=False)
