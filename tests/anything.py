"""Anything at all for every verb: arguments, files that were changed at random, environments.

A case is made of its number and nothing else, so one that fails can be made again:

    python tests/anything.py --case 4711 --show

Nothing is started: what puts on a load, starts a server or installs something ends at once, as it
does where the engine is missing. All that comes before and after that is real.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import tempfile
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import click
from click.testing import CliRunner

from plimsoll.cli import VERBS, ended
from plimsoll.errors import FAULT, DriverMissing

TESTS = Path(__file__).parent
CHECKOUT = TESTS.parent
OUR_ESCAPES = re.compile(r"\x1b\[[0-9;]*m|\x1b\[\?25[hl]|\r?\x1b\[(?:1A|2K)")
"""Escapes that the program writes itself: colours, and those of a line that is written over."""

ODD = (
    b"\0", b"\x1b]0;x\x07", b"\xff", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\xff\xfe", b"\r",
    b"\n\n", b"\t", b'"', b"'", b"`", b"{", b"[" * 3000, b"]", b"}", b"<", b"</testResults>",
    b"nan", b"inf", b"-1", b"0", b"-0.0", b"1e400", b"1e-400", b"9" * 400,
    b"9223372036854775807", b"18446744073709551616", b"4294967296", b"99999999999999999",
    b"a" * 140_000, b"%ff", b"%s", b"../..", b"=cmd|'/c calc'!A1", "\u202e".encode(),
    "é".encode("latin-1"), b"null", b"true", b",,,,", b";", b"ms", b"us",
)  # fmt: skip
"""What is put into a file at random places."""

WORDS = (
    "", "-", "--", "0", "1", "-1", "2", "10", "1e9", "1e400", "nan", "inf", "9" * 400, "1.5",
    "5s", "0s", "-5s", "1h", "10k", "5z", "a", "x" * 5000, "\udcff", "a\nb", "a\x1b[31mb", "a=b",
    "=", "a=", "all", "none", ",", "0-3", "3-0", "0,99999", "http:x", "s3:x", "file:x",
    "/dev/null", "/etc/passwd", "/", ".", "..", "../../x", "*", "[", "p99>5ms", "p99>",
    "failures>1%", "throughput<5k", "@", "@/", "@nofile", "@-", "Name: value", "Name", ": v",
    "A: b\r\nC: d", "Host: \u202e", "GET", "G T", "/a", ":8080", "http://", "http://[",
    "http://127.0.0.1:99999/", "https://a/", "http://a b/", "http://127.0.0.1:1/ü",
    "postgresql://", "postgresql://a:b@h:x/y", "postgresql://a:%ff@127.0.0.1:1/d", "mysql://a",
    "ms", "tab", ";", "yyyy", "yyyy-MM-dd", "UTC", "Mars/Base", "jmeter", "vegeta", "zabbix",
    "2048", "json", "go", "reference", "all:all", "repetitions=0", "repetitions=3",
    "load.climb.timeout=5s", "loads=[[[[", "frameworks=go,node", "connections=50",
    "timeout_s=nan", "bash", "zsh", "fish", "markdown", "html,pdf", "jtl,seconds", "plimsoll",
    "wrk", "pacing", "q",
)  # fmt: skip
"""What is typed in the place of a value."""

ENVIRONMENTS: tuple[Mapping[str, str], ...] = (
    {}, {}, {}, {"NO_COLOR": "1"}, {"TERM": "dumb"}, {"COLUMNS": "1"}, {"COLUMNS": "-5"},
    {"COLUMNS": "x"}, {"LINES": "0"}, {"TZ": "Mars/Base"}, {"TZ": ":"}, {"HOME": "/nonexistent"},
    {"HOME": ""}, {"XDG_CACHE_HOME": "x\udcff"}, {"XDG_CACHE_HOME": "/dev/null"}, {"PATH": ""},
    {"XDG_DATA_HOME": "/dev/null"}, {"PGPORT": "x"}, {"PGPASSFILE": "/dev/null"},
    {"FORCE_COLOR": "1"}, {"TMPDIR": "/nonexistent"}, {"PLIMSOLL_TRACEBACK": ""},
    {"PLIMSOLL_POSTGRES": "http://["}, {"PLIMSOLL_POSTGRES": "postgresql://"},
    {"LANG": "C", "LC_ALL": "C"},
)  # fmt: skip

HOSTS = b"""
[lab]
address = "127.0.0.1"
wait = "1s"

