"""The examples of `docs/import.md`, `README.md` and the help work as they are printed."""

from __future__ import annotations

import re
import shlex
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from plimsoll.cli import import_, plimsoll
from plimsoll.storage.parquet import ParquetResults

CHECKOUT = Path(__file__).parents[3]
GOLDEN = CHECKOUT / "tests" / "golden" / "intake"
T = 1_577_836_800_000
HEADER = (
    "timeStamp,elapsed,label,responseCode,responseMessage,threadName,success,bytes,sentBytes,"
    "allThreads,Latency,Connect\n"
)
ROWS = [f"{T + at},20,GET /,200,OK,T 1-1,true,500,120,10,18,0\n" for at in range(0, 4000, 5)]
CPU = "clock,value\n" + "".join(f"{T // 1000 + at},{50 + at}\n" for at in range(5))

OF_TOOLS = {
    "ab": "ab-sound.tsv",
    "h2load": "h2load-sound.tsv",
    "k6": "k6-mixed.csv",
    "oha": "oha-sound.csv",
    "vegeta": "vegeta-sound.csv",
}
"""What each tool of the page writes into the file of its example."""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with every file that the examples name."""
    for name, content in (
        ("results.csv", HEADER + "".join(ROWS)),
        ("engine1.jtl", HEADER + "".join(ROWS[::2])),
        ("engine2.jtl", HEADER + "".join(ROWS[1::2])),
        ("cpu.csv", CPU),
        ("zabbix.csv", CPU),
    ):
        (tmp_path / name).write_text(content)
    for name in ("results.csv", "cpu.csv"):
        with zipfile.ZipFile(tmp_path / f"{name}.zip", "w") as archive:
            archive.write(tmp_path / name, name)
    shutil.copy(GOLDEN / "h2load-sound.tsv", tmp_path / "h2load.log")
    shutil.copy(GOLDEN / "oha-sound.csv", tmp_path / "rows.csv")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def examples() -> Iterator[str]:
    """The commands of the page, of the first page, and of the help."""
    page, first = (CHECKOUT / name for name in ("docs/import.md", "README.md"))
    texts = [page.read_text("utf-8"), first.read_text("utf-8"), import_.command.help or ""]
    for text in texts:
        yield from re.findall(r"^ *(plimsoll import .*)$", text, re.MULTILINE)


def of_tools() -> dict[str, str]:
    """The import that follows the command of each tool."""
    text = (CHECKOUT / "docs/import.md").read_text("utf-8")
    pairs = re.findall(r"^(?:\w+=\w+ )?(\w+) .*&& (plimsoll import .*)$", text, re.MULTILINE)
    return dict(pairs)


def typed(command: str) -> str:
    """What a command says that works."""
    words = shlex.split(command, comments=True)[1:]
    ran = CliRunner().invoke(plimsoll, words, standalone_mode=False)
    assert ran.exception is None, ran.exception
    return ran.stderr


def imported(here: Path) -> str:
    """The framework of the only recording."""
    (folder,) = (here / "results").iterdir()
    results = ParquetResults(folder)
    (trial,) = results.trial_ids()
    return results.recording(trial).framework


@pytest.mark.parametrize("command", dict.fromkeys(examples()))
def test_an_example_works_as_it_is_printed(here: Path, command: str) -> None:
    said = typed(command)
    name = re.search(r"--framework (\S+)", command)
    assert ("`--framework NAME` names the server" in said) == (name is None)
    if name:
        assert imported(here) == name[1]


def test_there_are_examples_of_every_kind() -> None:
    assert len({*examples()}) >= 6
    assert {*of_tools()} == {*OF_TOOLS}


@pytest.mark.parametrize("tool", OF_TOOLS)
def test_what_a_tool_wrote_is_imported_as_it_is_printed(here: Path, tool: str) -> None:
    command = of_tools()[tool]
    shutil.copy(GOLDEN / OF_TOOLS[tool], here / command.split()[-1])
    assert " kept" in typed(command)
