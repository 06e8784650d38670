"""What `import plimsoll` offers, and that it costs nothing before it is used."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import plimsoll
from plimsoll import charts, doors, errors
from plimsoll.lab.charts import TrialChart

GOLDEN = Path(__file__).parents[2] / "golden" / "published"

PUBLIC = [
    "AuditResult",
    "CalibrationResult",
    "CampaignResults",
    "CheckResult",
    "ComparisonResult",
    "DriverError",
    "FrameworkError",
    "HostError",
    "ImportResult",
    "InputError",
    "Interrupted",
    "LineResult",
    "LoadResult",
    "PlimsollError",
    "StorageError",
    "TrialChart",
    "TrialResult",
    "__version__",
    "audit",
    "calibrate",
    "check",
    "compare",
    "errors",
    "events",
    "import_recording",
    "line",
    "load",
    "read",
    "run",
]


def test_the_public_names_are_these() -> None:
    assert plimsoll.__all__ == PUBLIC
    assert dir(plimsoll) == PUBLIC


@pytest.mark.parametrize("name", PUBLIC)
def test_each_public_name_is_there_and_documented(name: str) -> None:
    found = getattr(plimsoll, name)
    assert name == "__version__" or found.__doc__


def test_the_types_are_those_of_the_names() -> None:
    stub = Path(plimsoll.__file__).with_suffix(".pyi").read_text(encoding="utf-8")
    tree = ast.parse(stub)
    imported = [
        alias.asname or alias.name
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    ]
    assert sorted([*imported, "__version__"]) == PUBLIC
    for node in tree.body:
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                home = (
                    sys.modules[getattr(plimsoll, alias.name).__module__]
                    if (node.module != "plimsoll")
                    else plimsoll
                )
                assert node.module == home.__name__


def test_importing_it_imports_nothing_of_it() -> None:
    code = "import sys, plimsoll; print(*(name for name in sys.modules if 'plimsoll' in name))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(ran.stdout.split()) - {"__editable___plimsoll"} <= {"plimsoll", "plimsoll.doors"}


def test_a_name_that_is_not_offered_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match="module 'plimsoll' has no attribute 'walk'"):
        _ = plimsoll.walk  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(AttributeError, match="'package' has no attribute 'other'"):
        doors.of_modules("package", ["one"])("other")


def test_the_charts_of_a_trial_are_those_of_the_documentation() -> None:
    names = {chart.NAME for chart in charts.OF_A_TRIAL}
    page = (Path(__file__).parents[3] / "docs" / "python.md").read_text("utf-8")
    sentence = page.partition("`trial.chart(name)` draws ")[2].partition(" in a notebook")[0]
    assert {*re.findall(r"`(\w+)`", sentence)} == names
    listed = (TrialChart.__doc__ or "").partition("name:")[2]
    assert {*re.findall(r"`(\w+)`", listed.partition("title:")[0])} == {*names, "load_line"}


def test_how_a_trial_ended_is_an_error_again() -> None:
    assert errors.of_ending("completed", "", "") is None
    died = errors.of_ending("DiedUnderLoad", "it died", "feed it")
    assert isinstance(died, errors.DiedUnderLoad)
    assert (died.message, died.hint) == ("it died", "feed it")
    assert isinstance(errors.of_ending("Melted", "it did", ""), errors.FrameworkError)
    assert isinstance(errors.of_ending("InputError", "wrong", ""), errors.InputError)
    assert isinstance(errors.of_ending("ContractBroken", "no", ""), errors.ContractBroken)


RESULTS = (
    plimsoll.AuditResult,
    plimsoll.CalibrationResult,
    plimsoll.CampaignResults,
    plimsoll.CheckResult,
    plimsoll.ComparisonResult,
    plimsoll.ImportResult,
    plimsoll.LineResult,
    plimsoll.LoadResult,
    plimsoll.TrialResult,
)


@pytest.mark.parametrize("result", RESULTS, ids=lambda result: result.__name__)
def test_every_result_shows_itself_in_a_notebook(result: type) -> None:
    assert callable(getattr(result, "_repr_html_", None))


def test_a_result_is_one_line_even_where_it_cannot_be_read(tmp_path: Path) -> None:
    found = plimsoll.audit(GOLDEN / "wrk-reset.txt")
    failed = "Too many requests failed to quote these figures"
    rest = "some figures are doubtful, none is impossible"
    assert repr(found) == f"<AuditResult ✕ {failed}; {rest}.>"
    recording = tmp_path / "trials" / "a" / "trial.json"
    recording.parent.mkdir(parents=True)
    recording.write_text("{")
    with plimsoll.read(tmp_path) as results:
        assert repr(results.trials[0]).startswith("<TrialResult `")
        assert "Expecting property name" in repr(results)  # the reason, whatever the path
        assert len(repr(results).splitlines()) == 1


def test_an_audit_shows_its_doubts_in_a_notebook_with_the_names_of_checks() -> None:
    found = plimsoll.audit(GOLDEN / "wrk-reset.txt")
    html = found._repr_html_()
    assert "Too many requests failed to quote these figures" in html
    assert html.count('<li class="is-void">') == 1
    assert "Failures" in html
