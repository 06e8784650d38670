"""The options of a load, and the trial they describe."""

from __future__ import annotations

import math
import os
import secrets
import string
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, get_args

from plimsoll import addresses, lab, machine, wording
from plimsoll.campaign import power
from plimsoll.campaign.framework import Framework
from plimsoll.campaign.load import (
    COUNTED_S,
    HIGHEST_LEVEL,
    LONGEST_S,
    MOST_FOLLOWED,
    MOST_PER_CONNECTION,
    MOST_PIPELINED,
    MOST_REQUESTS,
    MOST_STREAMS,
    MOST_THREADS,
    SHORTEST_S,
    STRAIGHT,
    Arrivals,
    Load,
    Stage,
)
from plimsoll.campaign.quantities import UnreadableQuantity
from plimsoll.campaign.requests import (
    CODINGS,
    EVENT_STREAM,
    NO_STATUS,
    Endpoint,
    Events,
    Exchange,
    Expected,
    Request,
    Upload,
)
from plimsoll.campaign.tls import Resume, Tls, Version
from plimsoll.errors import InputError, Problem
from plimsoll.hosts.host import REMOTE_ALONE, KeepRows
from plimsoll.lab import urls
from plimsoll.plan import SEED_BITS, Trial

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from urllib.parse import SplitResult

    from plimsoll.campaign.load import Protocol

CHOICES = {
    "Arrivals": get_args(Arrivals),
    "KeepRows": get_args(KeepRows),
    "Resume": get_args(Resume),
    "Version": get_args(Version),
}
"""The values of each annotation of a load's options that is a `Literal`."""

HELD_S = 10.0
"""How long a level is held unless a length or a number of requests is given, in seconds."""

HIGHEST_STATUS = 999
"""The highest status code: it has three digits; RFC 9110, section 15."""

LARGEST_BYTES = 2**53
"""The largest `length_bytes`, in bytes: the largest integer that JSON readers keep exact."""

MESSAGE_BYTES = 64
"""Length of a message of WebSocket unless it is given, in bytes."""

MOST_MESSAGE_BYTES = 64 << 20
"""The largest `message_bytes`, in bytes."""

LARGEST_SEED = 2**SEED_BITS - 1
"""The largest seed."""

_SHOWN_URLS = 3
_SHOWN_CORES = 16


