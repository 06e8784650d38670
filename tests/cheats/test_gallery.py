"""A gallery of cheats: each takes one shortcut, and is caught by the rule or verdict named here."""

from __future__ import annotations

import shlex
import time
from dataclasses import replace
from email.utils import formatdate
from pathlib import Path
from random import Random
from typing import Any

import pytest

import cheating_server
import toy_trials
from cheating_server import Asked, FrozenDate, Honest, Remembers, served
from plimsoll.aggregate.trial import Tables, stored
from plimsoll.campaign.endpoints import by_name
from plimsoll.campaign.endpoints.args import ENDPOINTS as ARGS
from plimsoll.campaign.load import Load, Stage
from plimsoll.campaign.requests import Values
from plimsoll.conduct import trial
from plimsoll.conduct.run_config import RunConfig
from plimsoll.plan import Trial
from plimsoll.processes.interruption import Interruption
from plimsoll.serving import contract, surroundings
from plimsoll.serving.contract import CheckedServer
from plimsoll.storage.parquet import ParquetResults
from plimsoll.verdicts.checks import responses_correct
from plimsoll.verdicts.limits import Limits

pytestmark = pytest.mark.long

SEED = 20261122

BROKEN = "broken JSON"
NOT_AGAIN = "it was not encoded again"
NOT_EQUAL = "the body is not equal to"
COMPUTED = "every response is computed for its request"
ABSENT = "an unknown path returns 404"
KEPT_OPEN = "two requests on one connection both get a response on it"
OTHER_BODY = "the body differs at byte"
OTHER_SUM = "`decoded-bytes` is"

CAUGHT = {
    "JsonEchoed": ("json", NOT_AGAIN),
    "JsonBraces": ("json", BROKEN),
    "JsonByRegex": ("json", BROKEN),
    "JsonKept": ("json", NOT_EQUAL),
    "ByUrl": ("json", NOT_EQUAL),
    "ArgsCounted": ("args", ARGS[0].summary),
    "ArgsWithoutPlus": ("args", ARGS[0].summary),
    "ArgsAsTheyCome": ("args", ARGS[0].summary),
    "ArgsWithoutEmpty": ("args", ARGS[0].summary),
    "ArgsInLatin": ("args", ARGS[0].summary),
    "FormInLatin": ("postArgs2048", OTHER_SUM),
    "PartsByLine": ("postArgsMulti2048", OTHER_SUM),
    "FibonacciFromAMap": ("fibonacci", COMPUTED),
    "FibonacciKept": ("fibonacci", COMPUTED),
    "FibonacciRounded": ("fibonacci", OTHER_BODY),
    "RightLength": ("2048", OTHER_BODY),
    "AlwaysFound": ("empty", ABSENT),
    "ByBeginning": ("json", ABSENT),
    "ByLengthAndLetter": ("plaintext", ABSENT),
    "NoDate": ("plaintext", surroundings.DATE),
    "FrozenDate": ("plaintext", surroundings.DATE),
    "ThawedDate": ("plaintext", surroundings.DATE),
    "OldDate": ("plaintext", surroundings.DATE),
    "Tagged": ("plaintext", surroundings.ETAG),
    "TwoLengths": ("plaintext", surroundings.LENGTH),
    "ClosedAfterOne": ("plaintext", KEPT_OPEN),
    "OnePacket": ("postArgs2048", surroundings.SPLIT),
    "ChunksIgnored": ("postArgs2048", surroundings.CHUNKED),
    "LargeChunksLost": ("postArgsMulti2048", surroundings.CHUNKED),
    "BeforeTheBody": ("postArgs2048", surroundings.SPLIT),
}
"""Cheat to the endpoint at which it is caught, and words of the rule or problem that names it."""

UNDER_LOAD = {
    "WrongWhenBusy": ("2048", 1),
    "KeptWhenBusy": ("args", 1),
    "Swapped": ("args", 4),
    "OthersWhenBusy": ("json", 1),
}
"""Cheat that keeps the contract to the endpoint asked, and to the requests of a pipeline."""

