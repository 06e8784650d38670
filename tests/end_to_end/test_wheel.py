"""A wheel, installed into an environment of its own, used from an empty folder."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import venv
import zipfile
from collections.abc import Iterator
from email import message_from_string
from importlib import metadata
from pathlib import Path
from urllib.request import urlopen

import pytest
from packaging.requirements import Requirement

from command_line import CHECKOUT, Ran, Running

BUILT = "PLIMSOLL_WHEEL"
"""Variable that names a wheel to be tested; without it, one is built."""

OWN = ("frameworks", "tools", "campaigns", "docs/published")

pytestmark = [pytest.mark.long, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel that is named, or one of this checkout."""
    if named := os.environ.get(BUILT):
        return Path(named).resolve()
    if shutil.which("cargo") is None:
        pytest.skip("Rust is needed to build a wheel, and `cargo` is not on the PATH")
    into = tmp_path_factory.mktemp("dist")
    build = (sys.executable, "-m", "maturin", "build", "--release", "--auditwheel", "skip")
    _run(*build, "--interpreter", sys.executable, "--out", str(into))
    (built,) = into.glob("*.whl")
    return built


@pytest.fixture(
    scope="module", params=["linked", pytest.param("installed", marks=pytest.mark.thorough)]
)
def environment(
    request: pytest.FixtureRequest, wheel: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A fresh environment with the wheel, and with what it declares to depend on and no more.

    A release installs these from the index, as users do; a change links those of this environment.
    """
    folder = tmp_path_factory.mktemp("fresh") / "venv"
    venv.create(folder, symlinks=True)
    pip = (sys.executable, "-m", "pip", "--python", str(folder / "bin" / "python"))
    install = (*pip, "install", "--quiet", "--disable-pip-version-check")
    if request.param == "installed":
        _run(*install, str(wheel))
        return folder
    _run(*install, "--no-index", "--no-deps", str(wheel))
    (packages,) = folder.glob("lib/python*/site-packages")
    for name in declared(wheel):
        link(metadata.distribution(name), packages)
    return folder


def declared(wheel: Path) -> set[str]:
    """What a wheel requires without extras, and what that requires in turn."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (one for one in archive.namelist() if one.endswith(".dist-info/METADATA"))
        text = archive.read(name).decode()
    found: set[str] = set()
    left = [Requirement(one) for one in message_from_string(text).get_all("Requires-Dist", [])]
    while left:
        one = left.pop()
        if one.marker is not None and not one.marker.evaluate({"extra": ""}):
            continue
        there = metadata.distribution(one.name)
        assert one.specifier.contains(there.version, prereleases=True), f"{one}, {there.version}"
        if one.name not in found:
            found.add(one.name)
            left += map(Requirement, there.requires or [])
    return found


def link(distribution: metadata.Distribution, into: Path) -> None:
    """Links the modules and the metadata of a distribution into an environment."""
    for top in {file.parts[0] for file in distribution.files or []} - {"..", "__pycache__"}:
        if not (into / top).exists():
            (into / top).symlink_to(Path(str(distribution.locate_file(top))).resolve())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty folder."""
    (tmp_path / "empty").mkdir()
    return tmp_path / "empty"


@pytest.fixture
def variables(tmp_path: Path) -> dict[str, str]:
    """The folder of a user who never ran Plimsoll."""
    return {"PLIMSOLL_HOME": str(tmp_path / "home")}


@pytest.fixture
def server(environment: Path, folder: Path) -> Iterator[str]:
    """Address and port of the wheel's own reference server."""
    command = (environment / "bin" / "python", "-m", "plimsoll.reference", "--port", "0")
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        yield json.loads(running.stdout.readline())["address"]
        running.terminate()


def _run(*command: str) -> None:
    ran = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def typed(environment: Path, folder: Path, variables: dict[str, str], *words: str) -> Ran:
    program = str(environment / "bin" / "plimsoll")
    return Running((program, *words), folder, variables).end()


def files(folder: Path) -> set[str]:
    return {
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def test_the_wheel_holds_what_git_does_not_ignore_and_nothing_else(wheel: Path) -> None:
    tracked = ("git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *OWN)
    listed = subprocess.run(tracked, cwd=CHECKOUT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip(f"git does not list the files of this checkout: {listed.stderr.strip()}")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    inside = "plimsoll/bundled/"
    bundled = {name.removeprefix(inside) for name in names if name.startswith(inside)}
    assert bundled == set(listed.stdout.splitlines())
    tops = {name.partition("/")[0] for name in names}
    assert {top.partition("-")[0] for top in tops} == {"plimsoll", "plimsoll_bench"}


def test_the_environment_has_nothing_that_is_not_declared(environment: Path) -> None:
    code = "import pytest"
    ran = subprocess.run(
        [environment / "bin" / "python", "-c", code], capture_output=True, check=False
    )
    assert b"No module named 'pytest'" in ran.stderr


def test_load_is_put_on_a_server(
    environment: Path, folder: Path, variables: dict[str, str], server: str
) -> None:
    asked = ("load", f"http://{server}/2048", "-c", "4", "-d", "1s", "--json")
    ran = typed(environment, folder, variables, *asked)
    assert ran.code in (0, 1), ran.stderr
    assert json.loads(ran.stdout)["summary"]["completed"] > 0
    assert not Path(variables["PLIMSOLL_HOME"]).exists()


def test_a_campaign_runs_by_its_name_and_writes_nothing_into_the_environment(
    environment: Path, folder: Path, variables: dict[str, str]
) -> None:
    before = files(environment)
    listed = typed(environment, folder, variables, "list", "--json")
    assert listed.code == 0, listed.stderr
    assert listed.stderr.count(variables["PLIMSOLL_HOME"]) == 1
    there = json.loads(listed.stdout)
    assert "quick" in there["campaigns"]
    assert {"reference", "go", "django"} <= {one["framework"] for one in there["frameworks"]}
    assert [one["name"] for one in there["tools"]] == ["jmeter", "swift"]

    two = "frameworks=reference,python-http-server"
    cut = ("--set", two, "--set", "endpoints=2048", "--set", "repetitions=1")
    ran = typed(environment, folder, variables, "run", "quick", *cut, "--set", "scale_time=0.05")
    assert ran.code in (0, 1), ran.stderr
    assert "note: frameworks, tools" not in ran.stderr
    trials = [
        json.loads(file.read_text()) for file in sorted(folder.rglob("results/quick/**/trial.json"))
    ]
    assert [one["ending"]["kind"] for one in trials] == ["completed", "completed"]
    assert (folder / "results" / "quick" / "report" / "index.html").is_file()
    assert watched(environment, folder, variables) == "2/2 · quick · Plimsoll"
    assert set(queried(environment, folder)) == {"reference", "python-http-server"}
    assert files(environment) == before


def watched(environment: Path, folder: Path, variables: dict[str, str]) -> str:
    """The title of the live page of the finished run."""
    words = ("watch", "results/quick", "--port", "0")
    running = Running((str(environment / "bin" / "plimsoll"), *words), folder, variables)
    running.wait_until_it_says("Ctrl-C ends it")
    with urlopen(running.stdout.strip(), timeout=60) as page:
        text = page.read().decode()
    running.press_ctrl_c()
    assert running.end().code == 0
    (title,) = re.findall("<title>(.*)</title>", text)
    return title


def queried(environment: Path, folder: Path) -> list[str]:
    """Frameworks by the first query of `docs/analysis.md`, in the environment of the wheel."""
    page = (CHECKOUT / "docs" / "analysis.md").read_text(encoding="utf-8")
    query = page.partition("```sql\n")[2].partition("```")[0]
    code = f"import duckdb, json; print(json.dumps(duckdb.sql({query!r}).fetchall()))"
    program = (environment / "bin" / "python", "-c", code)
    ran = subprocess.run(program, cwd=folder, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return [row[0] for row in json.loads(ran.stdout)]


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("run", "quik"), "did you mean `quick`?"),
        (("plan", "campaigns/quick.toml"), "did you mean `quick`?"),
        (("check", "goo"), "did you mean `go`?"),
    ],
)
def test_mistakes_are_named_with_their_remedy(
    environment: Path,
    folder: Path,
    variables: dict[str, str],
    words: tuple[str, ...],
    hint: str,
) -> None:
    ran = typed(environment, folder, variables, *words)
    assert ran.code == 2
    assert hint in ran.stderr
