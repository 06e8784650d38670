"""The upstream of a server: its values, its service time and its count."""

from __future__ import annotations

import json
import time
import urllib.request

import pytest

from plimsoll.campaign.endpoints.upstream import value
from plimsoll.errors import UpstreamFailed
from plimsoll.serving import upstream

SEED, SERVICE_S = 77, 0.02


def test_values_follow_from_the_seed_and_requests_are_counted() -> None:
    with upstream.started(SEED, SERVICE_S) as found:
        address = found.environment[upstream.VARIABLE]
        for asked in (1, 999_999_999):
            begun_s = time.monotonic()
            with urllib.request.urlopen(f"{address}/value/{asked}", timeout=10) as response:
                assert json.load(response) == {"id": asked, "value": value(SEED, asked)}
            assert time.monotonic() - begun_s >= SERVICE_S
        assert found.stop() == 2


def test_an_upstream_that_cannot_start_says_why() -> None:
    with pytest.raises(UpstreamFailed, match="did not start"), upstream.started(SEED, -1.0):
        pass
