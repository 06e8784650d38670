"""`plimsoll.line`: the greatest rate that a running server carries inside limits.

A server that does not respond is an error before what searches is imported.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from plimsoll import lab, wording
from plimsoll.campaign import quantities
from plimsoll.campaign.line_settings import stages_of_try
from plimsoll.campaign.load import HIGHEST_LEVEL
from plimsoll.errors import InputError, Problem
from plimsoll.events import Listener, ignore
from plimsoll.lab import arguments, load_options, loads, urls
from plimsoll.lab.load_options import LoadOptions
from plimsoll.load_line import goal, limits
from plimsoll.load_line.goal import USUAL_BUDGET_S, WITHIN, SearchGoal
from plimsoll.processes.interruption import ending_early

if TYPE_CHECKING:
    from plimsoll.campaign.load import Arrivals
    from plimsoll.campaign.tls import Resume, Version
    from plimsoll.lab.line_results import LineResult
    from plimsoll.load_line.limits import LineLimit

PEAK_S = 2.0
"""Length of the closed load that the search starts from, in seconds."""


@ending_early("the search")
@arguments.checked(**load_options.CHOICES)
def line(  # noqa: PLR0913 - one argument for each option
    url: str | Sequence[str],
    limit: str | Sequence[str],
    *,
    errors: float = 0.001,
    budget_s: float = USUAL_BUDGET_S,
    within: float = WITHIN,
    arrivals: Arrivals = "poisson",
    connections: int = 256,
    warm_up_s: float = 1.0,
    threads: int = 1,
    driver_cores: Sequence[int] = (),
    keep_alive: bool = True,
    http2: bool = False,
    streams: int = 1,
    method: str | None = None,
    headers: Mapping[str, str] | Sequence[tuple[str, str]] = (),
    body: bytes | None = None,
    status: int | None = None,
    length_bytes: int | None = None,
    expected_body: bytes | None = None,
    insecure: bool = False,
    cacert: str | os.PathLike[str] | None = None,
    cert: str | os.PathLike[str] | None = None,
    key: str | os.PathLike[str] | None = None,
    tls_version: Version | None = None,
    ciphers: Sequence[str] = (),
    tls_resume: Resume | None = None,
    record: str | os.PathLike[str] | None = None,
    storage: str = "",
    on_event: Listener = ignore,
) -> LineResult:
    """Searches the greatest rate that a running server carries inside limits.

    Requests arrive whether responses come or not (open model). At that rate, latency from the
    intended start and the error rate are within their limits, and at least 99 % of the due
    requests were sent.

    Args:
        url: What is requested; several of one server are mixed evenly.
        limit: Limits of latency: `p99=20ms`; a line is searched for each.
        errors: The share of requests that may fail.
        budget_s: Time for everything, in seconds; it must hold the warm-up, the closed load and one
            try.
        within: Half the width of an interval that is enough, as a share of the rate.
        arrivals: `poisson`, as from users who know nothing of each other, or `constant`.
        connections: Size of the pool of connections.
        warm_up_s: Closed load before the first one that counts, in seconds.
        threads: Threads of the load generator.
        driver_cores: Cores of the load generator, one thread on each; empty for `threads` anywhere.
        keep_alive: Whether a connection carries more than one request.
        http2: Speak HTTP/2: by ALPN over TLS, else with prior knowledge.
        streams: HTTP/2: open streams on one connection, each with one request.
        method: None is GET, or POST with a body.
        headers: Headers of the requests.
        body: Body of the requests.
        status: The expected status; None is any from 200 to 399.
        length_bytes: The expected length of the body.
        expected_body: The expected body.
        insecure: TLS: accept any certificate.
        cacert: TLS: PEM file with the trusted authorities; None for those of this host.
        cert: TLS: PEM file with the client's certificates.
        key: TLS: PEM file with the private key to them; None where `cert` has it too.
        tls_version: TLS: the only version that is offered; None offers 1.2 and 1.3.
        ciphers: TLS: IANA names of the cipher suites that are offered; empty offers all.
        tls_resume: TLS: whether a connection resumes an earlier session: `never` or `always`; None
            is `never`.
        record: New folder that keeps every row of every try; None for a temporary one.
        storage: Address of a PostgreSQL database that keeps the rows; `record` is then the name.
        on_event: Called with each event.

    Raises:
        InputError: A limit or an option is wrong, or two exclude each other.
        FrameworkError: The server cannot be reached, does not speak HTTP, or dies.
        DriverError: The load generator failed.
        HostError: A limit of this host is too low for the load.
        StorageError: The rows cannot be kept, or `record` is not empty.
        Interrupted: Ctrl-C in the main thread, or SIGTERM while it measures.
    """
    wanted = _wanted(arguments.several(limit), errors, budget_s, within)
    _require_budget(wanted, warm_up_s)
    requested = LoadOptions(
        urls=urls.several(arguments.several(url)),
        connections=connections,
        duration_s=PEAK_S,
        threads=threads,
        keep_alive=keep_alive,
        http2=http2,
        streams=streams,
        method=method,
        headers=arguments.pairs(headers),
        body=body,
        status=status,
        length_bytes=length_bytes,
        expected_body=expected_body,
        warm_up_s=warm_up_s or None,
        driver_cores=tuple(driver_cores),
        insecure=insecure,
        cacert=load_options.path(cacert),
        cert=load_options.path(cert),
        key=load_options.path(key),
        tls_version=tls_version,
        ciphers=tuple(ciphers),
        tls_resume=tls_resume,
    )
    began_s = time.monotonic()
    planned = load_options.trial(requested)
    place = load_options.path(record)
    loads.require_place(place, storage)
    address = urls.address(requested.urls[0])
    loads.require_response(planned, address, keep_alive=requested.keep_alive, on_event=on_event)
    return lab.line_search.searched(
        requested, arrivals, wanted, address, place, storage, on_event, began_s
    )


def _wanted(typed: Sequence[str], errors: float, budget_s: float, within: float) -> SearchGoal:
    """What is searched.

    Raises:
        InputError: A value is wrong.
    """
    found: dict[str, LineLimit] = {}
    problems: list[Problem] = []
    for one in typed:
        try:
            read = limits.read(one)
        except quantities.UnreadableQuantity as error:
            problems.append(Problem("limit", error.message, error.hint))
            continue
        if read.name in found:
            hint = "give each percentile once"
            problems.append(Problem("limit", f"`{read.name}` has two limits", hint))
        found[read.name] = read
    if not typed:
        problems.append(
            Problem("", "a load line needs a latency limit", "give one, such as `limit='p99=20ms'`")
        )
    shares = {"errors": errors, "within": within}
    problems += [
        Problem(
            option,
            f"`{wording.exact(share)}` is not a share between 0 and 1",
            "give a share, such as `0.001`",
        )
        for option, share in shares.items()
        if not 0 < share < 1
    ]
    if budget_s <= 0:
        problems.append(
            Problem("budget_s", f"`{wording.exact(budget_s)}` is too small", "give a value above 0")
        )
    if problems:
        raise InputError(problems)
    return SearchGoal(tuple(found.values()), limits.errors(errors), budget_s, within, HIGHEST_LEVEL)


def _require_budget(wanted: SearchGoal, warm_up_s: float) -> None:
    """Requires a budget that holds the warm-up, the closed load and one try.

    Raises:
        InputError: It is too short.
    """
    hold_s = wanted.least_hold_s
    stages = stages_of_try(1.0, goal.warm_up_s(hold_s), hold_s)
    least_s = max(warm_up_s, 0.0) + PEAK_S + sum(stage.duration_s for stage in stages)
    if wanted.budget_s < least_s:
        message = f"`{wording.exact(wanted.budget_s)}` s hold no warm-up and one try"
        hint = f"give at least {wording.exact(least_s)} s, or a shorter `warm_up_s=`"
        raise InputError([Problem("budget_s", message, hint)])