@dataclass(frozen=True)
class LoadOptions:
    """The options of a load.

    Attributes:
        urls: Target URLs, each with the same weight; all on one server.
        connections: Number of connections; in the open model, the size of the pool.
        duration_s: Length of the measurement window, in seconds; None for `HELD_S`, or with
            `requests` for as long as these take.
        threads: Load generator threads.
        rate_per_s: Open model: arrivals per second; None selects the closed model.
        arrivals: Open model: the arrival process; None for the default, constant spacing.
        ramp_s: Length of the linear ramp to the target level, in seconds; None for no ramp.
        requests: Stop after this many requests, or after `duration_s` if that is earlier; None
            for no limit. In the open model the rate gives the length, and that number is sent.
        think_time_s: Closed model: pause between a response and the next request, in seconds.
        pipeline: Largest number of requests in flight on one connection.
        http2: Whether HTTP/2 is spoken, with a server that is known to speak it.
        streams: HTTP/2: largest number of open streams on one connection.
        requests_per_connection: Close a connection after this many requests; None for no limit.
        keep_alive: Whether a connection carries more than one request.
        follow: HTTP/1.1: redirects within the origin that are followed for one request; None for
            none.
        compressed: Content codings that are accepted, and decoded; empty asks for none.
        events: Whether each event of a response counts as a request does.
        method: Request method; None is GET, or POST with a body.
        headers: Names and values of request headers.
        body: Request body; None for no body.
        upload: File whose content is the request body; None for none.
        expect_continue: Whether the body is sent only when the server has invited it.
        timeout_s: Request timeout, in seconds.
        status: Expected status; None accepts 200 to 399.
        length_bytes: Expected body length; None accepts any.
        expected_body: Expected body; None accepts any, or of WebSocket the message itself.
        message: WebSocket: what is sent; None for characters or bytes that are drawn.
        message_bytes: WebSocket: length of those, in bytes; None is `MESSAGE_BYTES`.
        binary: WebSocket: whether messages are sent as binary, not as text.
        warm_up_s: How long the level is held first, in seconds; None for no warm-up.
        driver_cores: Cores of the load generator, one thread on each; empty for threads anywhere.
        server_cores: Cores that the server is pinned to during the load; empty for unchanged.
        limits: Limits of checks: check to name and value.
        seed: Seed of arrivals, of the choice among URLs and of sampled bodies; None draws one.
        insecure: TLS: accept any certificate.
        cacert: TLS: PEM file with the trusted authorities; None for those of this host.
        cert: TLS: PEM file with the client's certificates; None for none.
        key: TLS: PEM file with the private key to them; None where `cert` has it too.
        tls_version: TLS: the only version that is offered; None offers all.
        ciphers: TLS: IANA names of the cipher suites that are offered; empty offers all.
        tls_resume: TLS: whether sessions are resumed; None is `never`.
        power: Address of the power meter at the wall; empty for none.
        idle_s: How long power without load is measured before and after, in seconds; None for ten
            seconds if there is a meter, else not at all.
        hosts: File of the hosts that generate the load together; None generates it here.
        keep_rows: Where their rows stay.
        unix_socket: Unix socket that the server listens on; None for TCP to the host of the URL.
    """

    urls: tuple[SplitResult, ...]
    connections: int = 50
    duration_s: float | None = None
    threads: int = 1
    rate_per_s: float | None = None
    arrivals: Arrivals | None = None
    ramp_s: float | None = None
    requests: int | None = None
    think_time_s: float | None = None
    pipeline: int = 1
    http2: bool = False
    streams: int = 1
    requests_per_connection: int | None = None
    keep_alive: bool = True
    follow: int | None = None
    compressed: tuple[str, ...] = ()
    events: bool = False
    method: str | None = None
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None
    upload: Path | None = None
    expect_continue: bool = False
    timeout_s: float = 10.0
    status: int | None = None
    length_bytes: int | None = None
    expected_body: bytes | None = None
    message: bytes | None = None
    message_bytes: int | None = None
    binary: bool = False
    warm_up_s: float | None = None
    driver_cores: tuple[int, ...] = ()
    server_cores: tuple[int, ...] = ()
    limits: Mapping[str, Mapping[str, float]] = field(default_factory=dict[str, dict[str, float]])
    seed: int | None = None
    insecure: bool = False
    cacert: Path | None = None
    cert: Path | None = None
    key: Path | None = None
    tls_version: Version | None = None
    ciphers: tuple[str, ...] = ()
    tls_resume: Resume | None = None
    power: str = ""
    idle_s: float | None = None
    hosts: Path | None = None
    keep_rows: KeepRows = "lab"
    unix_socket: Path | None = None


def path(given: str | os.PathLike[str] | None) -> Path | None:
    """A path as an argument gives it; None where it is not given."""
    return None if given is None else Path(given)


def server_address(requested: LoadOptions) -> str:
    """Where the server of a load is reached: its address and port as numbers, or its Unix socket.

    Raises:
        NotResponding: The name in the URL has no address.
        InputError: It is no name.
    """
    if requested.unix_socket is not None:
        return addresses.of_socket(str(requested.unix_socket.absolute()))
    return urls.address(requested.urls[0])


def trial(requested: LoadOptions) -> Trial:
    """The trial that the options describe.

    Raises:
        InputError: Options are invalid or exclude each other; it lists every problem.
    """
    urls.require_one_server(requested.urls)
    problems = [
        *_too_little(requested),
        *_negative(requested),
        *_too_much(requested),
        *_excluded(requested),
        *_wrong_method(requested),
        *_wrong_websocket(requested),
        *_wrong_tls(requested),
        *_wrong_socket(requested),
        *_wrong_codings(requested),
        *_wrong_upload(requested),
        *_wrong_events(requested),
        *_wrong_continue(requested),
        *_wrong_power(requested),
        *_only_here(requested),
        *_wrong_cores(requested),
        *(lab.selection.wrong_limits(requested.limits) if requested.limits else ()),
    ]
    if problems:
        raise InputError(problems)
    seed = secrets.randbits(SEED_BITS) if requested.seed is None else requested.seed
    return Trial(
        id="load",
        order=0,
        framework=Framework(requested.urls[0].netloc, "", "", Path(), "", (), "", "", "", ()),
        endpoint=_endpoint(requested, seed),
        load=_load(requested),
        repetition=1,
        driver="plimsoll",
        seed=seed,
        tls=_tls(requested),
    )


