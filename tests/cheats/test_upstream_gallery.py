"""Servers that spare the upstream: each is caught by the rule, or the verdict, named here."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path

import pytest

import toy_trials
import upstream_cheats
from plimsoll.aggregate.trial import Tables, stored
from plimsoll.campaign.endpoints import by_name
from plimsoll.campaign.framework import Framework
from plimsoll.campaign.load import Load, Stage
from plimsoll.campaign.requests import Endpoint
from plimsoll.conduct import trial
from plimsoll.conduct.run_config import RunConfig
from plimsoll.errors import ContractBroken
from plimsoll.plan import Trial
from plimsoll.processes.interruption import Interruption
from plimsoll.storage.parquet import ParquetResults
from plimsoll.verdicts.checks import responses_correct, responses_from_upstream, upstream_headroom
from plimsoll.verdicts.limits import Limits

SEED = 20261125
UPSTREAM = by_name("upstream")


FRAMEWORK = replace(
    toy_trials.framework(), endpoints=("empty", "upstream"), clean_exit_codes=(0, -15)
)


def conducted(server: str, into: Path) -> Tables:
    """A trial with more connections than the cheats behave with."""
    return loaded(server, into, FRAMEWORK, UPSTREAM, 2 * upstream_cheats.BUSY, 2000)


def loaded(
    server: str,
    into: Path,
    framework: Framework,
    endpoint: Endpoint,
    connections: int,
    requests: int,
) -> Tables:
    """A trial of a server, as a framework."""
    start = f'exec "$PYTHON" {shlex.quote(upstream_cheats.__file__)} {server}'
    framework = replace(framework, name=server.lower(), start=start)
    hold = Stage("hold", 30.0, connections, connections)
    load = Load("busy", "closed", (hold,), request_limit=requests)
    planned = Trial("up.1", 0, framework, endpoint, load, 1, "plimsoll", SEED)
    results = ParquetResults(into)
    setting = RunConfig(machine={"cores": [0]}, body_sample_ratio=1.0)
    return stored(results, trial.conduct(planned, setting, results, Interruption()))


def test_a_server_that_asks_for_each_response_is_sound(tmp_path: Path) -> None:
    tables = conducted("Asking", tmp_path)
    assert tables.recording.contract == {"before": [], "after": []}
    upstream = tables.recording.upstream
    assert upstream is not None
    assert upstream.requests == 2000 + upstream.contract_responses
    assert responses_from_upstream.judge(tables, Limits()).level == "sound"
    assert upstream_headroom.judge(tables, Limits()).measured is not None
    assert tables.usage.of("upstream", "cpu_user_s")


def test_a_server_that_keeps_what_the_upstream_said_breaks_the_contract(tmp_path: Path) -> None:
    recording = conducted("Keeping", tmp_path).recording
    assert recording.ending.kind == ContractBroken.__name__
    assert any(
        "every response waits for the upstream" in one for one in recording.contract["before"]
    )


@pytest.mark.parametrize(
    ("server", "words"),
    [
        pytest.param("KeepingWhenBusy", "came from elsewhere", marks=pytest.mark.thorough),
        ("EarlyWhenBusy", "the fastest response"),
    ],
)
def test_what_responses_do_not_show_the_upstream_has_counted(
    server: str, words: str, tmp_path: Path
) -> None:
    tables = conducted(server, tmp_path)
    assert tables.recording.contract == {"before": [], "after": []}
    found = responses_from_upstream.judge(tables, Limits())
    assert found.level == "void", found
    assert words in found.text.lower()
    assert responses_correct.judge(tables, Limits()).level != "void"


@pytest.mark.parametrize(("server", "level"), [("Asking", "doubtful"), ("Working", "sound")])
def test_an_upstream_that_takes_nearly_all_of_the_time_is_the_limit(
    server: str, level: str, tmp_path: Path
) -> None:
    """Without the contract, for which a slow upstream takes half a minute."""
    framework = replace(FRAMEWORK, endpoints=(), probe_path="/empty")
    endpoint = replace(UPSTREAM, upstream_s=upstream_cheats.WORK_S)
    tables = loaded(server, tmp_path, framework, endpoint, connections=4, requests=60)
    found = upstream_headroom.judge(tables, Limits())
    assert found.level == level, found
