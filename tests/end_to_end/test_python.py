"""Plimsoll in a program: what `docs/python.md` and the notebook show, and what they leave."""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

import plimsoll
from command_line import TOY, TOYS
from plimsoll.findings import derivation
from plimsoll.lab import comparing
from plimsoll.processes import process_table
from plimsoll.storage import opened, postgres

pytestmark = [pytest.mark.long, pytest.mark.timeout(300)]

CHECKOUT = Path(__file__).resolve().parents[2]
PAGE = CHECKOUT / "docs" / "python.md"
NOTEBOOK = CHECKOUT / "examples" / "notebook.ipynb"
FUNCTIONS = (
    *("audit", "calibrate", "check", "compare", "import_recording", "line", "load", "read", "run"),
)
"""What the page shows an example of: every public function."""

SHORTER = {"budget_s=20": "budget_s=5", "budget_s=10": "budget_s=2"}
"""Budgets of the page, and those that are enough to see that an example works."""
BLOCK = re.compile(r"^```python ?(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def children() -> set[int]:
    """Numbers of the living processes below this one."""
    return {one.pid for one in process_table.descendants(os.getpid()) if not one.zombie}


@pytest.fixture
def nothing_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reference_server: str) -> Any:
    """Works in an empty folder; afterwards there is no process and no temporary folder more."""
    here, temporary = tmp_path / "here", tmp_path / "tmp"
    here.mkdir()
    temporary.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    before = children()
    yield reference_server
    assert children() - before == set()
    assert list(temporary.iterdir()) == []


