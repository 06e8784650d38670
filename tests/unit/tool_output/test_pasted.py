"""What a text came through is taken off, and every line keeps its number."""

from __future__ import annotations

import html
from pathlib import Path

import pytest

from plimsoll.errors import InputError
from plimsoll.tool_output import pasted, readers
from plimsoll.tool_output.reported import ReportedStatistics
from plimsoll.verdicts.audit import audit

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "published"
WRK = (GOLDEN / "wrk-sound.txt").read_text(encoding="utf-8")
AB = (GOLDEN / "ab-sound.txt").read_text(encoding="utf-8")
OHA = (GOLDEN / "oha-sound.json").read_text(encoding="utf-8")


def figures(held: bytes) -> ReportedStatistics:
    (one,) = readers.read(pasted.decoded(held), "x")
    return one


PLAIN = figures(WRK.encode())


def coloured(text: str) -> str:
    return "".join(f"\x1b[1;32m{line[:9]}\x1b[0m{line[9:]}\n" for line in text.splitlines())


DISGUISES = {
    "BOM": ("\ufeff" + WRK).encode(),
    "UTF-16": WRK.encode("utf-16"),
    "UTF-16 without a mark": WRK.encode("utf-16-le"),
    "UTF-32": WRK.encode("utf-32"),
    "colours": coloured(WRK).encode(),
    "colours without their escape": coloured(WRK).replace("\x1b", "").encode(),
    "CRLF": WRK.replace("\n", "\r\n").encode(),
    "CR": WRK.replace("\n", "\r").encode(),
    "quotes": "".join(f"> {line}\n" for line in WRK.splitlines()).encode(),
    "quotes of quotes": "".join(f"> > {line}\n" for line in WRK.splitlines()).encode(),
    "pre": f"<html><body><pre>{WRK}</pre></body></html>".encode(),
    "br": WRK.replace("\n", "<br>\n").encode(),
    "one line of HTML": ("<p>" + WRK.replace("\n", "<br/>") + "</p>").encode(),
    "blanks of HTML": html.escape(WRK).replace("  ", "&nbsp; ").encode(),
    "blanks that do not break": WRK.replace(" ", "\u00a0").encode(),
    "fence": f"Look:\n```text\n{WRK}```\nwhat now?\n".encode(),
    "list": "".join(f"- {line.strip()}\n" for line in WRK.splitlines()).encode(),
    "headings": "".join(f"- #### {line.strip()}\n" for line in WRK.splitlines()).encode(),
    "bold": "".join(f"**{line.strip()}**\n" for line in WRK.splitlines()).encode(),
    "indent": "".join(f"\t\t{line}\n" for line in WRK.splitlines()).encode(),
    "prompt": f"me@host:~$ wrk -c 50 --latency http://x/\n{WRK}me@host:~$ \n".encode(),
    "two blanks": WRK.replace(" @ ", " @  ").encode(),
    "log of a container": "".join(f"wrk_1  | {line}\n" for line in WRK.splitlines()).encode(),
    "log of a build": "".join(
        f"2024-01-02T03:04:05.678Z {line}\n" for line in WRK.splitlines()
    ).encode(),
}


@pytest.mark.parametrize("name", DISGUISES)
def test_a_disguise_changes_no_figure(name: str) -> None:
    read = figures(DISGUISES[name])
    assert (read.throughput_per_s, read.requests, read.times_s) == (
        PLAIN.throughput_per_s,
        PLAIN.requests,
        PLAIN.times_s,
    )
    assert (read.connections, read.received_bytes) == (PLAIN.connections, PLAIN.received_bytes)


def test_a_document_with_a_mark_or_in_a_text_is_read() -> None:
    assert figures(OHA.encode("utf-16")).tool == "oha"
    between = f"$ oha --output-format json\n```json\n{OHA}\n```\nwhat do you think?\n"
    assert figures(between.encode()).throughput_per_s == figures(OHA.encode()).throughput_per_s


def test_windows_text_is_read_with_its_blanks_between_thousands() -> None:
    spaced = WRK.replace("150817 requests", "150\u00a0817 requests")
    assert figures(spaced.encode("cp1252")).requests == 150817