def _tls(requested: LoadOptions) -> Tls | None:
    """TLS to the server of an `https` or `wss` URL."""
    if not _is_secured(requested):
        return None
    return Tls(
        server_name=requested.urls[0].hostname or "",
        ca=requested.cacert,
        insecure=requested.insecure,
        cert=requested.cert,
        key=requested.key or requested.cert,
        version=requested.tls_version,
        ciphers=requested.ciphers,
        resume=requested.tls_resume or "never",
        alpn=("h2",) if requested.http2 else (),
    )


def _is_secured(requested: LoadOptions) -> bool:
    return requested.urls[0].scheme in urls.SECURED


def _is_websocket(requested: LoadOptions) -> bool:
    return requested.urls[0].scheme in urls.OF_WEBSOCKET


def _wrong_method(requested: LoadOptions) -> Iterator[Problem]:
    if requested.method == "":
        yield Problem("method", "is empty", "write a method such as `GET`, or leave it out")


def _wrong_websocket(requested: LoadOptions) -> Iterator[Problem]:
    """Options of messages without WebSocket, those of HTTP with it, and messages that are none."""
    messages = {
        "message": requested.message,
        "message_bytes": requested.message_bytes,
        "binary": requested.binary,
    }
    of_http = {
        "http2": requested.http2,
        "method": requested.method,
        "body": requested.body,
        "status": requested.status,
        "follow": requested.follow,
        "compressed": requested.compressed or None,
        "upload": requested.upload,
        "expect_continue": requested.expect_continue,
        "events": requested.events,
    }
    is_websocket = _is_websocket(requested)
    for option, value in (of_http if is_websocket else messages).items():
        if value is not None and value is not False:
            kind = "one of WebSocket" if is_websocket else "not one of `ws` or `wss`"
            yield Problem(option, f"the URL is {kind}", f"remove `{option}=`")
    if not is_websocket:
        return
    if len(set(map(urls.target, requested.urls))) > 1:
        message = "a WebSocket load has one URL"
        yield Problem("url", message, "run `plimsoll load` once per URL")
    if requested.message is not None and requested.message_bytes is not None:
        message = "`message=` sets the length already"
        yield Problem("message_bytes", message, "use either `message=` or `message_bytes=`")
    if requested.message is not None and not requested.binary and not _is_text(requested.message):
        yield Problem("message", "the message is not UTF-8", "send it with `binary=True`")
    if requested.message == b"":
        yield Problem("message", "the message is empty", "give at least one byte")


def _is_text(message: bytes) -> bool:
    try:
        message.decode()
    except UnicodeDecodeError:
        return False
    return True


def _wrong_tls(requested: LoadOptions) -> Iterator[Problem]:
    """Options of TLS without TLS, and those that do not go together."""
    given = {
        "insecure": requested.insecure,
        "cacert": requested.cacert,
        "cert": requested.cert,
        "key": requested.key,
        "tls_version": requested.tls_version,
        "ciphers": requested.ciphers,
        "tls_resume": requested.tls_resume,
    }
    for option, value in given.items():
        if value and not _is_secured(requested):
            yield Problem(option, "the URL is not one of `https` or `wss`", f"remove `{option}=`")
    if requested.insecure and requested.cacert:
        message = "`insecure=True` trusts every certificate"
        yield Problem("cacert", message, "use either `cacert=` or `insecure=True`")
    if requested.key and not requested.cert:
        yield Problem("key", "`key=` needs its certificate", "add `cert=`")
    for option, path in (
        ("cacert", requested.cacert),
        ("cert", requested.cert),
        ("key", requested.key),
    ):
        if path is not None and not path.is_file():
            yield Problem(option, f"there is no file `{path}`", "check the path")


def _wrong_codings(requested: LoadOptions) -> Iterator[Problem]:
    """Content codings that cannot be decoded."""
    unknown = [one for one in requested.compressed if one not in CODINGS]
    if unknown:
        message = f"`{unknown[0]}` is not a content coding that can be decoded"
        yield Problem("compressed", message, f"choose from {', '.join(CODINGS)}")


