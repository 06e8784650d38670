"""Wrong questions: each is answered with the place, a sentence, a remedy and exit code 2."""

from __future__ import annotations

from pathlib import Path

import pytest

from command_line import CHECKOUT, SMOKE, TOYS, Ran, run

MISTAKEN = """\
name = "mistaken"
frameworks = ["reference", "nodde"]
endpoints = ["2048"]
repetitions = "three"

[[load]]
name = "steady"
stages = [{ kind = "hold", duration = "5 parsecs", at = 16 }]
"""


def refused(ran: Ran, *sentences: str) -> None:
    """The verb exited with code 2, said these sentences, and did nothing else."""
    assert ran.code == 2, ran.stderr
    assert ran.stdout == ""
    for sentence in sentences:
        assert sentence in ran.stderr


def test_no_verb_shows_the_help(tmp_path: Path) -> None:
    ran = run(folder=tmp_path)
    refused(ran, "Usage: plimsoll", "Verbs:", "Exit codes:")
    assert "error" not in ran.stderr.partition("Exit codes")[0]


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        (["rnu"], "error: unknown verb `rnu`; did you mean `run`?"),
        (["qqqqq"], "error: unknown verb `qqqqq`\nhint: see `plimsoll --help`"),
        (["run"], "error: missing argument `CAMPAIGN`\nhint: see `plimsoll run --help`"),
        (["run", SMOKE, "--agian"], "no such option `--agian`; did you mean one of `--again`, "),
        (["list", "--wrong"], "error: no such option `--wrong`"),
        (["run", SMOKE, "--into"], "option `--into` requires an argument"),
        (["install"], "error: name a framework or tool, or use `--all` or `--campaign CAMPAIGN`"),
    ],
)
def test_what_cannot_be_understood_is_named_with_what_was_meant(
    typed: list[object], sentence: str, tmp_path: Path
) -> None:
    ran = run(*typed, folder=tmp_path)
    refused(ran, sentence)
    assert "--help`" in ran.stderr


@pytest.mark.parametrize(
    ("typed", "sentence", "hint"),
    [
        (["machine", "-c", "lots"], "`lots` is not a count", "write a whole number, such as"),
        (["report", ".", "--format", "word"], "unknown format `word`", "formats: `html`, `pdf`"),
    ],
)
def test_a_value_that_cannot_be_read_is_named_with_how_to_write_it(
    typed: list[object], sentence: str, hint: str, tmp_path: Path
) -> None:
    refused(run(*typed, folder=tmp_path), sentence, f"hint: {hint}")


@pytest.mark.parametrize(
    ("verb", "what"), [("check", "framework"), ("install", "framework or tool")]
)
def test_an_unknown_framework_is_refused_by_every_verb_that_takes_one(
    verb: str, what: str, tmp_path: Path
) -> None:
    ran = run(verb, "nodee", folder=tmp_path)
    refused(ran, f"unknown {what} `nodee`", "hint: did you mean `node`?")


def test_an_unknown_variant_is_named_with_those_there_are(tmp_path: Path) -> None:
    ran = run("check", "toy:exits", *TOYS, folder=tmp_path)
    refused(ran, "`toy` has no variant `exits`", "hint: ")


def test_a_folder_without_frameworks_is_refused(tmp_path: Path) -> None:
    ran = run("list", "--frameworks", tmp_path, folder=tmp_path)
    refused(ran, f"error: --frameworks: `{tmp_path}` contains no framework", "framework.toml")


def test_a_tool_with_mistakes_is_named_and_the_rest_is_listed(tmp_path: Path) -> None:
    mistaken = tmp_path / "tools" / "siege" / "tool.toml"
    mistaken.parent.mkdir(parents=True)
    mistaken.write_text("sites = 3\n")
    ran = run("list", *TOYS, folder=tmp_path)
    assert ran.code == 2
    assert "siege" in ran.stderr
    assert "hint: " in ran.stderr
    assert "toy" in ran.stdout


