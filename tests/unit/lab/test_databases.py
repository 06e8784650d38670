"""Which endpoints need a database, and what is done where there is none."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from plimsoll.campaign.endpoints import by_name
from plimsoll.cli import plimsoll
from plimsoll.databases import installed
from plimsoll.errors import NotInstalled
from plimsoll.events import ignore
from plimsoll.lab import databases

PLAIN, DB, UPDATES = by_name("plaintext"), by_name("db"), by_name("updates")
CAMPAIGN = """
name = "x"
frameworks = ["go"]
endpoints = ["plaintext", "db"]
load = [{ name = "a", stages = [{ kind = "hold", duration = "1s", at = 1 }] }]
"""


@pytest.fixture
def absent(monkeypatch: pytest.MonkeyPatch) -> None:
    """A host without PostgreSQL."""
    monkeypatch.setattr(installed, "missing", lambda: NotInstalled("none is here", "install one"))


def test_only_some_endpoints_need_a_database() -> None:
    assert not databases.needed([PLAIN])
    assert databases.needed([PLAIN, DB])


@pytest.mark.usefixtures("absent")
def test_without_a_database_the_endpoints_that_need_one_are_skipped_and_named() -> None:
    said: list[str] = []
    assert databases.available([PLAIN, DB, UPDATES], said.append) == (PLAIN,)
    assert said == ["skipped: `db`, `updates`: none is here", "to include them: install one"]
    with pytest.raises(NotInstalled, match="none is here"):
        databases.require([PLAIN, DB])


@pytest.mark.usefixtures("absent")
def test_endpoints_that_need_none_do_not_ask_for_it() -> None:
    assert databases.available([PLAIN], pytest.fail) == (PLAIN,)
    databases.require([PLAIN])
    with databases.running([PLAIN], (), ignore) as database:
        assert database is None


@pytest.mark.usefixtures("absent")
def test_a_plan_says_what_is_missing_and_leaves_it_out_where_that_is_asked(tmp_path: Path) -> None:
    file = tmp_path / "x.toml"
    file.write_text(CAMPAIGN, encoding="utf-8")
    whole = CliRunner().invoke(plimsoll, ["plan", str(file), "-v"])
    assert "go.db.a.1" in whole.output
    assert "none is here: install one" in whole.output
    available = CliRunner().invoke(plimsoll, ["plan", str(file), "-v", "--available"])
    assert "skipped: `db`: none is here" in available.output
    assert "go.db.a.1" not in available.output


def test_an_upstream_needs_cores_as_a_database_does() -> None:
    assert not databases.has_third_party([PLAIN])
    assert databases.has_third_party([PLAIN, DB])
    assert databases.has_third_party([by_name("upstream")])
