"""A count is read whole, a number that a terminal wrapped is refused, and a run has its head."""

from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll.tool_output import readers

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "published"
TEXTS = sorted(GOLDEN.glob("*.txt"))


def changed(name: str, before: str, after: str) -> str:
    text = (GOLDEN / name).read_text(encoding="utf-8")
    assert before in text
    return text.replace(before, after)


def lines_refused(text: str) -> list[str]:
    return [
        text.splitlines()[int(problem.where.removeprefix("x:")) - 1].strip()
        for problem in readers.reading(text, "x").refused
    ]


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("autocannon_text-status.txt", "29292 2xx", "29.292 2xx"),
        ("autocannon_text-status.txt", "29292 2xx", "29 292 2xx"),
        ("gatling_text-sound.txt", " 1500 (OK=1500", " 1.500 (OK=1.500"),
        ("oha_text-status.txt", "[200] 19631 resp", "[200] 19.631 resp"),
        ("hey-status.txt", "[200]\t", "[200]\t "),
        ("rewrk-status.txt", "43659 ", "43.659 "),
        ("wrk-sound.txt", "150817 requests", "150_817 requests"),
    ],
)
def test_a_count_with_a_sign_between_thousands_is_whole(name: str, before: str, after: str) -> None:
    whole = readers.read((GOLDEN / name).read_text(encoding="utf-8"), "x")[0]
    (one,) = readers.read(changed(name, before, after), "x")
    assert (one.requests, one.failures, one.wrong_responses) == (
        whole.requests,
        whole.failures,
        whole.wrong_responses,
    )


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("autocannon_text-status.txt", "29292 2xx", "29.29 2xx"),
        ("autocannon_text-status.txt", "29292 2xx", "29.3k 2xx"),
        ("gatling_text-sound.txt", " 1500 (OK=1500", " 1.5 (OK=1.5"),
        ("oha_text-status.txt", "[200] 19631 resp", "[200] 19.63 k resp"),
        ("oha_text-status.txt", "[200] 19631 resp", "[200] 19  631 resp"),
        ("oha_text-status.txt", "[200] 19631 resp", "[200] some 19631 resp"),
        ("oha_text-status.txt", "[200] 19631 resp", "[2 00] 19631 resp"),
        ("rewrk-status.txt", "43659 ", "43.6k "),
        ("wrk-sound.txt", "150817 requests", "1.2M requests"),
        ("wrk-sound.txt", "150817 requests", "1,2M requests"),
        ("wrk-sound.txt", "150817 requests", "1,200K requests"),
    ],
)
def test_a_count_that_is_not_whole_is_refused_with_its_line(
    name: str, before: str, after: str
) -> None:
    text = changed(name, before, after)
    assert not readers.reading(text, "x").figures
    (refused,) = lines_refused(text)
    assert after.strip() in refused


@pytest.mark.parametrize(
    ("name", "before", "after", "part"),
    [
        ("wrk-sound.txt", "150817 requests", "150\n817 requests", "150"),
        ("wrk-sound.txt", "74900.34", "7490\n0.34", "0.34"),
        ("wrk-sound.txt", "74900.34", "74900\n.34", ".34"),
        ("wrk2-sound.txt", "11990 requests", "11\n990 requests", "11"),
        ("oha_text-status.txt", "[10] aborted", "[1\n0] aborted", "[1"),
        ("ab-sound.txt", " [#/sec] (mean)", "1\n5 [#/sec] (mean)", "5 [#/sec] (mean)"),
    ],
)
def test_a_number_that_was_wrapped_is_refused_with_its_line(
    name: str, before: str, after: str, part: str
) -> None:
    text = changed(name, before, after)
    (refused,) = lines_refused(text)
    assert refused == part
    assert not readers.reading(text, "x").figures


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.stem)
def test_a_number_on_a_line_of_its_own_behind_a_run_is_no_part_of_it(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    whole, found = readers.reading(text, "x"), readers.reading(f"{text}\n\n42\n", "x")
    assert (found.figures, found.refused) == (whole.figures, whole.refused)


def test_a_run_without_its_head_is_no_result() -> None:
    text = (GOLDEN / "wrk-sound.txt").read_text(encoding="utf-8")
    assert lines_refused("".join(text.splitlines(keepends=True)[-2:])) == [
        "Requests/sec:  74900.34"
    ]


def test_a_line_of_another_tool_within_a_run_is_named() -> None:
    stray = "29292 2xx responses, 3254 non 2xx responses"
    text = changed("wrk-sound.txt", "  150817 requests in 2.01s, 304.20MB read", stray)
    assert not readers.reading(text, "x").figures
    assert stray in lines_refused(text)


def test_a_run_that_lacks_only_what_people_leave_out_is_read() -> None:
    text = (GOLDEN / "ab-sound.txt").read_text(encoding="utf-8")
    (one,) = readers.read(text[text.index("Server Software") :], "x")
    assert one == readers.read(text, "x")[0]
