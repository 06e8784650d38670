"""`outdated`: what stand-ins for the clients of registries print becomes newer versions."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import fake_tools
from plimsoll import cli
from plimsoll.cli import plimsoll

MANIFEST = """\
name = "{name}"
language = "Any"
version = "echo 1"
start = "true"
endpoints = ["empty"]
needs = {needs}
"""

CARGO = """\
    Updating crates.io index
     Locking 1 package to latest compatible version
    Updating axum v0.8.1 -> v0.8.9
    Updating hidden v1.0.0 -> v1.0.1
   Unchanged rand v0.8.5 (available: v0.10.4, requires Rust 1.90)
    Updating tokio v1.1.0 -> v1.1.4 (available: v2.0.0)
note: to see how you depend on a package, run `cargo tree --invert <dep>@<ver>`
"""

MAVEN = """\
[INFO] Scanning for projects...
[INFO] The parent project has a newer version:
[INFO]   org.springframework.boot:spring-boot-starter-parent ... 3.5.16 -> 4.1.2
[INFO] The following dependencies in Dependencies have newer versions:
[INFO]   io.vertx:vertx-core .................................. 4.5.25 -> 5.2.3
[INFO]   org.example:a-name-that-leaves-no-space-for-its-versions-in-a-line ...
[INFO]                                                             1.0 -> 1.1.0
[INFO] BUILD SUCCESS
"""

POLICY = """\
nginx:
  Installed: 1.22.1-9
  Candidate: 1.22.1-9+deb12u2
  Version table:
 *** 1.22.1-9 500
php:
  Installed: (none)
  Candidate: 2:8.2+93
apache2:
  Installed: 2.4.6
  Candidate: 2.4.6
"""

PYPI = {
    "Flask": ["3.1.3", "3.1.4"],
    "gunicorn": ["27.0.1", "28.0.0"],
    "multidict": ["6.9.1", "7.2.1"],
    "preview": ["1.0", "2.0b1"],
    "sanic": ["25.3.0", "25.12.1"],
    "typing_extensions": ["4.15.0", "4.16.0"],
}
"""What the stand-in for pip finds, in order; it is asked by `>=` and by `==`."""

PIP = """\
import json, re, sys
from packaging.requirements import Requirement
index = json.loads({index!r})
names = {{re.sub("[-_.]+", "-", name).lower(): name for name in index}}
planned = []
for requirement in map(Requirement, sys.argv[sys.argv.index("-") + 1 :]):
    name = names.get(re.sub("[-_.]+", "-", requirement.name).lower())
    fits = [*requirement.specifier.filter(index.get(name, []))]
    if not fits:
        every = ", ".join(index.get(name, [])) or "none"
        unmet = "Could not find a version that satisfies the requirement"
        print(f"ERROR: {{unmet}} {{requirement}} (from versions: {{every}})", file=sys.stderr)
        print(f"ERROR: No matching distribution found for {{requirement}}", file=sys.stderr)
        sys.exit(1)
    planned.append({{"metadata": {{"name": name, "version": fits[-1]}}}})
