"""What is said on stderr."""

from __future__ import annotations

import errno

import click
import pytest

from plimsoll import errors
from plimsoll.cli import messages


def said(capsys: pytest.CaptureFixture[str]) -> list[str]:
    """The lines that were said, without colour."""
    captured = capsys.readouterr()
    assert captured.out == ""
    return click.unstyle(captured.err).splitlines()


def test_an_error_is_said_with_its_remedy(capsys: pytest.CaptureFixture[str]) -> None:
    assert messages.error("it rains", "take an umbrella", 3) == 3
    assert said(capsys) == ["error: it rains", "hint: take an umbrella"]


def test_an_error_without_a_remedy_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert messages.error("it rains", "") == 2
    assert said(capsys) == ["error: it rains"]


def test_every_problem_of_a_campaign_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    found = [errors.Problem("a.toml:1", "is odd", "make it even"), errors.Problem("", "is void")]
    assert messages.failure(errors.InputError(found)) == 2
    assert said(capsys) == ["error: a.toml:1: is odd", "hint: make it even", "error: is void"]


@pytest.mark.parametrize(
    ("wrong", "code", "lines"),
    [
        (errors.LimitTooLow("too low", "raise it"), 3, ["error: too low", "hint: raise it"]),
        (errors.StorageError("full"), 6, ["error: full"]),
        (click.ClickException("odd"), 2, ["error: odd"]),
        (
            OSError(errno.ENOSPC, "No space left on device", "a.txt"),
            6,
            [
                "error: `a.txt`: No space left on device",
                "hint: check free disk space and permissions",
            ],
        ),
    ],
)
def test_every_kind_of_failure_has_its_words_and_its_exit_code(
    wrong: Exception, code: int, lines: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert messages.failure(wrong) == code
    assert said(capsys) == lines


def test_a_fault_of_ours_is_called_one_and_asks_to_be_reported(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(messages.TRACEBACK, raising=False)
    assert messages.failure(KeyError("rate")) == errors.FAULT
    lines = said(capsys)
    assert lines[0] == "error: internal error in Plimsoll: KeyError: 'rate'"
    assert "PLIMSOLL_TRACEBACK=1" in lines[1]


def test_a_query_that_is_wrong_is_a_fault_of_ours(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(messages.TRACEBACK, "1")
    wrong = errors.QueryFailed("internal error in Plimsoll: a query", "report it")
    assert messages.failure(wrong) == errors.FAULT
    lines = [line for line in said(capsys) if line]
    assert lines[0].endswith("QueryFailed: internal error in Plimsoll: a query")
    assert lines[1] == "error: internal error in Plimsoll: a query"
    assert "PLIMSOLL_TRACEBACK=1" in lines[2]


def test_where_a_fault_is_can_be_asked_for(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(messages.TRACEBACK, "1")
    messages.failure(KeyError("rate"))
    assert said(capsys)[0] == "KeyError: 'rate'"


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("No such option '--sett'. Did you mean '--set'?", "did you mean `--set`?"),
        ("No such option '-x'. (Did you mean one of: '-a', '-b'?)", "did you mean one of `-a`"),
        ("Missing argument 'URL'.", "error: missing argument `URL`"),
    ],
)
def test_words_of_the_parser_are_put_as_ours_are(
    theirs: str, ours: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert messages.usage(click.UsageError(theirs)) == 2
    first, hint = said(capsys)
    assert ours in first
    assert not first.endswith(".")
    assert hint == "hint: see `plimsoll --help`"


@pytest.mark.parametrize(
    ("word", "clause"), [("rnu", "; did you mean `run`?"), ("xyz", ""), ("run", None)]
)
def test_a_word_that_is_nearly_known_is_guessed(word: str, clause: str | None) -> None:
    guess = messages.meant(word, ["run", "report"])
    assert guess == ("; did you mean `run`?" if clause is None else clause)


def test_colour_can_be_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert messages.coloured("x", "red") == click.style("x", fg="red", bold=True)
    monkeypatch.setenv("NO_COLOR", "1")
    assert messages.coloured("x", "red") == "x"
