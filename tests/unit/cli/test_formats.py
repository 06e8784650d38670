"""Options for the format on stdout are the same wherever a verb has several."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import pytest

from command_line import run
from plimsoll.cli import audit, calibrate, compare, line, load, report

VERBS = {"load": load, "line": line, "compare": compare, "audit": audit, "calibrate": calibrate}


def read(command: click.Command, *typed: str) -> Any:
    """The format that a verb reads."""
    option = next(one for one in command.params if one.name == "output")
    context = click.Context(command)
    values, _, _ = command.make_parser(context).parse_args([*typed])
    return option.type_cast_value(context, values["output"])


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("option", ["-o", "--output", "--format"])
def test_every_verb_with_formats_takes_them_by_every_name(verb: str, option: str) -> None:
    command = VERBS[verb].command
    named = {"text": "text", "table": "text", "json": "json", "md": "md", "markdown": "md"}
    assert {typed: read(command, option, typed) for typed in named} == named
    with pytest.raises(click.BadParameter):
        read(command, option, "xml")


def test_a_report_takes_both_names_of_markdown_and_names_what_prints_json() -> None:
    option = next(one for one in report.command.params if one.name == "formats")
    context = click.Context(report.command)
    assert option.type_cast_value(context, ("md", "markdown")) == ("markdown", "markdown")
    with pytest.raises(click.BadParameter, match="judge RESULTS --json"):
        option.type_cast_value(context, ("json",))


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
