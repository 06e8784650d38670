"""What was asked of a load, and the trial that it amounts to."""

from __future__ import annotations

import io
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from plimsoll.campaign.load import Load, Stage
from plimsoll.cli import urls
from plimsoll.cli.asked import Asked, trial
from plimsoll.errors import CampaignError


def asked(*typed: str, **changes: Any) -> Asked:
    return Asked(urls=tuple(urls.parts(one) for one in typed or (":8080/a",)), **changes)


def load(**changes: Any) -> Load:
    return trial(asked(**changes)).load


def refused(**changes: Any) -> list[str]:
    with pytest.raises(CampaignError) as error:
        trial(asked(**changes))
    assert all(problem.hint for problem in error.value.problems)
    return [str(problem) for problem in error.value.problems]


def test_a_closed_load_holds_its_connections() -> None:
    closed = load(connections=7, duration_s=3.0)
    assert (closed.model, closed.connections) == ("closed", 0)
    assert closed.stages == (Stage("hold", 3.0, 7.0, 7.0),)


def test_an_open_load_holds_its_rate_on_a_pool() -> None:
    opened = load(connections=7, duration_s=3.0, rate_per_s=500.0, arrivals="poisson")
    assert (opened.model, opened.connections, opened.arrivals) == ("open", 7, "poisson")
    assert opened.stages == (Stage("hold", 3.0, 500.0, 500.0),)


@pytest.mark.parametrize(("changes", "level"), [({}, 50.0), ({"rate_per_s": 900.0}, 900.0)])
def test_a_ramp_goes_straight_up_to_the_level_before_the_hold(
    changes: dict[str, Any], level: float
) -> None:
    ramp, hold = load(ramp_s=2.0, duration_s=3.0, **changes).stages
    assert ramp == Stage("ramp", 2.0, 0.0, level, steps=0)
    assert hold == Stage("hold", 3.0, level, level)


def test_what_concerns_connections_is_handed_on() -> None:
    found = load(pipeline=8, requests_per_connection=100, timeout_s=2.0)
    assert (found.pipeline, found.requests_per_connection, found.timeout_s) == (8, 100, 2.0)
    assert load(think_time_s=0.1).think_time_s == 0.1
    assert load(keep_alive=False).keep_alive is False


def test_several_urls_are_mixed_evenly_and_one_named_twice_counts_twice() -> None:
    endpoint = trial(asked(":8080/a", ":8080/b", ":8080/a", headers=("X-Mark: 1",))).endpoint
    requests = [exchange.request for exchange in endpoint.exchanges]
    assert [(one.target, one.weight) for one in requests] == [("/a", 2.0), ("/b", 1.0)]
    assert [one.headers for one in requests] == [(("Host", "127.0.0.1:8080"), ("X-Mark", "1"))] * 2
    assert endpoint.name == "/a, /b"


def test_many_urls_are_named_by_their_number() -> None:
    many = [f":8080/{number}" for number in range(5)]
    assert trial(asked(*many)).endpoint.name == "/0 and 4 more"


def test_bodies_come_from_text_file_or_standard_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "body").write_bytes(b"\0from a file")
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b"from stdin")))
    found = trial(asked(body=f"@{tmp_path / 'body'}", expected_body="@-")).endpoint.exchanges[0]
    assert found.request.body == b"\0from a file"
    assert found.request.method == "POST"
    assert (found.expected.body, found.expected.length_bytes) == (b"from stdin", 10)
    assert trial(asked(body="typed")).endpoint.exchanges[0].request.body == b"typed"


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"requests": 5, "rate_per_s": 5.0}, "--requests: a number of requests belongs to"),
        ({"think_time_s": 0.1, "rate_per_s": 5.0}, "--think: in the open model nobody thinks"),
        ({"arrivals": "poisson"}, "--arrivals: in the closed model requests follow answers"),
        ({"requests": 5, "ramp_s": 1.0}, "--ramp: a load that ends after a number of requests"),
        (
            {"keep_alive": False, "requests_per_connection": 5},
            "--requests-per-connection: with `--no-keepalive` a connection carries one request",
        ),
        (
            {"pipeline": 2, "keep_alive": False},
            "--pipeline: a connection that carries one request has nothing to pipeline",
        ),
        (
            {"pipeline": 2, "requests_per_connection": 1},
            "--pipeline: a connection that carries one request has nothing to pipeline",
        ),
        ({"pipeline": 2, "think_time_s": 0.1}, "--pipeline: who thinks between an answer and"),
        ({"pipeline": 1025}, "--pipeline: `1025` requests on one connection are too many"),
        ({"body": "@-", "expected_body": "@-"}, "--expect-body: the standard input can be read"),
        ({"expected_body": "abc", "length_bytes": 4}, "--expect-length: the body that is right"),
    ],
)
def test_what_cannot_be_had_together_is_refused_in_one_sentence(
    changes: dict[str, Any], sentence: str
) -> None:
    (said,) = refused(**changes)
    assert said.startswith(sentence)


def test_every_amount_of_nothing_is_named() -> None:
    said = refused(
        connections=0, duration_s=0.0, threads=0, rate_per_s=0.0, ramp_s=0.0, pipeline=0,
        requests_per_connection=0, timeout_s=0.0,
    )  # fmt: skip
    assert [one.partition(":")[0] for one in said] == [
        "--connections", "--duration", "--threads", "--rate", "--ramp", "--pipeline",
        "--requests-per-connection", "--timeout",
    ]  # fmt: skip


def test_a_load_of_one_url_at_one_depth_is_no_different_from_before() -> None:
    found = load(think_time_s=0.0, length_bytes=3)
    assert found == Load("load", "closed", (Stage("hold", 10.0, 50.0, 50.0),))
