"""`plimsoll compare`: decide whether server B is faster than A, slower, the same, or undecided."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

import plimsoll
from plimsoll import cli, report
from plimsoll.campaign import quantities
from plimsoll.cli import EPILOGUE, as_options, json_output, listeners, messages, options
from plimsoll.errors import LIMIT_MISSED, UNDECIDED, HostError, PlimsollError, StorageError

if TYPE_CHECKING:
    from plimsoll.comparison.difference import Difference, Metric
    from plimsoll.comparison.until_decided import Compared
    from plimsoll.lab.comparing import ComparisonResult


SHARE = options.QuantityType("SHARE", quantities.share)

METRICS = ("throughput", "cpu_per_request", "p99")
"""What may decide; `comparison.difference.METRICS`, which is too heavy for help."""

GROUPS = {
    "Servers": ("a_command", "b_command", "revisions", "root"),
    "Load": ("endpoint", "path", "connections", "rate_per_s", "warm_up_s"),
    "End": ("budget_s", "within", "metric", "max_regression"),
    "Output": ("output", "as_json", "markdown", "junit", "quiet"),
}
"""Options of the help by heading."""


@click.command(
    name="compare",
    cls=options.Grouped,
    groups=GROUPS,
    elsewhere=options.ONE_MACHINE,
    epilog=EPILOGUE,
)
@click.argument("names", nargs=-1, metavar="[A B]", shell_complete=options.completed("frameworks"))
@click.option(
    "--a",
    "a_command",
    metavar="COMMAND",
    help="Command that starts server A in the foreground; it listens on $HOST:$PORT.",
)
@click.option("--b", "b_command", metavar="COMMAND", help="The same for server B.")
@click.option(
    "--revisions",
    nargs=2,
    metavar="A B",
    help="Two git revisions of one framework, whose name follows: `--revisions main HEAD go`.",
)
@options.frameworks_root
@click.option(
    "--endpoint",
    metavar="NAME",
    help="Endpoint of the contract.  [default: plaintext; not for commands]",
)
@click.option(
    "--path",
    metavar="PATH",
    help="Path to request instead, with GET.  [default of commands: /]",
)
@click.option(
    "-c",
    "--connections",
    type=options.COUNT,
    default=64,
    show_default=True,
    help="Open connections to each server.",
)
@click.option(
    "-R",
    "--rate",
    "rate_per_s",
    type=options.RATE,
    help="Open model: requests per second to the server under load, such as 2k.  "
    "[default: full speed]",
)
@click.option(
    "--warm-up",
    "warm_up_s",
    type=options.DURATION,
    default="1s",
    show_default=True,
    help="Load on each fresh server before turns count, or what its framework needs; 10s for a "
    "JVM of your own.",
)
@click.option(
    "--budget",
    "budget_s",
    type=options.DURATION,
    default="120s",
    show_default=True,
    help="Time for everything; it ends earlier when the result is clear. At least one group of "
    "processes is measured, about 10s, and at most 60; a decision takes three.",
)
@click.option(
    "--until",
    "within",
    type=SHARE,
    default="2%",
    show_default=True,
    help="Stop when intervals are within ± this share; a smaller difference is `same`.",
)
@click.option(
    "--metric",
    type=click.Choice(METRICS),
    help="Metric that decides.  [default: throughput, with CPU time per request; "
    "at a rate p99, with CPU time per request]",
)
@click.option(
    "--max-regression",
    type=SHARE,
    metavar="SHARE",
    help="Largest allowed loss of throughput, such as 3%, or of --metric. Exit code 7 "
    "when crossed, 8 when undecided, 3 when not detectable on this machine.",
)
@options.output("text", "json", "md")
@click.option(
    "--markdown", type=options.FILE, metavar="FILE", help="Write Markdown for a pull request."
)
@options.junit
@click.option("-q", "--quiet", is_flag=True, help="Show no progress.")
def command(  # noqa: PLR0913 - one argument for each option
    *,
    names: tuple[str, ...],
    a_command: str | None,
    b_command: str | None,
    revisions: tuple[str, str] | None,
    root: Path | None,
    endpoint: str | None,
    path: str | None,
    connections: int,
    rate_per_s: float | None,
    warm_up_s: float,
    budget_s: float,
    within: float,
    metric: Metric | None,
    max_regression: float | None,
    output: str,
    as_json: bool,
    markdown: Path | None,
    junit: Path | None,
    quiet: bool,
) -> int:
    """Decide whether server B is faster than A, slower, the same, or undecided.

    Both run at the same time. They take turns of 50 to 250 ms, and at full speed also work side by
    side on the same cores, so that what disturbs the machine disturbs both.
    Fresh processes are started until the result is clear. Intervals allow for stopping early:
    together they contain the true values in 95 % of comparisons.

    \b
    plimsoll compare go node                                    two frameworks or variants
    plimsoll compare --revisions main HEAD go                   a framework at two revisions
    plimsoll compare --a 'node old.js' --b 'node new.js' --path /json
    plimsoll compare go node --rate 2k                          latency and cost at a fixed rate
    plimsoll compare go go                                      smallest detectable difference
    """  # noqa: D301 - click reads the backspace as "do not wrap what follows"
    a, b = _sides(names, a_command, b_command, revisions)
    form = "json" if as_json else output
    try:
        result = plimsoll.compare(
            a,
            b,
            commands=a_command is not None,
            revisions_of=names[0] if revisions else "",
            endpoint=endpoint or "",
            path=path or "",
            connections=connections,
            rate_per_s=rate_per_s,
            metric=metric,
            budget_s=budget_s,
            within=within,
            max_regression=max_regression,
            warm_up_s=warm_up_s,
            frameworks=root,
            on_event=listeners.notes if quiet or form != "text" else listeners.steps,
        )
    except PlimsollError as error:
        _write_failure(a, b, names[0] if revisions else "", error, markdown, junit)
        raise
    cli.outgoing.write(markdown, result.markdown)
    cli.outgoing.write(junit, result.junit)
    _print(result, form)
    return _exit_code(result)


def _write_failure(
    a: str,
    b: str,
    revisions_of: str,
    error: PlimsollError,
    markdown: Path | None,
    junit: Path | None,
) -> None:
    """Writes what failed to the files, in which an earlier comparison would be taken for this."""
    if revisions_of:
        a, b = (report.compared.at_revision(revisions_of, one) for one in (a, b))
    said = as_options.text(f"{error.message}\n{error.hint}" if error.hint else error.message)
    try:
        cli.outgoing.write(markdown, lambda: report.compared.failed_markdown(a, b, said))
        cli.outgoing.write(junit, lambda: report.compared.failed_junit(a, b, said))
    except StorageError as other:
        messages.error(other.message, other.hint)


def _print(result: ComparisonResult, form: str) -> None:
    if form == "json":
        json_output.show(result.as_json())
    elif form == "md":
        click.echo(result.markdown(), nl=False)
    else:
        click.echo(f"{result.sentence}\n\n{result.text()}")


def _sides(
    names: tuple[str, ...],
    a_command: str | None,
    b_command: str | None,
    revisions: tuple[str, str] | None,
) -> tuple[str, str]:
    """What is compared, from one of three forms.

    Raises:
        UsageError: It is none of them, or two.
    """
    if revisions and len(names) == 1 and a_command is None and b_command is None:
        return revisions
    if a_command is not None and b_command is not None and not names and not revisions:
        return a_command, b_command
    if len(names) == 2 and a_command is None and b_command is None and not revisions:  # noqa: PLR2004
        return names[0], names[1]
    message = "give two frameworks, `--a` and `--b`, or `--revisions A B` and one framework"
    raise click.UsageError(message)


def _exit_code(result: ComparisonResult) -> int:
    """The exit code; prints the result of the limit unless it is kept."""
    end = result.compared
    if end.limit in (None, "kept"):
        return 0
    stated = report.compared.limit_missed(end)
    if end.limit == "crossed":
        hint = "" if end.difference.is_comparable else _fixing(end.difference)
        return messages.error(stated, hint, LIMIT_MISSED)
    code = HostError.exit_code if end.is_limit_too_small else UNDECIDED
    return messages.error(stated, _hint(end), code)


def _fixing(found: Difference) -> str:
    """What to do about servers whose speeds cannot be compared."""
    if found.failed.are_too_many:
        return "fix the requests that fail, or request another `--path`"
    if found.void:
        return "fix what the lines marked ✕ name"
    entries = sorted({*found.silent, *found.silent_side_by_side})
    return f"find out why {' and '.join(entries)} returned nothing"


def _without_p99(remedy: str, *, is_short: bool) -> str:
    """What helps where latency decides, and its 99th percentile was not measured."""
    ways = " or ".join(filter(None, (remedy, "`metric='cpu_per_request'`")))
    is_also_short = is_short and "budget" not in remedy
    return f"give {ways}{', and a longer `--budget`' if is_also_short else ''}"


def _hint(end: Compared) -> str:
    """What helps against a limit that was not settled."""
    if not end.difference.is_comparable:
        fixing = _fixing(end.difference)
        if end.may_be_fault_of_b:
            return f"{fixing}, or give a longer `--budget`: three void starts cross it"
        return f"{fixing}: until then no budget or limit helps"
    if end.without_p99:
        return _without_p99(end.without_p99.remedy, is_short=bool(end.short_budget))
    more = "a greater `--max-regression`, or a quieter machine"
    is_out_of_reach = end.is_limit_too_small and end.limit_needs_s is None
    is_longer_useless = end.has_most_groups or is_out_of_reach
    return f"give {more}" if is_longer_useless else f"give a longer `--budget`, {more}"
