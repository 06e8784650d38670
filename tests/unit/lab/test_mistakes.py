"""Mistakes in calls of the library: each is refused before anything is done, with what to do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import plimsoll

URL = "http://127.0.0.1:1/"
CAMPAIGN = """
name = "small"
frameworks = ["reference"]
endpoints = ["empty"]

[[load]]
name = "steady"
stages = [{ kind = "hold", duration = "1s", at = 8 }]
"""

NO_TOML = "no-toml"
"""A file that is there and no TOML."""

CALLS: dict[str, tuple[Callable[[], object], str, str]] = {
    "commands with a framework": (
        lambda: plimsoll.compare("exit 1", "exit 2", commands=True, revisions_of="nope"),
        "revisions_of: excluded by commands",
        "remove `revisions_of=`",
    ),
    "commands with frameworks": (
        lambda: plimsoll.compare("exit 1", "exit 2", commands=True, frameworks="none"),
        "frameworks: excluded by commands",
        "remove `frameworks=`",
    ),
    "a unit without readings": (
        lambda: plimsoll.import_recording(NO_TOML, cpu_unit="cores"),
        "cpu_unit: no CPU readings",
        "add `cpu=`",
    ),
    "a place for nothing": (
        lambda: plimsoll.calibrate(["pacing"], quick=True, into="kept.json"),
        "into: nothing is kept without",
        "remove `into=`",
    ),
    "a place that is a folder": (
        lambda: plimsoll.calibrate(["capacity"], quick=True, into="."),
        "cannot be written: Is a directory",
        "another file",
    ),
    "a place below a file": (
        lambda: plimsoll.calibrate(["capacity"], quick=True, into=f"{NO_TOML}/kept.json"),
        "cannot be written",
        "another file",
    ),
    "no method": (lambda: plimsoll.load(URL, method=""), "method: is empty", "`GET`"),
    "a header that is a number": (
        lambda: plimsoll.load(URL, headers={"A": 1}),  # pyright: ignore[reportArgumentType]
        "headers: `1` is not text",
        "as `str`",
    ),
    "a header that is one text": (
        lambda: plimsoll.load(URL, headers=["ab"]),  # pyright: ignore[reportArgumentType]
        "headers: `['ab']` is not a mapping or pairs",
        "or pairs",
    ),
    "hosts that are not there": (
        lambda: plimsoll.load(URL, hosts="nothing.toml"),
        "no such file",
        "that is there",
    ),
    "hosts that are no TOML": (
        lambda: plimsoll.load(URL, hosts=NO_TOML),
        "is not valid TOML",
        "another file",
    ),
    "a campaign that is no TOML": (
        lambda: plimsoll.run(NO_TOML),
        "is not valid TOML",
        "another file",
    ),
    "a campaign that is a folder": (
        lambda: plimsoll.run("."),
        "cannot be read: Is a directory",
        "give the file",
    ),
    "a log that is a folder": (
        lambda: plimsoll.import_recording("."),
        "cannot be read: Is a directory",
        "give the file",
    ),
    "no repetition": (
        lambda: plimsoll.run("small.campaign", settings=["repetitions=0"]),
        "must be 1 or more",
        "`repetitions = 1`",
    ),
    "a file that is no path": (
        lambda: plimsoll.audit("none.txt"),
        "is in no known format",
        "`pathlib.Path('none.txt')`",
    ),
    "a negative limit": (
        lambda: plimsoll.line(URL, "p99=-1ms"),
        "limit: `-1ms` is negative",
        "write `20ms` or `500us`",
    ),
}


@pytest.mark.parametrize("call", CALLS)
def test_a_mistake_is_refused_with_a_hint_that_fits(
    call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(NO_TOML).write_text("host\n")
    Path("small.campaign").write_text(CAMPAIGN)
    made, message, hint = CALLS[call]
    with pytest.raises(plimsoll.PlimsollError) as caught:
        made()
    error = caught.value
    hints = [one.hint for one in error.problems] if isinstance(error, plimsoll.InputError) else []
    assert message in str(error)
    assert hint in "".join(hints or [error.hint])
    assert sorted(path.name for path in Path().iterdir()) == [NO_TOML, "small.campaign"]
