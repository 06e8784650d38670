"""Which changes of a campaign file make another campaign of it."""

from __future__ import annotations

import json
from dataclasses import asdict, replace

import pytest

from plimsoll.campaign.ladder_settings import LadderSettings
from plimsoll.campaign.line_settings import LineSettings
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
    said = documents.other_settings({"name": "other"}, {"name": "small"})
    assert said == "has results of the campaign `small`, not of `other`"
    assert documents.other_settings({"name": "small"}, {"name": "small"}) == ""
    assert documents.other_settings({"name": "small"}, None) == ""
    assert documents.other_settings(None, {"name": "small"}) == ""


def with_line(**changes: object) -> dict[str, object]:
    """A campaign of kind `line` as its results keep it."""
    return json.loads(json.dumps({"line": {**asdict(LineSettings(p99_s=0.02)), **changes}}))


@pytest.mark.parametrize(
    ("changes", "differing"),
    [
        ({"budget_s": 300.0, "within": 0.02}, ""),
        ({"p99_s": 0.05}, "`line.p99` differs"),
        ({"p99_s": None, "p90_s": 0.02}, "`line.p90`, `line.p99` differ"),
        ({"errors": 0.01}, "`line.errors` differs"),
        ({"server_warm_up_s": 0.0}, "`line.server_warm_up` differs"),
    ],
)
def test_a_setting_that_changes_a_search_is_refused(
    changes: dict[str, object], differing: str
) -> None:
    said = documents.other_settings(with_line(**changes), with_line())
    assert said == (differing and f"was run with other settings: {differing}")


def test_tries_of_before_servers_were_warmed_up_had_no_warm_up() -> None:
    line = asdict(LineSettings(p99_s=0.02))
    del line["server_warm_up_s"]
    before = {"line": line}
    assert documents.other_settings(with_line(server_warm_up_s=0.0), before) == ""
    assert "`line.server_warm_up` differs" in documents.other_settings(with_line(), before)


def test_a_setting_that_changes_a_ladder_is_refused() -> None:
    campaign = {"ladder": asdict(LadderSettings(shares=(0.2, 0.4)))}
    before = json.loads(json.dumps(campaign))
    assert documents.other_settings(campaign, before) == ""
    other = {"ladder": asdict(LadderSettings(shares=(0.2, 0.5), arrivals="constant"))}
    said = documents.other_settings(other, before)
    assert said == "was run with other settings: `ladder.shares`, `ladder.arrivals` differ"


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
