"""`new`: the folder of a new framework."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from plimsoll.campaign import framework as frameworks
from plimsoll.cli import new, plimsoll
from plimsoll.errors import InputError
from plimsoll.install import new_framework
from plimsoll.install.typed import option

OURS = Path(__file__).parents[3] / "frameworks"

SERVER = """\
import http.server, os, signal

class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        found = self.path == "/empty"
        self.send_response(200 if found else 404)
        self.send_header("Content-Length", "0")
        self.end_headers()

class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 4096

signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
Server((os.environ["HOST"], int(os.environ["PORT"])), Handler).serve_forever()
"""

TABLE = """\
# One endpoint.
name = 'model'
language = "Python"
version = "echo model 1.2"
start = 'exec "$PYTHON" -I app/server.py'
endpoints = ["empty"]

[variant.other]
notes = ["name = \\"model\\""]
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with one framework, and what builds, servers and editors leave there."""
    model = tmp_path / "frameworks" / "model"
    for left in (".build", ".build-other", "node_modules", "app/__pycache__"):
        (model / left).mkdir(parents=True)
        (model / left / "left").touch()
    (model / "framework.toml").write_text(TABLE)
    (model / "app" / "server.py").write_text(SERVER)
    (model / "app" / "run.sh").touch(0o755)
    (model / "server.log").touch()
    return tmp_path / "frameworks"


def test_the_copy_has_its_own_name_and_only_what_belongs_to_it(root: Path) -> None:
    made = new_framework.create("tiny", "model", root)
    files = {str(path.relative_to(made.folder)) for path in made.folder.rglob("*.*")}
    assert files == {"framework.toml", "app/server.py", "app/run.sh"}
    assert made.files == len(files)
    assert (made.folder / "app" / "run.sh").stat().st_mode & 0o111
    plain, other = frameworks.read(made.folder)
    assert (plain.name, other.reference) == ("tiny", "tiny:other")
    assert other.notes == ('name = "model"',)
    assert {one.name for one in root.iterdir()} == {"model", "tiny"}


def test_the_printed_commands_work_as_they_are(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root.parent)
    ran = CliRunner().invoke(new.command, ["tiny", "--like", "model"], standalone_mode=False)
    first, *commands = ran.stdout.splitlines()
    assert first == "made `frameworks/tiny`, a copy of `model` in 3 files; next:"
    words = [shlex.split(one, comments=True)[1:] for one in commands]
    assert [one[0] for one in words] == ["install", "check", "run"]
    said = ""
    for typed in (*words[:2], ["plan", *words[2][1:], "-v"]):
        then = CliRunner().invoke(plimsoll, typed, standalone_mode=False)
        assert (then.exception, then.return_value) == (None, 0)
        said += then.stdout
    assert " ok\n" in said
    assert "failed" not in said
    assert "reference.2048.steady.1" in said


def test_a_folder_elsewhere_is_named_in_the_commands(root: Path, tmp_path: Path) -> None:
    arguments = ["tiny", "--like", "model", "--frameworks", str(root)]
    ran = CliRunner().invoke(new.command, arguments, standalone_mode=False)
    assert f"plimsoll check tiny --frameworks {root}  #" in ran.stdout


def test_without_a_folder_of_frameworks_one_is_made_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    made = new_framework.create("tiny", "python-http-server", None)
    assert made.folder == tmp_path / "frameworks" / "tiny"
    assert option(made.folder) == ""
    chosen = frameworks.choose(frameworks.locate(), ["tiny", "reference"])
    assert [one.folder.parent for one in chosen] == [tmp_path / "frameworks", OURS]


def test_a_name_that_plimsoll_has_too_is_noted_with_what_now_uses_the_copy(root: Path) -> None:
    def said(name: str) -> str:
        arguments = [name, "--like", "model", "--frameworks", str(root)]
        ran = CliRunner().invoke(new.command, arguments, standalone_mode=False)
        assert ran.return_value == 0
        return ran.stderr

    assert said("tiny") == ""
    assert said("go") == (
        f"note: Plimsoll has a framework `go` too; whatever takes frameworks from `{root}`, "
        f"campaigns included, now uses this copy: delete `{root}/go` to use Plimsoll's again\n"
    )
    assert frameworks.choose(root, ["go"])[0].folder == root / "go"


@pytest.mark.parametrize(
    ("name", "like", "said"),
    [
        ("jmeter", "model", "`jmeter` is a tool"),
        ("model", "model", "exists already"),
        ("Tiny", "model", "`Tiny` is not a valid framework name"),
        ("../tiny", "model", "is not a valid framework name"),
        ("all", "model", "`all` is not a valid framework name"),
        ("tiny", "modle", "unknown framework `modle`"),
        ("tiny", "model:other", "`model:other` is one variant of a framework"),
    ],
)
def test_what_cannot_be_made_leaves_nothing(root: Path, name: str, like: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        new_framework.create(name, like, root)
    assert [one.name for one in root.iterdir()] == ["model"]


@pytest.mark.parametrize("folder", frameworks.find(OURS), ids=lambda folder: folder.name)
def test_every_framework_can_be_copied(folder: Path, tmp_path: Path) -> None:
    made = new_framework.create("tiny", folder.name, tmp_path / "frameworks")
    copied = frameworks.read(made.folder)
    assert [one.variant for one in copied] == [one.variant for one in frameworks.read(folder)]
