"""Verdicts as JSON."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest

import sample
from plimsoll.report.results import judged


@pytest.mark.parametrize("limit", [math.inf, -math.inf])
def test_a_limit_that_nothing_exceeds_is_null(limit: float) -> None:
    (verdict, *_) = sample.verdicts_of("t")
    for document in (judged.of_trial, judged.of_campaign):
        found = document(replace(verdict, limit=limit))
        assert found["limit"] is None
        json.dumps(found, allow_nan=False)
    assert judged.of_trial(replace(verdict, limit=0.5))["limit"] == 0.5
