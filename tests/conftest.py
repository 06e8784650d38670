"""Options and fixtures of all tests."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Callable, Generator
from pathlib import Path

import pytest

import examples
import postgres_server
from plimsoll import aggregate
from plimsoll.drivers.tools import jmeter

# What pytest makes of the tests is kept, also in containers that keep no bytecode: each process
# needs ten seconds to make it anew.
sys.dont_write_bytecode = False

HERE = Path(__file__).parent
GOLDEN = HERE / "golden"

examples.register(derandomize="CI" in os.environ)


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--update-golden` writes the golden files anew instead of comparing with them."""
    parser.addoption("--update-golden", action="store_true", help="write the golden files anew")


def pytest_configure() -> None:
    """Ctrl-C means something in the tests and in what they start, also where it is ignored.

    A shell has what it starts in the background ignore it, and who is started inherits that.
    Nothing of what is imported and collected next is garbage, so none is looked for meanwhile.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    gc.disable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files that take long are begun first, so that no process ends long after the others."""
    long = {item.path for item in items if item.get_closest_marker("long")}
    items.sort(key=lambda item: item.path not in long)


def pytest_collection_finish() -> None:
    """What was imported and collected lives to the end, so no collection of garbage looks at it."""
    gc.collect()
    gc.freeze()
    gc.enable()


def pytest_unconfigure() -> None:
    """What was frozen goes when the interpreter does, or C++ libraries report it as leaked."""
    gc.unfreeze()


@pytest.fixture(scope="session", autouse=True)
def one_database() -> Generator[None]:
    """Queries of all tests share one instance of DuckDB, as those of a trial's derivation do."""
    with aggregate.database.shared():
        yield


@pytest.fixture(scope="session", autouse=True)
def state_of_tests(tmp_path_factory: pytest.TempPathFactory) -> Generator[None]:
    """What Plimsoll learns about this host in tests, it forgets after them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Compares a text with the golden file of a name, or writes it with `--update-golden`."""
    update = bool(request.config.getoption("--update-golden"))

    def compare(name: str, text: str) -> None:
        path = GOLDEN / name
        if update:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert path.exists(), f"`{path}` is missing: run pytest with `--update-golden`"
        assert text == path.read_text(encoding="utf-8")

    return compare


@pytest.fixture(scope="session")
def postgres() -> Generator[postgres_server.Server]:
    """A PostgreSQL server of tests alone; without one, its tests are skipped and say so."""
    with postgres_server.served() as server:
        yield server


@pytest.fixture
def database(postgres: postgres_server.Server) -> str:
    """Address of an empty database, with a password in it."""
    return postgres_server.new_database(postgres)


@pytest.fixture(scope="session")
def jmeter_home() -> Path:
    """Folder of an installed JMeter; without one, its tests are skipped and say so."""
    missing = jmeter.needs()
    if missing is not None:
        pytest.skip(f"{missing.message}; {missing.hint}")
    return jmeter.home()
