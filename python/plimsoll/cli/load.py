"""`plimsoll load`: one trial against an address that already runs."""

from __future__ import annotations

import json
import socket
import string
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, quote, urlsplit

import click

from plimsoll import machine
from plimsoll.campaign.framework import Framework
from plimsoll.campaign.load import Load, Stage
from plimsoll.campaign.requests import Endpoint, Exchange, Expected, Request
from plimsoll.cli import gates as limits
from plimsoll.cli import messages, options, panel
from plimsoll.cli.gates import Gate
from plimsoll.conduct import trial as trials
from plimsoll.conduct.interruption import Interruption
from plimsoll.conduct.setting import Setting
from plimsoll.errors import LIMIT_MISSED, CampaignError, Problem, StorageError, exit_code_of
from plimsoll.plan import Trial
from plimsoll.storage import parquet

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence
    from typing import Any

    from plimsoll.recording import Recording

SEED = 1
LONGEST_S = 3600.0
"""A load that ends after a number of requests ends after this long at the latest, in seconds."""

MOST_THREADS = 1024
"""The most threads that the engine takes."""

PORTS = {"http": 80}


GATE = options.Quantity("LIMIT", limits.read)


@dataclass(frozen=True)
class Asked:
    """What was asked for on the command line."""

    url: SplitResult
    connections: int
    duration_s: float
    threads: int
    rate_per_s: float | None
    requests: int | None
    method: str | None
    headers: tuple[str, ...]
    body: str | None
    timeout_s: float
    keep_alive: bool
    status: int | None
    length_bytes: int | None
    expected_body: str | None


@click.command(name="load")
@click.argument("url")
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
    help="How long: 500ms, 30s, 2m.",
)
@click.option(
    "-t",
    "--threads",
    type=options.COUNT,
    default=1,
    show_default=True,
    help="Threads that put on the load.",
)
@click.option(
    "-R",
    "--rate",
    type=options.RATE,
    help="Open model: this many arrivals per second, whether answers come or not.",
)
@click.option(
    "-n", "--requests", type=options.COUNT, help="End after so many requests instead of a duration."
)
@click.option(
    "-H",
    "--header",
    "headers",
    multiple=True,
    metavar="'NAME: VALUE'",
    help="A header; repeatable.",
)
@click.option("-m", "--method", help="GET without a body, POST with one.")
@click.option("-b", "--body", metavar="TEXT|@FILE", help="Body of the request.")
@click.option(
    "--timeout",
    type=options.DURATION,
    default="10s",
    show_default=True,
    help="A request that takes longer has failed.",
)
@click.option("--no-keepalive", is_flag=True, help="A new connection for each request.")
@click.option("--expect-status", type=int, help="The status that is right; without it 200 to 399.")
@click.option("--expect-length", type=options.COUNT, help="Length in bytes that is right.")
@click.option("--expect-body", metavar="TEXT|@FILE", help="The body that is right.")
@click.option(
    "--record",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Keep every row there; `plimsoll report DIR` draws it.",
)
@click.option(
    "--fail-if",
    "gates",
    type=GATE,
    multiple=True,
    help="End with exit code 7 if so: 'p99>250ms', 'failures>1%', 'rate<5k'. Repeatable.",
)
@click.option("-q", "--quiet", is_flag=True, help="No panel.")
@options.as_json
def command(  # noqa: PLR0913 - one argument for each option
    *,
    url: str,
    connections: int,
    duration: float,
    threads: int,
    rate: float | None,
    requests: int | None,
    headers: tuple[str, ...],
    method: str | None,
    body: str | None,
    timeout: float,
    no_keepalive: bool,
    expect_status: int | None,
    expect_length: int | None,
    expect_body: str | None,
    record: Path | None,
    gates: tuple[Gate, ...],
    quiet: bool,
    as_json: bool,
) -> int:
    """Puts a load on an address that already runs, and says whether to believe the numbers.

    Closed model: -c connections, each sends its next request when the last is answered. With -R,
    open model: requests arrive at that rate whether answers come or not, and the response time
    holds the wait of those that could not be sent at once.

    \b
    plimsoll load http://127.0.0.1:8080/ -c 100 -d 30s
    plimsoll load http://127.0.0.1:8080/ -c 100 -d 30s -R 5k
    plimsoll load http://127.0.0.1:8080/json -b @body.json -H 'Content-Type: application/json'
    """  # noqa: D301 - click reads the backspace as "do not wrap what follows"
    asked = Asked(
        _url(url), connections, duration, threads, rate, requests, method, headers, body, timeout,
        not no_keepalive, expect_status, expect_length, expect_body,
    )  # fmt: skip
    trial = _trial(asked)
    with _kept(record) as results:
        recording = _conduct(trial, asked, results, quiet=quiet or as_json)
        return _judged(results, recording, gates, as_json=as_json, kept=record is not None)


