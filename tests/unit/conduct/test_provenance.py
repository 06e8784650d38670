"""What a trial runs: what changes its digest, and what does not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import small_servers
import toy_trials
from plimsoll.campaign.framework import Framework, Requirement
from plimsoll.conduct import provenance
from plimsoll.conduct.run_config import RunConfig
from plimsoll.install import applications, commands, install, sources
from plimsoll.provenance import Part, differences, short_id


@pytest.fixture
def subject(tmp_path: Path) -> Framework:
    return small_servers.framework(tmp_path / "small", "", version="echo small 1")


def changed(subject: Framework, other: Framework | None = None) -> tuple[str, ...]:
    """What differs from what the fixture ran at first."""
    return differences(_FIRST[subject.folder], applications.of(other or subject))


_FIRST: dict[Path, tuple[Part, ...]] = {}


@pytest.fixture(autouse=True)
def _first(subject: Framework) -> None:
    _FIRST[subject.folder] = applications.of(subject)


def test_what_is_the_same_has_the_same_id(subject: Framework) -> None:
    assert short_id(applications.of(subject)) == short_id(_FIRST[subject.folder])
    os.utime(subject.folder / "app.py", ns=(0, 0))
    assert changed(subject) == ()


def test_a_source_that_changes_comes_or_goes_is_named(subject: Framework) -> None:
    (subject.folder / "app.py").write_text("changed")
    (subject.folder / "lib").mkdir()
    (subject.folder / "lib" / "new.py").touch()
    assert changed(subject) == ("`app.py` changed", "`lib/new.py` was added")
    (subject.folder / "lib" / "new.py").unlink()
    (subject.folder / "app.py").unlink()
    assert changed(subject) == ("`app.py` was removed",)


def test_a_file_that_may_be_run_is_not_one_that_may_not(subject: Framework) -> None:
    (subject.folder / "app.py").chmod(0o755)
    assert changed(subject) == ("`app.py` changed",)


def test_a_source_behind_a_link_counts(subject: Framework, tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / "common.py").write_text("1")
    (subject.folder / "shared").symlink_to(tmp_path / "shared")
    (tmp_path / "shared" / "round").symlink_to(tmp_path / "shared")
    before = applications.of(subject)
    (tmp_path / "shared" / "common.py").write_text("2")
    assert differences(before, applications.of(subject)) == ("`shared/common.py` changed",)


@pytest.mark.parametrize(
    "name",
    [
        *("README.md", "NOTES.txt", "LICENSE", "framework.toml", "access.log", "app.py~"),
        *("__pycache__/app.pyc", "node_modules/a.js", ".git/HEAD", "tmp/pid"),
    ],
)
def test_what_is_neither_built_nor_run_does_not_count(subject: Framework, name: str) -> None:
    path = subject.folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("text")
    assert changed(subject) == ()


def test_documents_that_an_application_may_serve_do_count(subject: Framework) -> None:
    (subject.folder / "public").mkdir()
    (subject.folder / "public" / "README.md").touch()
    assert changed(subject) == ("`public/README.md` was added",)


def test_notes_and_what_the_contract_asks_do_not_count(subject: Framework) -> None:
    noted = replace(subject, notes=("a note",), site="https://example.org", start_timeout_s=1.0)
    assert changed(subject, noted) == ()


def test_commands_environment_and_version_count(subject: Framework) -> None:
    other = replace(subject, start="exec python3 other.py")
    assert "the start command changed" in changed(subject, other)
    assert changed(subject, replace(subject, build="make")) == ("the build command was added",)
    environment = replace(subject, environment={"MODE": "fast"})
    assert changed(subject, environment) == ("the variable `MODE` was added",)


def test_what_the_framework_says_of_its_version_counts(subject: Framework) -> None:
    assert changed(subject, replace(subject, version="echo small 2")) == (
        "framework small 1 → small 2",
    )


@pytest.mark.parametrize("name", ["GOGC", "RUBY_GC_HEAP_GROWTH_FACTOR", "MALLOC_TRIM_THRESHOLD_"])
def test_variables_that_tune_a_runtime_are_inherited_and_count(
    subject: Framework, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, "off")
    monkeypatch.setenv("HOME", "/elsewhere")
    # It does not reach a server of a framework.
    monkeypatch.setenv("WEB_CONCURRENCY", "7")
    assert changed(subject) == (f"the variable `{name}` was added",)


def test_secrets_are_recorded_in_no_form(subject: Framework) -> None:
    told = replace(
        subject,
        environment={"API_TOKEN": "hush-1", "DATABASE": "postgresql://me:hush-2@db/x"},
        start="exec env SECRET_KEY=hush-3 python3 app.py --password hush-4",
    )
    parts = json.dumps([part.value for part in applications.of(told)])
    assert "hush" not in parts
    assert "postgresql://hidden@db/x" in parts
    assert "python3 app.py" in parts


def test_the_program_that_a_build_made_counts(subject: Framework) -> None:
    made = replace(subject, build='cp app.py "$BUILD/app"', start='exec sh "$BUILD/app" $HOST')
    install.build(made)
    before = applications.of(made)
    named = {part.name for part in before if part.kind == "program"}
    assert {"app"} < named
    (commands.build_folder(made) / "app").write_text("another compiler")
    assert differences(before, applications.of(made)) == ("the program `app` changed",)


def test_versions_that_package_managers_installed_are_named(subject: Framework) -> None:
    build = commands.build_folder(subject)
    site = build / "venv" / "lib" / "python3.11" / "site-packages"
    (site / "bottle-0.13.2.dist-info").mkdir(parents=True)
    gems = build / "bundle" / "ruby" / "3.1.0" / "specifications"
    gems.mkdir(parents=True)
    (gems / "rack-session-2.0.0.gemspec").touch()
    modules = build / "node_modules"
    modules.mkdir()
    npm = {"packages": {"node_modules/@fastify/a": {"version": "1.0.0"}}}
    (modules / ".package-lock.json").write_text(json.dumps(npm))
    composer = build / "vendor" / "composer"
    composer.mkdir(parents=True)
    (composer / "installed.json").write_text(
        json.dumps({"packages": [{"name": "laravel/framework", "version": "v10.48.0"}]})
    )
    assert changed(subject) == (
        "@fastify/a was added",
        "bottle was added",
        "laravel/framework was added",
        "rack-session was added",
    )
    before = applications.of(subject)
    (site / "bottle-0.13.2.dist-info").rename(site / "bottle-0.13.4.dist-info")
    assert differences(before, applications.of(subject)) == ("bottle 0.13.2 → 0.13.4",)


@pytest.mark.parametrize("content", ["", "{", "[]", '"x"'])
def test_a_damaged_lock_file_says_nothing(subject: Framework, content: str) -> None:
    modules = commands.build_folder(subject) / "node_modules"
    modules.mkdir(parents=True)
    (modules / ".package-lock.json").write_text(content)
    assert changed(subject) == ()


def test_the_version_of_a_tool_counts_and_its_date_does_not(
    subject: Framework, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = tmp_path / "bin" / "runtime"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\necho runtime 1.2.3\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tool.parent}:{os.environ['PATH']}")
    needing = replace(subject, needs=(Requirement("command", "runtime"),))
    before = applications.of(needing)
    os.utime(tool, ns=(0, 0))
    assert differences(before, applications.of(needing)) == ()
    tool.write_text("#!/bin/sh\necho runtime 1.2.4\n")
    assert differences(before, applications.of(needing)) == ("runtime 1.2.3 → 1.2.4",)


@pytest.mark.parametrize(
    ("printed", "version"),
    [
        ("gcc (Debian 12.2.0-14+deb12u1) 12.2.0", "12.2.0-14+deb12u1"),
        ("\\033[1mApache Maven 3.8.7\\033[m", "3.8.7"),
        ("go version go1.26.8 linux/amd64", "1.26.8"),
        ("runtime 2.0.0~rc1.", "2.0.0~rc1"),
    ],
)
def test_the_version_of_a_tool_has_nothing_of_what_surrounds_it(
    subject: Framework,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    printed: str,
    version: str,
) -> None:
    tool = tmp_path / "bin" / "runtime"
    tool.parent.mkdir()
    tool.write_text(f"#!/bin/sh\nprintf '{printed}\\n'\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tool.parent}:{os.environ['PATH']}")
    needing = replace(subject, needs=(Requirement("command", "runtime"),))
    assert Part("version", "runtime", version) in applications.of(needing)


def test_variables_are_resolved_as_a_shell_does() -> None:
    given = {"A": "1", "EMPTY": ""}
    assert applications.resolved("x $A ${A} ${B:-2} ${EMPTY:-3} $C.", given) == "x 1 1 2 3 ."


def test_what_measures_is_named_when_it_differs() -> None:
    trial = toy_trials.trial()
    before = provenance.measurement(trial, RunConfig(server_cores=(0,), driver_cores=(1,)))
    assert {part.name for part in before} >= {"plimsoll", "engine", "endpoint", "load", "kernel"}
    now = provenance.measurement(
        replace(trial, load=toy_trials.load(hold_s=3.0)),
        RunConfig(server_cores=(0, 1), driver_cores=(1,), body_sample_ratio=1.0),
    )
    assert differences(before, now) == (
        "the load changed",
        "body_sample 0.01 → 1",
        "server cores 0 → 0,1",
    )


def test_turns_of_another_length_or_none_measure_otherwise() -> None:
    none, short, long = (
        provenance.measurement(toy_trials.trial(), RunConfig(turn_s=turn_s))
        for turn_s in (0.0, 0.25, 1.0)
    )
    shared = "shared servers, warm-up in pulses"
    assert differences(short, long) == (f"turns 0.25 s, {shared} → 1 s, {shared}",)
    assert differences(none, short) == ("turns was added",)
    assert differences(short, short) == ()


def test_servers_that_were_warmed_up_for_another_time_are_measured_otherwise() -> None:
    none, short, long = (
        replace(toy_trials.trial(), start_warm_up_s=length_s) for length_s in (0.0, 2.7, 10.0)
    )
    first, second, third = provenance.measurements([none, short, long], RunConfig())
    assert "start warm-up" not in {part.name for part in first}
    assert differences(first, second) == ("start warm-up was added",)
    assert differences(second, third) == ("start warm-up 2.7 s → 10 s",)


def test_another_repetition_is_measured_alike() -> None:
    first, second = (provenance.measurement(toy_trials.trial(n), RunConfig()) for n in (1, 2))
    assert differences(first, second) == ()


def test_of_a_process_that_runs_already_its_program_is_known() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        (program,) = applications.of_process(process.pid)
        assert program == applications.of_process(os.getpid())[0]
        assert program.name.startswith("python")
        process.communicate(b"\n")
    assert applications.of_process(process.pid) == ()


def test_a_file_that_cannot_be_read_is_no_fault(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "gone").symlink_to("nowhere")
    (part,) = sources.files(tmp_path / "folder")
    assert part.name == "gone"
