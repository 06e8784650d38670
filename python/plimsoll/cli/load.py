"""`plimsoll load`: one trial against an address that already runs."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from plimsoll import storage as storages
from plimsoll.cli import EPILOGUE, gates, messages, options, urls
from plimsoll.errors import LIMIT_MISSED, StorageError, exit_code_of

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence
    from typing import Any

    from plimsoll.campaign.load import Arrivals
    from plimsoll.cli.asked import Asked
    from plimsoll.cli.gates import Gate
    from plimsoll.plan import Trial
    from plimsoll.recording import Recording
    from plimsoll.storage.results import Results

GATE = options.Quantity("LIMIT", gates.read)

GROUPS = {
    "How much": ("connections", "duration", "requests", "rate", "arrivals", "ramp", "think"),
    "What is sent": ("method", "headers", "body"),
    "Connections": ("threads", "pipeline", "each", "no_keepalive", "timeout"),
    "What is right": ("expect_status", "expect_length", "expect_body"),
    "What comes out": ("fail_if", "record", "storage", "as_json", "quiet"),
}
"""Options of the help by heading."""


@click.command(name="load", cls=options.Grouped, groups=GROUPS, epilog=EPILOGUE)
@click.argument("url", nargs=-1, required=True, metavar="URL...")
@click.option(
    "-c",
    "--connections",
    type=options.COUNT,
    default=50,
    show_default=True,
    help="Connections; with -R, the size of the pool.",
)
@click.option(
    "-d",
    "--duration",
    type=options.DURATION,
    default="10s",
    show_default=True,
    help="How long the level is held: 500ms, 30s, 2m.",
)
@click.option(
    "-n", "--requests", type=options.COUNT, help="End after so many requests instead of a duration."
)
@click.option(
    "-R", "--rate", type=options.RATE, help="Open model: so many arrivals per second, such as 5k."
)
@click.option(
    "--arrivals",
    type=click.Choice(("constant", "poisson")),
    help="Open model: evenly spaced (without it), or independent of each other.",
)
@click.option(
    "--ramp",
    type=options.DURATION,
    help="Climb from nothing to the level in a straight line first; not summarised.",
)
@click.option(
    "--think",
    type=options.DURATION,
    help="Closed model: pause between an answer and the next request.",
)
@click.option("-m", "--method", help="GET without a body, POST with one.")
@click.option(
    "-H",
    "--header",
    "headers",
    multiple=True,
    metavar="'NAME: VALUE'",
    help="A header; repeatable.",
)
@click.option("-b", "--body", metavar="TEXT|@FILE|@-", help="Body of the request; @- is stdin.")
@click.option(
    "-t",
    "--threads",
    type=options.COUNT,
    default=1,
    show_default=True,
    help="Threads that put on the load.",
)
@click.option(
    "--pipeline",
    type=options.COUNT,
    default=1,
    show_default=True,
    help="Requests in flight on one connection; each answer is timed apart.",
)
@click.option(
    "--requests-per-connection",
    "each",
    type=options.COUNT,
    help="Close a connection after so many requests and open another.",
)
@click.option("--no-keepalive", is_flag=True, help="A new connection for each request.")
@click.option(
    "--timeout",
    type=options.DURATION,
    default="10s",
    show_default=True,
    help="A request that takes longer has failed.",
)
@click.option("--expect-status", type=int, help="The status that is right; without it 200 to 399.")
@click.option("--expect-length", type=options.COUNT, help="Length in bytes that is right.")
@click.option("--expect-body", metavar="TEXT|@FILE|@-", help="The body that is right.")
@click.option(
    "--fail-if",
    type=GATE,
    multiple=True,
    help="End with exit code 7 if so: 'p99>250ms', 'failures>1%', 'throughput<5k'. Repeatable.",
)
@click.option(
    "--record",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Keep every row there; `plimsoll report DIR` draws it.",
)
@options.storage
@options.as_json
@click.option("-q", "--quiet", is_flag=True, help="No panel while it runs.")
def command(  # noqa: PLR0913 - one argument for each option
    *,
    url: tuple[str, ...],
    connections: int,
    duration: float,
    requests: int | None,
    rate: float | None,
    arrivals: Arrivals | None,
    ramp: float | None,
    think: float | None,
    method: str | None,
    headers: tuple[str, ...],
    body: str | None,
    threads: int,
    pipeline: int,
    each: int | None,
    no_keepalive: bool,
    timeout: float,
    expect_status: int | None,
    expect_length: int | None,
    expect_body: str | None,
    fail_if: tuple[Gate, ...],
    record: Path | None,
    storage: str,
    as_json: bool,
    quiet: bool,
) -> int:
    """Puts a load on a server that already runs, and says whether to believe the numbers.

    \b
    Closed model: each connection sends its next request when the last is answered:
                  the most the server can do.
    Open model:   with -R, requests arrive at a rate whether answers come or not:
                  how the server feels at that rate.

    Several URLs of one server are mixed evenly; one named twice comes twice as often.

    \b
    plimsoll load http://127.0.0.1:8080/ -c 100 -d 30s
    plimsoll load :8080 -c 100 -d 30s -R 5k --fail-if 'p99>250ms'
    plimsoll load :8080/json -n 10k -b @body.json -H 'Content-Type: application/json'
    plimsoll load :8080/a :8080/b --ramp 10s --record results/mix
    """  # noqa: D301 - click reads the backspace as "do not wrap what follows"
    from plimsoll.cli.asked import Asked, trial  # noqa: PLC0415 - help does without it

    asked = Asked(
        urls=tuple(urls.parts(one) for one in url), connections=connections, duration_s=duration,
        threads=threads, rate_per_s=rate, arrivals=arrivals, ramp_s=ramp, requests=requests,
        think_time_s=think, pipeline=pipeline, requests_per_connection=each,
        keep_alive=not no_keepalive, method=method, headers=headers, body=body, timeout_s=timeout,
        status=expect_status, length_bytes=expect_length, expected_body=expect_body,
    )  # fmt: skip
    planned = trial(asked)
    with _kept(record, storage) as results:
        recording = _conduct(planned, asked, results, quiet=quiet or as_json)
        return _judged(results, recording, fail_if, as_json=as_json, kept=record is not None)


@contextmanager
def _kept(record: Path | None, storage: str) -> Generator[Results]:
    """Where the rows go: what was asked for, or a folder that is removed at the end.

    Raises:
        UsageError: A storage is named, and not what the recording is called there.
    """
    import tempfile  # noqa: PLC0415 - help does without it

    if record is not None:
        _require_new(record)
        with storages.opened(record, storage) as results:
            _require_none(results)
            yield results
        return
    if storage:
        raise click.UsageError("--storage needs --record, whose last part is the campaign's name")
    with tempfile.TemporaryDirectory(prefix="plimsoll-load-") as folder:
        with storages.opened(Path(folder)) as results:
            yield results


def _require_none(results: Results) -> None:
    """Does nothing when no recording is there yet.

    Raises:
        StorageError: There is; rows that were measured are not written over.
    """
    if results.trial_ids():
        message = f"`{results.place}` holds a recording already"
        raise StorageError(message, "give another name with `--record`")


def _require_new(record: Path) -> None:
    """Does nothing when a folder holds no file yet.

    Raises:
        StorageError: It does; rows that were measured are not written over.
    """
    files = (path for path in record.rglob("*") if path.is_file() and path.name != ".lock")
    if (first := next(files, None)) is not None:
        message = f"`{record}` is not empty: it holds `{first.relative_to(record)}`"
        raise StorageError(message, "name a new folder with `--record`")


def _conduct(trial: Trial, asked: Asked, results: Results, *, quiet: bool) -> Recording:
    from plimsoll import machine  # noqa: PLC0415 - help does without all of these
    from plimsoll.cli import panel  # noqa: PLC0415
    from plimsoll.conduct import trial as trials  # noqa: PLC0415
    from plimsoll.conduct.interruption import Interruption  # noqa: PLC0415
    from plimsoll.conduct.setting import Setting  # noqa: PLC0415

    machine.raise_open_files()
    setting = Setting(
        driver_threads=asked.threads,
        body_sample_ratio=Setting.body_sample_ratio if asked.expected_body is None else 1.0,
    )
    interruption = Interruption()
    scene = panel.Scene(
        trial=f"{trial.framework.name}{trial.endpoint.name}",
        load_s=0.0 if asked.requests else trial.load.duration_s,
        left_s=0.0 if asked.requests else trial.load.duration_s,
    )
    with results.locked(), interruption.listening(), panel.showing(scene, quiet=quiet) as tell:
        address = urls.address(asked.urls[0])
        return trials.load(trial, address, setting, results, interruption, tell)


def _judged(
    results: Results,
    recording: Recording,
    limits: Sequence[Gate],
    *,
    as_json: bool,
    kept: bool,
) -> int:
    import json  # noqa: PLC0415

    from plimsoll.cli import reporting  # noqa: PLC0415 - heavy, and not needed to put on load

    ending = recording.ending
    if not as_json and recording.driver is None:
        return messages.error(ending.message, ending.hint, exit_code_of(ending.kind))
    found = reporting.judged(results)
    if as_json:
        (one,) = reporting.as_json(found)
        click.echo(json.dumps({**one, "recording": results.place if kept else None}))
    else:
        reporting.print_load(found)
    missed = _missed(found.trials[0].summary, limits)
    return exit_code_of(ending.kind) or missed or reporting.exit_code(found)


def _missed(summary: Mapping[str, Any] | None, limits: Sequence[Gate]) -> int:
    """The exit code of a missed limit, each of which is named; 0 when none was missed."""
    missed = [limit for limit in limits if summary is None or limit.is_missed(summary)]
    for limit in missed:
        messages.error(f"the load counts as failed: {limit.told(summary)}", "")
    return LIMIT_MISSED if missed else 0