def executed(source: str, names: dict[str, Any]) -> Any:
    """Executes a cell; gives the value of its last line where that is an expression."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)  # noqa: S102
    if isinstance(last, ast.Expr):
        return eval(compile(ast.Expression(last.value), "cell", "eval"), names)  # noqa: S307
    return None


def test_every_example_of_the_page_works(
    nothing_is_left: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparing, "TURN_S", 0.05)
    text = PAGE.read_text(encoding="utf-8").replace("127.0.0.1:8080", nothing_is_left)
    for budget, shorter in SHORTER.items():
        assert budget in text
        text = text.replace(budget, shorter)
    blocks = BLOCK.findall(text)
    assert len(blocks) == text.count("```python")
    names: dict[str, Any] = {"__name__": "example"}
    for needed, source in blocks:
        if not needed or importlib.util.find_spec(needed):
            executed(source, names)
    for function in FUNCTIONS:
        assert f"plimsoll.{function}(" in text
    names["result"].close()
    names["results"].close()


def test_every_example_of_the_page_has_sound_types(tmp_path: Path) -> None:
    blocks = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    sources = [
        source for needed, source in blocks if not needed or importlib.util.find_spec(needed)
    ]
    page = tmp_path / "page.py"
    page.write_text("\n".join(sources), encoding="utf-8")
    settings = {"extraPaths": [str(CHECKOUT / "python")], "typeCheckingMode": "standard"}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    command = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "--project", "."]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (ran.returncode, "0 errors" in ran.stdout) == (0, True), ran.stdout + ran.stderr


def test_the_notebook_runs_and_shows_what_it_ends_its_cells_with(nothing_is_left: str) -> None:
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    names: dict[str, Any] = {"__name__": "__main__"}
    shown = [
        executed("".join(cell["source"]), names)
        for cell in notebook["cells"]
        if cell["cell_type"] == "code"
    ]
    assert names["server"].returncode == 0
    charts = [one._repr_mimebundle_() for one in shown if isinstance(one, plimsoll.TrialChart)]
    assert ["image/svg+xml" in bundle for bundle in charts] == [True]
    assert any(isinstance(one, duckdb.DuckDBPyRelation) for one in shown)
    assert not any(cell.get("outputs") for cell in notebook["cells"])


def test_a_load_works_in_another_thread_and_prints_nothing(
    nothing_is_left: str, capfd: pytest.CaptureFixture[str]
) -> None:
    told: list[plimsoll.events.Event] = []
    found: list[plimsoll.LoadResult] = []

    def conduct() -> None:
        url = f"http://{nothing_is_left}/empty"
        found.append(plimsoll.load(url, requests=500, connections=4, on_event=told.append))

    thread = threading.Thread(target=conduct)
    thread.start()
    thread.join()
    (result,) = found
    with result:
        assert result.error is None
        assert result.summary.completed == 500
        (counted,) = result.requests.aggregate("count(*), sum(sent_bytes)").fetchall()
        assert counted == (500, result.summary.sent_bytes)
        html = result._repr_html_()
    assert nothing_is_left in html
    assert any(isinstance(event, plimsoll.events.Progress) for event in told)
    assert capfd.readouterr() == ("", "")


def test_a_load_that_is_wrong_raises_every_problem(nothing_is_left: str) -> None:
    with pytest.raises(plimsoll.InputError) as error:
        plimsoll.load(f"http://{nothing_is_left}/", connections=0, duration_s=0)
    assert len(error.value.problems) == 2


def test_the_rows_of_a_load_go_with_its_result(nothing_is_left: str) -> None:
    result = plimsoll.load(f"http://{nothing_is_left}/empty", requests=10)
    place = Path(result.campaign.place)
    assert place.is_dir()
    del result
    assert not place.exists()


def test_a_load_that_is_kept_is_listed_by_what_was_judged(nothing_is_left: str) -> None:
    url = f"http://{nothing_is_left}/empty"
    with plimsoll.load(url, requests=300, record="kept") as result:
        listed, summary, level = result.as_json(), result.summary, result.level
        assert not Path("kept/derived").exists()
        assert listed == {**result.campaign.as_json()[0], "recording": "kept"}
        assert (result.campaign.trials[0].summary, result.campaign.trials[0].level) == (
            summary,
            level,
        )


def test_a_check_that_fails_takes_no_recorded_row_away(
    nothing_is_left: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_tables: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(derivation, "judged", fail)
    with plimsoll.load(f"http://{nothing_is_left}/empty", requests=20, record="kept") as result:
        assert result.requests.aggregate("count(*)").fetchall() == [(20,)]


def test_a_load_names_the_argument_that_its_caller_has(nothing_is_left: str) -> None:
    url = f"http://{nothing_is_left}/empty"
    with (
        opened(Path("kept")) as stored,
        stored.locked(),
        pytest.raises(plimsoll.StorageError, match="another run is using") as caught,
    ):
        plimsoll.load(url, requests=20, record="kept")
    assert "`record=`" in caught.value.hint
    assert "into" not in caught.value.hint


def test_a_failed_trial_is_recorded_with_its_error(nothing_is_left: str) -> None:
    told: list[plimsoll.events.Event] = []
    with plimsoll.run(
        TOY,
        into="results/toy",
        settings=["frameworks=toy:wrong-answers"],
        frameworks=TOYS[1],
        on_event=told.append,
    ) as results:
        (trial,) = results.failed
        assert isinstance(trial.error, plimsoll.FrameworkError)
        assert type(trial.error).__name__ == "ContractBroken"
        assert trial.level == "failed"
        assert "ContractBroken" in trial._repr_html_()
    kinds = [type(event).__name__ for event in told]
    assert kinds[0] in ("Notice", "CampaignStarted")
    assert kinds[-1] == "CampaignEnded"
    assert "TrialJudged" not in kinds


def same(one: plimsoll.CampaignResults, other: plimsoll.CampaignResults) -> None:
    """Both give the same tables, verdicts and rows."""
    for name in ("summaries", "seconds", "comparisons", "verdicts"):
        first, second = getattr(one, name), getattr(other, name)
        assert isinstance(first, pa.Table)
        assert first.schema == second.schema
        assert first.to_pylist() == second.to_pylist()
    for trial, twin in zip(one.trials, other.trials, strict=True):
        assert trial.id == twin.id
        assert trial.level == twin.level
        for name in ("requests", "connections", "usage"):
            rows, theirs = getattr(trial, name), getattr(twin, name)
            assert rows.columns == theirs.columns
            assert sorted(map(str, rows.fetchall())) == sorted(map(str, theirs.fetchall()))
        assert trial.chart("throughput").spec == twin.chart("throughput").spec


def test_a_folder_and_a_database_are_read_the_same_way(
    toy_run: tuple[Path, Any], database: str
) -> None:
    folder = toy_run[0] / "results" / "toy"
    with opened(folder) as stored:
        postgres.export(stored, database)
    with plimsoll.read(folder) as here, plimsoll.read(folder, storage=database) as there:
        same(here, there)


def test_rows_of_a_database_stay_when_those_of_another_trial_are_read(
    toy_run: tuple[Path, Any], database: str
) -> None:
    folder = toy_run[0] / "results" / "toy"
    with opened(folder) as stored:
        postgres.export(stored, database)
    with plimsoll.read(folder, storage=database) as results:
        rows = results.trials[0].requests
    assert rows.aggregate("count(*)").fetchall()[0][0] > 0


def test_what_is_not_there_is_told_with_what_is(toy_run: tuple[Path, Any]) -> None:
    folder = toy_run[0] / "results" / "toy"
    with plimsoll.read(folder) as results:
        with pytest.raises(plimsoll.InputError, match="has no trial `nothing`"):
            results.trial("nothing")
        with pytest.raises(plimsoll.InputError, match="there is no chart `nothing`"):
            results.trials[0].chart("nothing")
        with pytest.raises(plimsoll.InputError, match="there is no format `docx`"):
            results.report(["docx"])
        assert results.trials[0].id in results._repr_html_()
    with pytest.raises(plimsoll.InputError, match="is not a folder"):
        plimsoll.read(folder / "nowhere")


@pytest.mark.parametrize("name", ["pandas", "polars"])
def test_frames_come_from_tables_and_relations(name: str, toy_run: tuple[Path, Any]) -> None:
    library = pytest.importorskip(name)
    with plimsoll.read(toy_run[0] / "results" / "toy") as results:
        rows = results.trials[0].requests.limit(3)
        if name == "pandas":
            frames = [results.summaries.to_pandas(), rows.df()]
        else:
            frames = [library.from_arrow(results.summaries), rows.pl()]
    assert [len(frame) for frame in frames] == [1, 3]
