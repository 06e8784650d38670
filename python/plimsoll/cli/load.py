"""`plimsoll load`: one trial against a server that is already running."""

from __future__ import annotations

import re
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

import plimsoll
from plimsoll import cli, findings, lab, report
from plimsoll.campaign.requests import CODINGS
from plimsoll.cli import EPILOGUE, json_output, messages, options, other_tools
from plimsoll.errors import INTERRUPTED, InputError, Interrupted, Problem, exit_code_of
from plimsoll.findings import thresholds

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from plimsoll.campaign.load import Arrivals
    from plimsoll.campaign.tls import Resume, Version
    from plimsoll.cli.load_screen import LoadScreen
    from plimsoll.findings.campaign_thresholds import JudgedEntry
    from plimsoll.findings.thresholds import Threshold
    from plimsoll.findings.trial import TrialFindings
    from plimsoll.hosts.host import KeepRows
    from plimsoll.lab.results import LoadResult

Output = Literal["text", "json", "csv", "md"]
"""Format of the result."""

THRESHOLD = options.QuantityType("THRESHOLD", thresholds.read)

GROUPS = {
    "Load": (
        *(
            "connections",
            "duration_s",
            "requests",
            "rate_per_s",
            "arrivals",
            "ramp_s",
            "warm_up_s",
            "think_time_s",
        ),
        "seed",
    ),
    "Request": (
        *("method", "headers", "body", "upload", "expect_continue", "compressed", "follow"),
        "events",
    ),
    "WebSocket": ("message", "message_bytes", "binary"),
    "Connections": (
        *("threads", "driver_cores", "server_cores", "hosts", "keep_rows"),
        *("http2", "streams", "pipeline", "requests_per_connection"),
        *("keep_alive", "timeout_s", "unix_socket"),
    ),
    "TLS": options.TLS,
    "Expected response": ("status", "length_bytes", "expected_body"),
    "Power": ("power", "idle_s"),
    "Verdicts": ("fail_if", "accepted", "strict", "limits"),
    "Output": ("record", "storage", "output", "as_json", "verbose", "quiet"),
}
"""Options of the help by heading."""


ALONE = {"--compressed": ",".join(CODINGS), "--follow": "10"}
"""Options that need no value."""


_OHAS_RATE = re.compile(r"^-q\n?=?(\d+(?:\.\d+)?k?)$", re.MULTILINE)
"""Oha's `-q 100` or `-q100`, one argument in a line."""


_OF_AB = "`-k` is that of ab, to keep connections, which is always so; curl's is `--insecure`"


def _refuse_script(_context: click.Context, _option: click.Parameter, script: str | None) -> None:
    """Says what to use in place of a script of wrk.

    Raises:
        InputError: There is one.
    """
    if script is not None:
        message = f"`-s {script}`: Plimsoll runs no script of wrk"
        hint = (
            "give the request with `-m`, `-H` and `-b @FILE`, a mix as several URLs, and what is "
            "checked of responses with `--expect-status` or `--expect-body`"
        )
        raise InputError([Problem("", message, hint)])


class LoadVerb(options.Grouped):
    """The verb, which knows options of other load tools.

    The `-q` of oha is a rate; its own takes no value.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Reads arguments.

        Raises:
            InputError: One is oha's `-q RATE`, or an option of another tool.
        """
        for rate in _OHAS_RATE.findall("\n".join(args)):
            hint = f"write `-R {rate}` for a rate; `-q` alone prints one line"
            raise InputError([Problem("", f"`-q {rate}`: `-q` takes no value", hint)])
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            name = error.option_name
            if name not in other_tools.IN_PLACE:
                raise
            hint = f"write `{other_tools.IN_PLACE[name]}`; see `plimsoll load --help`"
            raise InputError([Problem("", f"no such option `{name}`", hint)]) from None


