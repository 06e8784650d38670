"""`plimsoll line`: the greatest rate that a running server carries inside limits."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

import plimsoll
from plimsoll import cli
from plimsoll.campaign import quantities
from plimsoll.cli import EPILOGUE, json_output, listeners, options
from plimsoll.errors import SearchInterrupted

if TYPE_CHECKING:
    from collections.abc import Generator

    from plimsoll.campaign.load import Arrivals
    from plimsoll.campaign.tls import Resume, Version
    from plimsoll.lab.line_results import LineResult

Output = Literal["text", "json", "md"]
"""Format of the result."""

SHARE = options.QuantityType("SHARE", quantities.share)

GROUPS = {
    "Limits": ("p50", "p90", "p99", "p999", "limit", "errors"),
    "Load": ("arrivals", "connections", "warm_up_s"),
    "Request": ("method", "headers", "body", "keep_alive", "http2", "streams"),
    "TLS": options.TLS,
    "Expected response": ("status", "length_bytes", "expected_body"),
    "Load generator": ("threads", "driver_cores"),
    "End": ("budget_s", "within"),
    "Output": ("record", "storage", "chart", "output", "as_json", "verbose", "quiet"),
}
"""Options of the help by heading."""


@click.command(
    name="line",
    cls=options.Grouped,
    groups=GROUPS,
    elsewhere=options.ONE_MACHINE,
    epilog=EPILOGUE,
)
@click.argument("url", nargs=-1, required=True, metavar="URL...")
@click.option("--p50", metavar="LATENCY", help="Limit of the median response time.")
@click.option("--p90", metavar="LATENCY", help="Limit of the 90th percentile.")
@click.option("--p99", metavar="LATENCY", help="Limit of the 99th percentile: `20ms`.")
@click.option("--p999", metavar="LATENCY", help="Limit of the 99.9th percentile.")
@click.option(
    "--limit",
    multiple=True,
    metavar="PERCENTILE=LATENCY",
    help="Limit of any percentile: `p99.5=50ms`. Repeatable.",
)
@click.option(
    "--errors",
    type=SHARE,
    default="0.1%",
    show_default=True,
    help="Share of requests that may fail.",
)
@click.option(
    "--arrivals",
    type=click.Choice(("poisson", "constant")),
    default="poisson",
    show_default=True,
    help="Arrival process; constant spacing hides queueing.",
)
@click.option(
    "-c",
    "--connections",
    type=options.COUNT,
    default=256,
    show_default=True,
    help="Size of the connection pool.",
)
@click.option(
    "--warm-up",
    "warm_up_s",
    type=options.DURATION,
    default="1s",
    show_default=True,
    help="Closed-model warm-up before the search; 10s for a JVM.",
)
@options.request
@options.protocol
@options.expected_response
@options.tls
@options.generator
@click.option(
    "--budget",
    "budget_s",
    type=options.DURATION,
    default="90s",
    show_default=True,
    help="Time for everything; it ends earlier when the intervals are narrow.",
)
@click.option(
    "--until",
    "within",
    type=SHARE,
    default="5%",
    show_default=True,
    help="Stop when the 95 % interval is within ± this share.",
)
@click.option(
    "--record",
    type=options.FOLDER,
    metavar="DIR",
    help="Keep the recording of every try there; `plimsoll report DIR` writes its report.",
)
@options.storage
@click.option("--chart", type=options.FILE, metavar="FILE", help="Write latency over rate as SVG.")
@options.output("text", "json", "md")
@click.option("-v", "--verbose", is_flag=True, help="Show every try: latency over rate.")
@click.option("-q", "--quiet", is_flag=True, help="Show no progress, and the result in one line.")
def command(  # noqa: PLR0913 - one argument for each option
    *,
    url: tuple[str, ...],
    p50: str | None,
    p90: str | None,
    p99: str | None,
    p999: str | None,
    limit: tuple[str, ...],
    errors: float,
    arrivals: Arrivals,
    connections: int,
    warm_up_s: float,
    method: str | None,
    headers: tuple[str, ...],
    body: str | None,
    keep_alive: bool,
    http2: bool,
    streams: int,
    insecure: bool,
    cacert: Path | None,
    cert: Path | None,
    key: Path | None,
    tls_version: Version | None,
    ciphers: str | None,
    tls_resume: Resume | None,
    status: int | None,
    length_bytes: int | None,
    expected_body: str | None,
    threads: int,
    driver_cores: tuple[int, ...],
    budget_s: float,
    within: float,
    record: Path | None,
    storage: str,
    chart: Path | None,
    output: Output,
    as_json: bool,
    verbose: bool,
    quiet: bool,
) -> int:
    """Find the load line: the greatest rate that a running server carries inside limits.

    Requests arrive whether responses come or not (open model). At that rate, latency from the
    intended start and the error rate are within their limits, and at least 99 % of the due
    requests were sent. Each latency limit gets its own line.

    Exit code 7: no rate keeps the limit; 4: requests fail at every rate; 8: the budget was too
    short; 1: the load generator was the limit, so the line is void.

    \b
    plimsoll line :8080 --p99 20ms
    plimsoll line :8080/json --p50 2ms --p99 20ms --limit p99.9=50ms --errors 0.1%
    plimsoll line :8080 --p99 20ms --budget 3m --until 2% --record results/line
    """  # noqa: D301 - click reads the backspace as "do not wrap what follows"
    sent, expected = cli.incoming.contents({"--body": body, "--expect-body": expected_body})
    typed = {"p50": p50, "p90": p90, "p99": p99, "p999": p999}
    form: Output = "json" if as_json else output
    with _bracket_shown(form):
        result = plimsoll.line(
            url,
            [*(f"{name}={most}" for name, most in typed.items() if most is not None), *limit],
            errors=errors, budget_s=budget_s, within=within, arrivals=arrivals,
            connections=connections, warm_up_s=warm_up_s, threads=threads,
            driver_cores=driver_cores,
            keep_alive=keep_alive, http2=http2, streams=streams, method=method,
            insecure=insecure, cacert=cacert, cert=cert, key=key, tls_version=tls_version,
            ciphers=cli.incoming.names(ciphers), tls_resume=tls_resume,
            headers=[cli.incoming.header(one) for one in headers], body=sent, status=status,
            length_bytes=length_bytes, expected_body=expected, record=record, storage=storage,
            on_event=listeners.notes if quiet or form != "text" else listeners.steps,
        )  # fmt: skip
    with result:
        cli.outgoing.write(chart, lambda: result.chart().svg())
        _print(result, form, verbose=verbose, quiet=quiet)
        return cli.judging.line_exit_code(result.found)


@contextmanager
def _bracket_shown(form: Output) -> Generator[None]:
    """Prints the bracket of a search that a signal ends.

    Raises:
        SearchInterrupted: A signal ended it.
    """
    try:
        yield
    except SearchInterrupted as error:
        if form != "json":
            click.echo(error.message)
        raise SearchInterrupted("a signal ended the search early", error.hint) from error


def _print(result: LineResult, form: Output, *, verbose: bool, quiet: bool) -> None:
    if form == "json":
        json_output.show(result.as_json())
    elif form == "md":
        click.echo(result.markdown(), nl=False)
    elif quiet:
        click.echo(result.one_line)
    else:
        click.echo(f"{result.sentence}\n\n{result.text(verbose=verbose)}")
