"""Where PostgreSQL is looked for, and what is said where there is none."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from plimsoll.databases import installed


def programs(folder: Path, version: str, *names: str) -> Path:
    """Programs as Debian has them: `15/bin/postgres`."""
    found = folder / version / "bin"
    found.mkdir(parents=True)
    for name in names:
        (found / name).touch(mode=0o755)
    return found


def test_the_newest_server_of_debian_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    programs(tmp_path, "9", "postgres", "initdb")
    programs(tmp_path, "15", "postgres", "initdb")
    programs(tmp_path, "17", "postgres")
    assert installed.programs(tmp_path) == tmp_path / "15" / "bin"


def test_a_server_on_the_path_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = programs(tmp_path, "own", "postgres", "initdb")
    programs(tmp_path, "15", "postgres", "initdb")
    monkeypatch.setenv("PATH", str(own))
    assert installed.programs(tmp_path) == own


def test_where_none_is_installed_the_remedy_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(installed.VARIABLE, raising=False)
    monkeypatch.setattr(installed, "programs", lambda: None)
    error = installed.missing()
    assert error is not None
    assert "PostgreSQL 15 or newer, which is not installed" in error.message
    assert "apt-get install postgresql" in error.hint
    monkeypatch.setenv(installed.VARIABLE, "postgresql://me@there/")
    assert installed.missing() is None


def test_without_psycopg_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installed, "find_spec", lambda _: None)
    error = installed.missing()
    assert error is not None
    assert "plimsoll-bench[postgres]" in error.hint


def test_root_has_another_user_run_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    name = installed.other_user()
    assert name in ("postgres", "nobody")
    assert installed.as_user(name)[0] == "setpriv"
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert installed.other_user() is None
    assert installed.as_user(None) == ()
