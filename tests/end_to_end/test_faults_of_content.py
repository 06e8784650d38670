"""Faults of bodies, lengths and connections, really made, and found with their size."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from command_line import run

pytestmark = pytest.mark.timeout(180)

SERVER = Path(__file__).parents[1] / "content_server.py"
BODY_BYTES = 2048


@contextmanager
def serving(*options: str) -> Generator[str]:
    """Address and port of a server with a fault."""
    command = [sys.executable, str(SERVER), *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            yield server.stdout.readline().strip()
        finally:
            server.kill()


def loaded(address: str, folder: Path, *options: str) -> dict[str, Any]:
    """What `load --json` says; every response is complete unless the server breaks it off."""
    ran = run("load", address, *options, "--timeout", "30s", "--json", folder=folder)
    return json.loads(ran.stdout)


def asked_for_body(folder: Path, length: int = BODY_BYTES) -> tuple[str, str]:
    """The options that ask for the right body."""
    path = folder / "body"
    path.write_bytes(b"A" * length)
    return "--expect-body", f"@{path}"


def verdict(found: dict[str, Any], check: str) -> dict[str, Any]:
    """A verdict, with all of its sentences as `text`."""
    (one,) = (one for one in found["verdicts"] if one["check"] == check)
    return {**one, "text": " ".join(sentence["text"] for sentence in one["sentences"])}


def test_right_bodies_are_right_and_all_were_compared(tmp_path: Path) -> None:
    with serving() as address:
        found = loaded(address, tmp_path, "-n", "3000", "-c", "4", *asked_for_body(tmp_path))
    given = verdict(found, "responses_correct")
    number = f"{found['summary']['completed']:,}"
    assert given["level"] == "sound"
    assert given["text"] == (
        f"Status 200 on all {number} responses, and all {number} bodies were compared and correct."
    )
    assert found["summary"]["goodput_per_s"] == found["summary"]["throughput_per_s"]


@pytest.mark.parametrize(("every", "ratio"), [(1, 1.0), (2, 0.5)])
def test_wrong_bodies_of_the_right_length_are_counted(
    tmp_path: Path, every: int, ratio: float
) -> None:
    with serving("--wrong-every", str(every)) as address:
        found = loaded(address, tmp_path, "-n", "3000", "-c", "4", *asked_for_body(tmp_path))
    given, summary = verdict(found, "responses_correct"), found["summary"]
    assert given["level"] == "void"
    assert given["measured"] == pytest.approx(ratio, abs=0.01)
    right = summary["goodput_per_s"] / summary["throughput_per_s"]
    assert right == pytest.approx(1 - ratio, abs=0.01)


def test_one_wrong_body_in_ten_thousand_is_found(tmp_path: Path) -> None:
    with serving("--wrong-every", "10000") as address:
        found = loaded(address, tmp_path, "-n", "20000", "-c", "4", *asked_for_body(tmp_path))
    given = verdict(found, "responses_correct")
    assert given["level"] == "doubtful"
    assert given["text"].startswith("2 of 20,000 bodies (0.01 %) were wrong")


@pytest.mark.parametrize(("connections", "level"), [(8, "sound"), (16, "void")])
def test_bodies_that_are_wrong_under_load_only(
    tmp_path: Path, connections: int, level: str
) -> None:
    with serving("--wrong-every", "1", "--above", "8") as address:
        options = ("-d", "1s", "-c", str(connections), *asked_for_body(tmp_path))
        found = loaded(address, tmp_path, *options)
    assert verdict(found, "responses_correct")["level"] == level


def test_a_byte_too_many_is_found(tmp_path: Path) -> None:
    with serving("--extra-every", "500") as address:
        found = loaded(address, tmp_path, "-n", "5000", "-c", "4")
    given = verdict(found, "responses_correct")
    assert given["level"] == "doubtful"
    assert given["measured"] >= 9  # behind the last response nobody may be left to read it
    assert "the server sent bytes beyond the end of a response" in given["text"]


def test_a_length_that_few_have_is_found_without_being_asked_for(tmp_path: Path) -> None:
    with serving("--longer-every", "500") as address:
        found = loaded(address, tmp_path, "-n", "5000", "-c", "4")
        asked = loaded(address, tmp_path, "-n", "5000", "-c", "4", "--expect-length", "2048")
    given = verdict(found, "responses_correct")
    assert given["level"] == "doubtful"
    assert "10 bodies had 2,049 bytes, the other 4,990 had 2,048" in given["text"]
    assert "no length was expected" in given["text"]
    wrong = verdict(asked, "responses_correct")["text"]
    assert wrong.startswith(
        "10 of 5,000 responses (0.2 %) were wrong: 10 with an unexpected body length"
    )


def test_a_body_of_the_same_length_is_found_without_being_asked_for(tmp_path: Path) -> None:
    with serving("--wrong-every", "2") as address:
        found = loaded(address, tmp_path, "-d", "2s", "-c", "4")
    with serving() as address:
        right = verdict(loaded(address, tmp_path, "-d", "2s", "-c", "4"), "responses_correct")
    given = verdict(found, "responses_correct")
    assert given["level"] == "doubtful"
    assert given["text"].startswith("2 different bodies of equal length (2,048 bytes): of ")
    assert right["level"] == "sound"
    assert "sampled bodies were equal" in right["text"]


def test_lengths_that_vary_all_the_time_are_no_fault(tmp_path: Path) -> None:
    with serving("--varying") as address:
        found = loaded(address, tmp_path, "-n", "5000", "-c", "4")
    given = verdict(found, "responses_correct")
    assert given["level"] == "sound"
    assert "responses; bodies and lengths were not checked." in given["text"]
    assert "Body lengths vary from " in given["text"]


def test_connections_that_are_dropped_with_a_request_on_them(tmp_path: Path) -> None:
    with serving("--drop-after", "2000") as address:
        found = loaded(address, tmp_path, "-n", "10000", "-c", "2")
    given = verdict(found, "failures_explained")
    assert given["level"] == "doubtful"
    assert given["measured"] >= 3
    assert "each after 2,000 responses" in given["text"]


def test_a_server_that_drops_each_connection_after_a_response_is_measured_without_keep_alive(
    tmp_path: Path,
) -> None:
    with serving("--drop-after", "1") as address:
        found = loaded(address, tmp_path, "-d", "1s", "-c", "4")
        without = loaded(address, tmp_path, "-d", "1s", "-c", "4", "--no-keepalive")
    given = verdict(found, "failures_explained")
    assert given["level"] == "void"
    assert "without keep-alive (`--no-keepalive`)" in given["sentences"][0]["remedy"]
    assert verdict(without, "failures_explained")["level"] == "sound"


def test_an_announced_end_of_a_connection_is_legal_and_costs_where_it_is_frequent(
    tmp_path: Path,
) -> None:
    told = "so the numbers include opening connections"
    for after, is_told in ((1000, False), (10, True)):
        with serving("--announce-after", str(after)) as address:
            found = loaded(address, tmp_path, "-d", "2s", "-c", "4")
        assert verdict(found, "failures_explained")["level"] == "sound"
        given = verdict(found, "connection_target_met")
        assert (told in given["text"]) == is_told, given["text"]
    assert given["level"] != "sound"
    assert "each after 10 responses" in given["text"]


def test_a_sample_of_long_bodies_tells_the_share_of_wrong_ones(tmp_path: Path) -> None:
    from plimsoll import storage as storages  # noqa: PLC0415 - heavy
    from plimsoll.aggregate.trial import stored  # noqa: PLC0415
    from plimsoll.conduct import trial  # noqa: PLC0415
    from plimsoll.conduct.run_config import RunConfig  # noqa: PLC0415
    from plimsoll.lab import load_options, urls  # noqa: PLC0415
    from plimsoll.processes.interruption import Interruption  # noqa: PLC0415
    from plimsoll.verdicts.checks import responses_correct  # noqa: PLC0415
    from plimsoll.verdicts.limits import Limits  # noqa: PLC0415

    length = 262_144
    _, body = asked_for_body(tmp_path, length)
    with (
        serving("--body-bytes", str(length), "--wrong-every", "2") as address,
        storages.opened(tmp_path / "results") as results,
        results.locked(),
    ):
        options = load_options.LoadOptions(
            urls=(urls.parts(address),), requests=4000, expected_body=Path(body[1:]).read_bytes()
        )
        setting = RunConfig(body_sample_ratio=0.01)
        recording = trial.load(
            load_options.trial(options), address, setting, results, Interruption()
        )
        tables = stored(results, recording)
        (count,) = tables.body_counts
        given = responses_correct.judge(tables, Limits())
        summary = tables.summary
    assert 2000 <= count.compared < count.expected == 4000
    assert given.level == "void"
    assert given.measured == count.held_wrong / count.held_compared
    assert given.measured == pytest.approx(0.5, abs=0.05)
    assert summary.goodput_per_s is None