@click.command(name="load", cls=LoadVerb, groups=GROUPS, alone=ALONE, epilog=EPILOGUE)
@click.argument("url", nargs=-1, required=True, metavar="URL...")
@click.option(
    "-c",
    "--connections",
    type=options.COUNT,
    default=50,
    show_default=True,
    help="Open connections; with -R, the size of the connection pool.",
)
@click.option(
    "-d",
    "--duration",
    "duration_s",
    type=options.DURATION,
    help="Length of the measurement window: 500ms, 30s, 2m; 30 is 30 s.  [default: 10s]",
)
@click.option("-z", "as_oha", type=options.DURATION, hidden=True, help="oha's name of -d.")
@click.option("-k", "as_ab", is_flag=True, hidden=True, help="ab's: always so.")
@click.option("--latency", is_flag=True, hidden=True, expose_value=False, help="wrk's: always so.")
@click.option(
    "-s",
    "--script",
    hidden=True,
    expose_value=False,
    callback=_refuse_script,
    help="wrk's: no script runs.",
)
@click.option(
    "-n",
    "--requests",
    type=options.COUNT,
    help="Stop after this many requests; with -d, after whichever comes first. With -R, the rate "
    "gives the length.",
)
@click.option(
    "-R",
    "--rate",
    "rate_per_s",
    type=options.RATE,
    help="Open model: arrivals per second, such as 5k.",
)
@click.option(
    "--arrivals",
    type=click.Choice(("constant", "poisson")),
    help="Open model: arrival process.  [default: constant]",
)
@click.option(
    "--ramp",
    "ramp_s",
    type=options.DURATION,
    help="Linear ramp from 0 to the target level first; excluded from the statistics.",
)
@click.option(
    "--warm-up",
    "warm_up_s",
    type=options.DURATION,
    help="Hold the target level for this long first; excluded from the statistics.",
)
@click.option(
    "--think",
    "think_time_s",
    type=options.DURATION,
    help="Closed model: think time between a response and the next request.",
)
@click.option(
    "--seed",
    type=options.COUNT,
    help="Seed of arrivals and URL order; repeats an earlier load; the seed is in its JSON.",
)
@options.request
@click.option(
    "--upload",
    type=options.FILE,
    metavar="FILE",
    help="Request body from a file of any size, sent in pieces as the server takes it.",
)
@click.option(
    "--expect-continue",
    is_flag=True,
    help="Send the body when the server has responded `100 Continue` to the head.",
)
@click.option(
    "--compressed",
    metavar="[=gzip,br,zstd]",
    help="Accept compressed bodies, and decode them before they are compared.",
)
@click.option(
    "--follow",
    type=options.COUNT,
    metavar="[=N]",
    help="Follow up to N redirects within the origin, 10 unless given, on the same connection; the "
    "time of a request covers them all.  [default: a redirect is a response]",
)
@click.option(
    "--events",
    is_flag=True,
    help="Count each event of a text/event-stream; its time is that since the previous one.",
)
@click.option("--message", metavar="TEXT|@FILE|@-", help="Message; its echo is expected.")
@click.option(
    "--message-size",
    "message_bytes",
    type=options.COUNT,
    help="Length of a random message, in bytes.  [default: 64]",
)
@click.option("--binary", is_flag=True, help="Send messages as binary.  [default: as text]")
@options.generator
@click.option(
    "--server-cores",
    type=options.CORES,
    default=(),
    help="Pin the server to these cores during the load: `0,1`.  [default: unchanged]",
)
@click.option(
    "--hosts",
    type=options.FILE,
    metavar="FILE",
    help="Hosts that generate the load together: docs/hosts.md.  [default: this one]",
)
@options.keep_rows
@click.option(
    "--pipeline",
    type=options.COUNT,
    default=1,
    show_default=True,
    help="HTTP/1.1 requests, or messages, in flight per connection; each is timed separately.",
)
@click.option(
    "--requests-per-connection",
    type=options.COUNT,
    help="Reopen a connection after this many requests.",
)
@options.protocol
@click.option(
    "--timeout",
    "timeout_s",
    type=options.DURATION,
    default="10s",
    show_default=True,
    help="Request timeout; a slower request fails.",
)
@click.option(
    "--unix-socket",
    type=options.FILE,
    metavar="PATH",
    help="Connect to this Unix socket; the URL gives the Host header and the path.",
)
@options.tls
@options.expected_response
@options.power
@click.option(
    "--idle",
    "idle_s",
    type=options.DURATION,
    help="Measure power without load before and after.  [default: 10s with --power]",
)
@click.option(
    "--fail-if",
    type=THRESHOLD,
    multiple=True,
    help="Threshold; exit code 7 when crossed, 8 when undecided: 'p99>250ms', "
    "'failures>1%', 'throughput<5k'. Repeatable.",
)
@options.accept
@options.strict
@click.option(
    "--limit",
    "limits",
    multiple=True,
    metavar="CHECK.NAME=VALUE",
    help="Limit of a check, as in a campaign: `undisturbed.lost_ratio_void=0.6`. Repeatable.",
)
@click.option(
    "--record",
    type=options.FOLDER,
    metavar="DIR",
    help="Keep the recording there; `plimsoll report DIR` writes its report.",
)
@options.storage
@options.output("text", "json", "csv", "md")
@click.option("-v", "--verbose", is_flag=True, help="Show every time, doubt and remedy.")
@click.option("-q", "--quiet", is_flag=True, help="Show no progress, and the result in one line.")
def command(  # noqa: PLR0913 - one argument for each option
    *,
    url: tuple[str, ...],
    connections: int,
    duration_s: float | None,
    as_oha: float | None,
    as_ab: bool,
    requests: int | None,
    rate_per_s: float | None,
    arrivals: Arrivals | None,
    ramp_s: float | None,
    warm_up_s: float | None,
    think_time_s: float | None,
    seed: int | None,
    method: str | None,
    headers: tuple[str, ...],
    body: str | None,
    upload: Path | None,
    expect_continue: bool,
    compressed: str | None,
    follow: int | None,
    events: bool,
    message: str | None,
    message_bytes: int | None,
    binary: bool,
    threads: int,
    driver_cores: tuple[int, ...],
    server_cores: tuple[int, ...],
    hosts: Path | None,
    keep_rows: KeepRows,
    http2: bool,
    streams: int,
    pipeline: int,
    requests_per_connection: int | None,
    keep_alive: bool,
    timeout_s: float,
    unix_socket: Path | None,
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
    power: str,
    idle_s: float | None,
    fail_if: tuple[Threshold, ...],
    accepted: tuple[str, ...],
    strict: bool,
    limits: tuple[str, ...],
    record: Path | None,
    storage: str,
    output: Output,
    as_json: bool,
    verbose: bool,
    quiet: bool,
) -> int:
    """Put load on a server that is already running, and check the result.

    \b
    Closed model: each connection sends its next request after the last response:
                  the server's maximum throughput.
    Open model:   with -R, requests arrive at a fixed rate, independent of responses:
                  the latency users see at that rate.

    Several URLs of one server are mixed evenly; a URL given twice is requested twice as often.
    With --events, each event of a text/event-stream is counted and timed like a request.
    A ws:// or wss:// URL addresses a WebSocket echo server: each message is a request, its echo
    the response.

    One request is sent before the load and not counted; if the server does not
    speak HTTP, or its certificate is untrusted, the command stops with exit code 4.

    \b
    plimsoll load http://127.0.0.1:8080/ -c 100 -d 30s
    plimsoll load :8080 -c 100 -d 30s -R 5k --fail-if 'p99>250ms'
    plimsoll load :8080/json -n 10k -b @body.json -H 'Content-Type: application/json'
    plimsoll load :8080/a :8080/b --ramp 10s --record results/mix
    plimsoll load https://127.0.0.1:8443/ --cacert ca.pem
    plimsoll load ws://127.0.0.1:8080/echo -c 100 --message-size 1024
    plimsoll load http://localhost/json --unix-socket /run/app.sock
    plimsoll load :8080/events -c 1000 --events
    """  # noqa: D301 - click reads the backspace as "do not wrap what follows"
    sent, said, expected = cli.incoming.contents(
        {"--body": body, "--message": message, "--expect-body": expected_body}
    )
    headers_sent = [cli.incoming.header(one) for one in headers]
    form: Output = "json" if as_json else output
    if as_ab and not insecure and any(one.startswith(("https:", "wss:")) for one in url):
        messages.note(_OF_AB)
    if duration_s is not None and as_oha is not None:
        message = "`-z` and `--duration` exclude each other: both give the length"
        raise InputError([Problem("-z", message, "use either `-z` or `-d`")])
    length_s = duration_s if as_oha is None else as_oha
    load_s = _longest_s(length_s, requests, rate_per_s, ramp_s, warm_up_s)
    is_quiet = quiet or form != "text"
    shown = cli.load_screen.LoadScreen(
        _title(url), load_s, is_quiet=is_quiet, verbose=verbose, is_kept=record is not None,
        limits=fail_if,
    )  # fmt: skip
    signals = cli.figures_first.FiguresFirst(lambda: shown.has_ended)
    with _naming_recording(record), signals if hosts else nullcontext():
        with shown:
            result = plimsoll.load(
                url, connections=connections, duration_s=length_s, rate_per_s=rate_per_s,
                arrivals=arrivals, ramp_s=ramp_s, requests=requests, think_time_s=think_time_s,
                threads=threads, hosts=hosts, keep_rows=keep_rows, http2=http2, streams=streams,
                pipeline=pipeline, requests_per_connection=requests_per_connection,
                keep_alive=keep_alive, follow=follow, events=events,
                compressed=cli.incoming.names(compressed), method=method, headers=headers_sent,
                body=sent, upload=cli.incoming.upload(upload), expect_continue=expect_continue,
                timeout_s=timeout_s, unix_socket=unix_socket,
                status=status, length_bytes=length_bytes, expected_body=expected, seed=seed,
                message=said, message_bytes=message_bytes, binary=binary,
                limits=cli.judging.limits(limits) if limits else None, warm_up_s=warm_up_s,
                insecure=insecure, cacert=cacert, cert=cert, key=key, tls_version=tls_version,
                ciphers=cli.incoming.names(ciphers), tls_resume=tls_resume,
                driver_cores=driver_cores, server_cores=server_cores, power=power, idle_s=idle_s,
                record=record, storage=storage, on_event=shown,
            )  # fmt: skip
        signals.count += result.is_interrupted
        with result:
            judged = _held_against(fail_if, _judged(result, shown))
            if form == "text" and not quiet:
                _show(result, shown)
            else:
                _print(result, form, shown, accepted, judged)
            if not quiet or form != "text":
                cli.judging.note_accepted(_judged(result, shown).verdicts, accepted)
            code = _failure(result, judged, form) or cli.judging.exit_code_of_trial(
                _judged(result, shown), accepted, strict=strict
            )
    return INTERRUPTED if signals.count else code