[[host]]
name = "one"
address = "127.0.0.2"
cores = [0]

[[host]]
name = "two"
address = "127.0.0.3"
threads = 2
max_connections = 1_000
"""
"""A file of hosts, which cases change."""

SHARES = {
    "audit": 38, "import": 20, "plan": 12, "load": 12, "line": 2, "judge": 2, "report": 1,
    "export": 2, "compare": 2, "history": 2, "run": 2, "check": 2, "install": 1, "new": 1,
    "list": 1, "machine": 1, "calibrate": 1, "completion": 1, "watch": 1, "host": 2,
    "outdated": 1,
}  # fmt: skip
"""How often each verb is called, in a hundred; those that take long, seldom."""


@dataclass(frozen=True)
class Case:
    """One call of the program.

    Attributes:
        number: Of which it was made.
        arguments: What is typed.
        environment: What is set.
        given: What comes in by a pipe.
    """

    number: int
    arguments: tuple[str, ...]
    environment: Mapping[str, str]
    given: bytes


@dataclass(frozen=True)
class Outcome:
    """What came of it.

    Attributes:
        code: The exit code.
        stdout: What it printed.
        stderr: What it said.
        duration_s: CPU time that it took.
    """

    code: int
    stdout: str
    stderr: str
    duration_s: float

    def wrong(self, case: Case) -> Iterator[str]:
        """What must not be."""
        if self.code == FAULT or self.code not in range(9):
            yield f"exit code {self.code}: {self.stderr[-800:]}"
        said = OUR_ESCAPES.sub("", self.stdout + self.stderr)
        if "Traceback" in said:
            yield "a traceback"
        if odd := [sign for sign in said if not (sign.isprintable() or sign in "\n\t \u00a0")]:
            yield f"it printed {odd[:5]!a}"
        if self.code >= 2 and not self.stderr.strip():
            yield f"exit code {self.code} without a word"
        is_json = "--json" in case.arguments and not {"-h", "--help"} & {*case.arguments}
        if self.code < 2 and is_json and self.stdout.strip():
            try:
                json.loads(self.stdout)
            except ValueError as error:
                yield f"no JSON: {error}"


class Lab:
    """A folder in which cases are made and run.

    Args:
        folder: Where; what lies in it is written over.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.published = sorted(
            path for path in (TESTS / "golden" / "published").rglob("*") if path.is_file()
        )
        rows = (TESTS / "golden" / "intake").iterdir()
        self.rows = sorted(
            path for path in rows if path.suffix in (".csv", ".tsv", ".jtl", ".json")
        )
        self.campaigns = sorted((CHECKOUT / "campaigns").glob("*.toml"))
        self.recording = folder / "recording"
        self.history = folder / "kept.jsonl"
        (folder / "frameworks").mkdir()
        self._prepare()

    def _prepare(self) -> None:
        """One small recording, judged, and a history of it, which cases change."""
        jtl = TESTS / "golden" / "intake" / "jmeter-5.6.csv"
        arguments = ("import", str(jtl), "--into", str(self.recording))
        kept = ("history", "add", str(self.recording), "--history", str(self.history))
        for one in (arguments, kept):
            found = self.run(Case(-1, one, {}, b""))
            assert found.code in (0, 1), found.stderr

    def case(self, number: int) -> Case:
        """The case of a number; makes its files."""
        luck = random.Random(number)
        (verb,) = luck.choices([*SHARES], [*SHARES.values()])
        arguments = [verb, *getattr(self, f"_{verb}")(luck)]
        arguments = [*arguments, *self._options(luck, verb)]
        if luck.random() < 0.05:
            luck.shuffle(arguments)
        return Case(
            number,
            tuple(arguments),
            luck.choice(ENVIRONMENTS),
            self._changed(luck, luck.choice(self.published)) if "-" in arguments else b"",
        )

    def run(self, case: Case) -> Outcome:
        """Runs a case in this process."""
        begin_s = time.process_time()
        before = os.environ.copy()
        with _nothing_started(), CliRunner().isolation(case.given, case.environment) as outputs:
            os.chdir(self.folder)
            code = ended(case.arguments)
            said = [output.getvalue().decode("utf-8", "replace") for output in outputs[:2]]
        os.environ.clear()
        os.environ.update(before)
        stdout, stderr = said
        return Outcome(code, stdout, stderr, time.process_time() - begin_s)

    def _options(self, luck: random.Random, verb: str) -> list[str]:
        """Some options, known to the verb or not, with values that fit or not."""
        known = option_names(verb)
        found: list[str] = []
        for _ in range(luck.choice((0, 0, 0, 0, 1, 1, 2, 4))):
            found.append(luck.choice(known))
            if luck.random() < 0.7:
                found.append(luck.choice(WORDS))
        return found

    def _changed(self, luck: random.Random, path: Path) -> bytes:
        """The content of a file, changed in some places."""
        content = path.read_bytes()
        for _ in range(luck.choice((0, 1, 1, 2, 3, 8))):
            content = _change(luck, content)
        return content

    def _file(self, luck: random.Random, source: Path) -> str:
        """A changed file, or a word in its place."""
        if luck.random() < 0.05:
            return luck.choice([*WORDS, str(self.folder)])
        name = luck.choice(("case", "case.csv", "a b'c", "s3:x", "ü"))
        (self.folder / name).write_bytes(self._changed(luck, source))
        return name

    def _audit(self, luck: random.Random) -> list[str]:
        if luck.random() < 0.2:
            return ["-"]
        return [self._file(luck, luck.choice([*self.published, *self.rows]))]

    def _import(self, luck: random.Random) -> list[str]:
        source = luck.choice(self.rows)
        tool = [luck.choice(("jmeter", "zabbix", "ab", "h2load", "k6", "oha", "vegeta"))]
        judged = [] if luck.random() < 0.1 else ["--no-judge"]
        named = tool if luck.random() < 0.3 else []
        shutil.rmtree(self.folder / "into", ignore_errors=True)
        return [*named, self._file(luck, source), "--into", "into", *judged]

    def _plan(self, luck: random.Random) -> list[str]:
        sources = [*self.campaigns, *sorted((CHECKOUT / "frameworks").glob("*/framework.toml"))]
        place = ["--frameworks", str(CHECKOUT / "frameworks")] if luck.random() < 0.9 else []
        hosts = self._hosts(luck) if luck.random() < 0.1 else []
        return [self._file(luck, luck.choice(sources)), *place, *hosts]

    def _run(self, luck: random.Random) -> list[str]:
        return [*self._plan(luck), "--into", "run"]

    def _load(self, luck: random.Random) -> list[str]:
        return [luck.choice((":1", ":1/a", *WORDS)) for _ in range(luck.choice((1, 1, 1, 2)))]

    _line = _load

    def _judge(self, luck: random.Random) -> list[str]:
        if luck.random() < 0.1:
            return [luck.choice(WORDS)]
        target = self.folder / "judged"
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(self.recording, target)
        files = sorted(path for path in target.rglob("*") if path.is_file())
        chosen = luck.choice(files)
        chosen.write_bytes(self._changed(luck, chosen))
        return ["judged"]

    _report = _judge
    _watch = _judge

    def _export(self, luck: random.Random) -> list[str]:
        return [*self._judge(luck), "--to", "out"]

    def _check(self, luck: random.Random) -> list[str]:
        return [luck.choice(WORDS), "--frameworks", "frameworks"]

    _install = _outdated = _check

    def _new(self, luck: random.Random) -> list[str]:
        shutil.rmtree(self.folder / "new", ignore_errors=True)
        like = luck.choice(("go", "python-http-server", *WORDS))
        return [luck.choice(("tiny", *WORDS)), "--like", like, "--frameworks", "new"]

    def _history(self, luck: random.Random) -> list[str]:
        if luck.random() < 0.3:
            return ["add", *self._judge(luck)]
        (self.folder / "changed.jsonl").write_bytes(self._changed(luck, self.history))
        return ["show", "--history", "changed.jsonl"]

    def _hosts(self, luck: random.Random) -> list[str]:
        """A changed file of hosts, as an option."""
        content = HOSTS
        for _ in range(luck.choice((0, 1, 1, 2, 3))):
            content = _change(luck, content)
        (self.folder / "hosts.toml").write_bytes(content)
        return ["--hosts", "hosts.toml"]

    def _host(self, luck: random.Random) -> list[str]:
        given = self._hosts(luck)
        serve = ["serve", "--join", luck.choice(WORDS), "--name", luck.choice(WORDS)]
        files = [text for option in ("--cert", "--key", "--ca") for text in (option, "hosts.toml")]
        made = ["certificates", f"certificates-{luck.random()}", *given]
        return luck.choice((made, ["check", *given], [*serve, *files]))

    def _compare(self, luck: random.Random) -> list[str]:
        commands = ["--a", luck.choice(WORDS), "--b", luck.choice(WORDS)]
        names = [luck.choice(WORDS), luck.choice(WORDS), "--frameworks", "frameworks"]
        return luck.choice((commands, names))

    def _list(self, luck: random.Random) -> list[str]:
        return [luck.choice(WORDS), "--frameworks", "frameworks"]

    def _machine(self, _luck: random.Random) -> list[str]:
        return []

    _calibrate = _machine

    def _completion(self, luck: random.Random) -> list[str]:
        return [luck.choice(WORDS)]


