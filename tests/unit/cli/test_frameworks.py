"""`list`, `install` and `check`: frameworks of a few lines, each in another state."""

from __future__ import annotations

import json
import os
import re
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from plimsoll import cli
from plimsoll.campaign import framework as frameworks
from plimsoll.campaign.endpoints import ENDPOINTS
from plimsoll.cli import check, install
from plimsoll.cli import list as listing
from plimsoll.cli.listing import ListedTool, contract
from plimsoll.drivers.tools import DRIVERS
from plimsoll.errors import InputError
from plimsoll.install import applications, apt, requirements
from plimsoll.lab import framework_check
from plimsoll.processes import process_table
from plimsoll.provenance import short_id

TABLE = """\
name = "{name}"
language = "Python"
version = "echo {name} 1.2"
start = 'exec "$PYTHON" -I app.py'
start_timeout = "20s"
endpoints = ["empty"]
{more}

[not_implemented]
2048 = "this one is too small"
{variants}
"""

APP = """\
import os, signal, socket
from email.utils import formatdate
BREAKS = os.environ.get("BREAKS", "")
if BREAKS != "signal":
    signal.signal(signal.SIGTERM, lambda *_: os._exit(9 if BREAKS == "stop" else 0))
address = (os.environ["HOST"], int(os.environ["PORT"]))
listener = socket.create_server(address, backlog=7 if "backlog" in BREAKS else 4096)
print("listening", flush=True)
asked = 0

def received(connection):
    head = b""
    while not head.endswith(b"\\r\\n\\r\\n") and (more := connection.recv(65536)):
        head += more
    return head

while True:
    connection, _ = listener.accept()
    while head := received(connection):
        asked += 1
        if BREAKS == "dies" and asked > 2:
            print("out of tea", flush=True)
            os._exit(3)
        there = head.startswith(b"GET /empty ")
        status = 200 if there or BREAKS == "absent" else 404
        body = b"AB" if BREAKS == "body" and asked > 1 else b""
        said = f"HTTP/1.1 {status} X\\r\\nDate: {formatdate(usegmt=True)}\\r\\n"
        said += 'ETag: "1"\\r\\n' if "etag" in BREAKS else ""
        said += f"Content-Length: {len(body)}\\r\\n\\r\\n"
        connection.sendall(said.encode() + body)
        if b"Connection: close" in head:
            break
    connection.close()
"""