NOT_TOLD = {
    "FibonacciDoubled": ("fibonacci", "N - 1 additions"),
    "FormCounted": ("postArgs2048", "decoded"),
    "Remembers": ("args", "a cache of 2,048"),
}
"""Cheat that no answer tells, to the endpoint and the words of `not_proven` that say so."""

HARMLESS = ("KnowsTheLoad", "JsonInAnyOrder")
"""Gain nothing where values are drawn, or are right in a way of their own."""


def said_of(server: Honest, endpoint: str, **options: Any) -> list[str]:
    with served(server) as address:
        found = contract.failures(CheckedServer(address, **options), by_name(endpoint), SEED)
    return [str(failure) for failure in found]


def test_every_cheat_of_the_gallery_is_in_one_of_the_tables() -> None:
    cheats = {cheat.__name__ for cheat in cheating_server.gallery()}
    assert cheats == {*CAUGHT, *UNDER_LOAD, *NOT_TOLD, *HARMLESS}


@pytest.mark.parametrize("endpoint", cheating_server.ENDPOINTS)
def test_an_honest_server_keeps_the_contract(endpoint: str) -> None:
    assert said_of(Honest(), endpoint) == []


@pytest.mark.parametrize(("cheat", "caught"), CAUGHT.items(), ids=CAUGHT)
def test_a_cheat_is_caught_and_named(cheat: str, caught: tuple[str, str]) -> None:
    endpoint, words = caught
    server = cheating_server.named(cheat)
    if isinstance(server, FrozenDate):
        server.started = formatdate(time.time() - surroundings.OFF_S - 2, usegmt=True)
    found = said_of(server, endpoint)
    assert any(words in failure for failure in found), found


@pytest.mark.parametrize("cheat", ["NoDate", "Tagged", "TwoLengths", "OnePacket", "ChunksIgnored"])
def test_a_note_takes_a_server_out_of_the_rule_that_it_names(cheat: str) -> None:
    note = {"NoDate": "date", "Tagged": "etag", "TwoLengths": "length"}.get(
        cheat, "split" if cheat == "OnePacket" else "chunked"
    )
    server = cheating_server.named(cheat)
    assert said_of(server, CAUGHT[cheat][0], excepted=(note,)) == []


def test_a_server_that_was_frozen_has_time_to_renew_its_date() -> None:
    assert said_of(cheating_server.ThawedDate(), "plaintext", was_frozen=True) == []
    frozen = FrozenDate()
    frozen.started = formatdate(time.time() - cheating_server.ThawedDate.FROZEN_S, usegmt=True)
    begun_s = time.monotonic()
    (found,) = said_of(frozen, "plaintext", was_frozen=True)
    assert "s behind" in found
    assert time.monotonic() - begun_s > surroundings.RENEWED_S
    assert said_of(frozen, "plaintext", was_frozen=True, excepted=("date",)) == []


def test_a_server_that_was_not_frozen_has_no_time_to_renew_its_date() -> None:
    (found,) = said_of(cheating_server.ThawedDate(), "plaintext")
    assert "s behind" in found
    assert said_of(cheating_server.ThawedDate(), "plaintext", excepted=("date",)) == []


def test_ready_answers_to_the_fixed_requests_are_of_no_use_where_values_are_drawn() -> None:
    server = cheating_server.KnowsTheLoad()
    endpoint = by_name("json")
    with served(server) as address:
        for seed in range(3):
            drawn = endpoint.sent("drawn", seed)
            assert contract.verify(
                CheckedServer(address), asked(endpoint.name, drawn), seed
            ).exchanges
        assert server.given == 0
        contract.verify(CheckedServer(address), endpoint, SEED)
    assert server.given > 0