def option_names(verb: str) -> list[str]:
    """What a verb takes, and one that none takes."""
    from plimsoll.cli import plimsoll  # noqa: PLC0415

    command = plimsoll.get_command(click.Context(plimsoll), verb)
    assert command is not None
    verbs = [*command.commands.values()] if isinstance(command, click.Group) else [command]
    parameters = [parameter for each in verbs for parameter in each.params]
    known = [name for parameter in parameters for name in parameter.opts if name[0] == "-"]
    return [*known, "--help", "--nonsense"]


def _change(luck: random.Random, content: bytes) -> bytes:
    """A content with one change at random."""
    if luck.random() < 0.3:
        numbers = [*re.finditer(rb"\d+", content)] or [*re.finditer(rb"", content)]
        one = luck.choice(numbers)
        return content[: one.start()] + luck.choice(ODD) + content[one.end() :]
    if luck.random() < 0.2:
        lines = content.splitlines(keepends=True) or [b""]
        luck.shuffle(lines)
        return b"".join(lines)
    at = luck.randrange(len(content) + 1)
    length = luck.choice((0, 1, 2, 8, 64, len(content)))
    put = luck.choice((b"", luck.choice(ODD), bytes([luck.randrange(256)])))
    return content[:at] + put + content[at + length :]


@contextmanager
def _nothing_started() -> Generator[None]:
    """Whatever would start a load, a server or a build ends as where the engine is missing."""

    def refuse(*_: object, **__: object) -> None:
        raise DriverMissing("nothing is started here")

    with ExitStack() as stack:
        for place in (
            "plimsoll.conduct.trial.load",
            "plimsoll.calibration.calibration.calibrate",
            "plimsoll.cli.install._install",
            "plimsoll.install.registries.client.output_of",
            "plimsoll.conduct.campaign.conduct",
            "plimsoll.conduct.turns.conduct",
            "plimsoll.sampling.watching.seconds",
            "plimsoll.watch.server.serve",
            "plimsoll.databases.running.started",
            "plimsoll.hosts.lab.control.opened",
            "plimsoll.hosts.agent.membership.serve",
        ):
            stack.enter_context(patch(place, refuse))
        stack.enter_context(patch("plimsoll.watch.priority.lower_priority"))
        yield


