"""The histogram of response times: every response is in one of its buckets."""

from __future__ import annotations

import io
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
from rich.console import Console

from plimsoll import _engine
from plimsoll.report.load import histogram
from plimsoll.report.load.screen_lines import LABEL


def counts(lines: list[str]) -> list[int]:
    return [int(line.split()[-1].replace(",", "")) for line in lines]


@pytest.mark.parametrize(
    "times_ns",
    [[1], [0, 3], [100_000], [99_999, 100_000, 100_001], [19_000, 1_000_000, 3_000_000_000]],
)
def test_every_response_is_counted_once(times_ns: list[int]) -> None:
    lines = histogram.lines(np.array(times_ns, np.int64))
    assert sum(counts(lines)) == len(times_ns)
    assert counts(lines)[0] > 0
    assert counts(lines)[-1] > 0


def test_a_bucket_begins_where_its_line_says() -> None:
    lines = histogram.lines(np.array([100_000, 150_000, 200_000, 400_000], np.int64))
    assert [line[:LABEL].strip() for line in lines] == ["≥ 100 µs", "≥ 200 µs"]
    assert counts(lines) == [2, 2]
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize("width", [60, 80, 120])
def test_no_line_is_wider_than_the_screen(width: int) -> None:
    times = np.geomspace(1_000, 2_000_000_000, 5_000).astype(np.int64)
    text = io.StringIO()
    counted = cast("_engine.Times", SimpleNamespace(to_bytes=times.tobytes))
    histogram.show(counted, Console(file=text, width=width))
    lines = text.getvalue().splitlines()
    assert sum(counts(lines)) == len(times)
    assert max(map(len, lines)) <= width


def test_a_load_without_a_response_has_none() -> None:
    assert histogram.lines(np.empty(0, np.int64)) == []