def _wrong_continue(requested: LoadOptions) -> Iterator[Problem]:
    """Loads that have no body to invite, or in which no interim response can be waited for."""
    if not requested.expect_continue:
        return
    option = "expect_continue"
    if requested.body is None and requested.upload is None:
        yield Problem(option, "the request has no body", "add `body=` or `upload=`")
    if requested.http2 or requested.pipeline > 1 or requested.follow is not None:
        message = "`expect_continue=True` needs HTTP/1.1 with one request in flight per connection"
        yield Problem(option, message, "remove `http2=True`, `pipeline=` or `follow=`")


def _wrong_events(requested: LoadOptions) -> Iterator[Problem]:
    """Options that mean nothing where events come without being asked for."""
    each = requested.requests_per_connection
    for option, is_given in (
        ("rate_per_s", requested.rate_per_s is not None),
        ("requests", requested.requests is not None),
        ("pipeline", requested.pipeline > 1),
        ("requests_per_connection", each is not None),
        ("follow", requested.follow is not None),
        ("length_bytes", requested.length_bytes is not None),
        ("expected_body", requested.expected_body is not None),
    ):
        if requested.events and is_given:
            message = f"`events=True` and `{option}=` exclude each other"
            yield Problem(option, message, f"remove `{option}=`, or `events=True`")


def _wrong_upload(requested: LoadOptions) -> Iterator[Problem]:
    """A file that cannot be sent, or a second body."""
    if requested.upload is None:
        return
    if requested.body is not None:
        message = "`upload=` and `body=` exclude each other"
        yield Problem("upload", message, "use either `upload=` or `body=`")
    if not requested.upload.exists():
        yield Problem("upload", f"there is no file `{requested.upload}`", "check the path")
    elif not requested.upload.resolve().is_file():
        message = f"`{requested.upload}` is not a file that every request can send"
        yield Problem("upload", message, "write its content to a file, or give it as `body=`")
    elif not os.access(requested.upload, os.R_OK):
        yield Problem("upload", f"`{requested.upload}` cannot be read", "allow this user to read")


def _wrong_socket(requested: LoadOptions) -> Iterator[Problem]:
    """A path that no Unix socket can have."""
    if requested.unix_socket is not None:
        length = len(os.fsencode(requested.unix_socket.absolute()))
        if length > addresses.LONGEST_PATH_BYTES:
            message = f"the path has {length} bytes, more than the path of a Unix socket may have"
            hint = f"the maximum is {addresses.LONGEST_PATH_BYTES}: use a link in a shorter folder"
            yield Problem("unix_socket", message, hint)


def _wrong_power(requested: LoadOptions) -> Iterator[Problem]:
    """An address that is none of a power meter."""
    try:
        power.meter(requested.power or "exec:true")
    except UnreadableQuantity as error:
        yield Problem("power", error.message, error.hint)


def _only_here(requested: LoadOptions) -> Iterator[Problem]:
    """Options that mean nothing where other hosts generate the load."""
    threads = requested.threads if requested.threads > 1 else None
    for option, value, hint in (
        ("threads", threads, "set `threads` of each host in the file of hosts"),
        ("driver_cores", requested.driver_cores, "set `cores` of each host in the file of hosts"),
        ("server_cores", requested.server_cores, "start the server with `taskset`"),
        ("upload", requested.upload, "other hosts do not have the file"),
        ("unix_socket", requested.unix_socket, "other hosts need a server that listens on TCP"),
    ):
        if requested.hosts is not None and value:
            yield Problem(option, f"`{option}=` and `hosts=` exclude each other", hint)
    if requested.hosts is None and requested.keep_rows == "remote":
        yield Problem("keep_rows", REMOTE_ALONE, "add `hosts=`")


def _too_little(requested: LoadOptions) -> Iterator[Problem]:
    amounts = {
        "connections": requested.connections,
        "duration_s": requested.duration_s,
        "threads": requested.threads,
        "rate_per_s": requested.rate_per_s,
        "ramp_s": requested.ramp_s,
        "warm_up_s": requested.warm_up_s,
        "requests": requested.requests,
        "pipeline": requested.pipeline,
        "streams": requested.streams,
        "follow": requested.follow,
        "requests_per_connection": requested.requests_per_connection,
        "timeout_s": requested.timeout_s,
        "message_bytes": requested.message_bytes,
    }
    for option, amount in amounts.items():
        is_length = option in ("duration_s", "ramp_s", "warm_up_s", "timeout_s")
        if amount is not None and (amount <= 0 or (is_length and amount < SHORTEST_S)):
            yield Problem(option, f"`{wording.exact(amount)}` is too small", "give a value above 0")


