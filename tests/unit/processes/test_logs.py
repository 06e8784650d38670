"""The last lines of a log, fit for a message."""

from __future__ import annotations

from pathlib import Path

from plimsoll.processes.logs import last_lines, length_bytes, quoted


def test_the_last_lines_that_are_not_blank_are_given(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("".join(f"line {number}\n\n" for number in range(50)))
    assert last_lines(log, 3) == ("line 47", "line 48", "line 49")


def test_a_log_that_is_not_there_has_no_lines(tmp_path: Path) -> None:
    assert last_lines(tmp_path / "none") == ()
    assert quoted(tmp_path / "none") == "its log is empty"


def test_what_a_program_writes_cannot_disturb_the_terminal(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"\x1b[31mred\x07\xff\n" + b"x" * 100_000)
    first, second = last_lines(log)[0], last_lines(log)[-1]
    assert "\x1b" not in first + second
    assert len(second) == 200
    log.write_bytes(b"\x1b]0;title\n")
    assert quoted(log) == "the last lines of its log:\n  \ufffd]0;title"


def test_colours_are_removed_and_lines_of_colours_alone_are_blank(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"\x1b[0m\x1b[1;31merror\x1b[0m: wrong\n\x1b[0m\x1b[0m\n")
    assert last_lines(log) == ("error: wrong",)


def test_the_lines_before_a_start_are_not_among_its_last_lines(tmp_path: Path) -> None:
    log = tmp_path / "log"
    assert length_bytes(log) == 0
    log.write_text("an earlier start\n")
    begin = length_bytes(log)
    assert quoted(log, begin=begin) == "it logged nothing"
    with log.open("a") as file:
        file.write("this one\n")
    assert last_lines(log, begin=begin) == ("this one",)
    assert last_lines(log) == ("an earlier start", "this one")


def test_moves_of_the_cursor_titles_and_erased_lines_leave_nothing(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(
        b"\x1b[1A\x1b[2K\x1b[?25lbuilding\x1b[?25h [1/2]\n\x1b]0;title\x07\n\x1b(Bdone\x1b[1A\n"
    )
    assert last_lines(log) == ("building [1/2]", "done")
