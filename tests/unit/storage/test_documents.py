"""Which changes of a campaign file make another campaign of it."""

from __future__ import annotations

import json
from dataclasses import asdict, replace

import pytest

from plimsoll.errors import StorageError
from plimsoll.recording import FORMAT
from plimsoll.storage import documents
from stored_trials import recording

LINES = 'kind = "line"\n[line]\np99 = "20ms"\nbudget = "90s"\nwithin = 0.05\n'


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ('"90s"', '"5m"', ""),
        ("within = 0.05\n", "", ""),
        ('"20ms"', '"10ms"', "has results of another campaign: `line` differs"),
        ("within", "hold = 1\nwithin", "has results of another campaign: `line` differs"),
        ('kind = "line"', "", "has results of another campaign: `kind` differs"),
    ],
)
def test_only_the_end_of_a_search_may_change(before: str, after: str, said: str) -> None:
    assert documents.other_campaign(LINES, (), LINES.replace(before, after), ()) == said


def test_a_setting_that_renames_a_campaign_is_refused() -> None:
    said = documents.other_name({"name": "other"}, {"name": "small"})
    assert said == "has results of the campaign `small`, not of `other`"
    assert documents.other_name({"name": "small"}, {"name": "small"}) == ""
    assert documents.other_name({"name": "small"}, None) == ""
    assert documents.other_name(None, {"name": "small"}) == ""


def test_a_damaged_recording_is_one_sentence_with_what_to_do() -> None:
    with pytest.raises(StorageError) as caught:
        documents.recording({"format": 1}, "trials/a/trial.json")
    message = "`trials/a/trial.json` is not a recording: `trial`: field required, and "
    assert caught.value.message.startswith(message)
    assert "\n" not in caught.value.message
    assert "pydantic" not in caught.value.message
    assert caught.value.hint.startswith("restore it from a copy")


@pytest.mark.parametrize(
    "text", ['{"format": 1}', '{"format": 2}', '{"format": "1"}', "[]", '{"format": 2, "trial": 1}']
)
def test_the_text_of_no_recording_is_reported_as_its_content_is(text: str) -> None:
    with pytest.raises(StorageError) as of_text:
        documents.recording_of_text(text.encode(), "trial.json")
    with pytest.raises(StorageError) as of_content:
        documents.recording(json.loads(text), "trial.json")
    assert of_text.value.args == of_content.value.args


def test_a_recording_of_a_newer_format_is_refused_also_where_it_could_be_read() -> None:
    newer = json.dumps(asdict(replace(recording(), format=FORMAT + 1))).encode()
    with pytest.raises(StorageError, match="has format 2"):
        documents.recording_of_text(newer, "trial.json")


def test_the_text_of_a_recording_is_read_as_its_content_is() -> None:
    text = json.dumps(asdict(recording()))
    found = documents.recording_of_text(text.encode(), "trial.json")
    assert found == documents.recording(json.loads(text), "trial.json")


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (FileNotFoundError(2, "No such file or directory"), "No such file or directory"),
        (KeyError("trials"), "`trials` is missing"),
        (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid"), "not UTF-8 at byte 0"),
        (ValueError("first\nsecond"), "first"),
    ],
)
def test_damage_is_said_in_a_clause(error: Exception, said: str) -> None:
    assert documents.damage(error) == said
