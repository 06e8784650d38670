"""What a framework needs, and whether it is here."""

from __future__ import annotations

from pathlib import Path

import pytest

import small_servers
from plimsoll.campaign.framework import Requirement
from plimsoll.install import commands, requirements


def _jdk(folder: Path, version: str, *, compiler: bool = True) -> Path:
    (folder / "bin").mkdir(parents=True)
    (folder / "release").write_text(f'IMPLEMENTOR="x"\nJAVA_VERSION="{version}"\n')
    program = folder / "bin" / ("javac" if compiler else "java")
    program.touch(mode=0o755)
    return folder


@pytest.mark.parametrize(
    ("version", "major"), [("17.0.15", 17), ("25", 25), ("1.8.0_392", 8), ("21-ea", 21)]
)
def test_the_major_version_of_a_jdk_is_read(tmp_path: Path, version: str, major: int) -> None:
    assert requirements.java_version(_jdk(tmp_path / "jdk", version)) == major


def test_a_runtime_without_compiler_is_no_jdk(tmp_path: Path) -> None:
    assert requirements.java_version(_jdk(tmp_path / "jre", "17", compiler=False)) == 0
    assert requirements.java_version(tmp_path / "none") == 0


def test_java_home_comes_first_then_the_path_then_the_oldest_that_will_do(tmp_path: Path) -> None:
    jvm = tmp_path / "jvm"
    old, new = _jdk(jvm / "b-old", "17.0.1"), _jdk(jvm / "a-new", "25.0.1")
    chosen, on_path = _jdk(tmp_path / "chosen", "21"), _jdk(tmp_path / "on-path", "22")
    (jvm / "default").symlink_to(old)
    path = {"PATH": str(on_path / "bin")}
    home = {**path, "JAVA_HOME": str(chosen)}
    assert requirements.java_home(17, home, jvm) == chosen
    assert requirements.java_home(22, home, jvm) == on_path
    assert requirements.java_home(23, home, jvm) == new
    assert requirements.java_home(17, {"PATH": ""}, jvm) == old
    assert requirements.java_home(26, home, jvm) is None


def test_what_is_not_here_is_listed_in_order(tmp_path: Path) -> None:
    needs = (
        Requirement("command", "no-such-program"),
        Requirement("command", "sh"),
        Requirement("apt", "no-such-package"),
        Requirement("java", "99"),
    )
    subject = small_servers.framework(tmp_path, "", needs=needs)
    assert requirements.missing(subject) == [needs[0], needs[2], needs[3]]


def test_programs_are_looked_for_where_the_framework_says(tmp_path: Path) -> None:
    (tmp_path / "tool").touch(mode=0o755)
    need = Requirement("command", "tool")
    subject = small_servers.framework(
        tmp_path, "", needs=(need,), environment={"PATH": str(tmp_path)}
    )
    assert requirements.missing(subject) == []


def test_a_host_without_dpkg_has_no_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert not requirements.package_installed("bash")


def _tool(folder: Path, says: str) -> dict[str, str]:
    program = folder / "tool"
    program.write_text(f"#!/bin/sh\necho '{says}'\n")
    program.chmod(0o755)
    return {"PATH": str(folder)}


@pytest.mark.parametrize(
    ("says", "met"),
    [
        ("Swift version 5.10.1 (swift-5.10.1-RELEASE)", True),
        ("tool 5.9", True),
        ("tool 5.8.9", False),
        ("tool 6.0.3", False),
        ("tool 6.0", False),
        ("nothing", False),
    ],
)
def test_a_program_may_be_too_old_or_too_new(tmp_path: Path, says: str, met: bool) -> None:
    need = Requirement("command", "tool", least="5.9", below="6.0")
    subject = small_servers.framework(tmp_path / "small", "", needs=(need,))
    assert requirements.missing(subject, _tool(tmp_path, says)) == ([] if met else [need])
    assert requirements.spoken(need) == "`tool` 5.9 or newer and older than 6.0"


def test_a_folder_is_named_by_a_variable(tmp_path: Path) -> None:
    need = Requirement("folder", "PLACE")
    subject = small_servers.framework(tmp_path / "small", "", needs=(need,))
    for environment in ({}, {"PLACE": ""}, {"PLACE": str(tmp_path / "none")}):
        assert requirements.missing(subject, environment) == [need]
    assert requirements.missing(subject, {"PLACE": str(tmp_path)}) == []
    assert requirements.spoken(need) == "a folder that `PLACE` names"


def test_a_variable_names_the_folder_of_a_program_before_the_path(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new" / "bin"
    old.mkdir()
    new.mkdir(parents=True)
    environment = _tool(old, "tool 5.9")
    _tool(new, "tool 6.1")
    need = Requirement("command", "tool", least="6.0", variable="TOOL")
    subject = small_servers.framework(tmp_path / "small", "", needs=(need,))
    assert requirements.missing(subject, environment) == [need]
    assert requirements.missing(subject, {**environment, "TOOL": str(new.parent)}) == []
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TOOL", str(new.parent))
        assert commands.environment(subject)["PATH"].startswith(f"{new}:")
