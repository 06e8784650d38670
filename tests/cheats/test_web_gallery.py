"""Servers that cut the web's workloads short: each is caught by the rule or problem named here."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path

import pytest

import cheating_server
import toy_trials
import web_cheats
from plimsoll.aggregate.trial import stored
from plimsoll.campaign.endpoints import by_name
from plimsoll.campaign.fixtures import Fixtures
from plimsoll.campaign.load import Load, Stage
from plimsoll.conduct import trial
from plimsoll.conduct.run_config import RunConfig
from plimsoll.plan import Trial
from plimsoll.processes.interruption import Interruption
from plimsoll.serving import contract, fixture_files, surroundings
from plimsoll.serving.contract import CheckedServer
from plimsoll.storage.parquet import ParquetResults
from plimsoll.verdicts.checks import responses_correct
from plimsoll.verdicts.limits import Limits

SEED = 20261124

ENDPOINTS = ("route", "items", "upload", "static", "compress", "auth", "json-in")
"""What `web_cheats.Web` serves."""

CAUGHT = {
    "RouteWithoutEnd": ("route", "a route after the last one returns 404"),
    "RouteOfAnyEnd": ("route", "a route that goes on returns 404"),
    "ItemsFromSource": ("items", "the body is not equal to"),
    "ItemsWithoutFactor": ("items", "the body is not equal to"),
    "ItemsWithoutTruth": ("items", "the body is not equal to"),
    "NeverCoded": ("compress", "the body is not compressed"),
    "AlwaysCoded": ("compress", "which the request does not accept"),
    "CodedAsStored": ("compress", "the compressed body has"),
    "CodedAtTheEnd": ("compress", "half as many as the list has without white space"),
    "CodedByTheWord": ("compress", surroundings.REFUSED_CODING),
    "CodedWithoutVary": ("compress", surroundings.VARY),
    "UploadBeginning": ("upload", "the body"),
    "SumByExpression": ("json-in", "the body"),
    "SumOfAnything": ("json-in", "a broken document (truncated) returns a status from 400"),
    "TokenUnsigned": ("auth", "a token with a wrong signature returns 401"),
    "TokenOfAnyAlgorithm": ("auth", "a token signed by HS512 returns 401"),
    "TokenForEver": ("auth", "a token that expired returns 401"),
    "SubjectByExpression": ("auth", "the body differs"),
    "FilesKept": ("static", surroundings.REPLACED),
    "FilesWithoutConditions": ("static", "the status is `200`, expected `304`"),
    "FilesAsBytes": ("static", "`content-type` is `application/octet-stream`"),
    "FilesOutside": ("static", "a file outside of the folder returns a status from 300"),
}
"""Cheat to the endpoint at which it is caught, and words of the rule or problem that names it."""

UNDER_LOAD = {"ItemsKeptWhenBusy": "items"}
"""Cheat that keeps the contract while it is looked at, to the endpoint that it serves wrongly."""

HARMLESS = ("CodedInCapitals", "CodedByTheOldName")
"""Compress as they should, and spell that in a way of their own."""


def failures(name: str, endpoint: str, excepted: tuple[str, ...] = ()) -> list[str]:
    with fixture_files.made(Fixtures.drawn(SEED)) as folder:
        server = web_cheats.gallery()[name](folder.path, folder.fixtures.key)
        with cheating_server.served(server) as address:
            asked = by_name(endpoint)
            checked = CheckedServer(address, excepted=excepted, write=folder.write)
            found = contract.failures(checked, asked, SEED)
    return [str(failure) for failure in found]


def test_every_server_is_in_one_of_the_tables() -> None:
    assert web_cheats.gallery().keys() == {"Web", *CAUGHT, *UNDER_LOAD, *HARMLESS}


@pytest.mark.parametrize("endpoint", ENDPOINTS)
def test_an_honest_server_keeps_the_contract(endpoint: str) -> None:
    assert failures("Web", endpoint) == []


@pytest.mark.parametrize("server", HARMLESS)
def test_a_coding_is_known_however_it_is_spelled(server: str) -> None:
    assert failures(server, "compress") == []


@pytest.mark.parametrize("cheat", CAUGHT)
def test_a_shortcut_is_caught_and_named(cheat: str) -> None:
    endpoint, words = CAUGHT[cheat]
    found = failures(cheat, endpoint)
    assert any(words in one for one in found), found


@pytest.mark.parametrize(
    ("cheat", "note"), [("CodedByTheWord", "refused-coding"), ("CodedWithoutVary", "vary")]
)
def test_a_note_takes_a_server_out_of_the_rule_that_it_names(cheat: str, note: str) -> None:
    assert failures(cheat, "compress", (note,)) == []


def test_a_note_takes_kept_files_out_of_the_rule_on_replaced_ones() -> None:
    assert failures("FilesKept", "static", ("replaced",)) == []


@pytest.mark.parametrize("name", ["Web", *UNDER_LOAD])
def test_lists_that_are_wrong_under_load_only_are_a_verdict(name: str, tmp_path: Path) -> None:
    endpoint = UNDER_LOAD.get(name, "items")
    framework = replace(
        toy_trials.framework(),
        name=name.lower(),
        start=f'exec "$PYTHON" {shlex.quote(web_cheats.__file__)} {name}',
        endpoints=("empty", endpoint),
    )
    connections = 2 * cheating_server.BUSY
    stages = (Stage("hold", 30.0, connections, connections),)
    load = Load("busy", "closed", stages, request_limit=2000)
    planned = Trial("web.1", 0, framework, by_name(endpoint), load, 1, "plimsoll", SEED)
    setting = RunConfig(machine={"cores": [0]}, body_sample_ratio=1.0)
    results = ParquetResults(tmp_path)
    recording = trial.conduct(planned, setting, results, Interruption())
    assert recording.contract["before"] == []
    found = responses_correct.judge(stored(results, recording), Limits())
    assert found.level == ("sound" if name == "Web" else "void"), found