@contextmanager
def _naming_recording(record: Path | None) -> Generator[None]:
    """Has a signal that ends the block say where the load is, or that it was not recorded.

    Args:
        record: Folder of the recording; None for none.

    Raises:
        Interrupted: A signal ended the block, and a folder was to keep the load.
    """
    try:
        yield
    except KeyboardInterrupt as error:
        if record is None:
            raise
        if not any(record.glob("trials/*/trial.json")):
            raise Interrupted(f"interrupted; nothing was recorded in `{record}`") from error
        raise Interrupted(
            f"interrupted; the load is kept in `{record}`", f"`plimsoll report {record}` shows it"
        ) from error


def _longest_s(
    length_s: float | None,
    requests: int | None,
    rate_per_s: float | None,
    ramp_s: float | None,
    warm_up_s: float | None,
) -> float:
    """How long a load lasts at most, in seconds; 0 where only its requests end it."""
    held_s = lab.load_options.held_s(length_s, requests, rate_per_s)
    if held_s is None:
        return 0.0
    return held_s + (ramp_s or 0.0) + (warm_up_s or 0.0)


def _title(urls: Sequence[str]) -> str:
    """What a load is called while it runs."""
    parts = [lab.urls.parts(one) for one in urls]
    return f"{parts[0].netloc}{lab.load_options.name(map(lab.urls.target, parts))}"


