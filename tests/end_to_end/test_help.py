"""Help, and how the command line behaves in a pipe, without colour, and on a terminal."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import plimsoll
from command_line import LENIENT, PROGRAM, TOY, TOYS, Ran, run, run_unread
from plimsoll.cli import VERBS

pytestmark = pytest.mark.timeout(300)

THROUGH_A_PIPE = ("sh", "-c", '"$@" | head -1', "sh")


def test_the_help_names_every_verb_and_every_exit_code(tmp_path: Path) -> None:
    ran = run("--help", folder=tmp_path)
    assert (ran.code, ran.stderr) == (0, "")
    for verb, purpose in VERBS.items():
        assert f"  {verb} " in ran.stdout
        assert purpose.split(";")[0][:40] in " ".join(ran.stdout.split())
    assert "130  interrupted" in ran.stdout


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help_that_fits_the_screen(verb: str, tmp_path: Path) -> None:
    ran = run(verb, "-h" if verb == "run" else "--help", folder=tmp_path)
    assert (ran.code, ran.stderr) == (0, "")
    assert ran.stdout.startswith(f"Usage: plimsoll {verb} ")
    assert max(map(len, ran.stdout.splitlines())) <= 100


def test_a_shell_is_told_the_words_it_may_go_on_with(tmp_path: Path) -> None:
    asks = {"_PLIMSOLL_COMPLETE": "bash_complete", "COMP_WORDS": "plimsoll lo", "COMP_CWORD": "1"}
    ran = run(folder=tmp_path, environment=asks)
    assert (ran.code, ran.stdout, ran.stderr) == (0, "plain,load\n", "")


ASKED_BY_BASH = """
eval "$($0 completion bash)"
COMP_LINE=$1 COMP_POINT=${#1} COMP_WORDBREAKS=$2
_plimsoll_completion "$0"
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.mark.parametrize(
    ("line", "breaks", "words"),
    [
        ("plimsoll run x --set endpoints=js", "=:", ["json", "json-in"]),
        ("plimsoll run x --set endpoints=", "=:", ["empty"]),
        ("plimsoll run x --set endpoints=js", " ", ["endpoints=json", "endpoints=json-in"]),
        ("plimsoll run 'a b' --set fr", "=:", ["frameworks="]),
        ("plimsoll load x:80 --arrivals=p", "=:", ["poisson"]),
        ("plimsoll lo", "=:", ["load"]),
        ("plimsoll ", "=:", ["machine"]),
    ],
)
def test_bash_completes_what_follows_an_equals_sign(
    line: str, breaks: str, words: list[str], tmp_path: Path
) -> None:
    command = ["bash", "--norc", "-c", ASKED_BY_BASH, str(PROGRAM), line, breaks]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=True)
    offered = ran.stdout.splitlines()
    assert offered[: len(words)] == words
    assert len(words) == 1 or offered == words
    assert ran.stderr == ""


@pytest.mark.parametrize("flag", ["--version", "-V"])
def test_the_version_is_that_of_the_package(flag: str, tmp_path: Path) -> None:
    assert run(flag, folder=tmp_path).stdout == f"plimsoll {plimsoll.__version__}\n"


def test_the_module_is_the_same_command(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "plimsoll", "rnu"]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert ran.returncode == 2
    assert "unknown verb `rnu`; did you mean `run`?" in ran.stderr


def test_the_machine_is_described_with_what_to_change(tmp_path: Path) -> None:
    ran = run("machine", "-c", 10, folder=tmp_path)
    assert ran.code == 0
    for words in ("cores", "open_files_hard", "server on cores", "for 10 connections:"):
        assert words in ran.stdout
    found = json.loads(run("machine", "-c", 10, "--json", folder=tmp_path).stdout)
    assert set(found) == {"facts", "server_cores", "driver_cores", "note", "advice"}


def test_a_machine_is_watched_for_some_seconds(tmp_path: Path) -> None:
    ran = run("machine", "--watch", "--seconds", 2, folder=tmp_path)
    assert ran.code == 0
    *lines, last = ran.stdout.splitlines()
    assert lines and all("other programs" in line and "steal" in line for line in lines)
    # A second of a busy machine may take as long as it is watched for.
    assert last.startswith("speed varied by ±" if len(lines) > 1 else "watched for ")
    ran = run("machine", "--watch", "--seconds", 2, "--json", folder=tmp_path)
    *seconds, end = map(json.loads, ran.stdout.splitlines())
    assert min(second["ratio_to_best"] for second in seconds) == 1
    assert end["summary"].startswith("speed varied by ±" if len(seconds) > 1 else "watched for ")


