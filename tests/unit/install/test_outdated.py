"""`outdated`: what stand-ins for the clients of registries print becomes newer versions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import fake_tools
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

PIP = json.dumps(
    {
        "version": "1",
        "install": [
            {"metadata": {"name": "Flask", "version": "3.1.4"}},
            {"metadata": {"name": "typing_extensions", "version": "4.16.0"}},
            {"metadata": {"name": "gunicorn", "version": "28.0.0"}},
        ],
    }
)

NPM = json.dumps(
    {
        "fastify": {"wanted": "5.1.0", "latest": "5.2.0", "dependent": "app"},
        "pg": {"current": "8.0.0", "wanted": "8.1.0", "latest": "8.1.0"},
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
        [("fastify", "5.1.0", "5.2.0")],
        id="npm",
    ),
    pytest.param({"package.json": "{}"}, ("npm", {}), [], id="npm, nothing newer"),
    pytest.param(
        {
            "requirements.txt": "flask==3.1.3  # the framework\ntyping-extensions==4.16.0\n",
            "requirements-gunicorn.txt": "-r requirements.txt\ngunicorn[http2]==27.0.1\n",
        },
        ("pip", {"prints": PIP}),
        [("flask", "3.1.3", "3.1.4"), ("gunicorn", "27.0.1", "28.0.0")],
        id="pip",
    ),
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
    assert [line.split() for line in lines] == [
        ["framework", "registry", "package", "version", "newest"],
        ["one", "npm", "fastify", "5.1.0", "5.2.0"],
    ]


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
