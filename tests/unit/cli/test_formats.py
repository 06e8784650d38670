"""Options for the format on stdout are the same wherever a verb has several."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import pytest

from command_line import run
from plimsoll.cli import audit, calibrate, compare, export, line, load, report
from plimsoll.cli.reporting import EVERY_FORMAT as REPORTS

VERBS = {"load": load, "line": line, "compare": compare, "audit": audit, "calibrate": calibrate}


def read(command: click.Command, *typed: str) -> Any:
    """The format that a verb reads."""
    option = next(one for one in command.params if one.name == "output")
    context = click.Context(command)
    values, _, _ = command.make_parser(context).parse_args([*typed])
    return option.type_cast_value(context, values["output"])


def files(command: click.Command, *typed: str) -> Any:
    """The formats of files that a verb reads behind `--format`."""
    option = next(one for one in command.params if one.name == "formats")
    context = click.Context(command)
    values, _, _ = command.make_parser(context).parse_args(["--format", *typed])
    return option.process_value(context, values["formats"])


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("option", ["-o", "--output", "--format"])
def test_every_verb_with_formats_takes_them_by_every_name(verb: str, option: str) -> None:
    command = VERBS[verb].command
    named = {"text": "text", "table": "text", "json": "json", "md": "md", "markdown": "md"}
    assert {typed: read(command, option, typed) for typed in named} == named
    with pytest.raises(click.BadParameter):
        read(command, option, "xml")


@pytest.mark.parametrize("command", [report.command, export.command])
def test_a_verb_of_files_takes_lists_of_formats_and_the_option_again(
    command: click.Command,
) -> None:
    every = REPORTS if command is report.command else [*export.FORMATS]
    first, second, third = every[:3]
    typed = (f"{first},{second}", "--format", f"{second}, {third}")
    assert files(command, *typed) == (first, second, third)
    assert files(command, first) == (first,)
    assert files(command, ",".join(every)) == tuple(every)


@pytest.mark.parametrize("verb", ["report", "export"])
@pytest.mark.parametrize("typed", ["xml", "", "html,xml", "seconds,,jtl"])
def test_an_unknown_format_of_files_is_named_with_those_that_there_are(
    verb: str, typed: str, tmp_path: Path
) -> None:
    ran = run(verb, "results", "--format", typed, folder=tmp_path)
    assert ran.code == 2
    error, hint = ran.stderr.splitlines()
    assert "unknown format `" in error
    assert hint.startswith("hint: formats: `")


def test_a_report_takes_both_names_of_markdown_and_names_what_prints_json(tmp_path: Path) -> None:
    assert files(report.command, "md,markdown") == ("markdown",)
    ran = run("report", "results", "--format", "html,json", folder=tmp_path)
    assert "hint: `plimsoll judge RESULTS --json` prints JSON" in ran.stderr


def test_a_verb_of_text_and_json_alone_says_which_option_prints_json(tmp_path: Path) -> None:
    for typed in (("-o", "json"), ("--format", "json"), ("--output=json",)):
        ran = run("list", *typed, folder=tmp_path)
        assert ran.code == 2
        assert "hint: `--json` prints JSON; see `plimsoll list --help`" in ran.stderr
    assert "prints JSON" not in run("list", "-x", folder=tmp_path).stderr


def test_the_keep_alive_of_ab_is_not_curls_insecure(tmp_path: Path) -> None:
    secured = run("load", "-k", "https://127.0.0.1:1/", folder=tmp_path)
    assert "curl's is `--insecure`" in secured.stderr
    for typed in (("-k", "http://127.0.0.1:1/"), ("-k", "--insecure", "https://127.0.0.1:1/")):
        assert "curl" not in run("load", *typed, folder=tmp_path).stderr