def test_how_far_one_second_varies_is_not_said(tmp_path: Path) -> None:
    ran = run("machine", "--watch", "--seconds", 1, "--json", folder=tmp_path)
    *seconds, end = map(json.loads, ran.stdout.splitlines())
    assert len(seconds) == 1
    assert end["speed_varied_ratio"] is None
    assert "±" not in end["summary"]


def test_seconds_without_watching_are_refused(tmp_path: Path) -> None:
    ran = run("machine", "--seconds", 2, folder=tmp_path)
    assert ran.code == 2
    assert "needs `--watch`" in ran.said


def test_a_machine_that_is_not_fit_has_an_exit_code_of_its_own(tmp_path: Path) -> None:
    few = ("prlimit", "--nofile=300:300")
    ran = run("machine", "-c", 1000, folder=tmp_path, before=few)
    assert ran.code == 3
    assert "1000 connections need 1064" in ran.said
    assert "--nofile=1064:1064" in ran.stdout


def test_a_campaign_that_the_machine_cannot_bear_is_refused_before_any_server_starts(
    tmp_path: Path,
) -> None:
    few = ("prlimit", "--nofile=300:300")
    many = ("--set", "load.steady.hold.at=1000")
    ran = run("run", TOY, *TOYS, *many, folder=tmp_path, before=few)
    assert ran.code == 3
    assert "error: 1000 connections need 1064 file descriptors, the limit is 300" in ran.stderr
    assert "hint: " in ran.stderr
    assert "[1/1]" not in ran.stderr
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize("cores", ["4000", "0-1,4000"])
def test_cores_that_are_not_there_are_refused(cores: str, tmp_path: Path) -> None:
    ran = run("run", TOY, *TOYS, "--set", f"server_cores={cores}", folder=tmp_path)
    assert ran.code == 3, ran.stderr
    assert "4000" in ran.stderr
    assert "hint: " in ran.stderr


def test_a_port_that_is_taken_is_named(reference_server: str, tmp_path: Path) -> None:
    host, _, port = reference_server.partition(":")
    command = [sys.executable, "-m", "plimsoll.reference", "--host", host, "--port", port]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert "Traceback" not in ran.stderr
    assert ran.returncode == 3, ran.stderr
    assert f"port {port}" in ran.stderr or reference_server in ran.stderr
    assert "hint: " in ran.stderr


@pytest.mark.parametrize(
    "typed",
    [["--help"], ["list", "--json", *TOYS], ["machine"], ["list", *TOYS]],
)
def test_whoever_reads_only_the_first_line_sees_it_and_nothing_else(
    typed: list[str], tmp_path: Path
) -> None:
    ran = run(*typed, folder=tmp_path, before=THROUGH_A_PIPE)
    assert ran.code == 0
    assert len(ran.stdout.splitlines()) == 1
    assert ran.stderr == ""


@pytest.mark.parametrize(
    "typed", [["--help"], ["list", "--json", *TOYS], ["machine", "-c", "10"], ["list", *TOYS]]
)
def test_a_reader_that_is_gone_is_no_error(typed: list[str], tmp_path: Path) -> None:
    ran = run_unread(*typed, folder=tmp_path)
    assert (ran.code, ran.stderr) == (0, "")


@pytest.mark.parametrize(("closed", "code"), [(">&-", 6), ("2>&-", 0), (">&- 2>&-", 6)])
def test_what_cannot_be_printed_is_an_error_and_what_cannot_be_said_is_none(
    closed: str, code: int, tmp_path: Path
) -> None:
    ran = run("list", *TOYS, folder=tmp_path, before=("sh", "-c", f'"$@" {closed}', "sh"))
    assert ran.code == code
    assert ("standard output is closed" in ran.stderr) == (closed == ">&-")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_signs_that_a_terminal_does_not_know_end_nothing(encoding: str, tmp_path: Path) -> None:
    ran = run("machine", folder=tmp_path, environment={"PYTHONIOENCODING": encoding})
    assert ran.code in (0, 3)
    assert "cores" in ran.stdout