def _negative(requested: LoadOptions) -> Iterator[Problem]:
    amounts = {
        "think_time_s": requested.think_time_s,
        "idle_s": requested.idle_s,
        "status": requested.status,
        "length_bytes": requested.length_bytes,
        "seed": requested.seed,
    }
    for option, amount in amounts.items():
        if amount is not None and amount < 0:
            hint = "give a value of 0 or more"
            yield Problem(option, f"`{wording.exact(amount)}` is too small", hint)


def _wrong_cores(requested: LoadOptions) -> Iterator[Problem]:
    """Cores of this host on which the load generator cannot run, and those that it does not have.

    A server may use cores that Plimsoll may not.
    """
    if requested.hosts is not None:
        return
    for option, given, there, lacks in (
        ("driver_cores", requested.driver_cores, machine.allowed_cores(), "available to Plimsoll"),
        ("server_cores", requested.server_cores, machine.online_cores(), "a core of this host"),
    ):
        if lacking := [core for core in given if core not in there]:
            cores = wording.listed([str(core) for core in there], _SHOWN_CORES)
            message = f"core {wording.exact(lacking[0])} is not {lacks}"
            yield Problem(option, message, f"choose from {cores}")


def _too_much(requested: LoadOptions) -> Iterator[Problem]:
    """Values above the limits of the engine."""
    counts = {
        "connections": (requested.connections, HIGHEST_LEVEL),
        "rate_per_s": (requested.rate_per_s, HIGHEST_LEVEL),
        "requests": (requested.requests, MOST_REQUESTS),
        "threads": (requested.threads, MOST_THREADS),
        "pipeline": (requested.pipeline, MOST_PIPELINED),
        "streams": (requested.streams, MOST_STREAMS),
        "follow": (requested.follow, MOST_FOLLOWED),
        "requests_per_connection": (requested.requests_per_connection, MOST_PER_CONNECTION),
        "message_bytes": (requested.message_bytes, MOST_MESSAGE_BYTES),
        "status": (requested.status, HIGHEST_STATUS),
        "length_bytes": (requested.length_bytes, LARGEST_BYTES),
        "seed": (requested.seed, LARGEST_SEED),
    }
    for option, (amount, most) in counts.items():
        if amount is not None and amount > most:
            yield Problem(
                option, f"`{_exact(amount)}` is too large", f"the maximum is {wording.count(most)}"
            )
    lengths = {
        "duration_s": requested.duration_s,
        "ramp_s": requested.ramp_s,
        "warm_up_s": requested.warm_up_s,
        "think_time_s": requested.think_time_s,
        "timeout_s": requested.timeout_s,
        "idle_s": requested.idle_s,
    }
    if requested.requests and requested.rate_per_s and requested.rate_per_s > 0:
        lengths["requests"] = _arrivals_s(requested.requests, requested.rate_per_s)
    for option, length_s in lengths.items():
        if length_s is not None and length_s > LONGEST_S:
            days = f"{wording.count(LONGEST_S / 86_400)} days"
            yield Problem(
                option, f"`{wording.exact(length_s)}s` is too long", f"the maximum is {days}"
            )


def _exact(amount: float) -> str:
    """A number as it was typed; integers without an exponent."""
    return str(amount) if isinstance(amount, int) else wording.exact(amount)


