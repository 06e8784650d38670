"""What `compare` takes, and the exit code it gives."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

import pytest
from click.testing import CliRunner, Result

from command_line import run
from plimsoll.cli import as_options, compare, plimsoll
from plimsoll.comparison import group_rounds, regression_limit
from plimsoll.comparison.difference import AT_A_RATE, METRICS, Failed, difference
from plimsoll.comparison.doubts import FoundDoubt, LoadDoubt
from plimsoll.comparison.until_decided import Compared, ComparedServers, StoppingRule
from plimsoll.errors import DiedUnderLoad, HostError, PlimsollError
from plimsoll.lab import comparing
from plimsoll.lab.comparing import ComparisonResult
from plimsoll.statistics.paired import Plan
from turns import Pair, turns

WOBBLE = (0.998, 1.001, 1.002, 0.999, 1.0, 1.001, 0.999, 1.0)


def result(rate: float, limit: float | None = None, scatter: float = 1.0) -> ComparisonResult:
    some = turns([Pair(rate * (1 + scatter * (one - 1)), None) for one in WOBBLE])
    found = difference(some, Plan((8,), 8))
    state = None if limit is None else regression_limit.state(found, limit)
    end = Compared(StoppingRule(120, 0.02, limit), found, state, 80.0, 10.0, some)
    return ComparisonResult(end, ComparedServers("go", "node", "/plaintext", 64))


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[Result, dict[str, Any]]]:
    """Runs the verb on a comparison with a known result; gives what the library was asked for."""

    def run(
        *arguments: str,
        found: ComparisonResult | None = None,
        error: PlimsollError | None = None,
    ) -> Any:
        asked: dict[str, Any] = {}

        def compare(a: str, b: str, **options: Any) -> ComparisonResult:
            asked.update(a=a, b=b, **options)
            if error is not None:
                raise error
            return found or result(1.0)

        monkeypatch.setattr(comparing, "compare", compare)
        ran = CliRunner().invoke(plimsoll, ["compare", *arguments], standalone_mode=False)
        return ran, asked

    return run


@pytest.mark.parametrize(
    ("arguments", "asked"),
    [
        (["go", "node"], {"a": "go", "b": "node", "commands": False, "revisions_of": ""}),
        (["--a", "x", "--b", "y"], {"a": "x", "b": "y", "commands": True}),
        (["--revisions", "v1", "v2", "go"], {"a": "v1", "b": "v2", "revisions_of": "go"}),
        (["go", "go", "--budget", "2m", "--until", "1%"], {"budget_s": 120.0, "within": 0.01}),
        (["go", "go", "--max-regression", "0.03"], {"max_regression": 0.03}),
        (["go", "go", "--rate", "2k"], {"rate_per_s": 2000.0, "metric": None}),
        (["go", "go", "--metric", "p99"], {"rate_per_s": None, "metric": "p99"}),
        (["go", "go", "-c", "2k", "--warm-up", "10s"], {"connections": 2000, "warm_up_s": 10.0}),
    ],
)
def test_each_form_is_passed_on(typed: Any, arguments: list[str], asked: dict[str, Any]) -> None:
    ran, found = typed(*arguments)
    assert ran.exception is None
    assert {name: found[name] for name in asked} == asked


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["go"],
        ["go", "node", "rails"],
        ["--a", "x"],
        ["--a", "x", "--b", "y", "go"],
        ["--revisions", "v1", "v2"],
        ["--revisions", "v1", "v2", "go", "node"],
    ],
)
def test_anything_else_is_refused(typed: Any, arguments: list[str]) -> None:
    ran, asked = typed(*arguments)
    assert "give two frameworks" in str(ran.exception)
    assert not asked


@pytest.mark.parametrize(
    ("found", "code"),
    [
        (result(0.9), 0),
        (result(1.0), 0),
        (result(1.0, 0.03), 0),
        (result(1.1, 0.03), 0),
        (result(0.9, 0.03), 7),
        (result(0.97, 0.03), 8),
        (result(0.97, 0.03, scatter=40), 3),
    ],
)
def test_the_exit_code_is_about_the_limit_only(
    typed: Any, found: ComparisonResult, code: int
) -> None:
    ran, _ = typed("go", "node", found=found)
    assert ran.return_value == code


@pytest.mark.parametrize(
    ("limit", "hint"),
    [
        (0.02, "hint: give a longer `--budget`, a greater `--max-regression`"),
        (0.002, "hint: give a greater `--max-regression`, or a quieter machine"),
    ],
)
def test_a_longer_budget_is_advised_only_where_it_may_help(
    typed: Any, limit: float, hint: str
) -> None:
    """Eight groups may become more, but not more than sixty."""
    ran, _ = typed("go", "node", found=result(1.0, limit, scatter=20))
    assert hint in ran.stderr


@pytest.mark.parametrize(
    ("rate_per_s", "budget_s", "least_s", "hint"),
    [
        (200.0, 120.0, 10.0, "give a higher `--rate` or `--metric cpu_per_request`"),
        (400.0, 30.0, 13.0, "give a longer `--budget` or `--metric cpu_per_request`"),
        (4000.0, 120.0, 10.0, "give `--metric cpu_per_request`"),
    ],
)
def test_a_limit_that_lacks_p99_has_a_hint_that_helps(
    typed: Any, rate_per_s: float, budget_s: float, least_s: float, hint: str
) -> None:
    some = turns([Pair(1.0, one) for one in WOBBLE])
    found = difference(some, Plan((8,), 8), deciding=AT_A_RATE)
    wanted = StoppingRule(budget_s, 0.02, 0.6, AT_A_RATE)
    reason = group_rounds.without_p99(
        group_rounds.rounds_of(AT_A_RATE, rate_per_s), budget_s, least_s
    )
    state = regression_limit.state(found, 0.6)
    end = Compared(wanted, found, state, 30.0, 10.0, some, planned_without_p99=reason)
    sides = ComparedServers("go", "node", "/plaintext", 64, rate_per_s)
    as_options.of_verb(compare.command)
    ran, _ = typed("go", "node", found=ComparisonResult(end, sides))
    assert ran.return_value == 8
    assert f"hint: {hint}\n" in ran.stderr


def not_comparable(**why: Any) -> ComparisonResult:
    """A limit that is open since speeds cannot be compared."""
    found = result(0.9, 0.03)
    some = replace(found.compared.difference, answer="undecided", witness=None, **why)
    state = regression_limit.state(some, 0.03)
    return replace(found, compared=replace(found.compared, difference=some, limit=state))


@pytest.mark.parametrize(
    ("why", "code", "hint"),
    [
        ({"failed": Failed(0.0, 0.09)}, 7, "fix the requests that fail"),
        ({"failed": Failed(0.05, 0.09)}, 8, "fix the requests that fail"),
        ({"void": ("B",)}, 8, "fix what the lines marked ✕ name"),
        ({"void": ("B",), "void_by_itself": "B"}, 7, "fix what the lines marked ✕ name"),
        ({"silent": ("A", "B")}, 8, "find out why A and B returned nothing"),
        ({"silent_side_by_side": ("B",)}, 7, "find out why B returned nothing"),
    ],
)
def test_servers_that_are_not_comparable_have_a_hint_that_helps(
    typed: Any, why: dict[str, Any], code: int, hint: str
) -> None:
    ran, _ = typed("go", "node", found=not_comparable(**why))
    assert ran.return_value == code
    assert f"hint: {hint}" in ran.stderr
    assert "longer" not in ran.stderr


def test_more_starts_are_advised_where_they_tell_whether_b_is_at_fault(typed: Any) -> None:
    found = not_comparable(void=("B",), groups=1)
    said = FoundDoubt("B", "a_check", "Wrong", "void", "it is", is_by_server=True)
    end = replace(found.compared, doubts=(LoadDoubt(said, 1, 1),), elapsed_s=118.0, shortest_s=9.0)
    ran, _ = typed("go", "node", found=replace(found, compared=end))
    assert ran.return_value == 8
    assert "or give a longer `--budget`" in ran.stderr


def test_json_is_all_that_is_on_stdout(typed: Any) -> None:
    ran, _ = typed("go", "node", "--json")
    assert json.loads(ran.stdout)["answer"] == "same"


def test_markdown_is_all_that_is_on_stdout(typed: Any) -> None:
    ran, _ = typed("go", "node", "-o", "md")
    assert ran.stdout.startswith("**B")
    assert ran.stdout.endswith("\n") and not ran.stdout.endswith("\n\n")


def test_reports_are_written_to_files(typed: Any, tmp_path: Path) -> None:
    files = tmp_path / "a.md", tmp_path / "a.xml"
    typed("go", "node", "--markdown", str(files[0]), "--junit", str(files[1]))
    assert [file.read_text(encoding="utf-8")[:3] for file in files] == ["**B", "<?x"]


@pytest.mark.parametrize(
    "error",
    [
        DiedUnderLoad("B: `x` exited with code 1 under load; its log:\n  <oops> `now`", "start it"),
        HostError("no core is left", "free a core for `rate_per_s=`"),
    ],
)
def test_a_failure_is_written_over_the_files_of_an_earlier_comparison(
    typed: Any, tmp_path: Path, error: PlimsollError
) -> None:
    files = page, junit = tmp_path / "a.md", tmp_path / "a.xml"
    for file in files:
        file.write_text("B is faster", encoding="utf-8")
    options = ("--markdown", str(page), "--junit", str(junit))
    as_options.of_verb(compare.command)
    ran, _ = typed("--revisions", "main", "HEAD", "go", *options, error=error)
    assert ran.exception is error
    sentence, *more = error.message.splitlines()
    said = page.read_text(encoding="utf-8")
    assert said.startswith(f"**Not measured: {sentence}**\n\n`go at main` (A), `go at HEAD` (B)\n")
    hint = error.hint.replace("rate_per_s=", "--rate")
    assert all(f"    {line}\n" in said for line in (*more, hint))
    suite = Xml.parse(junit).getroot()  # noqa: S314
    assert (suite.get("errors"), suite.get("failures"), suite.get("skipped")) == ("1", "0", "0")
    (case,) = suite.iter("testcase")
    assert case.get("name") == "B (go at HEAD) against A (go at main)"
    (found,) = case
    assert (found.tag, found.get("message")) == ("error", sentence)
    assert hint in (found.text or "")


def test_a_failure_whose_files_cannot_be_written_stays_what_it_is(
    typed: Any, tmp_path: Path
) -> None:
    error = DiedUnderLoad("it died")
    ran, _ = typed("go", "node", "--junit", str(tmp_path / "none" / "a.xml"), error=error)
    assert ran.exception is error
    assert "cannot be written" in ran.stderr


def test_a_file_that_cannot_be_written_is_an_error(typed: Any, tmp_path: Path) -> None:
    ran, _ = typed("go", "node", "--junit", str(tmp_path / "none" / "a.xml"))
    assert "cannot be written" in str(ran.exception)


def test_the_help_has_a_group_for_every_option() -> None:
    named = {name for names in compare.GROUPS.values() for name in names}
    options = {one.name for one in compare.command.params} - {"names"}
    assert named == options


def test_the_quantities_that_are_offered_are_those_that_may_decide() -> None:
    assert compare.METRICS == METRICS


@pytest.mark.parametrize("verb", [("compare", "a", "b"), ("line", "http://127.0.0.1:9/")])
def test_verbs_of_one_machine_say_so_where_hosts_are_given(verb: tuple[str, ...]) -> None:
    ran = run(*verb, "--hosts", "hosts.toml", folder=Path.cwd())
    assert ran.code == 2
    assert "`--hosts`: one machine only" in ran.said
    assert "`plimsoll run line --hosts FILE`" in ran.said
