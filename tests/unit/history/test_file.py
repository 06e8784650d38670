"""The file of a history, its schema, and what campaigns become in it."""

from __future__ import annotations

import json
import os
import resource
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import sample
from histories import campaign
from plimsoll.errors import InputError, StorageError
from plimsoll.findings.findings import Findings
from plimsoll.history import file
from plimsoll.history.adding import QUANTITIES, kept
from plimsoll.history.fingerprint import facts, fingerprint
from plimsoll.history.kept import KeptCampaign

SCHEMA = Path(__file__).parents[3] / "docs" / "schemas" / "history-1.json"


def test_what_is_appended_is_read_in_the_order_of_time(tmp_path: Path) -> None:
    path = tmp_path / "kept" / "history.jsonl"
    assert file.append(path, campaign(5))
    assert file.append(path, campaign(2))
    assert file.read(path) == (campaign(2), campaign(5))
    assert len(path.read_text(encoding="utf-8").splitlines()) == 2


def test_results_are_appended_once(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    assert file.append(path, campaign(1))
    before = path.read_bytes()
    assert not file.append(path, campaign(1))
    assert path.read_bytes() == before


def test_of_a_campaign_that_was_enlarged_the_last_line_counts(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    enlarged = campaign(1, 2000.0).model_copy(update={"results_id": "more"})
    file.append(path, campaign(1))
    file.append(path, enlarged)
    assert file.read(path) == (enlarged,)


def test_a_campaign_whose_earliest_trial_was_repeated_is_one(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    first = campaign(1).model_copy(update={"trials": ("a1", "b1")})
    again = campaign(2).model_copy(update={"trials": ("a2", "b1")})
    once_more = campaign(3).model_copy(update={"trials": ("a2", "b2")})
    for count, line in enumerate((first, again, once_more), 1):
        file.append(path, line)
        assert file.read(path) == (line,)
        assert len(path.read_text(encoding="utf-8").splitlines()) == count
    other = campaign(4).model_copy(update={"trials": ("a4", "b4")})
    file.append(path, other)
    assert file.read(path) == (once_more, other)


def test_lines_of_before_are_told_apart_by_when_they_began(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    lines = [json.loads(campaign(place).model_dump_json()) for place in (1, 2)]
    written = [{key: one for key, one in line.items() if key != "trials"} for line in lines]
    path.write_text("\n".join(map(json.dumps, written)), encoding="utf-8")
    enlarged = campaign(1).model_copy(update={"results_id": "more", "trials": ("a1", "b1")})
    file.append(path, enlarged)
    assert file.read(path) == (enlarged, campaign(2))


def test_a_line_shares_a_trial_with_that_of_results_in_which_another_was_repeated() -> None:
    def trials(*starts: str) -> tuple[str, ...]:
        begun = [
            sample.sound_trial(repetition=place, zero_utc=f"2026-01-0{start}T03:04:05Z")
            for place, start in enumerate(starts, 1)
        ]
        return kept(of(*begun)).trials

    before, again, other = trials("1", "2"), trials("3", "2"), trials("5", "6")
    assert len(set(before) & set(again)) == 1
    assert not set(before) & set(other)


def test_a_file_without_a_line_end_is_appended_to_on_a_line_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    path.write_text(campaign(1).model_dump_json(), encoding="utf-8")
    file.append(path, campaign(2))
    assert len(file.read(path)) == 2


@contextmanager
def room_for(size: int) -> Iterator[None]:
    """Files cannot grow beyond a size, as on a disk that is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("end", [b"\n", b""], ids=["ended", "without an end"])
def test_a_line_that_has_no_room_leaves_the_file_as_it_was(tmp_path: Path, end: bytes) -> None:
    path = tmp_path / "history.jsonl"
    before = campaign(1).model_dump_json().encode() + end
    path.write_bytes(before)
    with room_for(len(before) + 100), pytest.raises(StorageError, match="cannot be written"):
        file.append(path, campaign(2))
    assert path.read_bytes() == before
    assert file.append(path, campaign(2))
    assert file.read(path) == (campaign(1), campaign(2))


def test_a_first_line_that_has_no_room_leaves_no_file(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    with room_for(100), pytest.raises(StorageError, match="cannot be written"):
        file.append(path, campaign(1))
    assert not path.exists()


@pytest.mark.parametrize("length", [1, 5, 20, 200, -2])
def test_a_last_line_whose_writing_was_killed_is_left_out_and_replaced(
    tmp_path: Path, length: int
) -> None:
    path = tmp_path / "history.jsonl"
    assert file.append(path, campaign(1))
    whole = path.read_bytes()
    path.write_bytes(whole + campaign(2).model_dump_json().encode()[:length])
    said: list[str] = []
    assert file.read(path, said.append) == (campaign(1),)
    assert file.append(path, campaign(3), said.append)
    assert [f"the last line of `{path}` is left out" in one for one in said] == [True, True]
    assert path.read_bytes() == whole + campaign(3).model_dump_json().encode() + b"\n"
    assert file.read(path, said.append) == (campaign(1), campaign(3))
    assert len(said) == 2


@pytest.mark.parametrize("content", [b"my notes", b"[1, 2", b'{"name": "a'])
def test_a_file_without_a_line_end_that_is_no_history_is_refused(
    tmp_path: Path, content: bytes
) -> None:
    path = tmp_path / "history.jsonl"
    path.write_bytes(content)
    with pytest.raises(StorageError, match=r"line 1 of `.*` is not JSON"):
        file.append(path, campaign(1))
    assert path.read_bytes() == content


def fed(path: Path, content: bytes) -> threading.Thread:
    """Writes into a pipe until it is full or nobody reads it any more."""

    def feed() -> None:
        with suppress(BrokenPipeError), path.open("wb", buffering=0) as into:
            left = memoryview(content)
            while left:
                left = left[into.write(left) :]

    thread = threading.Thread(target=feed, daemon=True)
    thread.start()
    return thread


def test_a_pipe_is_read_as_a_file_is(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = fed(path, campaign(1).model_dump_json().encode())
    assert file.read(path) == (campaign(1),)
    writer.join()


def test_what_has_no_end_is_not_read_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file, "MOST_BYTES", 1 << 20)
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = fed(path, b"[" * (1 << 25))
    with pytest.raises(StorageError, match="is larger than"):
        file.read(path)
    writer.join()


def test_a_large_file_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    with path.open("wb") as sparse:
        sparse.truncate(file.MOST_BYTES + 1)
    for of_history in (file.read, lambda one: file.append(one, campaign(1))):
        with pytest.raises(StorageError, match="is larger than"):
            of_history(path)


def test_a_pipe_is_not_appended_to(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with pytest.raises(StorageError, match="is not a file that can be appended to"):
        file.append(path, campaign(1))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"nonsense\n", "line 1 of `.*` is not JSON"),
        (b"\xff\n", "line 1 of `.*` is not JSON"),
        (b"\n{\n", "line 2 of `.*` is not JSON"),
        (b"[" * 100_000 + b"\n", "line 1 of `.*` is not JSON"),
        (b"[]\n", "line 1 of `.*` is not of a history"),
        (b'{"format": 1}\n', "line 1 of `.*` is not of a history: `campaign`: Field required"),
        (b'{"format": 2}\n', "line 1 of `.*` has format 2, this version reads 1"),
    ],
)
def test_what_is_no_history_is_refused_in_one_sentence(
    tmp_path: Path, content: bytes, message: str
) -> None:
    path = tmp_path / "history.jsonl"
    path.write_bytes(content)
    with pytest.raises(StorageError, match=message):
        file.read(path)


@pytest.mark.parametrize("name", ["none.jsonl", "."])
def test_a_file_that_cannot_be_read_is_an_error(tmp_path: Path, name: str) -> None:
    with pytest.raises(StorageError, match="cannot be read"):
        file.read(tmp_path / name)


def test_a_file_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match="cannot be"):
        file.append(tmp_path / "file" / "history.jsonl", campaign(1))


def test_the_published_schema_is_that_of_the_types() -> None:
    assert json.loads(SCHEMA.read_text(encoding="utf-8")) == schema()


def schema() -> dict[str, Any]:
    dialect = "https://json-schema.org/draft/2020-12/schema"
    made = KeptCampaign.model_json_schema(mode="serialization")
    return {"$schema": dialect, **made, "title": "plimsoll history, format 1"}


def test_every_line_is_by_the_schema() -> None:
    published = json.loads(SCHEMA.read_text(encoding="utf-8"))
    line = json.loads(kept(sample.findings(), "abc").model_dump_json())
    jsonschema.validate(line, published)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**line, "format": 2}, published)


def test_a_campaign_becomes_its_estimates() -> None:
    line = kept(sample.findings(), "abc")
    assert (line.campaign, line.commit, line.measured_at) == (
        "sample",
        "abc",
        "2026-01-02T03:04:05Z",
    )
    by_name = {str(one.name): one for one in line.entries}
    go = by_name["go/2048.steady"]
    goodput = go.estimates["goodput_per_s"]
    assert (go.level, go.repetitions, go.excluded, goodput.value) == ("sound", 2, 0, 8050.0)
    assert goodput.low is not None
    assert goodput.low < 8050.0
    assert go.estimates.keys() <= set(QUANTITIES)
    void = by_name["django/2048.steady"]
    assert (void.level, void.repetitions, void.excluded, void.estimates) == ("void", 0, 1, {})
    assert "spring:virtual/2048.steady" in by_name


def of(*trials: Any) -> Findings:
    return replace(sample.findings(), trials=trials)


def test_results_of_two_machines_are_refused() -> None:
    other = {"here": {**sample.MACHINE, "kernel": "6.2.0"}}
    trials = (sample.sound_trial(), sample.sound_trial(machines=other, repetition=2))
    with pytest.raises(InputError, match="was measured on 2 machines"):
        kept(of(*trials))


def test_results_without_a_trial_are_refused() -> None:
    with pytest.raises(InputError, match="has no trial"):
        kept(of())


@pytest.mark.parametrize(
    ("name", "fact", "is_other"),
    [
        ("kernel", "6.2.0", True),
        ("cpu_model", "Another CPU", True),
        ("cores", [0, 1], True),
        ("memory_bytes", 32_000_000_000, True),
        ("virtual", False, True),
        ("cpu_governor", "powersave", True),
        ("cgroup_cores", 1.5, True),
        ("memory_bytes", 16_000_100_000, False),
        ("cores", [4, 5, 6, 7], False),
        ("somaxconn", 128, False),
        ("python", "3.14", False),
    ],
)
def test_the_fingerprint_is_that_of_what_numbers_depend_on(
    name: str, fact: Any, is_other: bool
) -> None:
    before = fingerprint(facts({"local": sample.MACHINE}))
    after = fingerprint(facts({"local": {**sample.MACHINE, name: fact}}))
    assert (before != after) is is_other


def test_the_name_of_a_machine_does_not_matter_unless_there_are_several() -> None:
    one = sample.MACHINE
    assert facts({"a": one}) == facts({"b": one})
    assert facts({"a": one, "b": one}) != facts({"a": one})