@pytest.mark.parametrize(("cheat", "untold"), NOT_TOLD.items(), ids=NOT_TOLD)
def test_what_no_answer_tells_is_written_where_readers_see_it(
    cheat: str, untold: tuple[str, str]
) -> None:
    endpoint, words = untold
    assert said_of(cheating_server.named(cheat), endpoint) == []
    assert words in by_name(endpoint).not_proven


@pytest.mark.parametrize("endpoint", ["args", "json"])
def test_a_cache_of_a_thousand_answers_misses_half_of_the_load(endpoint: str) -> None:
    server = Remembers()
    sent = by_name(endpoint).sent("drawn", SEED)
    drawn = [one.request for one in Random(SEED).choices(sent, k=8 * len(sent))]
    for one in drawn:
        server.answer(Asked(one.method, one.target, {}, one.body))
    assert server.misses > len(drawn) / 2


def asked(name: str, exchanges: Any) -> Any:
    return replace(by_name(name), exchanges=exchanges)


def conducted(
    cheat: str, endpoint: str, pipeline: int, results: ParquetResults, values: Values = "drawn"
) -> Tables:
    """A trial of a cheat with many connections."""
    framework = replace(
        toy_trials.framework(),
        name=cheat.lower(),
        start=f'exec "$PYTHON" {shlex.quote(cheating_server.__file__)} {cheat}',
        endpoints=(endpoint,),
    )
    connections = 2 * cheating_server.BUSY
    load = Load(
        "busy",
        "closed",
        (Stage("hold", 1.5, connections, connections),),
        pipeline=pipeline,
        request_limit=4000,
    )
    planned = Trial(
        "cheat.1", 0, framework, by_name(endpoint), load, 1, "plimsoll", SEED, values=values
    )
    setting = RunConfig(machine={"cores": [0]}, body_sample_ratio=1.0)
    recording = trial.conduct(planned, setting, results, Interruption())
    assert recording.ending.kind == "completed", recording.ending
    return stored(results, recording)


LESS_OFTEN = {"KeptWhenBusy", "OthersWhenBusy"}
"""What `make thorough` alone tries here: of a wrong body, which `WrongWhenBusy` gives as well."""


@pytest.mark.parametrize(
    "cheat",
    [
        pytest.param(cheat, marks=pytest.mark.thorough if cheat in LESS_OFTEN else ())
        for cheat in (*UNDER_LOAD, "Honest")
    ],
)
def test_a_cheat_under_load_only_is_a_verdict(cheat: str, tmp_path: Path) -> None:
    endpoint, pipeline = UNDER_LOAD.get(cheat, ("args", 4))
    tables = conducted(cheat, endpoint, pipeline, ParquetResults(tmp_path))
    found = responses_correct.judge(tables, Limits())
    assert tables.recording.contract["before"] == []
    assert found.level == ("sound" if cheat == "Honest" else "void"), found


@pytest.mark.parametrize("values", ["fixed", "drawn"])
@pytest.mark.parametrize("cheat", ["JsonInAnyOrder", "OthersWhenBusy", "Honest"])
def test_bodies_whose_spelling_varies_are_recomputed(
    cheat: str, values: Values, tmp_path: Path
) -> None:
    tables = conducted(cheat, "json", 1, ParquetResults(tmp_path), values)
    found, drawn = responses_correct.judge(tables, Limits()), tables.recording.recomputed
    assert sum(count.compared for count in tables.body_counts) == (4000 if cheat == "Honest" else 0)
    assert not list(tmp_path.glob("**/*.bin"))
    if cheat == "Honest":
        assert drawn == ()
        return
    (one,) = drawn
    assert 200 <= one.bodies == one.held <= 4000
    assert found.level == ("sound" if cheat == "JsonInAnyOrder" else "void"), found
    assert "recomputed after the load" in found.text
    assert (0.02 < one.held_wrong / one.held < 0.3) == (cheat == "OthersWhenBusy")
    assert one.held_wrong == 0 or cheat == "OthersWhenBusy"
    assert (tables.summary.goodput_per_s is None) == (cheat == "OthersWhenBusy")