def _url(text: str) -> SplitResult:
    """The parts of a URL; without a scheme it is http.

    Raises:
        CampaignError: It is no address that load can be put on.
    """
    if any(character <= " " for character in text):
        raise _wrong("URL", f"`{text}` holds white space", "write a space as `%20`")
    try:
        url = urlsplit(quote(text if "://" in text else f"http://{text}", safe=string.printable))
    except ValueError as error:
        raise _no_address(text) from error
    if url.scheme not in PORTS:
        hint = "put the load on a port of the server that speaks plain `http`"
        raise _wrong("URL", f"`{url.scheme}` cannot be measured yet, only `http` can", hint)
    try:
        named = bool(url.hostname) and url.port != 0
    except ValueError:
        named = False
    if not named:
        raise _no_address(text)
    if "@" in url.netloc:
        hint = "take it out, and send it with `-H 'Authorization: …'`"
        raise _wrong("URL", "a name or password in a URL is not sent", hint)
    return url


def _no_address(text: str) -> CampaignError:
    return _wrong("URL", f"`{text}` is no address", "write it as http://127.0.0.1:8080/path")


def _wrong(where: str, message: str, hint: str = "") -> CampaignError:
    return CampaignError([Problem(where, message, hint)])


def _address(url: SplitResult) -> str:
    """Host and port as numbers; the first address that the name has.

    Raises:
        CampaignError: The name has no address.
    """
    port = url.port or PORTS[url.scheme]
    try:
        found = socket.getaddrinfo(url.hostname, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no name of a host"
        hint = "look at the name, or use an address"
        raise _wrong("URL", f"`{url.hostname}` has no address: {reason}", hint) from error
    host = found[0][4][0]
    return f"[{host}]:{port}" if ":" in str(host) else f"{host}:{port}"


def _trial(asked: Asked) -> Trial:
    path = asked.url.path or "/"
    target = f"{path}?{asked.url.query}" if asked.url.query else path
    exchange = Exchange(_request(asked, target), _expected(asked))
    name = asked.url.netloc
    return Trial(
        id="load",
        order=0,
        framework=Framework(name, "", "", Path(), "", (), "", "", "", ()),
        endpoint=Endpoint(target, "", (exchange,), lambda _random: ()),
        load=_load(asked),
        repetition=1,
        driver="plimsoll",
        seed=SEED,
    )


def _request(asked: Asked, target: str) -> Request:
    body = _content("--body", asked.body)
    method = asked.method or ("POST" if asked.body is not None else "GET")
    headers = tuple(_header(text) for text in asked.headers)
    if not any(name.lower() == "host" for name, _ in headers):
        headers = (("Host", asked.url.netloc), *headers)
    return Request(target, method.upper(), target, headers, body or b"")


def _header(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon or not name.strip():
        raise _wrong("--header", f"`{text}` is no header", "write it as 'Name: value'")
    return name.strip(), value.strip()


def _content(option: str, text: str | None) -> bytes | None:
    """The text, or the content of the file that `@FILE` names."""
    if text is None or not text.startswith("@"):
        return None if text is None else text.encode()
    try:
        return Path(text[1:]).read_bytes()
    except OSError as error:
        raise _wrong(option, f"`{text[1:]}` cannot be read: {error.strerror}") from error


def _expected(asked: Asked) -> Expected:
    status = (200, 399) if asked.status is None else (asked.status, asked.status)
    body = _content("--expect-body", asked.expected_body)
    length = len(body) if body is not None else asked.length_bytes
    return Expected(status=status, length_bytes=length, body=body)


def _check_amounts(asked: Asked) -> None:
    """Does nothing when a load can be made of what was asked for.

    Raises:
        CampaignError: It cannot; every reason is in it.
    """
    amounts = {
        "--connections": asked.connections,
        "--duration": asked.duration_s,
        "--threads": asked.threads,
        "--rate": asked.rate_per_s,
        "--requests": asked.requests,
        "--timeout": asked.timeout_s,
    }
    problems = [
        Problem(option, f"`{amount:g}` is too little", "ask for more than nothing")
        for option, amount in amounts.items()
        if amount is not None and amount <= 0
    ]
    if asked.threads > MOST_THREADS:
        message = f"`{asked.threads}` threads are too many"
        problems.append(Problem("--threads", message, "one for each core is enough"))
    if asked.requests is not None and asked.rate_per_s is not None:
        message = "a number of requests belongs to the closed model, a rate to the open one"
        problems.append(Problem("--requests", message, "leave out `-n` or `-R`"))
    if problems:
        raise CampaignError(problems)


def _load(asked: Asked) -> Load:
    _check_amounts(asked)
    duration_s = asked.duration_s if asked.requests is None else LONGEST_S
    level = asked.connections if asked.rate_per_s is None else asked.rate_per_s
    return Load(
        name="load",
        model="closed" if asked.rate_per_s is None else "open",
        stages=(Stage("hold", duration_s, level, level),),
        connections=asked.connections if asked.rate_per_s is not None else 0,
        keep_alive=asked.keep_alive,
        timeout_s=asked.timeout_s,
        request_limit=asked.requests,
    )


@contextmanager
def _kept(record: Path | None) -> Generator[parquet.Results]:
    """Where the rows go: the folder that was asked for, or one that is removed at the end."""
    if record is not None:
        _require_new(record)
        yield parquet.results(record)
        return
    with tempfile.TemporaryDirectory(prefix="plimsoll-load-") as folder:
        yield parquet.results(Path(folder))


def _require_new(record: Path) -> None:
    """Does nothing when a folder holds no file yet.

    Raises:
        StorageError: It does; rows that were measured are not written over.
    """
    files = (path for path in record.rglob("*") if path.is_file() and path.name != ".lock")
    if (first := next(files, None)) is not None:
        message = f"`{record}` is not empty: it holds `{first.relative_to(record)}`"
        raise StorageError(message, "name a new folder with `--record`")


def _conduct(trial: Trial, asked: Asked, results: parquet.Results, *, quiet: bool) -> Recording:
    machine.raise_open_files()
    setting = Setting(
        driver_threads=asked.threads,
        machine=machine.facts(),
        body_sample_ratio=Setting.body_sample_ratio if asked.expected_body is None else 1.0,
    )
    interruption = Interruption()
    scene = panel.Scene(
        trial=asked.url.geturl(), load_s=trial.load.duration_s, left_s=trial.load.duration_s
    )
    with results.locked(), interruption.listening(), panel.showing(scene, quiet=quiet) as tell:
        return trials.load(trial, _address(asked.url), setting, results, interruption, tell)


def _judged(
    results: parquet.Results,
    recording: Recording,
    gates: Sequence[Gate],
    *,
    as_json: bool,
    kept: bool,
) -> int:
    from plimsoll.cli import reporting  # noqa: PLC0415 - heavy, and not needed to put on load

    ending = recording.ending
    if not as_json and recording.driver is None:
        return messages.error(ending.message, ending.hint, exit_code_of(ending.kind))
    found = reporting.judged(results)
    if as_json:
        (one,) = reporting.as_json(found)
        click.echo(json.dumps({**one, "recording": str(results.folder) if kept else None}))
    else:
        reporting.print_load(found)
    missed = _missed(found.trials[0].summary, gates)
    return exit_code_of(ending.kind) or missed or reporting.exit_code(found)


def _missed(summary: Mapping[str, Any] | None, gates: Sequence[Gate]) -> int:
    """The exit code of a missed limit, each of which is named; 0 when none was missed."""
    missed = [gate for gate in gates if summary is None or gate.is_missed(summary)]
    for gate in missed:
        messages.error(f"the load counts as failed: {gate.text}", "")
    return LIMIT_MISSED if missed else 0
