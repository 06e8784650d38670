"""How to repeat a campaign: lines that a shell runs."""

import re
import subprocess
from dataclasses import replace
from pathlib import Path

import sample
from plimsoll.campaign import as_run, campaign
from plimsoll.report.contents.repeat import HEADING, repeat
from plimsoll.report.formats import html, markdown

QUICK = Path(__file__).parents[3] / "campaigns" / "quick.toml"


def test_the_lines_write_the_campaign_as_run_and_run_it(tmp_path: Path) -> None:
    made = campaign.resolved(campaign.read(QUICK, ["repetitions=4"]))
    found = repeat(replace(sample.findings(), as_run=as_run.read(made)))
    assert found is not None
    writing, _, running = found.command.rpartition("\n")
    assert running == "plimsoll run quick.toml"
    subprocess.run(["sh", "-c", writing], cwd=tmp_path, check=True)
    read = campaign.read(tmp_path / "quick.toml", frameworks_root=QUICK.parents[1] / "frameworks")
    assert campaign.resolved(read) == made


def test_a_campaign_from_elsewhere_cannot_put_a_command_into_the_lines(tmp_path: Path) -> None:
    evil = "x'; touch owned; '\nPLIMSOLL\ntouch owned\n"
    given = {"name": evil, "frameworks": [evil], "limits": {evil: {evil: 1.0}}, "loads": []}
    found = repeat(replace(sample.findings(), as_run=as_run.read(given)))
    assert found is not None
    writing, _, running = found.command.rpartition("\n")
    assert re.fullmatch(r"plimsoll run x-touch-owned-PLIMSOLL-touch-owned-\w{8}\.toml", running)
    subprocess.run(["sh", "-c", writing], cwd=tmp_path, check=True)
    assert not (tmp_path / "owned").exists()


def test_digest_versions_applications_and_machine_are_said() -> None:
    made = campaign.resolved(campaign.read(QUICK))
    found = repeat(replace(sample.findings(), as_run=as_run.read(made)))
    assert found is not None
    facts = dict(found.facts)
    assert len(facts["Campaign digest"]) == 16
    assert facts["Plimsoll"] == "0.1.0"
    assert "go go1.22 (" in facts["Applications"]
    assert facts["Machine"].startswith("Example CPU at 2.30 GHz, 4 cores")
    assert "Commit" not in facts


def test_the_commit_of_the_sources_is_said_where_one_is_known() -> None:
    findings = sample.findings()
    made = as_run.read(campaign.resolved(campaign.read(QUICK)))
    trial = findings.trials[0]
    known = replace(
        trial.recording, versions={**trial.recording.versions, "commit": "1e4e98da3c0f"}
    )
    one = replace(trial, data=replace(trial.data, recording=known))
    found = repeat(replace(findings, as_run=made, trials=(one, *findings.trials[1:])))
    assert found is not None
    assert dict(found.facts)["Commit"] == "1e4e98da3c0f"


def test_markdown_has_the_same_lines_as_a_block() -> None:
    findings = sample.findings()
    made = as_run.read(campaign.resolved(campaign.read(QUICK)))
    found = repeat(replace(findings, as_run=made))
    assert found is not None
    text = markdown.render(replace(findings, as_run=made))
    block = [line.removeprefix("    ") for line in text.split(HEADING)[-1].splitlines()]
    assert found.command in "\n".join(block)
    assert HEADING not in markdown.render(findings)


def test_the_page_has_it_where_there_was_a_campaign_file() -> None:
    made = campaign.resolved(campaign.read(QUICK))
    assert 'id="repeat-command"' in html.render(
        replace(sample.findings(), as_run=as_run.read(made))
    )
    assert 'id="repeat-command"' not in html.render(sample.findings())
