"""`plimsoll load` over Unix sockets, of compressed bodies and along redirects."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from command_line import Ran, run, text_of

pytestmark = pytest.mark.timeout(300)

HOSTILE = Path(__file__).parents[1] / "hostile_server.py"

NEEDS_TCP = {
    "backlog": "listen queue of a Unix socket",
    "counters_agree": "has no counters for Unix sockets",
    "segments_lost": "A Unix socket sends no packets",
    "round_trip_floor": "no round trip over a Unix socket",
}
"""Checks that are not made of a load over a Unix socket, and why."""


@contextmanager
def started(*command: str) -> Generator[str]:
    """The first line of a program that runs as long as the block does."""
    program = subprocess.Popen([sys.executable, *command], stdout=subprocess.PIPE, text=True)
    try:
        assert program.stdout is not None
        yield program.stdout.readline().strip()
    finally:
        program.terminate()
        program.communicate(timeout=20)


def few(url: str, *options: object, folder: Path) -> Ran:
    return run("load", url, "-c", 4, "-n", 200, *options, folder=folder)


def document(ran: Ran) -> dict[str, Any]:
    assert ran.code in (0, 1), ran.stderr
    return json.loads(ran.stdout)


# ---- Unix sockets -------------------------------------------------------------------------------


@pytest.mark.parametrize("protocol", [(), ("--http2", "--streams", "4")])
def test_a_unix_socket_carries_a_load_and_checks_of_tcp_say_why_they_are_not_made(
    protocol: tuple[str, ...], tmp_path: Path
) -> None:
    path = tmp_path / "app.sock"
    with started("-m", "plimsoll.reference", "--unix-socket", str(path)) as line:
        assert json.loads(line)["address"] == f"unix:{path}"
        chosen = ("--unix-socket", "app.sock", "--json", *protocol)
        found = document(few("http://app/2048", *chosen, folder=tmp_path))
    assert not path.exists()
    assert (found["summary"]["completed"], found["summary"]["failed"]) == (200, 0)
    verdicts = {verdict["check"]: verdict for verdict in found["verdicts"]}
    reasons = dict(NEEDS_TCP)
    if protocol:
        reasons["round_trip_floor"] = "one round trip may serve many"
    for check, reason in reasons.items():
        assert verdicts[check]["level"] == "not_checked", verdicts[check]
        assert reason in text_of(verdicts[check])
    assert "ports" not in text_of(verdicts["ports_and_files"])


@pytest.mark.thorough
def test_messages_of_websocket_go_through_a_unix_socket(tmp_path: Path) -> None:
    with started("-m", "plimsoll.reference", "--unix-socket", str(tmp_path / "app.sock")):
        chosen = ("--unix-socket", "app.sock", "--json")
        found = document(few("ws://app/echo", *chosen, folder=tmp_path))
    assert (found["summary"]["completed"], found["summary"]["failed"]) == (200, 0)


def test_a_socket_that_is_none_ends_the_load_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", "ascii")
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(tmp_path / "silent"))
        for path, code, sentence in (
            ("none", 4, "there is no socket"),
            ("file", 4, "is not a socket"),
            ("silent", 4, "no server listens at"),
            ("x" * 200, 2, "more than the path of a Unix socket may have"),
        ):
            ran = few("http://app/", "--unix-socket", path, folder=tmp_path)
            assert ran.code == code, ran.said
            assert sentence in ran.said
            assert ran.stdout == ""


# ---- compressed bodies --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "codings",
    ["gzip", *(pytest.param(name, marks=pytest.mark.thorough) for name in ("br", "zstd"))],
)
def test_compressed_bodies_are_compared_decoded_and_counted_in_both_lengths(
    codings: str, reference_server: str, tmp_path: Path
) -> None:
    (tmp_path / "letters").write_text("A" * 2048, "ascii")
    expected = ("--expect-body", "@letters", "--record", "kept", "--json")
    url = f"http://{reference_server}/2048"
    found = document(few(url, f"--compressed={codings}", *expected, folder=tmp_path))
    assert found["summary"]["failed"] == 0
    decoded = found["driver"]["decoded"]
    assert (decoded["bodies"], decoded["decoded_bytes"]) == (200, 200 * 2048)
    assert decoded["coded_bytes"] < 200 * 200
    rows = pq.read_table(tmp_path / "kept" / "trials" / "load" / "requests.parquet").to_pylist()
    assert {row["body_bytes"] for row in rows} == {2048}
    assert max(row["received_bytes"] for row in rows) < 500


def test_a_screen_shows_what_compression_did(reference_server: str, tmp_path: Path) -> None:
    url = f"http://{reference_server}"
    ran = few(f"{url}/2048", "--compressed", folder=tmp_path)
    assert "bodies of 200 responses" in ran.stdout
    ran = few(f"{url}/plaintext", "--compressed", folder=tmp_path)
    assert "no body was compressed, though gzip, br, zstd was accepted" in ran.stdout


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("way", "options", "outcome"),
    [
        ("truncates", ("--compressed",), "with a corrupt or truncated content coding"),
        ("confuses", ("--compressed",), "with a corrupt or truncated content coding"),
        ("confuses", ("--compressed=gzip",), "with a content coding that was not requested"),
        ("loops", ("--follow=2",), "redirected too often"),
        ("leaves", ("--follow",), "redirected to another origin"),
    ],
)
def test_a_server_that_codes_or_redirects_wrongly_fails_by_a_name(
    way: str, options: tuple[str, ...], outcome: str, tmp_path: Path
) -> None:
    with started(str(HOSTILE), way) as address:
        ran = few(f"http://{address}/", *options, folder=tmp_path)
    assert ran.code == 1, ran.said
    assert f"200 {outcome}" in ran.said


# ---- heads and bodies out of the ordinary --------------------------------------------------------


def test_a_head_with_fields_of_several_lines_is_one_of_http(tmp_path: Path) -> None:
    with started(str(HOSTILE), "folds") as address:
        found = document(few(f"http://{address}/", "--json", folder=tmp_path))
    assert (found["summary"]["completed"], found["summary"]["failed"]) == (200, 0)


def test_a_response_before_the_whole_request_is_no_lost_request(tmp_path: Path) -> None:
    length = 4_000_000
    (tmp_path / "body").write_bytes(bytes(length))
    with started(str(HOSTILE), "hurries") as address:
        found = document(few(f"http://{address}/", "-b", "@body", "--json", folder=tmp_path))
    assert 0 < found["summary"]["sent_bytes"] < 200 * length
    (verdict,) = (one for one in found["verdicts"] if one["check"] == "counters_agree")
    assert verdict["level"] in ("sound", "not_checked"), verdict


def test_a_stream_of_events_may_end_after_its_last_event(tmp_path: Path) -> None:
    with started(str(HOSTILE), "lingers") as address:
        options = ("-c", 4, "-d", "3s", "--events", "--json")
        found = document(run("load", f"http://{address}/", *options, folder=tmp_path))
    (verdict,) = (one for one in found["verdicts"] if one["check"] == "littles_law")
    assert verdict["level"] == "sound", verdict


# ---- redirects ----------------------------------------------------------------------------------


def test_redirects_are_followed_within_their_request(tmp_path: Path) -> None:
    with started(str(HOSTILE), "redirects") as address:
        chosen = ("-c", 1, "-n", 50, "--follow", "--expect-status", 200, "--json")
        found = document(run("load", f"http://{address}/", *chosen, folder=tmp_path))
    assert (found["summary"]["completed"], found["summary"]["failed"]) == (50, 0)
    # The request before the load may have taken the first redirect.
    assert found["driver"]["redirects"] in (49, 50)


# ---- uploads ------------------------------------------------------------------------------------


def test_a_file_is_uploaded_whole_with_every_request(reference_server: str, tmp_path: Path) -> None:
    name = "x" * 900_000
    (tmp_path / "body.json").write_text(json.dumps({"name": name}), "utf-8")
    url = f"http://{reference_server}/json"
    chosen = ("-c", 4, "-n", 20, "--upload", "body.json", "--json")
    found = document(run("load", url, *chosen, "--expect-length", 900_011, folder=tmp_path))
    assert (found["summary"]["completed"], found["summary"]["failed"]) == (20, 0)
    assert found["summary"]["sent_bytes"] > 20 * 900_000
    ran = few(url, "--upload", "none", folder=tmp_path)
    assert ran.code == 2
    assert "there is no file `none`" in ran.said


def test_a_file_on_standard_input_is_uploaded_and_a_pipe_is_refused(
    reference_server: str, tmp_path: Path
) -> None:
    """The load generator's own standard input is another one than that which was named."""
    (tmp_path / "body.json").write_text(json.dumps({"name": "x" * 900_000}), "utf-8")
    typed = ("load", f"http://{reference_server}/json", "-n", 20, "--upload", "/dev/stdin")
    redirected, piped = (
        ("sh", "-c", shell, "sh") for shell in ('exec "$@" <body.json', 'cat body.json | "$@"')
    )
    ran = run(*typed, "--expect-length", 900_011, "--json", folder=tmp_path, before=redirected)
    summary = document(ran)["summary"]
    assert (summary["completed"], summary["failed"]) == (20, 0)
    ran = run(*typed, folder=tmp_path, before=piped)
    assert ran.code == 2
    assert "error: --upload: `/dev/stdin` gives its content once" in ran.said
    assert "hint: `-b @-` sends standard input" in ran.said
