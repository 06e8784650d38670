"""Bytes of requests that were sent."""

from __future__ import annotations

from dataclasses import replace

import pytest

from plimsoll.aggregate.sent import held_bytes
from recordings import simulate

RECORDING = simulate().recording


@pytest.mark.parametrize(
    ("sent_bytes", "expected"), [(None, 700), (2_000, 700), (1_400, 700), (700, 350), (0, 0)]
)
def test_requests_that_were_sent_in_part_count_in_part(
    sent_bytes: int | None, expected: int
) -> None:
    assert RECORDING.driver is not None
    driver = replace(RECORDING.driver, sent_bytes=sent_bytes)
    recording = replace(RECORDING, request_bytes=(100, 200), driver=driver)
    assert held_bytes(recording, [(0, 3, 6), (1, 2, 4)]) == expected


def test_a_recording_without_a_driver_counts_whole_requests() -> None:
    recording = replace(RECORDING, request_bytes=(100,), driver=None)
    assert held_bytes(recording, [(0, 3, 6)]) == 300