def _excluded(requested: LoadOptions) -> Iterator[Problem]:
    """Options that exclude each other."""
    opened, limited = requested.rate_per_s is not None, requested.requests is not None
    each = 1 if not requested.keep_alive else requested.requests_per_connection
    found = (
        (
            limited and requested.arrivals == "poisson",
            "requests",
            "the number of Poisson arrivals is random, so it cannot be `requests=`",
            "use `duration_s=` instead of `requests=`, or constant arrivals",
        ),
        (
            opened and requested.think_time_s is not None,
            "think_time_s",
            "think time needs the closed model, and `rate_per_s=` selects the open model",
            "use either `think_time_s=` or `rate_per_s=`",
        ),
        (
            not opened and requested.arrivals is not None,
            "arrivals",
            "`arrivals=` needs the open model, which `rate_per_s=` selects",
            "set a rate with `rate_per_s=`",
        ),
        (
            limited and requested.ramp_s is not None,
            "ramp_s",
            "`requests=` counts every request of a load, so it cannot have a ramp",
            "remove `ramp_s=`, or use `duration_s=` instead of `requests=`",
        ),
        (
            limited and requested.warm_up_s is not None,
            "warm_up_s",
            "`requests=` counts every request of a load, so it cannot have a warm-up",
            "remove `warm_up_s=`, or use `duration_s=` instead of `requests=`",
        ),
        (
            not requested.keep_alive and requested.requests_per_connection is not None,
            "requests_per_connection",
            "with `keep_alive=False` each connection carries one request",
            "use only one of the two options",
        ),
        (
            requested.pipeline > 1 and each == 1,
            "pipeline",
            "pipelining needs more than one request per connection",
            "remove `keep_alive=False` or `requests_per_connection=1`",
        ),
        (
            requested.pipeline > 1 and bool(requested.think_time_s),
            "pipeline",
            "think time and pipelining exclude each other",
            "use either `pipeline=` or `think_time_s=`",
        ),
        (
            requested.follow is not None and (requested.http2 or requested.pipeline > 1),
            "follow",
            "redirects are followed in HTTP/1.1 with one request in flight per connection",
            "remove `http2=True` or `pipeline=`",
        ),
        (
            requested.follow is not None and not requested.keep_alive,
            "follow",
            "redirects are followed on the same connection, which `keep_alive=False` closes",
            "use either `follow=` or `keep_alive=False`",
        ),
        (
            requested.streams > 1 and not requested.http2,
            "streams",
            "streams need HTTP/2",
            "add `http2=True`, or use `pipeline=` with HTTP/1.1",
        ),
        (
            requested.pipeline > 1 and requested.http2,
            "pipeline",
            "pipelining needs HTTP/1.1, and `http2=True` selects HTTP/2",
            "use `streams=` with HTTP/2",
        ),
        (
            requested.streams > 1 and each == 1,
            "streams",
            "several streams need more than one request per connection",
            "remove `keep_alive=False` or `requests_per_connection=1`",
        ),
        (
            requested.streams > 1 and bool(requested.think_time_s),
            "streams",
            "think time and several streams exclude each other",
            "use either `streams=` or `think_time_s=`",
        ),
    )
    return (Problem(where, message, hint) for wrong, where, message, hint in found if wrong)


def _endpoint(requested: LoadOptions, seed: int) -> Endpoint:
    """The requests: each distinct URL, weighted by how often it was given; or the message."""
    if _is_websocket(requested):
        requested = _with_message(requested, seed)
    expected = _expected(requested)
    targets = [urls.target(url) for url in requested.urls]
    exchanges = tuple(
        Exchange(_request(requested, target, targets.count(target)), expected)
        for target in dict.fromkeys(targets)
    )
    return Endpoint(name(targets), "", exchanges, lambda _random: ())


def _with_message(requested: LoadOptions, seed: int) -> LoadOptions:
    """The options with the message as the body of a GET, and with the response that is expected."""
    message = requested.message
    if message is None:
        drawn = Random(f"{seed}/message")  # noqa: S311 - a seed makes it repeatable
        length = requested.message_bytes or MESSAGE_BYTES
        if requested.binary:
            message = drawn.randbytes(length)
        else:
            message = "".join(drawn.choices(string.ascii_letters, k=length)).encode()
    expects_other = requested.expected_body is not None or requested.length_bytes is not None
    return replace(
        requested,
        method="GET",
        body=message,
        expected_body=requested.expected_body if expects_other else message,
    )


def name(targets: Iterable[str]) -> str:
    """What a load of some paths and queries is called."""
    each = list(dict.fromkeys(targets))
    if len(each) > _SHOWN_URLS:
        return f"{each[0]} and {len(each) - 1} more"
    return ", ".join(each)