Returned = tuple[Any, Result]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder for frameworks."""
    return tmp_path / "frameworks"


def framework(root: Path, name: str, more: str = "", variants: str = "") -> None:
    """Makes a framework that answers `GET /empty`."""
    (root / name).mkdir(parents=True)
    (root / name / "app.py").write_text(APP)
    text = TABLE.format(name=name, more=more, variants=variants)
    (root / name / "framework.toml").write_text(text)


def needs(kind: str, name: str, remedy: str = "") -> str:
    """A line of `framework.toml` that needs one thing."""
    return f'needs = [{{ kind = "{kind}", name = "{name}", remedy = "{remedy}" }}]'


def typed(module: Any, root: Path, *words: str, width: int = 80) -> Returned:
    """Exit code and outputs of a verb."""
    ran = CliRunner(env={"COLUMNS": str(width)}).invoke(
        module.command, [*words, "--frameworks", str(root)], standalone_mode=False
    )
    if ran.exception is not None:
        raise ran.exception
    return ran.return_value, ran


def in_every_state(root: Path) -> None:
    """Frameworks that are ready, not built, without a tool, without a JDK."""
    framework(root, "aready", variants='[variant.quick]\nnotes = ["It has no brakes."]')
    framework(root, "bunbuilt", 'build = "echo done"')
    framework(root, "ctoolless", needs("command", "a-compiler-nobody-has", "install it"))
    framework(root, "djvm", needs("java", "99", "install a JDK 99"))


# --- list ---


def asked(root: Path, version: str) -> None:
    """Makes a framework that notes each run of its version command."""
    framework(root, "one")
    file = root / "one" / "framework.toml"
    file.write_text(file.read_text().replace("echo one 1.2", version))


@pytest.mark.parametrize("words", [("one",), ("one", "--json")], ids=["text", "JSON"])
def test_the_version_of_a_named_framework_is_asked_for_once(
    root: Path, words: tuple[str, ...]
) -> None:
    asked(root, "echo run >> ran; echo one 1.2")
    _, ran = typed(listing, root, *words)
    assert "one 1.2" in ran.stdout
    assert (root / "one" / "ran").read_text() == "run\n"


def test_drivers_are_asked_for_their_versions_only_where_these_are_shown_and_unknown(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    for driver in DRIVERS:
        monkeypatch.setattr(driver, "needs", lambda: None)
        monkeypatch.setattr(driver, "version", lambda name=driver.NAME: asked.append(name) or "9")
    framework(root, "one")
    typed(listing, root, "one")
    assert asked == []
    known = ListedTool("jmeter", "ready", "5.6", "", "", [], [], "")
    versions = {one.name: one.version for one in contract([known]).drivers}
    others = {driver.NAME for driver in DRIVERS} - {"jmeter"}
    assert versions == {"jmeter": "5.6", **dict.fromkeys(others, "9")}
    assert set(asked) == others


def test_the_application_of_a_list_is_that_of_a_trial(root: Path) -> None:
    framework(root, "one")
    _, ran = typed(listing, root, "one", "--json")
    [listed] = json.loads(ran.stdout)["frameworks"]
    (found,) = frameworks.read(root / "one")
    assert listed["application_id"] == short_id(applications.of(found))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["INT", "TERM"])
@pytest.mark.parametrize("words", [(), ("one",)], ids=["all", "named"])
def test_a_signal_ends_a_list_and_the_commands_that_it_runs(
    root: Path, number: signal.Signals, words: tuple[str, ...]
) -> None:
    lasts_s = 60
    asked(root, f"sleep {lasts_s} & echo $! >> ran; wait")
    noted = root / "one" / "ran"

    def send() -> None:
        while not (noted.exists() and noted.read_text()):
            time.sleep(0.01)
        os.kill(os.getpid(), number)

    before = signal.signal(number, signal.default_int_handler)
    sender = threading.Thread(target=send, daemon=True)
    begun_s = time.monotonic()
    try:
        sender.start()
        code = cli.ended(["list", *words, "--frameworks", str(root)])
    finally:
        signal.signal(number, before)
    assert code == 130
    assert time.monotonic() - begun_s < lasts_s / 2
    [pid] = map(int, noted.read_text().split())
    while (found := process_table.process(pid)) and not found.zombie:
        assert time.monotonic() - begun_s < lasts_s / 2


def test_the_list_as_json_has_all_that_is_known(root: Path) -> None:
    in_every_state(root)
    code, ran = typed(listing, root, "--json")
    known = {one["name"]: one for one in json.loads(ran.stdout)["frameworks"]}
    assert code == 0
    assert list(known) == ["aready", "aready:quick", "bunbuilt", "ctoolless", "djvm"]
    ready = known["aready:quick"]
    assert (ready["framework"], ready["variant"]) == ("aready", "quick")
    assert (ready["status"], ready["version"]) == ("ready", "aready 1.2")
    assert ready["notes"] == ["It has no brakes."]
    assert ready["endpoints"] == ["empty"]
    assert ready["not_implemented"]["2048"] == "this one is too small"
    unbuilt = known["bunbuilt"]
    assert (unbuilt["status"], unbuilt["version"]) == ("needs install", None)
    assert unbuilt["why"] == f"`plimsoll install bunbuilt --frameworks {root}`"
    without = known["ctoolless"]
    assert (without["status"], without["why"], without["remedy"]) == (
        "not available", "needs `a-compiler-nobody-has`", "install it",
    )  # fmt: skip
    assert known["djvm"]["why"] == "needs a JDK 99 or newer"


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_the_list_fits_a_terminal_of_any_width(root: Path, width: int) -> None:
    in_every_state(root)
    _, ran = typed(listing, root, width=width)
    assert max(len(line.rstrip()) for line in ran.stdout.splitlines()) <= width
    text = " ".join(ran.stdout.split())
    for part in (
        "2 ready, 1 needs install, 2 not available",
        "aready 1.2",
        "needs a JDK 99 or newer: install a JDK 99",
        f"1 endpoint, without {len(ENDPOINTS) - 1} others",
    ):
        assert part in text


def test_a_framework_by_name_shows_every_variant_with_its_limits(root: Path) -> None:
    in_every_state(root)
    code, ran = typed(listing, root, "aready")
    assert code == 0
    assert "aready:quick\n" in ran.stdout
    assert "It has no brakes." in ran.stdout
    assert "2048: this one is too small" in ran.stdout
    assert "bunbuilt" not in ran.stdout


def test_the_reason_why_a_version_is_unknown_is_told_by_name_and_in_json(root: Path) -> None:
    framework(root, "mute")
    file = root / "mute" / "framework.toml"
    file.write_text(file.read_text().replace("echo mute 1.2", "echo no such module >&2; exit 3"))
    _, ran = typed(listing, root, "mute")
    said = "unknown, since `version` exited with code 3 and said `no such module`"
    assert f"{said}: correct `version` in framework.toml" in " ".join(ran.stdout.split())
    _, listed = typed(listing, root, "--json")
    (one,) = json.loads(listed.stdout)["frameworks"]
    assert (one["status"], one["version"]) == ("ready", None)
    assert one["why"] == "`version` exited with code 3 and said `no such module`"
    assert one["remedy"] == "correct `version` in framework.toml"


def test_one_with_mistakes_is_told_and_the_others_are_listed(root: Path) -> None:
    in_every_state(root)
    (root / "djvm" / "framework.toml").write_text('name = "djvm"\n')
    code, ran = typed(listing, root)
    assert code == 2
    assert "`start` is missing" in ran.stderr
    assert "aready" in ran.stdout


# --- install ---


def timeless(text: str) -> str:
    """What was said, but for the seconds that a build took."""
    return re.sub(r"built in \d+ s", "built in … s", text)


def test_all_that_can_be_is_installed_and_the_rest_is_named_at_the_end(root: Path) -> None:
    in_every_state(root)
    code, ran = typed(install, root, "--all")
    assert code == 0, "what cannot be had here is no failure of `--all`"
    assert timeless(ran.stdout).splitlines() == [
        "installed      bunbuilt: built in … s",
        "up to date     aready, aready quick",
        "not available  ctoolless: needs `a-compiler-nobody-has`; to include it: install it",
        "               djvm: needs a JDK 99 or newer; to include it: install a JDK 99",
    ]
    _, again = typed(install, root, "--all")
    assert again.stdout.startswith("up to date     aready, aready quick, bunbuilt\n")


def test_what_was_asked_for_by_name_and_cannot_be_had_is_a_failure(root: Path) -> None:
    in_every_state(root)
    code, ran = typed(install, root, "ctoolless", "aready")
    assert code == 4
    assert "`ctoolless` needs `a-compiler-nobody-has`, which is not installed" in ran.stderr
    assert "hint: install it" in ran.stderr
    assert "up to date     aready\n" in ran.stdout
    assert "failed         `ctoolless` needs `a-compiler-nobody-has`" in ran.stdout


def test_a_build_that_fails_keeps_no_other_from_being_built(root: Path) -> None:
    framework(root, "abroken", "build = \"echo 'no such crate' >&2; exit 9\"")
    framework(root, "bright", 'build = "echo done"')
    code, ran = typed(install, root, "--all")
    assert code == 4
    assert "no such crate" in ran.stderr
    assert timeless(ran.stdout).splitlines() == [
        "installed      bright: built in … s",
        "failed         the build of `abroken` exited with code 9",
    ]


MEETING = """\
build = '''
touch ../{name}.here
for _ in $(seq 600); do
    [ -e ../{other}.here ] && exit 0
    sleep 0.1
done
echo "{other} did not come" >&2
exit 7
'''
"""
"""A build that succeeds only while another one runs."""

LONELY = """\
build = "mkdir ../only-one && sleep 0.3 && rmdir ../only-one"
"""
"""A build that fails while another one runs."""


def test_several_are_built_at_a_time(root: Path) -> None:
    framework(root, "one", MEETING.format(name="one", other="two"))
    framework(root, "two", MEETING.format(name="two", other="one"))
    code, ran = typed(install, root, "--all", "--jobs", "2")
    assert code == 0, ran.stderr
    assert "[1/2] one: installing\n" in ran.stderr
    assert "[2/2] two: installing\n" in ran.stderr


def test_no_more_are_built_at_a_time_than_was_asked_for(root: Path) -> None:
    for name in ("one", "two", "three"):
        framework(root, name, LONELY)
    code, ran = typed(install, root, "--all", "--jobs", "1")
    assert code == 0, ran.stderr
    for name in ("one", "two", "three"):
        (root / name / "app.py").write_text(f"{APP}# changed")
    assert typed(install, root, "--all", "--jobs", "3")[0] == 4


def test_variants_that_are_built_alike_are_built_once_however_many_at_a_time(root: Path) -> None:
    variants = '[variant.quick]\nnotes = ["It has no brakes."]'
    framework(root, "only", LONELY, variants)
    code, ran = typed(install, root, "--all", "--jobs", "3")
    assert code == 0, ran.stderr
    assert timeless(ran.stdout).splitlines() == [
        "installed      only: built in … s",
        "up to date     only quick",
    ]


def test_of_one_framework_nothing_is_summed_up(root: Path) -> None:
    framework(root, "only")
    assert typed(install, root, "only")[1].stdout == ""


def test_without_root_the_one_command_for_all_packages_is_named(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(apt, "install", lambda *_: pytest.fail("only root may"))
    monkeypatch.setattr(requirements, "package_installed", lambda _: False)
    framework(root, "one", needs("apt", "nginx"))
    framework(root, "three")
    framework(root, "two", needs("apt", "php-fpm"))
    code, ran = typed(install, root, "--all")
    assert code == 4
    assert "hint: sudo apt-get install -y --no-install-recommends nginx" in ran.stderr
    assert ran.stdout.splitlines() == [
        "up to date     three",
        "needs root     one, two",
        "               sudo apt-get install -y --no-install-recommends nginx php-fpm",
        "               then `plimsoll install` again",
    ]
    _, listed = typed(listing, root, "--json")
    first = json.loads(listed.stdout)["frameworks"][0]
    assert first["status"] == "needs install"
    assert first["why"] == "`sudo apt-get install -y --no-install-recommends nginx`, as root"


# --- tools ---


@pytest.fixture
def saw(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A tool that is not installed."""
    folder = tmp_path / "tools" / "saw"
    folder.mkdir(parents=True)
    text = 'name = "saw"\nbuild = "echo sharp > $BUILD/saw"\nversion = "cat $BUILD/saw"\n'
    (folder / "tool.toml").write_text(text)
    monkeypatch.chdir(tmp_path)
    return folder