def _judged(result: LoadResult, shown: LoadScreen) -> TrialFindings:
    """Figures and verdicts; those of a load that is kept were known before its tables."""
    return shown.judged or result.judged


def _held_against(limits: Sequence[Threshold], found: TrialFindings) -> tuple[JudgedEntry, ...]:
    """What thresholds say of a load; what judges them is imported where there are some."""
    return findings.campaign_thresholds.of_load(limits, found) if limits else ()


def _show(result: LoadResult, shown: LoadScreen) -> None:
    """Shows what the figures are worth, if not done yet; one that a signal ended is not judged."""
    if shown.judged or result.recording.driver is None:
        return
    if not result.recording.is_interrupted:
        shown.show_verdicts(result.judged)
    else:
        shown.show_once(result.judged)


def _print(
    result: LoadResult,
    form: Output,
    shown: LoadScreen,
    accepted: Sequence[str],
    judged: Sequence[JudgedEntry],
) -> None:
    """Prints a load in one line or in a format; of one that never began there is JSON only."""
    if form == "json":
        thresholds = report.machine_readable.thresholds(judged)
        json_output.show({**result.as_json(accepted), "thresholds": thresholds})
    elif result.recording.driver is None:
        return
    elif form == "csv":
        click.echo(report.one_line.as_csv(_judged(result, shown)), nl=False)
    elif form == "md":
        click.echo(report.load_markdown.render(_judged(result, shown), judged), nl=False)
    else:
        click.echo(report.one_line.line(_judged(result, shown), accepted))


def _failure(result: LoadResult, judged: Sequence[JudgedEntry], form: Output) -> int:
    """Prints what went wrong; the exit code of an error or a threshold, else 0."""
    ending = result.recording.ending
    if form != "json" and result.recording.driver is None:
        return messages.error(ending.message, ending.hint, exit_code_of(ending.kind))
    missed = _missed(judged) if judged else 0
    return exit_code_of(ending.kind) or missed


def _missed(judged: Sequence[JudgedEntry]) -> int:
    """Prints each threshold that is crossed or undecided; the exit code, 0 where all are kept."""
    cli.judging.note_doubts(one.threshold for one in judged if one.state == "kept")
    return cli.judging.missed_exit_code(
        {one.without_entry: one.threshold.doubt for one in judged if one.is_crossed},
        {one.without_entry: one.remedy for one in judged if one.is_undecided},
    )