def cases(numbers: Sequence[int]) -> Iterator[tuple[Case, Outcome, list[str]]]:
    """Runs cases; gives each with what is wrong with it."""
    here = Path.cwd()
    with tempfile.TemporaryDirectory(prefix="plimsoll-anything-") as folder:
        try:
            lab = Lab(Path(folder))
            for number in numbers:
                case = lab.case(number)
                found = lab.run(case)
                yield case, found, [*found.wrong(case)]
        finally:
            os.chdir(here)


def main() -> int:
    """Runs cases that were never run, for some time; gives the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--first", type=int, default=random.SystemRandom().randrange(10**6, 10**9))
    parser.add_argument("--case", type=int, help="run this one only")
    parser.add_argument("--count", type=int, default=10**9)
    parser.add_argument("--show", action="store_true", help="show what each case printed")
    asked = parser.parse_args()
    first, count = (asked.first, asked.count) if asked.case is None else (asked.case, 1)
    begin_s, number, faults = time.monotonic(), 0, 0
    for case, found, wrong in cases(range(first, first + count)):
        number += 1
        if wrong or asked.show:
            print(f"case {case.number}: {case.arguments!a} {dict(case.environment)!a}")
            print("  ", found.code, *wrong, sep="\n   ")
        if asked.show:
            print(found.stdout, found.stderr)
        faults += bool(wrong)
        if time.monotonic() - begin_s > asked.seconds:
            break
    print(f"{number} cases, {faults} of them wrong")
    return 1 if faults else 0


assert set(SHARES) == set(VERBS), "a verb is missing"

if __name__ == "__main__":
    raise SystemExit(main())
