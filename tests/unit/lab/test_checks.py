"""`plimsoll.check`: what a program gets, without anything printed."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

import plimsoll
from plimsoll import events
from plimsoll.errors import InputError, Interrupted
from plimsoll.events import FrameworkChecked, Notice, PartChecked
from plimsoll.lab.framework_check import BACKLOG_RULE

SERVER = """\
import signal, socket, os
from email.utils import formatdate
signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
listener = socket.create_server((os.environ["HOST"], int(os.environ["PORT"])), backlog={backlog})
while True:
    connection, _ = listener.accept()
    head = b""
    while True:
        while not head.endswith(b"\\r\\n\\r\\n") and (more := connection.recv(65536)):
            head += more
        if not head:
            break
        status = 200 if head.startswith(b"GET /empty ") else 404
        date = formatdate(usegmt=True)
        answer = f"HTTP/1.1 {{status}} X\\r\\nDate: {{date}}\\r\\nContent-Length: 0\\r\\n\\r\\n"
        connection.sendall(answer.encode())
        if b"Connection: close" in head:
            break
        head = b""
    connection.close()
"""

MANIFEST = """\
name = "{name}"
language = "Python"
version = "echo {name} 1.2"
start = 'exec "$PYTHON" -I app.py'
start_timeout = "20s"
endpoints = ["empty"]

[not_implemented]
2048 = "this one is too small"
"""


@pytest.fixture
def frameworks(tmp_path: Path) -> Path:
    """One framework that keeps the contract, and one whose backlog is short."""
    for name, backlog in (("right", 4096), ("short", 7)):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "app.py").write_text(SERVER.format(backlog=backlog))
        (folder / "framework.toml").write_text(MANIFEST.format(name=name))
    return tmp_path


def test_only_the_endpoints_that_are_named_are_verified(frameworks: Path) -> None:
    file = frameworks / "right" / "framework.toml"
    both = file.read_text().replace('["empty"]', '["empty", "plaintext"]')
    file.write_text(both)
    said: list[object] = []
    found = plimsoll.check(endpoints="plaintext", frameworks=frameworks, on_event=said.append)
    (right,) = found.frameworks
    assert [part.name for part in right.parts] == ["plaintext", "backlog", "stop"]
    assert right.parts[0].violations, "it has no such page"
    assert Notice("left out: short does not serve `plaintext`") in said
    (right,) = plimsoll.check("right", endpoints=["empty"], frameworks=frameworks).frameworks
    assert right.is_passed


@pytest.mark.parametrize(
    ("names", "message"),
    [(("jsonn",), "endpoints: unknown endpoint `jsonn`"), (("json", "ws"), "serves `json`, `ws`")],
)
def test_endpoints_that_cannot_be_verified_are_refused(
    frameworks: Path, names: tuple[str, ...], message: str
) -> None:
    with pytest.raises(InputError, match=message) as caught:
        plimsoll.check(endpoints=names, frameworks=frameworks)
    assert all(problem.hint for problem in caught.value.problems)


def test_each_framework_has_its_parts_and_violations(
    frameworks: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    told: list[plimsoll.events.Event] = []
    found = plimsoll.check(frameworks=frameworks, on_event=told.append)
    right, short = found.frameworks
    assert right.is_passed
    assert [part.name for part in right.parts] == ["empty", "backlog", "stop"]
    assert right.measurements.exit_code == 0
    assert found.failed == (short,)
    assert [one.rule for one in short.violations] == [BACKLOG_RULE]
    assert short.exceptions == ('notes = ["The listen backlog is 7: …"]',)
    parts = [event.part for event in told if isinstance(event, PartChecked)]
    assert parts == [*right.parts, *short.parts]
    assert [event.check for event in told if isinstance(event, FrameworkChecked)] == [right, short]
    assert capfd.readouterr() == ("", "")
    assert "1 of 2 frameworks passed." in found.markdown()
    assert repr(found) == "<CheckResult 1 of 2 frameworks passed.>"
    assert BACKLOG_RULE in found._repr_html_()


def test_a_version_command_that_fails_is_noted_and_fails_no_check(frameworks: Path) -> None:
    file = frameworks / "right" / "framework.toml"
    file.write_text(file.read_text().replace("echo right 1.2", "echo no such module >&2; exit 3"))
    said: list[object] = []
    found = plimsoll.check("right", frameworks=frameworks, on_event=said.append)
    assert found.failed == ()
    assert [one for one in said if isinstance(one, Notice)] == [
        Notice(
            "the version of right is unknown: `version` exited with code 3 and said "
            "`no such module`; correct `version` in framework.toml"
        )
    ]


def test_a_framework_that_does_not_start_is_in_the_result(frameworks: Path) -> None:
    (frameworks / "right" / "app.py").write_text("raise SystemExit(3)")
    found = plimsoll.check("right", frameworks=frameworks)
    (one,) = found.failed
    assert isinstance(one.error, plimsoll.FrameworkError)
    assert one.parts == ()
    assert found.as_json()[0]["error"] == one.error.message


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_check_with_an_error_of_plimsoll(frameworks: Path, number: int) -> None:
    def on_event(event: events.Event) -> None:
        if isinstance(event, PartChecked):
            os.kill(os.getpid(), number)

    before = signal.getsignal(number)
    with pytest.raises(Interrupted, match="a signal ended the check early"):
        plimsoll.check("right", frameworks=frameworks, on_event=on_event)
    assert signal.getsignal(number) is before
