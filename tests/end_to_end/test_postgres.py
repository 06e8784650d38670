"""Results in a database, as users type it: nothing is missing there, and no password anywhere."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

import postgres_server
from command_line import TOY, TOYS, Ran, run, start
from postgres_server import PASSWORD, Server

pytestmark = pytest.mark.timeout(180)

SECRETS = (PASSWORD, "s3cr%3At%2Fw%40rd", "s3cr")

JTL = """timeStamp,elapsed,label,responseCode,success,bytes,allThreads,Latency
1700000001000,5,home,200,true,100,2,4
1700000001500,7,home,200,true,100,2,6
1700000002600,9,home,500,false,10,2,8
"""


def gives_nothing_away(ran: Ran, folder: Path) -> bool:
    """Neither what was said nor any file holds the password."""
    files = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    said = [ran.stdout.encode(), ran.stderr.encode()]
    return not any(secret.encode() in text for text in (*files, *said) for secret in SECRETS)


@pytest.fixture
def server() -> Iterator[Server]:
    """A server that a test may end."""
    with postgres_server.served() as found:
        yield found


def test_a_campaign_is_run_judged_and_reported(
    tmp_path: Path, postgres: Server, database: str
) -> None:
    typed = ("run", TOY, *TOYS, "--storage", database)
    first = run(*typed, folder=tmp_path)
    assert first.code in (0, 1), first.stderr
    assert gives_nothing_away(first, tmp_path)
    folder = tmp_path / "results" / "toy"
    assert [path.name for path in folder.iterdir()] == ["report"]
    assert (folder / "report" / "index.html").exists()

    assert "1 trial, all complete" in run(*typed, "--no-report", folder=tmp_path).stderr

    judged = run("judge", "results/toy", "--json", "--storage", database, folder=tmp_path)
    assert judged.code in (0, 1), judged.stderr
    (one,) = json.loads(judged.stdout)
    assert one["trial"] == "toy.plaintext.steady.1"

    paper = ("elsewhere/toy", "--format", "pdf")
    reported = run("report", *paper, "--storage", database, folder=tmp_path)
    assert (tmp_path / "elsewhere" / "toy" / "report" / "report.pdf").exists(), reported.stderr
    assert gives_nothing_away(judged, tmp_path)
    assert gives_nothing_away(reported, tmp_path)

    name = database.rpartition("/")[2]
    ((campaign, rows),) = postgres.execute(
        "SELECT campaign, sum(requests) FROM plimsoll.seconds_success GROUP BY 1", name
    )
    ((counted,),) = postgres.execute("SELECT sum(ok)::integer FROM plimsoll.seconds", name)
    assert (campaign, rows) == ("toy", counted)
    ((log,),) = postgres.execute("SELECT count(*) FROM plimsoll.logs", name)
    assert log >= 1
    for (table,) in postgres.execute(
        "SELECT table_name FROM information_schema.tables WHERE table_schema = 'plimsoll'", name
    ):
        assert "s3cr" not in str(postgres.execute(f"TABLE plimsoll.{table}", name))


def test_what_was_typed_is_not_in_the_list_of_processes(tmp_path: Path, database: str) -> None:
    running = start("run", TOY, *TOYS, "--no-report", "--storage", database, folder=tmp_path)
    running.wait_until_it_says("[1/1]")
    shown = [text for text in command_lines() if str(TOY).encode() in text]
    everything = b"".join(command_lines())
    running.press_ctrl_c()
    running.end()
    assert shown
    assert b"--storage" in shown[0]
    assert not any(secret.encode() in everything for secret in SECRETS)


def command_lines() -> Iterator[bytes]:
    """The command line of every process that may be read."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            yield path.read_bytes()


def test_a_load_is_recorded_in_the_database(
    tmp_path: Path, reference_server: str, database: str
) -> None:
    typed = ("load", f"{reference_server}/2048", "-c", "2", "-n", "200", "--json")
    ran = run(*typed, "--record", "results/mix", "--storage", database, folder=tmp_path)
    assert ran.code in (0, 1), ran.stderr
    assert json.loads(ran.stdout)["recording"].endswith(", campaign mix")
    assert gives_nothing_away(ran, tmp_path)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
    again = run(*typed, "--record", "results/mix", "--storage", database, folder=tmp_path)
    assert again.code == 6
    assert "already holds a recording" in again.said
    unnamed = run(*typed, "--storage", database, folder=tmp_path)
    assert unnamed.code == 2
    assert "--record" in unnamed.said


def test_an_import_is_replaced_by_the_next_one(
    tmp_path: Path, postgres: Server, database: str
) -> None:
    (tmp_path / "study.jtl").write_text(JTL, encoding="utf-8")
    for _ in range(2):
        ran = run("import", "jmeter", "study.jtl", "--storage", database, folder=tmp_path)
        assert ran.code in (0, 1), ran.stderr
        assert gives_nothing_away(ran, tmp_path)
    name = database.rpartition("/")[2]
    query = "SELECT second, requests FROM plimsoll.{} WHERE requests > 0 ORDER BY second"
    assert postgres.execute(query.format("seconds_success"), name) == [(0, 2)]
    assert postgres.execute(query.format("seconds_failure"), name) == [(1, 1)]


def test_results_are_copied_into_a_database(
    toy_run: tuple[Path, Ran], tmp_path: Path, postgres: Server, database: str
) -> None:
    folder, _ = toy_run
    ran = run("export", folder / "results" / "toy", "--to", database, folder=tmp_path)
    assert ran.code == 0, ran.stderr
    assert gives_nothing_away(ran, tmp_path)
    name = database.rpartition("/")[2]
    query = "SELECT count(*), count(cpu_percent) > 0 FROM plimsoll.seconds_success WHERE second = 0"
    assert postgres.execute(query, name) == [(1, True)]
    judged = run("judge", "toy", "--storage", database, folder=tmp_path)
    assert judged.code in (0, 1), judged.stderr


def test_a_wrong_password_ends_it_before_anything_is_started(
    tmp_path: Path, postgres: Server
) -> None:
    url = postgres.url(password=PASSWORD[::-1] + SECRETS[-1])
    ran = run("run", TOY, *TOYS, "--storage", url, folder=tmp_path)
    assert ran.code == 6
    assert "rejects the password" in ran.said
    assert "~/.pgpass" in ran.said
    assert gives_nothing_away(ran, tmp_path)
    assert not list(tmp_path.rglob("trial.json"))


def test_an_address_with_a_mistake_is_not_repeated(tmp_path: Path) -> None:
    ran = run("judge", "toy", "--storage", "postgresql://lab:s3cr/et@host/db", folder=tmp_path)
    assert ran.code == 2
    assert "PostgreSQL URL is invalid" in ran.said
    assert gives_nothing_away(ran, tmp_path)


def test_a_database_that_goes_away_takes_no_measurement_with_it(
    tmp_path: Path, server: Server
) -> None:
    typed = ("run", TOY, *TOYS, "--no-report", "--storage", postgres_server.new_database(server))
    running = start(*typed, folder=tmp_path)
    running.wait_until_it_drives()
    server.stop()
    ran = running.end()
    assert ran.code == 6, ran.stderr
    assert "to-load" in ran.said
    assert gives_nothing_away(ran, tmp_path)

    server.start()
    ran = run(*typed, folder=tmp_path)
    assert ran.code == 0, ran.stderr
    assert "complete" in ran.stderr
    assert not (tmp_path / "results").exists() or not list(tmp_path.rglob("to-load"))
