"""Printing of a check: each part as soon as it is verified, and its violations."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import click

from plimsoll.cli import listeners, messages
from plimsoll.events import FrameworkChecked, PartChecked
from plimsoll.recording.compliance import RESULTS
from plimsoll.report.results import checked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.events import Event
    from plimsoll.recording.compliance import ComplianceResult
    from plimsoll.recording.framework_check import ContractViolation

SHOWN = 2
"""The most violations of one rule that are printed per endpoint."""

_COLOURS = {"conforms": "green", "either": "cyan", "differs": "yellow", "not_tried": "white"}


@dataclass
class CheckPrinter:
    """A listener that prints what is verified.

    Attributes:
        full: Whether every violation is printed with its complete request, and every case.
        shown: Rules of the current framework that were printed before.
    """

    full: bool
    shown: set[str] = field(default_factory=set[str])

    def __call__(self, event: Event) -> None:
        """Prints an event."""
        listeners.steps(event)
        if isinstance(event, PartChecked):
            self._print_part(event)
        elif isinstance(event, FrameworkChecked):
            self._print_end(event)

    def _print_part(self, event: PartChecked) -> None:
        """Prints the violations of one endpoint, or of the backlog or the stop."""
        found = event.part.violations
        verdict = messages.coloured(*(("failed", "red") if found else ("ok", "green")))
        click.echo(f"{event.framework.title:<24} {event.part.name:<20} {verdict}")
        for rule in dict.fromkeys(failure.rule for failure in found):
            against = [failure for failure in found if failure.rule == rule]
            if rule in self.shown and not self.full:
                click.echo(f"  as above  {rule}{_times(len(against))}")
            else:
                _print_rule(against, len(against) if self.full else SHOWN, full=self.full)
            self.shown.add(rule)

    def _print_end(self, event: FrameworkChecked) -> None:
        """Prints the log and what to declare after violations, an error, and the gate's results."""
        self.shown.clear()
        if event.check.error is None and event.check.violations:
            _print_log(event.check.log)
            _print_exceptions(event.check.exceptions)
        if event.check.compliance:
            counts = checked.compliance_counts(event.check.compliance)
            click.echo(f"{event.framework.title:<24} {'compliance':<20} {counts}")
            for one in event.check.compliance:
                if self.full or one.result == "differs":
                    click.echo(_case(one))
        print_error(event)


def print_error(event: Event) -> None:
    """Prints why a framework did not start, or how it ended during its check."""
    if isinstance(event, FrameworkChecked) and event.check.error is not None:
        messages.error(event.check.error.message, event.check.error.hint)


def quietly(event: Event) -> None:
    """A listener that prints notices, steps and errors only."""
    listeners.steps(event)
    print_error(event)


def _case(one: ComplianceResult) -> str:
    word = messages.coloured(f"{RESULTS[one.result]:<9}", _COLOURS[one.result])
    return f"  {word} {checked.compliance_line(one)}"


def _print_rule(against: Sequence[ContractViolation], most: int, *, full: bool) -> None:
    """Prints the violations of one rule, identical ones once."""
    counted = Counter(against)
    for failure, count in list(counted.items())[:most]:
        click.echo(f"  request   {failure.request}{_times(count)}")
        for line in failure.sent.splitlines() if full else ():
            click.echo(f"          | {line}")
        click.echo(f"  response  {failure.response}")
        click.echo(f"  problem   {failure.problem}")
        click.echo(f"  rule      {failure.rule}")
    rest = sum(list(counted.values())[most:])
    if rest:
        click.echo(f"  …         {rest} more violations of this rule; `--full` shows them")


def _times(count: int) -> str:
    return f" ({count} times)" if count > 1 else ""


def _print_log(lines: Sequence[str]) -> None:
    """Prints the last lines of the server's log, if any."""
    for place, line in enumerate(lines):
        click.echo(f"  {'' if place else 'log':<9} {line}")


def _print_exceptions(lines: Sequence[str]) -> None:
    """Prints lines of `framework.toml`, if any, and where each goes."""
    if lines:
        click.echo("  if the framework cannot do otherwise, write into `framework.toml`,")
    for place, line in enumerate(lines):
        if where := _place(line, is_first=place == 0):
            click.echo(f"\n  {where}:\n" if place else f"  {where}:\n")
        click.echo(f"    {line}")


def _place(line: str, *, is_first: bool) -> str:
    """Where a table goes, or the keys before the first one; empty for a key that follows."""
    if line.endswith("contract_notes]"):
        return "in this table, which goes to the end of the file if it is not there"
    if line.startswith("["):
        return "in this table, in place of a line with the same key"
    return "above the first table, in place of a line with the same key" if is_first else ""