def test_a_tool_is_installed_once_beside_frameworks(root: Path, saw: Path) -> None:
    framework(root, "only")
    _, ran = typed(install, root, "only", "saw")
    assert ran.stdout.splitlines()[0].startswith("installed      saw: built in ")
    assert ran.stdout.splitlines()[1] == "up to date     only"
    assert (saw / ".build" / "saw").exists()
    assert "up to date     saw, only" in typed(install, root, "saw", "only")[1].stdout


def test_all_frameworks_are_no_tools(root: Path, saw: Path) -> None:
    framework(root, "only")
    assert "saw" not in typed(install, root, "--all")[1].stderr
    assert not (saw / ".build").exists()


@pytest.mark.usefixtures("saw")
def test_tools_are_listed_with_their_state(root: Path) -> None:
    framework(root, "only")
    _, ran = typed(listing, root, "--json")
    [listed] = json.loads(ran.stdout)["tools"]
    assert (listed["name"], listed["status"]) == ("saw", "needs install")
    assert listed["why"] == "`plimsoll install saw`"
    typed(install, root, "saw")
    _, ran = typed(listing, root, "saw")
    assert "version  sharp" in ran.stdout
    assert "only" not in ran.stdout


# --- check ---


def broken(root: Path, *breaks: str) -> None:
    """A framework with a variant for each way to break the contract."""
    lines = [f'[variant.{name}]\nenvironment = {{ BREAKS = "{name}" }}' for name in breaks]
    framework(root, "small", variants="\n".join(lines))