def test_three_mistakes_in_a_campaign_are_all_named_with_their_lines(tmp_path: Path) -> None:
    (tmp_path / "mistaken.toml").write_text(MISTAKEN)
    ran = run("run", "mistaken.toml", folder=tmp_path)
    refused(
        ran,
        "error: mistaken.toml:2: unknown framework `nodde`",
        "hint: did you mean `node`?",
        "error: mistaken.toml:4: `repetitions`: `three` is not a count",
        "error: mistaken.toml:8: `duration`: `5 parsecs` is not a duration",
        "hint: write `500ms`, `30s`, `2m`, `1h`",
    )
    assert ran.stderr.count("error:") == 3
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            'name = "broken"\nframeworks = ["go"\nendpoints = 3\n',
            "campaign.toml:3: is not valid TOML",
        ),
        ('name = "broken"\nname = "twice"\n', "campaign.toml:2: is not valid TOML"),
        ("", "`name` is missing"),
        ('name = "../up"', "campaign.toml:1: `../up` is not a valid name"),
        ("name = 'x'\nendpoints = ['2084']", "campaign.toml:2: unknown endpoint `2084`"),
        ("name = 'x'\ndriver = 'wrkk'", "campaign.toml:2: unknown driver `wrkk`"),
    ],
)
def test_a_campaign_file_that_cannot_be_read_is_refused_with_its_line(
    text: str, sentence: str, tmp_path: Path
) -> None:
    (tmp_path / "campaign.toml").write_text(text)
    refused(run("plan", "campaign.toml", folder=tmp_path), sentence)


def test_a_campaign_file_that_is_not_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "campaign.toml").write_bytes(b"\xff\xfe\x00name")
    refused(run("run", "campaign.toml", folder=tmp_path), "is not text in UTF-8")


def test_a_folder_in_place_of_a_campaign_file_is_refused(tmp_path: Path) -> None:
    refused(run("run", tmp_path, folder=tmp_path), "cannot be read: Is a directory")


def test_a_campaign_file_that_is_not_there_is_named_with_one_that_is(tmp_path: Path) -> None:
    ran = run("run", SMOKE.with_name("smok.toml"), folder=CHECKOUT)
    refused(ran, "campaigns/smok.toml: no such file", "did you mean `smoke.toml`?")


SETTINGS = {
    "repetitions": "has no `=`",
    "=3": "has no key before the `=`",
    "repetition=2": "unknown key `repetition` here",
    "repetitions=many": "`many` is not a count",
    "frameworks=go,nodde": "unknown framework `nodde`",
    "endpoints=2048,2084": "unknown endpoint `2084`",
    "load.stedy.timeout=5s": "unknown load `stedy`",
    "load.steady.hold.duration=5y": "unknown unit `y`",
    "scale_time=0": "`0` is not a number above 0",
    "name.deeper=1": "goes through a value that is not a table",
    "limits.backlogg.overflow_ratio=1": "unknown check `backlogg`",
    "seed=x": "`seed` must be a whole number",
}
"""Settings that are wrong, and what is said of each."""


def test_every_setting_that_is_wrong_is_named_as_it_was_typed(tmp_path: Path) -> None:
    typed = [word for setting in SETTINGS for word in ("--set", setting)]
    ran = run("plan", SMOKE, *typed, folder=tmp_path)
    refused(ran)
    for setting, sentence in SETTINGS.items():
        where = f"error: --set {setting.partition('=')[0] or setting}: "
        assert any(
            line.startswith(where) and sentence in line for line in ran.stderr.splitlines()
        ), f"{where}{sentence}\n{ran.stderr}"
    assert ran.stderr.count("error: ") == len(SETTINGS)


@pytest.mark.parametrize("verb", ["judge", "report"])
def test_a_folder_without_recordings_has_nothing_to_report_on(verb: str, tmp_path: Path) -> None:
    refused(run(verb, tmp_path, folder=tmp_path), f"`{tmp_path}` contains no recording")
    refused(run(verb, "nowhere", folder=tmp_path), "error: `nowhere` is not a folder")
