"""What `line` takes, and the exit code it gives."""

from __future__ import annotations

import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest
from click.testing import CliRunner, Result

import queues
from plimsoll.cli import plimsoll
from plimsoll.findings.beyond import LimitingResource
from plimsoll.findings.load_lines import LineFindings, Subject
from plimsoll.lab import lines
from plimsoll.lab.line_results import LineResult
from plimsoll.load_line.search import Searched

Typed = Callable[..., tuple[Result, dict[str, Any]]]


def result(found: Searched, resource: str = "core") -> LineResult:
    beyond = LimitingResource(cast("Any", resource), "it was full")
    failed = {line.limit.name: beyond for line in found.lines if line.failed_per_s}
    stored = cast("Any", SimpleNamespace(close=lambda: None))
    return LineResult(stored, LineFindings(found, Subject("h/", "poisson", 256), failed, {}))


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> Typed:
    """Runs the verb on a search with a known end; gives what the library was asked for."""

    def run(*arguments: str, found: LineResult | None = None) -> Any:
        asked: dict[str, Any] = {}

        def line(url: tuple[str, ...], limit: list[str], **options: Any) -> LineResult:
            asked.update(url=url, limit=limit, **options)
            return found or result(queues.searched_with())

        monkeypatch.setattr(lines, "line", line)
        ran = CliRunner().invoke(plimsoll, ["line", *arguments], standalone_mode=False)
        return ran, asked

    return run


@pytest.mark.parametrize(
    ("arguments", "asked"),
    [
        ([":1", "--p99", "20ms"], {"url": (":1",), "limit": ["p99=20ms"], "errors": 0.001}),
        (
            [":1", "--p999", "1s", "--p50", "2ms", "--limit", "p99.5=9ms"],
            {"limit": ["p50=2ms", "p999=1s", "p99.5=9ms"]},
        ),
        (
            [":1", "--p99", "9ms", "--errors", "1%", "--until", "2%"],
            {"errors": 0.01, "within": 0.02},
        ),
        (
            [":1", "--p99", "9ms", "--budget", "2m", "-c", "1k"],
            {"budget_s": 120.0, "connections": 1000},
        ),
        ([":1", "--p99", "9ms", "--arrivals", "constant"], {"arrivals": "constant"}),
        ([":1", "--p99", "9ms"], {"arrivals": "poisson", "budget_s": 90.0, "within": 0.05}),
    ],
)
def test_options_are_passed_on(typed: Typed, arguments: list[str], asked: dict[str, Any]) -> None:
    ran, found = typed(*arguments)
    assert ran.exception is None
    assert {name: found[name] for name in asked} == asked


@pytest.mark.parametrize(
    ("found", "resource", "code"),
    [
        (queues.searched_with(), "core", 0),
        (queues.searched_with(), "driver", 1),
        (queues.searched_with(100e-6), "core", 7),
        (queues.searched_with(fails=1.0), "core", 4),
        (queues.searched_with(unsent=0.4), "core", 7),
        (queues.searched_with(most_per_s=1000.0), "core", 0),
        (queues.searched_with(budget_s=2.0), "core", 8),
    ],
    ids=["found", "driver", "floor", "failing", "not sent", "above", "open"],
)
def test_the_exit_code_says_what_there_is(
    typed: Typed, found: Searched, resource: str, code: int
) -> None:
    ran, _ = typed(":1", "--p99", "2ms", found=result(found, resource))
    assert ran.exception is None
    assert ran.return_value == code
    if code:
        assert "hint: " in ran.stderr


def test_each_form_is_printed(typed: Typed) -> None:
    known = result(queues.searched_with())
    text = typed(":1", "--p99", "2ms", found=known)[0].stdout
    quiet = typed(":1", "--p99", "2ms", "-q", found=known)[0].stdout
    as_json = typed(":1", "--p99", "2ms", "--json", found=known)[0].stdout
    markdown = typed(":1", "--p99", "2ms", "-o", "md", found=known)[0].stdout
    assert text.splitlines()[0] == known.sentence == quiet.strip()
    assert json.loads(as_json)["rate_per_s"] == known.rate_per_s
    assert markdown.startswith("**")
