"""`plimsoll.load`: one trial against a server that already runs.

A server that does not respond is an error before anything else is imported; the first request of
the load waits for the load generator's imports, and what judges it is imported later.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll import lab
from plimsoll.errors import InputError, Problem, StorageError
from plimsoll.events import Listener, Notice, ignore
from plimsoll.lab import arguments, load_options, urls
from plimsoll.lab.load_options import LoadOptions
from plimsoll.processes.interruption import Interruption
from plimsoll.serving import responding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.campaign.load import Arrivals
    from plimsoll.campaign.tls import Resume, Version
    from plimsoll.hosts.host import KeepRows
    from plimsoll.lab.results import LoadResult
    from plimsoll.plan import Trial


REMAINS = "trials/.*.partial"
"""What a killed process leaves of a trial: it never got its name, so nothing in it is complete."""


@arguments.checked(**load_options.CHOICES)
def load(  # noqa: PLR0913 - one argument for each option
    url: str | Sequence[str],
    *,
    connections: int = 50,
    duration_s: float | None = None,
    rate_per_s: float | None = None,
    arrivals: Arrivals | None = None,
    ramp_s: float | None = None,
    warm_up_s: float | None = None,
    requests: int | None = None,
    think_time_s: float | None = None,
    threads: int = 1,
    driver_cores: Sequence[int] = (),
    server_cores: Sequence[int] = (),
    pipeline: int = 1,
    http2: bool = False,
    streams: int = 1,
    requests_per_connection: int | None = None,
    keep_alive: bool = True,
    follow: int | None = None,
    compressed: Sequence[str] = (),
    events: bool = False,
    method: str | None = None,
    headers: Mapping[str, str] | Sequence[tuple[str, str]] = (),
    body: bytes | None = None,
    upload: str | os.PathLike[str] | None = None,
    expect_continue: bool = False,
    timeout_s: float = 10.0,
    status: int | None = None,
    length_bytes: int | None = None,
    expected_body: bytes | None = None,
    message: bytes | None = None,
    message_bytes: int | None = None,
    binary: bool = False,
    seed: int | None = None,
    limits: Mapping[str, Mapping[str, float]] | None = None,
    insecure: bool = False,
    cacert: str | os.PathLike[str] | None = None,
    cert: str | os.PathLike[str] | None = None,
    key: str | os.PathLike[str] | None = None,
    tls_version: Version | None = None,
    ciphers: Sequence[str] = (),
    tls_resume: Resume | None = None,
    power: str = "",
    idle_s: float | None = None,
    hosts: str | os.PathLike[str] | None = None,
    keep_rows: KeepRows = "lab",
    unix_socket: str | os.PathLike[str] | None = None,
    record: str | os.PathLike[str] | None = None,
    storage: str = "",
    on_event: Listener = ignore,
) -> LoadResult:
    """Puts a load on a server that already runs.

    Without a rate the model is closed: each connection sends its next request when the response to
    the last one is complete. With a rate it is open: requests arrive whether responses come or not.

    In the main thread the first Ctrl-C ends the load early and keeps what was recorded; in another
    thread signals are not handled. SIGTERM ends the load in the same way; when what was recorded is
    kept, it ends the process, or calls the handler that the program has for it.

    Args:
        url: What is requested; several of one server are mixed evenly. One of `ws` or `wss` is that
            of a WebSocket server that echoes messages; each is then a request.
        connections: Connections; in the open model the size of the pool.
        duration_s: How long the level is held, in seconds; None is 10, or with `requests` as long
            as these take.
        rate_per_s: Open model: arrivals per second.
        arrivals: Open model: `constant` or `poisson`; None is `constant`.
        ramp_s: Length of the linear ramp up to the level, in seconds; it is not summarised.
        warm_up_s: How long the level is held before that, in seconds; it is not summarised.
        requests: Stop after this many requests, or after `duration_s` if that is earlier; None
            for no limit. In the open model the rate gives the length, and that number is sent.
        think_time_s: Closed model: pause between a response and the next request, in seconds.
        threads: Threads of the load generator.
        driver_cores: Cores of the load generator, one thread on each; empty for `threads` anywhere.
        server_cores: Cores of this host that the server is pinned to during the load; empty for
            unchanged.
        pipeline: HTTP/1.1: requests in flight on one connection; WebSocket: messages.
        http2: Speak HTTP/2: by ALPN over TLS, else with prior knowledge.
        streams: HTTP/2: open streams on one connection, each with one request.
        requests_per_connection: Close a connection after this number of requests.
        keep_alive: Whether a connection carries more than one request.
        follow: HTTP/1.1: redirects within the origin that are followed for one request, on the same
            connection; its times are of all of them. None follows none.
        compressed: Content codings that are accepted: `gzip`, `br`, `zstd`. Bodies are decoded
            before they are compared; rows have their bytes as received and their decoded length.
        events: Whether each event of a response, a `text/event-stream`, is a row and counts as a
            request does. Its time is the interval since the previous event, for the first one since
            the request was due; `timeout_s` limits it. A stream that ends is requested again.
        method: None is GET, or POST with a body.
        headers: Headers of the requests.
        body: Body of the requests.
        upload: File whose content is the body of the requests, of any size; it is read once, and
            sent in pieces as sockets take it.
        expect_continue: HTTP/1.1: send the body when the server has invited it (`100 Continue`);
            the first byte of a response is then that of the invitation.
        timeout_s: A request fails after this long, in seconds.
        status: The expected status; None is any from 200 to 399.
        length_bytes: The expected length of the body.
        expected_body: The expected body; None is any, or of WebSocket the message itself.
        message: WebSocket: what is sent; None for characters or bytes that are drawn.
        message_bytes: WebSocket: length of those, in bytes; None is 64.
        binary: WebSocket: send messages as binary, not as text.
        seed: Repeats the arrivals and the order of URLs of an earlier load.
        limits: Limits of checks, as in a campaign: check to name and value.
        insecure: TLS: accept any certificate.
        cacert: TLS: PEM file with the trusted authorities; None for those of this host.
        cert: TLS: PEM file with the client's certificates.
        key: TLS: PEM file with the private key to them; None where `cert` has it too.
        tls_version: TLS: the only version that is offered; None offers 1.2 and 1.3.
        ciphers: TLS: IANA names of the cipher suites that are offered; empty offers all.
        tls_resume: TLS: whether a connection resumes an earlier session: `never` or `always`; None
            is `never`.
        power: Address of a power meter at the wall, as `shelly://HOST` or `exec:COMMAND`; empty for
            none.
        idle_s: How long power without load is measured before and after the load, in seconds; None
            for ten seconds if there is a meter, else not at all.
        hosts: File of the hosts that generate the load together; None generates it here.
        keep_rows: With hosts: `lab` copies every row; `remote` leaves rows on their hosts, which
            count them, so that what needs single rows is not checked; it needs `record`.
        unix_socket: Unix socket that the server listens on; None for TCP to the host of the URL.
        record: New folder that keeps every row; None for a temporary one, which goes with the
            result.
        storage: Address of a PostgreSQL database that keeps the rows; `record` is then the name.
        on_event: Called with each event: phases, and progress once a second.

    Returns:
        The load with its verdicts. An error of the load generator is its `error`, and so is
        `Interrupted`.

    Raises:
        InputError: An argument is wrong, or two exclude each other; every problem is in it, by the
            name of the argument.
        FrameworkError: The server cannot be reached, does not speak HTTP, or its certificate is not
            trusted; found out with one request before the load, which is not counted.
        HostError: A limit of a host is too low for the load, one of `hosts` did not join, or the
            power meter does not respond.
        StorageError: The rows cannot be kept, or `record` is not empty.
        KeyboardInterrupt: A second Ctrl-C; nothing is kept, unless rows were being copied from
            hosts: with `record=` they stay there, and the figures are kept.
    """
    requested = LoadOptions(
        urls=urls.several(arguments.several(url)),
        connections=connections,
        duration_s=duration_s,
        threads=threads,
        rate_per_s=rate_per_s,
        arrivals=arrivals,
        ramp_s=ramp_s,
        requests=requests,
        think_time_s=think_time_s,
        pipeline=pipeline,
        http2=http2,
        streams=streams,
        requests_per_connection=requests_per_connection,
        keep_alive=keep_alive,
        follow=follow,
        compressed=tuple(compressed),
        events=events,
        method=method,
        headers=arguments.pairs(headers),
        body=body,
        upload=load_options.path(upload),
        expect_continue=expect_continue,
        timeout_s=timeout_s,
        status=status,
        length_bytes=length_bytes,
        expected_body=expected_body,
        message=message,
        message_bytes=message_bytes,
        binary=binary,
        seed=seed,
        warm_up_s=warm_up_s,
        driver_cores=tuple(driver_cores),
        server_cores=tuple(server_cores),
        limits=limits or {},
        insecure=insecure,
        cacert=load_options.path(cacert),
        cert=load_options.path(cert),
        key=load_options.path(key),
        tls_version=tls_version,
        ciphers=tuple(ciphers),
        tls_resume=tls_resume,
        power=power,
        idle_s=idle_s,
        hosts=load_options.path(hosts),
        keep_rows=keep_rows,
        unix_socket=load_options.path(unix_socket),
    )
    interruption = Interruption()
    try:
        result = loaded(requested, load_options.path(record), storage, on_event, interruption)
    except BaseException:
        interruption.pass_on()
        raise
    interruption.pass_on(result.close)
    return result


def loaded(
    requested: LoadOptions,
    record: Path | None,
    storage: str,
    on_event: Listener,
    interruption: Interruption | None = None,
) -> LoadResult:
    """Puts on a load; `load` describes everything.

    Args:
        requested: Its options.
        record: New folder that keeps every row; None for a temporary one.
        storage: Address of a database that keeps the rows.
        on_event: Called with each event.
        interruption: Knows of signals afterwards; None for one of its own.
    """
    planned = load_options.trial(requested)
    require_place(record, storage, requested.keep_rows)
    known = (
        None
        if requested.hosts is None
        else lab.campaign_hosts.read(requested.hosts, requested.keep_rows)
    )
    address = load_options.server_address(requested)
    contract_requests = require_response(
        planned, address, keep_alive=requested.keep_alive, on_event=on_event
    )
    return lab.driven_load.put_on(
        requested,
        planned,
        address,
        contract_requests,
        record,
        storage,
        on_event,
        known,
        interruption,
    )


def require_response(
    planned: Trial, address: str, *, keep_alive: bool, on_event: Listener | None = None
) -> int:
    """Requires that a server responds as a load needs it; `responding.require` describes it.

    Args:
        planned: The load.
        address: Address of the server.
        keep_alive: Whether the load keeps connections.
        on_event: Told as a `Notice` that a server does not respond at once; it then has as long as
            a request of the load. With None it is not waited for. Told also of a status that the
            load does not expect.
    """
    first, protocol = planned.exchanges[0], planned.load.protocol
    return responding.require(
        address,
        first.request,
        keep_alive=keep_alive,
        tls=planned.tls,
        protocol=protocol,
        events=planned.load.events,
        timeout_s=None if on_event is None else planned.load.timeout_s,
        expected_status=first.expected.status,
        tell=lambda sentence: (on_event or ignore)(Notice(sentence)),
    )


def require_place(record: Path | None, storage: str, keep_rows: KeepRows = "lab") -> None:
    """Requires a place for the rows before anything is sent.

    Raises:
        InputError: A storage is named, and not what the recording is called there; or rows are to
            stay on hosts, and no recording says where they are.
        StorageError: The folder holds something else.
    """
    if record is not None:
        _require_new(record)
    elif storage:
        message = "`storage=` needs `record=`, which names the campaign"
        raise InputError([Problem("storage", message, "add `record=`")])
    elif keep_rows == "remote":
        message = "rows that stay on their hosts need a recording by which they are found"
        raise InputError([Problem("keep_rows", message, "add `record=`")])


def _require_new(record: Path) -> None:
    """Does nothing when a folder holds no file yet, but for what a killed load left.

    Raises:
        StorageError: It does; rows that were measured are not written over.
    """
    if record.exists() and not record.is_dir():
        raise StorageError(f"`{record}` is a file", "choose a new folder with `record=`")
    remains = {path for folder in record.glob(REMAINS) for path in folder.rglob("*")}
    files = (path for path in record.rglob("*") if path.is_file() and path.name != ".lock")
    if (first := next((path for path in files if path not in remains), None)) is not None:
        message = f"`{record}` is not empty: it holds `{first.relative_to(record)}`"
        raise StorageError(message, "choose a new folder with `record=`")
