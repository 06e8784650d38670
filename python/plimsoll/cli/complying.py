"""The compliance gate of a framework, printed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from plimsoll import machine
from plimsoll.cli import messages
from plimsoll.conduct import compliance
from plimsoll.errors import FrameworkError
from plimsoll.recording.compliance import RESULTS, count
from plimsoll.serving.here import LocalHost

if TYPE_CHECKING:
    from plimsoll.campaign.framework import Framework
    from plimsoll.recording.compliance import ComplianceResult

_COLOURS = {"conforms": "green", "either": "cyan", "differs": "yellow", "not_tried": "white"}


def complied(framework: Framework, *, full: bool, quiet: bool) -> tuple[ComplianceResult, ...]:
    """Starts a framework, has it pass the gate, stops it, and prints the results.

    Args:
        framework: The framework.
        full: Whether every case is printed, and not only those that differ.
        quiet: Whether nothing is printed.

    Returns:
        The results; none if it did not start.
    """
    try:
        results = compliance.of_framework(
            framework, machine.divide_cores(None, None).server, LocalHost()
        )
    except FrameworkError as error:
        messages.error(error.message, error.hint)
        return ()
    if not quiet:
        click.echo(f"{framework.title:<24} {'compliance':<20} {_summary(results)}")
        for one in results:
            if full or one.result == "differs":
                click.echo(_line(one))
    return results


def _summary(results: tuple[ComplianceResult, ...]) -> str:
    found = count(results)
    return ", ".join(f"{found[one]} × {name}" for one, name in RESULTS.items() if found[one])


def _line(one: ComplianceResult) -> str:
    word = messages.coloured(f"{RESULTS[one.result]:<9}", _COLOURS[one.result])
    source = f" ({one.source})" if one.source else ""
    return f"  {word} {one.title}: {one.seen}{source}"
