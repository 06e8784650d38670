"""Servers that spare the database: each is caught by the rule, or the verdict, named here."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import cheating_server
import database_cheats
import toy_trials
from plimsoll import databases
from plimsoll.aggregate.trial import Tables, stored
from plimsoll.campaign.endpoints import by_name
from plimsoll.campaign.load import Load, Stage
from plimsoll.conduct import trial, turns
from plimsoll.conduct.run_config import RunConfig
from plimsoll.databases import installed
from plimsoll.databases.running import RunningDatabase
from plimsoll.plan import Trial
from plimsoll.processes.interruption import Interruption
from plimsoll.serving import change_contract, contract, row_contract
from plimsoll.serving.contract import CheckedServer
from plimsoll.storage.parquet import ParquetResults
from plimsoll.verdicts.checks import database_headroom, responses_correct, rows_from_database
from plimsoll.verdicts.limits import Limits

pytestmark = pytest.mark.long

THOROUGH = pytest.mark.thorough
SEED = 20261123
CONNECTIONS = 2 * cheating_server.BUSY

CAUGHT = {
    "RowsKept": ("db", change_contract.FRESH_ROWS),
    "PageKept": ("fortunes", change_contract.FRESH_ROWS),
    "PageWithTags": ("fortunes", "a `script` element"),
    "PageAsStored": ("fortunes", "a row of the table is"),
    "PageWithoutTheAddedRow": ("fortunes", "expected `0`, `This sentence was added"),
    "UpdatesClaimed": ("updates", row_contract.WRITTEN),
    "UpdatesByFormula": ("updates", "since before the request"),
    "UpdatesOfWhatIsThere": ("updates", "since before the request"),
    "UpdatesOfTheFirstRows": ("updates", row_contract.DRAWN),
    "UpdatesInTurns": ("updates", "of 160 ids in 8 responses, 120 had been there before"),
    "UpdatesOneAfterTheOther": ("updates", "of 160 ids in 8 responses, none is from"),
    "UpdatesToOneNumber": ("updates", "of 160 numbers in 8 responses, 152 had been there before"),
    "UpdatesBySmallNumbers": ("updates", "of 160 numbers in 8 responses"),
}
"""Cheat to the endpoint at which the contract catches it, and words of the rule or problem."""

COUNTED = {
    ("RowsKeptWhenBusy", 10): ("db", "read"),
    ("RowsKeptWhenBusy", 50): ("db", "read"),
    ("RowsKeptWhenBusy", 100): ("db", "read"),
    ("UpdatesUnread", 100): ("updates", "read"),
    ("UpdatesClaimedWhenBusy", 50): ("updates", "wrote"),
}
"""Cheat that the database's own count catches, and its part of the responses in percent; the
endpoint, and what was not done."""

FIRST = {("RowsKeptWhenBusy", 10), ("UpdatesUnread", 100)}
"""Those that are made for every change; the others widen."""

REQUESTS = {"db": 3000, "fortunes": 1000, "updates": 200}
"""Requests of a load; far more than those of the contract checks, by the rows that they need."""


@pytest.fixture(scope="module")
def postgres() -> Iterator[RunningDatabase]:
    if error := installed.missing():
        pytest.skip(f"{error.message}: {error.hint}")
    with databases.running.started() as found:
        yield found


def failures(cheat: str, endpoint: str, postgres: RunningDatabase) -> list[str]:
    with databases.served.made(postgres) as database:
        server = database_cheats.gallery()[cheat](database.url)
        with cheating_server.served(server) as address:
            checked = CheckedServer(address, execute=database.execute)
            found = contract.failures(checked, by_name(endpoint), SEED)
            server.database.close()
    return [str(failure) for failure in found]


def planned(cheat: str, endpoint: str, spared: int = 0) -> Trial:
    """A trial with more connections than the cheats behave with."""
    framework = replace(
        toy_trials.framework(),
        name=cheat.lower(),
        start=f'exec "$PYTHON" {shlex.quote(database_cheats.__file__)} {cheat}',
        endpoints=("empty", endpoint),
        environment={"SPARED": str(spared)},
        clean_exit_codes=(0, -15),
    )
    stages = (Stage("hold", 30.0, CONNECTIONS, CONNECTIONS),)
    load = Load("busy", "closed", stages, request_limit=REQUESTS[endpoint])
    return Trial(f"{cheat}.1", 0, framework, by_name(endpoint), load, 1, "plimsoll", SEED)


def setting(postgres: RunningDatabase) -> RunConfig:
    return RunConfig(machine={"cores": [0]}, body_sample_ratio=1.0, database=postgres, turn_s=0.1)


def conducted(asked: Trial, postgres: RunningDatabase, into: Path) -> Tables:
    results = ParquetResults(into)
    recording = trial.conduct(asked, setting(postgres), results, Interruption())
    assert recording.ending.kind == "completed", recording.ending
    return stored(results, recording)


def test_every_server_is_in_one_of_the_tables() -> None:
    counted = {cheat for cheat, _ in COUNTED}
    assert database_cheats.gallery().keys() == {"Stored", "RowsKeptWhenWarm", *CAUGHT, *counted}


@pytest.mark.parametrize("endpoint", ["db", "fortunes", "updates"])
def test_a_server_that_reads_its_rows_keeps_the_contract(
    endpoint: str, postgres: RunningDatabase
) -> None:
    assert failures("Stored", endpoint, postgres) == []


@pytest.mark.parametrize("cheat", CAUGHT)
def test_a_server_that_spares_the_database_is_caught(cheat: str, postgres: RunningDatabase) -> None:
    endpoint, words = CAUGHT[cheat]
    found = failures(cheat, endpoint, postgres)
    assert any(words in one for one in found), found


@pytest.mark.parametrize(
    ("cheat", "spared"),
    [pytest.param(*one, marks=() if one in FIRST else THOROUGH) for one in COUNTED],
)
def test_what_responses_do_not_show_the_database_has_counted(
    cheat: str, spared: int, postgres: RunningDatabase, tmp_path: Path
) -> None:
    endpoint, did = COUNTED[cheat, spared]
    tables = conducted(planned(cheat, endpoint, spared), postgres, tmp_path)
    assert tables.recording.contract == {"before": [], "after": []}
    found = rows_from_database.judge(tables, Limits())
    assert found.level == "void", found
    assert f"The database {did}" in found.text
    assert responses_correct.judge(tables, Limits()).level != "void"


@pytest.mark.parametrize(("server", "level"), [("RowsKeptWhenWarm", "void"), ("Stored", "sound")])
def test_what_a_warm_up_reads_hides_no_cache_after_it(
    server: str, level: str, postgres: RunningDatabase, tmp_path: Path
) -> None:
    warmed = replace(planned(server, "db", 50), start_warm_up_s=3.0)
    tables = conducted(warmed, postgres, tmp_path)
    database = tables.recording.database
    assert database is not None
    assert (database.rows_read or 0) > REQUESTS["db"] + database.contract_responses
    assert rows_from_database.judge(tables, Limits()).level == level


@pytest.mark.parametrize(
    "endpoint", ["db", *(pytest.param(name, marks=THOROUGH) for name in ("fortunes", "updates"))]
)
def test_a_server_that_reads_its_rows_is_sound(
    endpoint: str, postgres: RunningDatabase, tmp_path: Path
) -> None:
    tables = conducted(planned("Stored", endpoint), postgres, tmp_path)
    found = rows_from_database.judge(tables, Limits())
    assert found.level == "sound", found
    assert database_headroom.judge(tables, Limits()).level in ("sound", "doubtful", "not_checked")
    assert tables.usage.of("database", "cpu_user_s")
    assert tables.usage.of("database", "rss_bytes")


def test_servers_that_take_turns_have_counts_of_their_own(
    postgres: RunningDatabase, tmp_path: Path
) -> None:
    trials = [planned(name, "db", 50) for name in ("Stored", "RowsKeptWhenBusy")]
    results = ParquetResults(tmp_path)
    found = turns.conduct(trials, setting(postgres), results, Interruption())
    levels = [
        rows_from_database.judge(stored(results, one), Limits()).level for one in found.values()
    ]
    assert levels == ["sound", "void"]
