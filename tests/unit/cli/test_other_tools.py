"""Options of other load tools are answered with those of `plimsoll load`."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from command_line import run
from plimsoll.cli import load, other_tools

OWN = {
    name
    for one in load.command.params
    if isinstance(one, click.Option)
    for name in (*one.opts, *one.secondary_opts)
}


@pytest.mark.parametrize(("option", "in_place"), other_tools.IN_PLACE.items())
def test_what_is_advised_is_an_option_and_what_it_replaces_is_none(
    option: str, in_place: str
) -> None:
    assert option not in OWN
    assert in_place.split(maxsplit=1)[0] in OWN


@pytest.mark.parametrize(
    ("typed", "option"),
    [(("-X", "POST"), "-X"), (("-XPOST",), "-X"), (("--request=POST",), "--request")],
)
def test_an_option_of_another_tool_is_answered_with_its_own(
    typed: tuple[str, ...], option: str, tmp_path: Path
) -> None:
    ran = run("load", *typed, ":1", folder=tmp_path)
    assert ran.code == 2
    assert f"error: no such option `{option}`" in ran.stderr
    assert "hint: write `-m POST`; see `plimsoll load --help`" in ran.stderr


def test_the_length_of_oha_and_its_own_exclude_each_other(tmp_path: Path) -> None:
    ran = run("load", "-z", "1s", "-d", "5s", ":1", folder=tmp_path)
    assert ran.code == 2
    assert "error: -z: `-z` and `--duration` exclude each other" in ran.stderr
    assert "hint: use either `-z` or `-d`" in ran.stderr
