"""Arguments that the library names are the options of the verb that was typed."""

from __future__ import annotations

import inspect

import click
import pytest

import plimsoll
from plimsoll.cli import as_options, check, compare, import_, line, load, report, run

WITHOUT = {
    "on_event",
    # The command line has other ways to say these.
    *("commands", "revisions_of", "names", "tool", "judge", "frameworks"),
}
"""Arguments of the library that are no option of their verb."""


@pytest.fixture(autouse=True)
def verb() -> None:
    """The verb that was typed is `load`."""
    as_options.of_verb(load.command)


@pytest.mark.parametrize(
    ("said", "read"),
    [
        ("set a rate with `rate_per_s=`", "set a rate with `--rate`"),
        ("remove `http2=True`", "remove `--http2`"),
        ("remove `keep_alive=False`", "remove `--no-keepalive`"),
        ("give `threads=4`, or `tls_version='1.3'`", "give `--threads 4`, or `--tls-version 1.3`"),
        ("choose a folder with `into=`", "choose a folder with `--into`"),
        ("write `repetitions=1` into `load`", "write `repetitions=1` into `load`"),
        ("`connections=many` is not a number", "`connections=many` is not a number"),
    ],
)
def test_an_argument_in_a_sentence_is_an_option(said: str, read: str) -> None:
    assert as_options.text(said) == read


@pytest.mark.parametrize(
    ("where", "read"),
    [
        ("rate_per_s", "--rate"),
        ("frameworks", "--frameworks"),
        ("campaigns/a.toml:12", "campaigns/a.toml:12"),
        ("url", "URL"),
        ("", ""),
    ],
)
def test_the_place_of_a_problem_is_an_option(where: str, read: str) -> None:
    assert as_options.place(where) == read


def test_an_argument_of_another_verb_is_its_option() -> None:
    as_options.of_verb(report.command)
    said = "give a results folder written by `run`, or by `load` with `record=`"
    assert as_options.text(said).endswith("by `load` with `--record`")


def test_a_setting_keeps_its_key() -> None:
    as_options.of_verb(run.command)
    assert as_options.place("settings load.climb.timeout") == "--set load.climb.timeout"


@pytest.mark.parametrize(
    ("function", "command"),
    [
        (plimsoll.load, load.command),
        (plimsoll.line, line.command),
        (plimsoll.compare, compare.command),
        (plimsoll.run, run.command),
        (plimsoll.check, check.command),
        (plimsoll.import_recording, import_.command),
    ],
    ids=lambda one: one.__name__ if inspect.isfunction(one) else "",
)
def test_each_argument_has_an_option_of_its_name(function: object, command: click.Command) -> None:
    arguments = {*inspect.signature(function).parameters} - WITHOUT  # pyright: ignore[reportArgumentType]
    arguments -= {"a", "b"} if command is compare.command else set()
    assert arguments <= {one.name for one in command.params}