def _request(requested: LoadOptions, target: str, weight: int) -> Request:
    has_body = requested.body is not None or requested.upload is not None
    method = requested.method or ("POST" if has_body else "GET")
    upload = None
    if requested.upload is not None:
        # Resolved, because `/dev/stdin` is another file in the process that generates the load.
        upload = Upload(requested.upload.resolve(), requested.upload.stat().st_size)
    headers = requested.headers
    if not any(name.lower() == "host" for name, _ in headers):
        headers = (("Host", requested.urls[0].netloc), *headers)
    if requested.compressed and not any(name.lower() == "accept-encoding" for name, _ in headers):
        headers = (*headers, ("Accept-Encoding", ", ".join(requested.compressed)))
    if requested.events and not any(name.lower() == "accept" for name, _ in headers):
        headers = (*headers, ("Accept", EVENT_STREAM))
    return Request(
        name=target,
        method=method.upper(),
        target=target,
        headers=headers,
        body=requested.body or b"",
        weight=float(weight),
        upload=upload,
        expects_continue=requested.expect_continue,
    )


def _expected(requested: LoadOptions) -> Expected:
    if _is_websocket(requested):
        status = NO_STATUS
    else:
        status = (200, 399) if requested.status is None else (requested.status, requested.status)
    body, length = requested.expected_body, requested.length_bytes
    if body is not None and length not in (None, len(body)):
        message = f"`expected_body=` has {len(body)} bytes, not `{length}`"
        raise InputError([Problem("length_bytes", message, "remove this option")])
    return Expected(
        status=status,
        length_bytes=length if body is None else len(body),
        body=body,
        codings=tuple(one for one in CODINGS if one in requested.compressed),
        events=Events() if requested.events else None,
    )


def _load(requested: LoadOptions) -> Load:
    opened = requested.rate_per_s is not None
    return Load(
        name="load",
        model="open" if opened else "closed",
        stages=tuple(_stages(requested)),
        arrivals=requested.arrivals or Load.arrivals,
        connections=requested.connections if opened else 0,
        keep_alive=requested.keep_alive,
        requests_per_connection=requested.requests_per_connection,
        protocol=_protocol(requested),
        message="binary" if requested.binary else "text",
        pipeline=requested.pipeline,
        follow=requested.follow or 0,
        streams=requested.streams,
        events=requested.events,
        tls=_is_secured(requested),
        think_time_s=requested.think_time_s or 0.0,
        timeout_s=requested.timeout_s,
        request_limit=_request_limit(requested),
    )


def _request_limit(requested: LoadOptions) -> int | None:
    """The number of requests that ends the load; none where a given length ends an open one."""
    given_s, requests, rate_per_s = requested.duration_s, requested.requests, requested.rate_per_s
    if requests is None or rate_per_s is None or given_s is None:
        return requests
    return requests if _arrivals_s(requests, rate_per_s) <= given_s else None


def _protocol(requested: LoadOptions) -> Protocol:
    if _is_websocket(requested):
        return "websocket"
    return "http2" if requested.http2 else "http1"


def _stages(requested: LoadOptions) -> Iterator[Stage]:
    level = float(requested.connections) if requested.rate_per_s is None else requested.rate_per_s
    if requested.ramp_s is not None:
        yield Stage("ramp", requested.ramp_s, 0.0, level, STRAIGHT)
    if requested.warm_up_s is not None:
        yield Stage("warm_up", requested.warm_up_s, level, level)
    yield Stage("hold", _held_s(requested), level, level)


def _held_s(requested: LoadOptions) -> float:
    length_s = held_s(requested.duration_s, requested.requests, requested.rate_per_s)
    return COUNTED_S if length_s is None else length_s


def held_s(
    duration_s: float | None, requests: int | None, rate_per_s: float | None
) -> float | None:
    """How long a level is held at most, in seconds; None where only requests end it.

    Args:
        duration_s: The length that was asked for; None for none.
        requests: The number of requests that was asked for; None for none.
        rate_per_s: Arrivals per second; None in the closed model.
    """
    if requests is None:
        return HELD_S if duration_s is None else duration_s
    if rate_per_s is None or rate_per_s <= 0:
        return duration_s
    counted_s = _arrivals_s(requests, rate_per_s)
    return counted_s if duration_s is None else min(duration_s, counted_s)


def _arrivals_s(requests: int, rate_per_s: float) -> float:
    """The length in which exactly so many requests arrive, in whole nanoseconds.

    The first one arrives at once. The engine counts in floats, so that the product may be above
    the number, and one more would arrive; then the length is a nanosecond less.
    """
    length_ns = math.floor(requests / rate_per_s * 1e9)
    while rate_per_s * (length_ns / 1e9) > requests:
        length_ns -= 1
    return length_ns / 1e9