def test_a_framework_that_keeps_the_contract_is_right_in_all(root: Path) -> None:
    broken(root)
    code, ran = typed(check, root, "small")
    assert code == 0
    words = [line.split()[1:] for line in ran.stdout.splitlines()]
    assert words == [["empty", "ok"], ["backlog", "ok"], ["stop", "ok"]]


def test_frameworks_of_plimsoll_are_named_beside_those_of_the_user(root: Path) -> None:
    broken(root, "body")
    _, ran = typed(listing, root)
    (others,) = re.findall("found by their names too: ([^`]*)\n\n", ran.stdout)
    assert {"reference", "go", "django"} <= set(others.split())
    assert "small" not in others.split()
    with pytest.raises(InputError, match="unknown framework `djangoo`") as raised:
        typed(check, root, "djangoo")
    assert raised.value.problems[0].hint == "did you mean `django`?"


@pytest.mark.parametrize("verb", [listing, install], ids=["list", "install"])
def test_tools_are_named_beside_frameworks_where_both_are_taken(root: Path, verb: Any) -> None:
    framework(root, "small")
    for name, hint in (("jmetre", "did you mean `jmeter`?"), ("wrk", "`jmeter`")):
        with pytest.raises(InputError, match=f"unknown framework or tool `{name}`") as raised:
            typed(verb, root, name)
        assert hint in raised.value.problems[0].hint
    with pytest.raises(InputError, match="unknown framework `jmetre`") as raised:
        typed(check, root, "jmetre")
    assert "jmeter" not in raised.value.problems[0].hint