def test_lines_keep_their_numbers() -> None:
    text = "one<br>still one\ntwo\rover two\nthree"
    assert [(line.number, line.text) for line in pasted.lines(text)] == [
        (1, "one"),
        (1, "still one"),
        (2, "two"),
        (2, "over two"),
        (3, "three"),
    ]


def test_several_tools_in_one_text_are_several_results_in_their_order() -> None:
    found = readers.reading(f"$ wrk\n{WRK}\n\n{AB}\n{OHA}\n{WRK}", "x")
    assert [one.tool for one in found.figures] == ["wrk", "ab", "oha", "wrk"]
    assert not found.refused
    assert not found.left
    assert found.figures[0].times_s == PLAIN.times_s
    assert found.figures[1].times_s["p99"] == figures(AB.encode()).times_s["p99"]
    assert len({one.source.place for one in found.figures}) == 4


def test_a_run_that_was_cut_off_costs_no_other_and_is_told_with_its_line() -> None:
    cut = "".join(WRK.splitlines(keepends=True)[:6])
    found = readers.reading(cut + AB, "x")
    assert [one.tool for one in found.figures] == ["ab"]
    (problem,) = found.refused
    assert problem.where == "x:6"
    assert "has no `Requests/sec`" in problem.message
    with pytest.raises(InputError):
        readers.read(cut + AB, "x")


def test_one_time_behind_latency_is_no_maximum() -> None:
    retold = """Running 30s test @ http://localhost/
  12 threads and 400 connections
  Latency: 315.96ms
  Latency Distribution:
     50%: 315.96ms
  36063 requests in 30.10s, 5.02MB read
Requests/sec:   1198.11
"""
    found = readers.reading(retold, "x")
    (one,) = found.figures
    assert one.times_s == {"p50": pytest.approx(0.31596)}
    (left,) = found.left
    assert left.where == "x:3"


@pytest.mark.parametrize("wrong", ["398,334.02.1", "398334.02x", "398;334"])
def test_a_number_that_cannot_be_read_is_refused_with_its_line(wrong: str) -> None:
    text = WRK.replace("74900.34", wrong)
    with pytest.raises(InputError) as caught:
        readers.read(text, "x")
    line = next(n for n, held in enumerate(text.splitlines(), 1) if wrong in held)
    assert caught.value.problems[0].where == f"x:{line}"


@pytest.mark.parametrize(
    ("shown", "meant"),
    [
        ("150,817 requests", 150817),
        ("150 817 requests", 150817),
        ("150'817 requests", 150817),
        ("150.817 requests", 150817),
    ],
)
def test_thousands_are_read_whatever_sets_them_apart(shown: str, meant: float) -> None:
    assert figures(WRK.replace("150817 requests", shown).encode()).requests == meant


def test_a_long_word_or_a_deep_document_is_a_sentence() -> None:
    for text in ("a" * 300_000, '{"summary":"requestsPerSec",' + '"a":[' * 100_000):
        with pytest.raises(InputError):
            readers.read(text, "x")


def test_a_deep_document_between_lines_is_passed_over() -> None:
    found = readers.reading(WRK + "\n" + "{" * 50_000, "x")
    assert [one.tool for one in found.figures] == ["wrk"]


def test_csv_of_a_spreadsheet_has_semicolons_and_decimal_commas() -> None:
    text = (
        "subject;connections;throughput_per_s;p99_ms\nours;512;81514,5;4,21\ntheirs;512;9.000,5;7\n"
    )
    ours, theirs = readers.read(text, "x.csv")
    assert (ours.throughput_per_s, theirs.throughput_per_s) == (81514.5, 9000.5)
    assert ours.times_s["p99"] == pytest.approx(4.21e-3)


def test_what_means_two_in_csv_is_refused_with_its_line() -> None:
    with pytest.raises(InputError, match=r"x\.csv:2"):
        readers.read("subject;throughput_per_s\nours;1,234\n", "x.csv")


def test_figures_of_a_disguise_get_the_same_verdicts() -> None:
    plain, quoted = (audit([figures(held)]) for held in (WRK.encode(), DISGUISES["quotes"]))
    assert [one.text for one in plain.results[0].verdicts] == [
        one.text for one in quoted.results[0].verdicts
    ]
