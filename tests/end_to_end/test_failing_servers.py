"""Frameworks that fail: each costs its trial, never the campaign."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from command_line import TOY, TOYS, Ran, run

pytestmark = pytest.mark.timeout(300)

FAILING = {
    "exits-at-once": "StartFailed",
    "never-ready": "NotReady",
    "wrong-answers": "ContractBroken",
    "breaks-under-load": "ContractBroken",
    "dies-under-load": "DiedUnderLoad",
}
"""Variants of the toy, and how their trials end."""

BEHAVING = ("toy", "toy:starts-slowly")

INSTALL = shlex.join(("plimsoll", "install", "does-not-build", *TOYS))

SETTING = ",".join([*(f"toy:{name}" for name in FAILING), *BEHAVING])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("failing")


@pytest.fixture(scope="module")
def ran(folder: Path) -> Ran:
    """A campaign in which most frameworks fail."""
    failing = ("--set", f"frameworks={SETTING}")
    return run("run", TOY, *TOYS, *failing, "--no-report", folder=folder)


def recording(folder: Path, framework: str) -> dict[str, Any]:
    trial = f"{framework.replace(':', '-')}.plaintext.steady.1"
    return json.loads((folder / "results" / "toy" / "trials" / trial / "trial.json").read_bytes())


def test_the_campaign_ends_with_the_code_of_a_failed_framework(ran: Ran) -> None:
    assert ran.code == 4, ran.stderr


@pytest.mark.parametrize(("variant", "ending"), FAILING.items())
def test_the_trial_of_a_framework_that_fails_is_recorded_with_its_error(
    ran: Ran, folder: Path, variant: str, ending: str
) -> None:
    assert recording(folder, f"toy:{variant}")["ending"]["kind"] == ending


@pytest.mark.parametrize("framework", BEHAVING)
def test_the_other_frameworks_are_measured_all_the_same(
    ran: Ran, folder: Path, framework: str
) -> None:
    known = recording(folder, framework)
    assert known["ending"]["kind"] == "completed"
    assert known["driver"]["outcomes"]["ok"] > 0


def test_the_time_to_start_is_recorded(ran: Ran, folder: Path) -> None:
    assert recording(folder, "toy:starts-slowly")["server"]["start_s"] >= 1


@pytest.mark.parametrize(
    ("variant", "sentence"),
    [
        ("exits-at-once", "`toy exits-at-once` exited with code 1 before it was ready"),
        ("exits-at-once", "no such table: users"),
        ("never-ready", "did not return 200 for `GET /empty` within 0.5 s"),
        ("wrong-answers", "the body differs at byte 8"),
        ("breaks-under-load", "the status is `500`, expected `200`"),
        ("dies-under-load", "exited with code 7 under load"),
        ("dies-under-load", "thread 'main' panicked"),
    ],
)
def test_each_failure_is_said_once_with_what_is_known_and_a_hint(
    ran: Ran, variant: str, sentence: str
) -> None:
    trial = f"error: toy-{variant}.plaintext.steady.1: "
    assert ran.stderr.count(trial) == 1
    said = ran.stderr.partition(trial)[2].partition("\nerror: ")[0]
    assert said.count(sentence) == 1
    assert "\nhint: " in said


def test_where_the_logs_are_and_how_to_repeat_is_said(ran: Ran, folder: Path) -> None:
    assert "note: 5 trials failed; logs are in `results/toy/trials`" in ran.stderr
    assert "`--again`" in ran.stderr
    log = folder / "results/toy/trials/toy-exits-at-once.plaintext.steady.1/server.log"
    assert log.read_text() == "no such table: users\n"


def test_the_report_shows_failed_frameworks_and_does_not_rank_them(ran: Ran, folder: Path) -> None:
    reported = run("report", "results/toy", "--format", "markdown", folder=folder)
    report = (folder / "results" / "toy" / "report" / "report.md").read_text(encoding="utf-8")
    for variant in FAILING:
        assert f"toy {variant}" in report
    assert "StartFailed" in reported.said


@pytest.fixture(scope="module")
def repeated(ran: Ran, folder: Path) -> Ran:
    failing = "toy:exits-at-once,toy"
    return run(
        "run", TOY, *TOYS, "--set", f"frameworks={failing}", "--no-report", folder=folder
    )  # fmt: skip


def test_a_failed_trial_is_not_repeated_unless_that_is_asked_for(
    repeated: Ran, folder: Path
) -> None:
    assert repeated.code == 4
    assert "2 trials, all complete" in repeated.stderr
    again = run(
        "run", TOY, *TOYS, "--again", "--no-report",
        "--set", "frameworks=toy:exits-at-once,toy",
        folder=folder,
    )  # fmt: skip
    assert again.code == 4
    begun = re.findall(r"\[\d/\d\] (\S+)", again.stderr)
    assert "toy-exits-at-once.plaintext.steady.1" in begun, "the other one may be void here"
    as_run = json.loads((folder / "results" / "toy" / "campaign.json").read_text("utf-8"))
    assert as_run["frameworks"] == ["toy:exits-at-once", "toy"]


def test_check_says_request_answer_and_contract_of_what_is_wrong(tmp_path: Path) -> None:
    ran = run("check", "toy:wrong-answers", "toy", *TOYS, folder=tmp_path)
    assert ran.code == 4
    assert "failed" in ran.stdout
    for words in ("request", "response", "problem", "rule", "Hello, Wrold!"):
        assert words in ran.stdout


def test_what_differs_from_the_rfcs_is_shown_and_fails_no_check(tmp_path: Path) -> None:
    ran = run("check", "toy", *TOYS, "--compliance", folder=tmp_path)
    assert ran.code == 0, ran.said
    assert re.search(r"^toy +compliance +\d+ × conforms", ran.stdout, re.MULTILINE)
    assert "  differs   two Host fields: 200 (RFC 9112, 3.2)" in ran.stdout.splitlines()


def test_a_framework_that_keeps_no_connection_is_asked_without_keep_alive(tmp_path: Path) -> None:
    ran = run("check", "toy:closes-each-connection", *TOYS, folder=tmp_path)
    assert ran.code == 0
    assert "is tested without keep-alive: it closes every connection" in ran.stderr


def test_trials_that_keep_connections_leave_out_a_framework_that_keeps_none(
    tmp_path: Path,
) -> None:
    asked = "frameworks=toy,toy:closes-each-connection"
    planned = json.loads(run("plan", TOY, *TOYS, "--json", "--set", asked, folder=tmp_path).stdout)
    assert {trial["framework"] for trial in planned["trials"]} == {"toy"}
    (left_out,) = planned["left_out"]
    assert left_out["reason"] == "it closes every connection after one answer"
    without = ("--set", asked, "--set", "load.steady.keep_alive=false")
    planned = json.loads(run("plan", TOY, *TOYS, "--json", *without, folder=tmp_path).stdout)
    assert not planned["left_out"]


def test_check_goes_on_after_a_framework_that_does_not_start(tmp_path: Path) -> None:
    ran = run("check", "toy:exits-at-once", "toy", *TOYS, "--json", folder=tmp_path)
    assert ran.code == 4
    failed, right = json.loads(ran.stdout)
    assert "exited with code 1" in failed["error"]
    assert (right["error"], right["failures"]) == (None, [])
    assert "error: `toy exits-at-once` exited with code 1" in ran.stderr


def test_a_framework_without_its_toolchain_is_refused_before_anything_is_started(
    tmp_path: Path,
) -> None:
    ran = run("run", TOY, *TOYS, "--set", "frameworks=toy,needs-a-tool", folder=tmp_path)
    assert ran.code == 4
    assert "`needs-a-tool` needs `a-compiler-nobody-has`, which is not installed" in ran.stderr
    assert "hint: install it from https://example.org/compiler" in ran.stderr
    assert not (tmp_path / "results").exists()


def test_what_is_available_is_measured_and_the_rest_is_named(tmp_path: Path) -> None:
    asked = "frameworks=toy,needs-a-tool"
    ran = run("run", TOY, *TOYS, "--available", "--no-report", "--set", asked, folder=tmp_path)
    assert ran.code == 0
    assert "note: skipped: `needs-a-tool` needs `a-compiler-nobody-has`" in ran.stderr
    assert "note: to include it: install it from https://example.org/compiler" in ran.stderr
    assert (tmp_path / "results/toy/trials/toy.plaintext.steady.1/trial.json").exists()


def test_a_campaign_of_which_nothing_is_available_is_a_wrong_question(tmp_path: Path) -> None:
    asked = "frameworks=needs-a-tool"
    ran = run("run", TOY, *TOYS, "--available", "--set", asked, folder=tmp_path)
    assert ran.code == 2
    assert "the campaign has no trial to run" in ran.stderr


def test_what_is_missing_is_listed(tmp_path: Path) -> None:
    ran = run("list", *TOYS, "--json", folder=tmp_path)
    assert ran.code == 0
    known = {one["name"]: one for one in json.loads(ran.stdout)["frameworks"]}
    assert known["toy"]["status"] == "ready"
    assert known["needs-a-tool"]["status"] == "not available"
    assert "`a-compiler-nobody-has`" in known["needs-a-tool"]["why"]
    assert known["does-not-build"]["why"] == f"`{INSTALL}`"


def test_a_framework_that_is_not_built_is_named_with_the_command_that_builds_it(
    tmp_path: Path,
) -> None:
    ran = run("check", "does-not-build", *TOYS, folder=tmp_path)
    assert ran.code == 4
    assert "error: `does-not-build` is not built" in ran.stderr
    assert f"hint: run `{INSTALL}`" in ran.stderr


def test_a_build_that_fails_is_shown_and_the_other_frameworks_are_built(tmp_path: Path) -> None:
    ran = run("install", "does-not-build", "needs-a-tool", "toy", *TOYS, folder=tmp_path)
    assert ran.code == 4
    assert "the build of `does-not-build` exited with code 9" in ran.stderr
    assert "main.c:7: error: expected ;" in ran.stderr
    assert "`needs-a-tool` needs `a-compiler-nobody-has`" in ran.stderr
    assert "toy: nothing to do" in ran.stderr