def test_a_server_that_ends_at_start_names_no_log_that_is_not_kept(root: Path) -> None:
    framework(root, "small")
    (root / "small" / "app.py").write_text("import sys; sys.exit('no such port')")
    code, ran = typed(check, root, "small")
    assert code == 4
    assert "no such port" in ran.stdout + ran.stderr
    assert "which a check does not keep" in " ".join((ran.stdout + ran.stderr).split())
    assert "server.log" not in ran.stdout + ran.stderr


@pytest.mark.parametrize(
    ("breaks", "lines"),
    [
        (
            "body",
            [
                "request   `GET /empty` (3 times)",
                "response  200, no type, 2 bytes `AB`",
                "problem   the body has 2 bytes, expected 0",
                "rule      `GET /empty` returns 200 and no body",
            ],
        ),
        (
            "absent",
            [
                "response  200, no type, 0 bytes",
                "problem   the status is `200`, expected `404`",
                "rule      an unknown path returns 404",
            ],
        ),
        (
            "backlog",
            [
                "request   listen backlog from `sock_diag`",
                "problem   the listen backlog is 7, expected ",
                f"rule      {framework_check.BACKLOG_RULE}",
            ],
        ),
        (
            "stop",
            [
                "request   `SIGTERM`",
                "response  exit code 9, after ",
                "problem   `clean_exit_codes` allows 0",
                f"rule      {framework_check.STOP_RULE}",
            ],
        ),
    ],
)
def test_a_failure_is_shown_with_request_answer_and_rule(
    root: Path, breaks: str, lines: list[str]
) -> None:
    broken(root, breaks)
    code, ran = typed(check, root, f"small:{breaks}")
    assert code == 4
    for line in lines:
        assert f"\n  {line}" in ran.stdout
    assert "log       listening" in ran.stdout
    (contract,) = re.findall("note: the contract is described in `(.*)`", ran.stderr)
    assert "## " in Path(contract).read_text(encoding="utf-8")


def test_the_whole_request_is_shown_when_asked_for(root: Path) -> None:
    broken(root, "body")
    _, ran = typed(check, root, "small:body", "--full")
    assert "          | GET /empty\n" in ran.stdout
    _, found = typed(check, root, "small:body", "--json")
    (one,) = json.loads(found.stdout)
    assert {failure["sent"] for failure in one["failures"]} == {"GET /empty"}


