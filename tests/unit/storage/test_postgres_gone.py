"""The database goes away within each kind of statement: one sentence, and nothing is lost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cutting_proxy import Proxy, proxied
from plimsoll import storage
from plimsoll.errors import StorageError
from plimsoll.storage.postgres.results import WAITING
from plimsoll.storage.results import Results
from postgres_server import Server
from stored_trials import put, recording, requests

ROWS = 20_000
WITHIN = {
    "connecting": b"",
    "the lock": b"pg_try_advisory_lock",
    "the tables": b"CREATE TABLE",
    "the campaign": b"INSERT INTO plimsoll.campaigns",
    "the trial": b"INSERT INTO plimsoll.trials",
    "the rows": b"COPY plimsoll.requests",
    "the end": b"UPDATE plimsoll.trials SET seconds",
    "the log": b"INSERT INTO plimsoll.logs",
    "keeping": b"COMMIT",
    "tending": b"ANALYZE",
}
"""Where it is cut, by what the client sends then."""


@pytest.fixture
def proxy(postgres: Server) -> Iterator[Proxy]:
    with proxied(postgres.port) as found:
        yield found


@pytest.fixture
def address(proxy: Proxy, postgres: Server, database: str) -> str:
    return database.replace(f":{postgres.port}/", f":{proxy.port}/")


def record(folder: Path, url: str) -> None:
    with storage.opened(folder / "results", url) as results, results.locked():
        put(results, recording(), {"server.log": "a\0b"}, requests=requests(ROWS))


def rows(results: Results) -> int:
    return results.table("a", "requests").count_rows()


def refused(folder: Path, url: str) -> StorageError:
    with pytest.raises(StorageError) as caught:
        record(folder, url)
    error = caught.value
    assert error.exit_code == 6
    assert "\n" not in error.message
    assert error.hint
    return error


@pytest.mark.parametrize("kind", WITHIN)
def test_what_is_cut_within_a_statement_is_told_and_done_again(
    tmp_path: Path, proxy: Proxy, address: str, kind: str
) -> None:
    if kind != "the tables":
        with storage.opened(tmp_path / "results", address) as results, results.locked():
            pass
    proxy.cut_at = WITHIN[kind]
    error = refused(tmp_path, address)
    assert proxy.cuts > 0
    waiting = tmp_path / "results" / WAITING
    began = kind not in ("connecting", "the lock", "the tables")
    if began:
        assert list(waiting.glob("trials/a/requests.parquet"))
        assert str(waiting) in error.hint
    proxy.cut_at = None
    record(tmp_path, address)
    with storage.opened(tmp_path / "results", address) as results:
        assert results.trial_ids() == ("a",)
        assert rows(results) == ROWS
        assert results.logs("a") == {"server.log": "a\ufffdb"}
    assert not waiting.exists()


@pytest.mark.parametrize("forwarded_bytes", [0, 100, 20_000, 1_000_000])
def test_what_is_cut_after_some_bytes_is_told_and_done_again(
    tmp_path: Path, proxy: Proxy, address: str, forwarded_bytes: int
) -> None:
    proxy.forwarded_bytes = forwarded_bytes
    refused(tmp_path, address)
    proxy.forwarded_bytes = None
    record(tmp_path, address)
    with storage.opened(tmp_path / "results", address) as results:
        assert rows(results) == ROWS


@pytest.mark.parametrize("asked", [b"SELECT trial ", b"recording_json", b"COPY (SELECT"])
def test_what_is_cut_while_it_is_read_is_told_and_read_again(
    tmp_path: Path, proxy: Proxy, address: str, asked: bytes
) -> None:
    record(tmp_path, address)
    with storage.opened(tmp_path / "results", address) as results:
        proxy.cut_at = asked
        with pytest.raises(StorageError) as caught:
            assert [results.recording(name) for name in results.trial_ids()]
            rows(results)
        assert "closed the connection" in caught.value.message
        proxy.cut_at = None
        assert results.trial_ids() == ("a",)
        assert rows(results) == ROWS