print(json.dumps({{"version": "1", "install": planned}}))
"""

NPM = json.dumps(
    {
        "fastify": {"wanted": "5.1.0", "latest": "5.2.0", "dependent": "app"},
        "pg": {"current": "8.0.0", "wanted": "8.1.0", "latest": "8.1.0"},
        "next": {"wanted": "6.0.0-beta.2", "latest": "5.9.10"},
        "soon": {"wanted": "6.0.0-beta.2", "latest": "6.0.0"},
        "tenth": {"wanted": "1.9.0", "latest": "1.10.0"},
        "forked": {"wanted": "git", "latest": "1.0.0"},
    }
)

UNREACHABLE = json.dumps({"error": {"code": "ENOTFOUND", "summary": "no such host", "detail": ""}})

ASKED = [
    pytest.param(
        {"app/Cargo.toml": '[dependencies]\naxum = "0.8"\nrand = "0.8"\ntokio = "1"\n'},
        ("cargo", {"complains": CARGO}),
        [("axum", "0.8.1", "0.8.9"), ("rand", "0.8.5", "0.10.4"), ("tokio", "1.1.0", "2.0.0")],
        id="cargo",
    ),
    pytest.param(
        {"go.mod": "module a\n"},
        ("go", {"prints": "\n\ngithub.com/jackc/pgx/v5 v5.7.1 v5.7.6\n\n"}),
        [("github.com/jackc/pgx/v5", "v5.7.1", "v5.7.6")],
        id="go",
    ),
    pytest.param(
        {"pom.xml": "<project/>"},
        ("mvn", {"prints": MAVEN}),
        [
            ("io.vertx:vertx-core", "4.5.25", "5.2.3"),
            (
                "org.example:a-name-that-leaves-no-space-for-its-versions-in-a-line",
                "1.0",
                "1.1.0",
            ),
            ("org.springframework.boot:spring-boot-starter-parent", "3.5.16", "4.1.2"),
        ],
        id="maven",
    ),
    pytest.param(
        {"package.json": "{}"},
        ("npm", {"prints": NPM, "exits": 1}),
        [
            ("fastify", "5.1.0", "5.2.0"),
            ("soon", "6.0.0-beta.2", "6.0.0"),
            ("tenth", "1.9.0", "1.10.0"),
        ],
        id="npm",
    ),
    pytest.param({"package.json": "{}"}, ("npm", {}), [], id="npm, nothing newer"),
]


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the frameworks; only the stand-ins are on the PATH."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    return tmp_path / "frameworks"


def framework(root: Path, name: str, files: dict[str, str], needs: str = "[]") -> None:
    for place, content in {
        "framework.toml": MANIFEST.format(name=name, needs=needs),
        **files,
    }.items():
        path = root / name / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)


def client(root: Path, name: str, **does: Any) -> None:
    fake_tools.installed(root.parent / "bin", name, **does)


def pip(root: Path, index: dict[str, list[str]] = PYPI) -> None:
    """A stand-in for pip, which finds the packages of an index."""
    program = root.parent / "bin" / "pip"
    program.write_text(f"#!{sys.executable}\n" + PIP.format(index=json.dumps(index)))
    program.chmod(0o755)


def outdated(root: Path, *arguments: str) -> Result:
    return CliRunner().invoke(
        plimsoll, ["outdated", "--frameworks", str(root), *arguments], standalone_mode=False
    )


def listed(ended: Result) -> dict[str, list[dict[str, str]]]:
    return json.loads(ended.stdout)


@pytest.mark.parametrize(("files", "stand_in", "expected"), ASKED)
def test_what_a_client_says_becomes_newer_versions(
    root: Path,
    files: dict[str, str],
    stand_in: tuple[str, dict[str, Any]],
    expected: list[tuple[str, str, str]],
) -> None:
    framework(root, "one", files)
    name, does = stand_in
    client(root, name, **does)
    ended = outdated(root, "--json")
    assert ended.return_value == 0
    found = [(one["package"], one["version"], one["newest"]) for one in listed(ended)["outdated"]]
    assert found == expected


def test_pins_of_all_files_are_compared_with_pypi(root: Path) -> None:
    files = {
        "requirements.txt": "flask==3.1.3  # the framework\ntyping-extensions==4.16\nsanic==25.*\n",
        "requirements-gunicorn.txt": "-r requirements.txt\ngunicorn[http2]==27.0.1\n",
    }
    framework(root, "one", files)
    pip(root)
    found = listed(outdated(root, "--json"))
    assert [(one["package"], one["version"], one["newest"]) for one in found["outdated"]] == [
        ("flask", "3.1.3", "3.1.4"),
        ("gunicorn", "27.0.1", "28.0.0"),
    ]
    assert found["missing"] == found["unavailable"] == []


def test_a_pin_that_pypi_does_not_have_is_not_older_than_what_it_has(root: Path) -> None:
    pins = "sanic==99.1.2\nmultidict==6.9.2\npreview==2.0b1\nflask==3.1.3\n"
    framework(root, "one", {"requirements.txt": pins})
    pip(root)
    found = listed(outdated(root, "--json"))
    assert [(one["package"], one["newest"]) for one in found["outdated"]] == [
        ("flask", "3.1.4"),
        ("multidict", "7.2.1"),
    ]
    assert found["missing"] == [
        {"framework": "one", "registry": "PyPI", "package": "multidict", "version": "6.9.2"},
        {"framework": "one", "registry": "PyPI", "package": "sanic", "version": "99.1.2"},
    ]
    shown = outdated(root)
    assert "one: PyPI has no sanic 99.1.2\n" in shown.stdout
    assert "one: PyPI has 2 newer versions, and lacks 2 pinned versions\n" in shown.stderr


def test_a_network_that_is_away_makes_no_pin_missing(root: Path) -> None:
    framework(root, "one", {"requirements.txt": "flask==3.1.3\n"})
    pip(root, {})
    ended = outdated(root, "--json")
    assert ended.return_value == 4
    found = listed(ended)
    assert found["missing"] == found["outdated"] == []
    assert "No matching distribution found for flask" in found["unavailable"][0]["why"]


def test_a_pin_that_npm_leaves_out_of_its_report_is_missing(root: Path) -> None:
    pins = {"fastify": "5.1.0", "gone": "9.9.9", "range": "^1.0.0", "kept": "1.0.0"}
    files = {"package.json": json.dumps({"dependencies": pins}), "node_modules/kept/index.js": ""}
    framework(root, "one", files)
    client(root, "npm", prints=NPM, exits=1)
    found = listed(outdated(root, "--json"))
    assert [(one["package"], one["version"]) for one in found["missing"]] == [("gone", "9.9.9")]


@pytest.mark.parametrize(
    ("manifest", "name", "complaint", "why"),
    [
        (
            "Cargo.toml",
            "cargo",
            'error: no `log = "=99.1.2"`\ncandidates: 0.4\n    log = { version = "0.4.0-rc.1" }\n',
            'error: no `log = "=99.1.2"`',
        ),
        (
            "go.mod",
            "go",
            "go: a@v9: 404\ngo: a@v9: missing\n\tgo mod download a\n",
            "go: a@v9: 404",
        ),
        ("pom.xml", "mvn", "[INFO] a\n[ERROR] no b\n[ERROR] [Help 1] c\n", "[ERROR] no b"),
    ],
)
def test_the_error_of_a_client_is_shown_and_not_the_advice_behind_it(
    root: Path, manifest: str, name: str, complaint: str, why: str
) -> None:
    framework(root, "one", {manifest: ""})
    client(root, name, complains=complaint, exits=1)
    assert listed(outdated(root, "--json"))["unavailable"][0]["why"] == f"`{name}` failed: {why}"


def test_debian_packages_are_those_that_variants_need_and_have(root: Path) -> None:
    needs = '[{ kind = "apt", name = "nginx" }, { kind = "apt", name = "php" }]'
    variant = '\n[variant.other]\nneeds = [{ kind = "apt", name = "apache2" }]\n'
    framework(root, "one", {}, needs + variant)
    client(root, "apt-cache", prints=POLICY)
    assert listed(outdated(root, "--json"))["outdated"] == [
        {
            "framework": "one",
            "registry": "Debian",
            "package": "nginx",
            "version": "1.22.1-9",
            "newest": "1.22.1-9+deb12u2",
        }
    ]
    assert fake_tools.arguments(root / "one") == [["policy", "nginx", "php", "apache2"]]


def test_the_table_has_a_line_for_each_package(root: Path) -> None:
    framework(root, "one", {"package.json": "{}"})
    client(root, "npm", prints=NPM, exits=1)
    lines = outdated(root).stdout.splitlines()
    assert [line.split() for line in lines[:2]] == [
        ["framework", "registry", "package", "version", "newest"],
        ["one", "npm", "fastify", "5.1.0", "5.2.0"],
    ]
    assert lines[-1].startswith("Each newest version is that of its package alone;")


def test_nothing_newer_is_said(root: Path) -> None:
    framework(root, "one", {"package.json": "{}"})
    client(root, "npm")
    assert outdated(root).stdout == "no newer versions\n"


@pytest.mark.parametrize(
    ("does", "why"),
    [
        ({"prints": UNREACHABLE, "exits": 1}, "`npm` failed: no such host"),
        ({"complains": "one\nnpm error two\n", "exits": 7}, "`npm` failed: npm error two"),
        ({"prints": "<html>", "exits": 1}, "`npm` failed: <html>"),
        (None, "`npm` cannot be run: No such file or directory"),
    ],
)
def test_a_registry_that_cannot_be_asked_costs_its_own_answer_only(
    root: Path, does: dict[str, Any] | None, why: str
) -> None:
    framework(root, "one", {"package.json": "{}"})
    framework(root, "two", {"go.mod": "module a\n"})
    if does is not None:
        client(root, "npm", **does)
    client(root, "go", prints="a v1 v2\n")
    ended = outdated(root, "--json")
    assert ended.return_value == 4
    found = listed(ended)
    assert [one["package"] for one in found["outdated"]] == ["a"]
    (left,) = found["unavailable"]
    assert (left["framework"], left["registry"], left["why"]) == ("one", "npm", why)
    assert left["remedy"]
    assert f"error: npm for `one`: {why}" in ended.stderr


def test_a_report_of_pip_that_cannot_be_read_is_an_error(root: Path) -> None:
    framework(root, "one", {"requirements.txt": "flask==1.0\n"})
    client(root, "pip", prints="no report")
    ended = outdated(root)
    assert ended.return_value == 4
    assert "its report cannot be read" in ended.stderr


def test_what_builds_left_is_no_manifest(root: Path) -> None:
    framework(root, "one", {".build/package.json": "{}", "node_modules/a/package.json": "{}"})
    ended = outdated(root)
    assert (ended.return_value, ended.stdout) == (0, "no newer versions\n")


def test_a_signal_ends_the_clients_that_are_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lasts_s = 60
    folder = tmp_path / "frameworks" / "one"
    folder.mkdir(parents=True)
    (folder / "framework.toml").write_text(MANIFEST.format(name="one", needs="[]"))
    (folder / "package.json").write_text("{}")
    client = tmp_path / "bin" / "npm"
    client.parent.mkdir()
    client.write_text(f"#!/bin/sh\necho begun > ran\nsleep {lasts_s}\n")
    client.chmod(0o755)
    monkeypatch.setenv("PATH", f"{client.parent}:{os.environ['PATH']}")

    def send() -> None:
        while not (folder / "ran").exists():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=send, daemon=True).start()
    begun_s = time.monotonic()
    assert cli.ended(["outdated", "--frameworks", str(tmp_path / "frameworks")]) == 130
    assert time.monotonic() - begun_s < lasts_s / 2
