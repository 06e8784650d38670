"""Answers are as long in every run of a server, and two measurements do not give one number."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from plimsoll.tool_output.reported import ReportedStatistics, Source
from plimsoll.verdicts.figure_set_checks import repeated_numbers, response_lengths
from plimsoll.verdicts.limits import Limits


def run(
    throughput_per_s: float,
    received_per_s: float | None = None,
    *,
    subject: str = "ours",
    endpoint: str = "/",
    at: str = "",
    requested_rate_per_s: float | None = None,
) -> ReportedStatistics:
    return ReportedStatistics(
        Source("a document"),
        subject=subject,
        endpoint=endpoint,
        at=at,
        throughput_per_s=throughput_per_s,
        received_per_s=received_per_s,
        requested_rate_per_s=requested_rate_per_s,
    )


def runs(lengths: Sequence[float], subject: str = "ours") -> list[ReportedStatistics]:
    """Runs with answers of these lengths, each at another rate."""
    rates = [1000.0 + 10 * n for n in range(len(lengths))]
    return [
        run(rate, rate * length, subject=subject, at=f"run {n}")
        for n, (rate, length) in enumerate(zip(rates, lengths, strict=True), 1)
    ]


def test_answers_that_are_as_long_in_every_run_are_sound() -> None:
    verdict = response_lengths.judge(runs([93, 93.5, 92.6]), Limits())
    assert verdict is not None
    assert (verdict.level, verdict.remedies) == ("sound", ())


def test_a_run_with_other_answers_is_named_with_what_would_fit() -> None:
    verdict = response_lengths.judge(runs([1024, 1024, 512, 1024]), Limits())
    assert verdict is not None
    assert (verdict.level, verdict.measured) == ("doubtful", 0.5)
    assert verdict.text == (
        "Ours / run 3: bytes/s ÷ requests/s is 512 bytes, in its other runs 1,024. "
        "510.00 KiB/s was printed; 1,020.00 would fit."
    )


def test_servers_may_send_answers_of_different_lengths() -> None:
    verdict = response_lengths.judge([*runs([93] * 3), *runs([129] * 3, "theirs")], Limits())
    assert verdict is not None
    assert verdict.level == "sound"


@pytest.mark.parametrize("figures", [[], runs([93, 50]), [run(n) for n in (10, 11, 12)]])
def test_too_few_runs_or_none_with_bytes_give_no_verdict(figures: list[ReportedStatistics]) -> None:
    assert response_lengths.judge(figures, Limits()) is None


def test_one_number_for_two_endpoints_is_doubtful() -> None:
    figures = [run(39070), run(12345), run(39070, endpoint="/b"), run(39070, subject="theirs")]
    verdict = repeated_numbers.judge(figures, Limits())
    assert verdict is not None
    assert (verdict.level, verdict.measured) == ("doubtful", 1)
    assert "39,070 per second for ours / and for ours /b" in verdict.text


def test_different_numbers_are_sound() -> None:
    verdict = repeated_numbers.judge([run(39070), run(39071, endpoint="/b")], Limits())
    assert verdict is not None
    assert verdict.level == "sound"


@pytest.mark.parametrize(
    "figures",
    [
        [run(185), run(185, endpoint="/b")],
        [run(20000), run(20000, endpoint="/b")],
        [run(39070), run(39070, subject="theirs")],
        [
            run(39070, requested_rate_per_s=39070),
            run(39070, endpoint="/b", requested_rate_per_s=39070),
        ],
    ],
    ids=["few digits", "round", "of two servers", "at the rate that was asked for"],
)
def test_numbers_that_may_well_be_the_same_are_not_compared(
    figures: list[ReportedStatistics],
) -> None:
    assert repeated_numbers.judge(figures, Limits()) is None
