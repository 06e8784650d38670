"""Frameworks are really started, every endpoint asked, and nothing is left of them.

`make test` starts those of `tested_frameworks`, `make thorough` all.

A variant is built (which does nothing when nothing changed) and started once for all of its tests;
the last of them stops it. Where its toolchain is absent its tests are skipped with what to type.
"""

from __future__ import annotations

from contextlib import ExitStack, closing
from http.client import HTTPConnection
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import tested_frameworks
from plimsoll import databases
from plimsoll.campaign.endpoints import ENDPOINTS, by_name
from plimsoll.campaign.endpoints.upstream import SERVICE_S
from plimsoll.campaign.framework import Framework, find, read
from plimsoll.campaign.load import SERVICES
from plimsoll.databases import installed
from plimsoll.errors import InputError
from plimsoll.install import commands, install
from plimsoll.install.requirements import missing
from plimsoll.processes import process_table
from plimsoll.serving import contract, observed, server, upstream

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plimsoll.campaign.load import Service
    from plimsoll.campaign.requests import Endpoint
    from plimsoll.databases.running import RunningDatabase
    from plimsoll.databases.served import ServedDatabase

FOLDERS = find(Path(__file__).resolve().parents[2] / "frameworks")
IDLE_CONNECTIONS = 100
BACKLOG = 4096
SEED = 20

# The limit is that of each test alone: a build or a start has its own.
pytestmark = [pytest.mark.long, pytest.mark.timeout(120, func_only=True)]


def variants() -> Iterator[Framework]:
    """Every variant of every folder that can be read; a test of its own names the others."""
    for folder in FOLDERS:
        try:
            yield from read(folder)
        except InputError:
            continue


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(
            variant,
            id=variant.reference,
            marks=tested_frameworks.marks(variant.name, variant.root, variant.variant),
        )
        for variant in variants()
    ],
)
def framework(request: pytest.FixtureRequest) -> Framework:
    """A variant, built."""
    variant: Framework = request.param
    if needs := missing(variant):
        absent = install.not_installed(variant, needs)
        pytest.skip(f"{absent.message}: {absent.hint}")
    install.build(variant)
    return variant


@pytest.fixture(scope="session")
def postgres() -> Iterator[RunningDatabase | None]:
    """PostgreSQL for all variants; None where it is not installed."""
    if installed.missing():
        yield None
        return
    with databases.running.started() as found:
        yield found


@pytest.fixture(scope="module")
def database(
    framework: Framework, postgres: RunningDatabase | None
) -> Iterator[ServedDatabase | None]:
    """The variant's database; None where there is none, and the server must start all the same."""
    if postgres is None:
        yield None
        return
    with databases.served.made(postgres) as made:
        yield made


@pytest.fixture(scope="module")
def running(
    framework: Framework,
    database: ServedDatabase | None,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[server.RunningServer]:
    """The variant's server, ready."""
    log = tmp_path_factory.mktemp(framework.slug) / "server.log"
    environment = {} if database is None else database.environment
    with ExitStack() as stack:
        if "upstream" in framework.endpoints:
            asked = stack.enter_context(upstream.started(SEED, SERVICE_S))
            environment = {**environment, **asked.environment}
        starting = server.started(framework, log=log, environment=environment, seed=SEED)
        yield stack.enter_context(starting)


@pytest.mark.parametrize(
    "folder",
    [pytest.param(f, id=f.name, marks=getattr(pytest.mark, f.name)) for f in FOLDERS],
)
def test_its_file_has_no_mistake(folder: Path) -> None:
    assert [variant.name for variant in read(folder)][:1] == [folder.name]


def test_it_says_its_version(framework: Framework) -> None:
    version = commands.version(framework)
    assert any(character.isdigit() for character in version), f"it said `{version}`"


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda endpoint: endpoint.name)
def test_it_keeps_the_contract(
    running: server.RunningServer, database: ServedDatabase | None, endpoint: Endpoint
) -> None:
    if endpoint.name not in running.framework.endpoints:
        pytest.skip("not among its endpoints")
    if endpoint.database and not database:
        pytest.skip(str(installed.missing()))
    address = (running.place.host, running.place.port)
    keeps = not running.framework.no_keep_alive
    notes = running.framework.contract_notes
    checked = contract.CheckedServer(
        address,
        keep_alive=keeps,
        excepted=notes,
        execute=database and database.execute,
        write=running.files.write,
    )
    failures = contract.failures(checked, endpoint, SEED)
    if failures:
        pytest.fail("\n".join(str(failure) for failure in failures), pytrace=False)


BY_EVERY_SERVICE = ("2048", "args", "json", "postArgsMulti2048", "ws")
"""Endpoints that are checked by each service: none that takes long, and each kind of body."""


@pytest.mark.parametrize("service", SERVICES)
def test_it_keeps_the_contract_by_its_services(
    framework: Framework, service: Service, tmp_path: Path
) -> None:
    if framework.variant or service not in framework.services:
        pytest.skip("not among its services")
    log, failures = tmp_path / "server.log", list[str]()
    with server.started(framework, log=log, service=service) as running:
        place = running.place
        checked = contract.CheckedServer(
            (place.host, place.port),
            excepted=framework.contract_notes,
            tls=place.tls,
            protocol=place.protocol,
        )
        for endpoint in map(by_name, BY_EVERY_SERVICE):
            if endpoint.name in framework.endpoints and endpoint.goes_by(place.protocol):
                failures += map(str, contract.failures(checked, endpoint, SEED))
        stopped = running.stop()
    if failures:
        pytest.fail("\n".join(failures), pytrace=False)
    assert stopped.clean, log.read_text()


def test_its_backlog_is_what_the_contract_asks_for_or_its_notes_say_why(
    running: server.RunningServer,
) -> None:
    seen = observed.serving(running)
    if seen.backlog is None or seen.somaxconn is None:
        pytest.skip("the kernel does not say what the backlog is")
    noted = any("backlog" in note for note in running.framework.notes)
    assert noted or seen.backlog >= min(BACKLOG, seen.somaxconn)


def test_it_stops_at_once_with_idle_connections_and_leaves_nothing(
    running: server.RunningServer,
) -> None:
    # The last test of a variant, since it takes away the server of the others.
    with ExitStack() as connections:
        for _ in range(0 if running.framework.no_keep_alive else IDLE_CONNECTIONS):
            connections.enter_context(closing(kept(running)))
        below = [process_table.process(pid) for pid in running.processes()]
        stopped = running.stop()
    assert stopped.exit_code in running.framework.clean_exit_codes, running.log.read_text()
    assert (stopped.killed, stopped.left) == (0, 0)
    assert stopped.clean
    assert stopped.port_free
    assert [found for found in below if found and is_alive(found)] == []


def kept(running: server.RunningServer) -> HTTPConnection:
    """A connection that has had one answer and stays open."""
    connection = HTTPConnection(running.place.host, running.place.port, timeout=10)
    connection.request("GET", "/empty")
    with connection.getresponse() as answer:
        assert answer.status == 200
    assert connection.sock is not None, "the server closed the connection after the answer"
    return connection


def is_alive(earlier: process_table.Process) -> bool:
    """Whether the very process still runs, and not a later one with its number."""
    now = process_table.process(earlier.pid)
    return now is not None and now.started_ticks == earlier.started_ticks