@pytest.mark.parametrize("coloured", ["", "1"], ids=["plain", "coloured"])
def test_a_run_whose_words_nobody_reads_goes_on(
    coloured: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", coloured)  # Rich draws into a pipe then
    typed = ("run", TOY, *TOYS, *LENIENT, "--fail-if", "throughput<1M", "--junit", "run.xml")
    ran = run_unread(*typed, folder=tmp_path, also_stderr=True)
    assert ran.code == 7
    assert (tmp_path / "results/toy/trials/toy.plaintext.steady.1/trial.json").exists()
    assert (tmp_path / "results/toy/report/index.html").exists()
    assert "<failure" in (tmp_path / "run.xml").read_text()


@pytest.mark.parametrize(
    "typed",
    [
        ["judge", "--fail-if", "throughput<1M"],
        ["judge", "--fail-if", "throughput<1M", "--json"],
        ["report", "--fail-if", "throughput<1M", "--format", "markdown"],
    ],
    ids=["table", "json", "report"],
)
def test_a_crossed_threshold_is_told_by_the_exit_code_where_nobody_reads(
    typed: list[str], counting_run: Path, tmp_path: Path
) -> None:
    verb, *rest = typed
    ran = run_unread(verb, counting_run / "results/toy", *rest, "--junit", "j.xml", folder=tmp_path)
    assert ran.code == 7, ran.stderr
    assert "<failure" in (tmp_path / "j.xml").read_text()


def test_what_is_printed_until_ctrl_c_ends_without_a_reader(
    counting_run: Path, tmp_path: Path
) -> None:
    for typed in (("machine", "--watch"), ("watch", counting_run / "results/toy", "--port", 0)):
        ran = run_unread(*typed, folder=tmp_path)
        assert (ran.code, ran.stderr) == (0, "")


def on_a_terminal(*typed: object, folder: Path, **environment: str) -> Ran:
    """Runs a command whose outputs are both a terminal."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [str(PROGRAM), *map(str, typed)],
        cwd=folder,
        env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "80", **environment},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    said = b""
    try:
        while piece := _read(ours):
            said += piece
        code = process.wait(30)
    finally:
        process.kill()
        process.wait()
        os.close(ours)
    text = said.decode("utf-8", "replace")
    assert "Traceback" not in text
    return Ran(code, text, "", 0.0)


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 1 << 16)
    except OSError:  # the other side is closed
        return b""


def test_on_a_terminal_a_panel_shows_how_the_load_stands(
    reference_server: str, tmp_path: Path
) -> None:
    ran = on_a_terminal("load", f"{reference_server}/2048", "-d", "1s", "-c", 3, folder=tmp_path)
    assert "plimsoll" in ran.stdout
    for words in ("trial", "connections", "throughput", "3 of 3 open", "hold"):
        assert words in ran.stdout
    assert "\x1b[?25h" in ran.stdout, "the cursor is not shown again"


def test_errors_are_coloured_on_a_terminal_unless_that_is_not_wanted(tmp_path: Path) -> None:
    assert "\x1b[31m" in on_a_terminal("rnu", folder=tmp_path).stdout
    plain = on_a_terminal("rnu", folder=tmp_path, NO_COLOR="1").stdout
    assert "\x1b" not in plain
    assert "error: unknown verb `rnu`" in plain


@pytest.mark.parametrize("typed", [["list", *TOYS], ["check", "toy", *TOYS]])
def test_no_colour_means_no_colour(typed: list[str], tmp_path: Path) -> None:
    ran = on_a_terminal(*typed, folder=tmp_path, NO_COLOR="1")
    assert ran.code == 0
    assert "\x1b[3" not in ran.stdout


def test_a_fault_of_ours_is_told_without_a_traceback(tmp_path: Path) -> None:
    broken = "import plimsoll.machine as m; m.facts = lambda: 1 / 0"
    command = f"{broken}; from plimsoll.cli import main; main(['machine'])"
    ran = subprocess.run(
        [sys.executable, "-c", command], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert ran.returncode == 70
    assert "internal error in Plimsoll: ZeroDivisionError: " in ran.stderr
    assert "Traceback" not in ran.stderr
    shown = subprocess.run(
        [sys.executable, "-c", command],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PLIMSOLL_TRACEBACK": "1"},
        check=False,
    )
    assert "Traceback" in shown.stderr


def test_ctrl_c_on_a_terminal_gives_the_terminal_back(
    reference_server: str, tmp_path: Path
) -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [str(PROGRAM), "load", f"{reference_server}/2048", "-d", "60s", "-c", "2"],
        cwd=tmp_path,
        env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "80"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    said = b""
    while b"2 of 2 open" not in said:
        said += os.read(ours, 1 << 16)
    process.send_signal(signal.SIGINT)
    while piece := _read(ours):
        said += piece
    assert process.wait(30) == 130
    os.close(ours)
    assert b"Traceback" not in said
    assert said.rfind(b"\x1b[?25h") > said.rfind(b"\x1b[?25l")