@pytest.mark.parametrize(
    ("breaks", "above", "at_the_end"),
    [
        ("backlog", ['notes = ["The listen backlog is 7: …"]'], []),
        ("signal", ["clean_exit_codes = [0, -15]"], []),
        ("etag", [], ["[contract_notes]", 'etag = "…"']),
        (
            "backlog,etag",
            ['notes = ["The listen backlog is 7: …"]'],
            ["[contract_notes]", 'etag = "…"'],
        ),
    ],
)
def test_a_failure_that_may_be_in_order_has_lines_to_paste_and_where(
    root: Path, breaks: str, above: list[str], at_the_end: list[str]
) -> None:
    framework(root, "small", variants=f'[environment]\nBREAKS = "{breaks}"')
    code, ran = typed(check, root, "small")
    assert code == 4
    _, shown = ran.stdout.split("write into `framework.toml`,\n")
    first, _, last = shown.partition("  in this table, which goes to the end of the file")
    assert ("above the first table" in first) == bool(above)
    assert [line[4:] for line in first.splitlines() if line.startswith("    ")] == above
    assert [line[4:] for line in last.splitlines() if line.startswith("    ")] == at_the_end
    manifest = root / "small" / "framework.toml"
    manifest.write_text("\n".join([*above, manifest.read_text(), *at_the_end, ""]))
    assert typed(check, root, "small")[0] == 0


@pytest.mark.parametrize("breaks", ["body", "stop"])
def test_a_failure_that_is_never_in_order_has_none(root: Path, breaks: str) -> None:
    broken(root, breaks)
    code, ran = typed(check, root, f"small:{breaks}")
    assert code == 4
    assert "framework.toml`:" not in ran.stdout


def test_endpoints_that_are_not_there_are_left_out_of_the_line_to_paste(root: Path) -> None:
    several = '[variant.several]\nendpoints = ["empty", "2048", "8192"]\nnot_implemented = {}'
    framework(root, "small", variants=several)
    code, ran = typed(check, root, "small:several")
    assert code == 4
    assert '    [variant.several]\n    endpoints = ["empty"]\n' in ran.stdout


def test_a_note_on_the_backlog_explains_a_short_one(root: Path) -> None:
    short = '[variant.backlog]\nenvironment = { BREAKS = "backlog" }\nnotes = ["Its backlog is 7."]'
    framework(root, "small", variants=short)
    code, _ = typed(check, root, "small:backlog")
    assert code == 0


def test_a_server_that_ends_while_it_is_asked_is_named_with_what_it_was_asked_for(
    root: Path,
) -> None:
    broken(root, "dies")
    code, ran = typed(check, root, "small:dies")
    assert code == 4
    assert "`small dies` exited with code 3 while `empty` was checked" in ran.stderr
    assert "out of tea" in ran.stderr
    assert ran.stdout.count("failed") == 1, "nothing more is asked of it"


def test_what_was_seen_of_the_server_is_in_the_json(root: Path) -> None:
    broken(root)
    _, ran = typed(check, root, "small", "--json")
    (one,) = json.loads(ran.stdout)
    assert one["start_s"] > 0
    assert one["rest_rss_bytes"] > 1 << 20
    assert len(one["backlogs"]) == 1
    assert (one["exit_code"], one["failures"], one["error"]) == (0, [], None)


def test_what_changed_since_it_was_built_is_built_and_then_checked(root: Path) -> None:
    framework(root, "small", 'build = "cp app.py $BUILD"')
    typed(install, root, "small")
    (root / "small" / "app.py").write_text(APP + "\n")
    code, ran = typed(check, root, "small", "--available")
    assert code == 0
    assert ran.stderr == "small: building, since `app.py` changed\n"
    assert (root / "small" / ".build" / "app.py").read_text() == APP + "\n"


@pytest.mark.parametrize("names", [[], ["small"]])
def test_what_changed_since_it_was_built_is_listed(root: Path, names: list[str]) -> None:
    framework(root, "small", 'build = "echo done"')
    typed(install, root, "small")
    (root / "small" / "app.py").write_text(f"{APP}# changed")
    _, ran = typed(listing, root, *names, width=400)
    assert f"`plimsoll install small --frameworks {root}`, since `app.py` changed" in ran.stdout


def test_what_is_not_available_is_left_out_and_named_when_that_is_asked_for(root: Path) -> None:
    in_every_state(root)
    code, ran = typed(check, root, "--available")
    assert code == 0
    assert {line.split()[0] for line in ran.stdout.splitlines()} == {"aready"}
    assert "note: skipped: `bunbuilt` is not built" in ran.stderr
    assert f"note: to include it: run `plimsoll install bunbuilt --frameworks {root}`" in ran.stderr
    assert "note: skipped: `djvm` needs a JDK 99 or newer" in ran.stderr
