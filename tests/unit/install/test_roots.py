"""Roots: made once by mmdebstrap, shared by what needs the same, and entered by every command."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import threading
from dataclasses import replace
from pathlib import Path

import pytest

import small_servers
from plimsoll.campaign.framework import Framework, Requirement
from plimsoll.cli.status import status
from plimsoll.errors import NotInstalled, RootFailed, StorageError
from plimsoll.install import (
    applications,
    commands,
    entering,
    install,
    mmdebstrap,
    requirements,
    roots,
)
from plimsoll.install.roots import DebianRoot
from plimsoll.provenance import Part

SUITE = "debian:trixie"

FAKE = f"""#!{sys.executable}
import os, pathlib, sys
folder = pathlib.Path(__file__).parent
with (folder / "calls").open("a") as calls:
    print(*sys.argv[1:], sep="\\t", file=calls)
suite, target = [word for word in sys.argv[1:] if not word.startswith("--")][:2]
state = pathlib.Path(target, "var/lib/dpkg")
state.mkdir(parents=True)
if "MMDEBSTRAP_SAYS" in os.environ:
    sys.exit(os.environ["MMDEBSTRAP_SAYS"])
(state / "status").write_text("".join(
    f"Package: {{name}}\\nStatus: install ok installed\\nMaintainer: a\\nArchitecture: all\\n"
    f"Version: {{os.environ.get('VERSION', '1.0')}}\\nDescription: a\\n\\n"
    for name in ("dash", "server")
))
"""
"""Stands for mmdebstrap: a root with two packages, or a failure that says `MMDEBSTRAP_SAYS`."""

APT = """#!/bin/sh
case $1 in
indextargets)
    echo 'http://mirror/debian/|bookworm|main|Debian'
    echo 'http://mirror/debian/|bookworm-updates|main|Debian'
    echo 'http://mirror/debian/|bookworm|contrib|Debian'
    echo 'http://mirror/debian/|bookworm-backports|main|Debian Backports'
    echo 'http://mirror/security/|bookworm-security|main|Debian'
    echo 'http://other/|nodistro|main|others'
    ;;
dump)
    echo 'Acquire::http::Proxy "http://proxy:3128";'
    echo 'Acquire::Check-Date "false";'
    echo 'Acquire::Languages "de";'
    echo 'APT::Architecture "amd64";'
    ;;
esac
"""
"""Stands for `apt-get` and `apt-config` of a host of Debian 12."""


@pytest.fixture
def bin_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A host of Debian 12 with mmdebstrap, where anybody may mount, with nothing in its cache.

    Nothing is mounted: commands in a root run on the host.
    """
    folder = tmp_path / "bin"
    folder.mkdir()
    for name, text in {"mmdebstrap": FAKE, "apt-get": APT, "apt-config": APT}.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    (tmp_path / "os-release").write_text("ID=debian\nVERSION_CODENAME=bookworm\n")
    monkeypatch.setattr(mmdebstrap, "_SYSTEM", tmp_path / "os-release")
    monkeypatch.setattr(mmdebstrap, "_KEYS", tmp_path / "no-keys")
    monkeypatch.setattr(entering, "PATH", f"{folder}:{entering.PATH}")
    monkeypatch.setattr(entering, "_ENTER", 'exec sh -c "$3"')
    monkeypatch.setattr(entering, "namespaces", tuple)
    monkeypatch.setattr(mmdebstrap, "_namespaces", tuple)
    monkeypatch.setattr(entering, "may_mount", lambda: True)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv(mmdebstrap.MIRROR, raising=False)
    return folder


@pytest.fixture
def subject(tmp_path: Path) -> Framework:
    needs = (Requirement("apt", "server"),)
    return small_servers.framework(tmp_path / "small", "", root=SUITE, needs=needs)


def _root(framework: Framework) -> DebianRoot:
    found = roots.of(framework)
    assert found is not None
    return found


def _calls(folder: Path) -> list[list[str]]:
    return [line.split("\t") for line in (folder / "calls").read_text().splitlines()]


def test_a_framework_without_one_runs_in_that_of_the_host(subject: Framework) -> None:
    assert roots.of(replace(subject, root="")) is None
    assert commands.shell(replace(subject, root=""), "true") == ("sh", "-c", "true")


def test_installing_makes_the_root_once(bin_folder: Path, subject: Framework) -> None:
    assert status(subject).word == "needs install"
    assert install.install(subject).sentence == "small: made a root of debian:trixie"
    assert status(subject).word == "ready"
    assert install.install(subject).sentence == "small: nothing to do"
    assert len(_calls(bin_folder)) == 1


def test_frameworks_with_the_same_packages_share_a_root(
    bin_folder: Path, subject: Framework
) -> None:
    server, dash = Requirement("apt", "server"), Requirement("apt", "dash")
    install.install(replace(subject, needs=(server, dash)))
    install.install(replace(subject, needs=(dash, server), variant="other"))
    assert len(_calls(bin_folder)) == 1
    assert status(subject).word == "needs install"
    assert status(replace(subject, needs=(server, dash), root="debian:sid")).word != "ready"


def test_it_has_what_was_asked_for_from_the_mirrors_of_the_host(
    bin_folder: Path, subject: Framework
) -> None:
    mmdebstrap.make(_root(subject))
    (call,) = _calls(bin_folder)
    assert "--include=server" in call
    assert [word for word in call if word.startswith("--aptopt")] == [
        '--aptopt=Acquire::http::Proxy "http://proxy:3128";',
        '--aptopt=Acquire::Check-Date "false";',
    ]
    assert call[-5:] == [
        "trixie",
        str(_root(subject).path),
        "deb http://mirror/debian/ trixie main",
        "deb http://mirror/debian/ trixie-updates main",
        "deb http://mirror/security/ trixie-security main",
    ]


def test_sid_has_no_updates(bin_folder: Path) -> None:
    assert mmdebstrap.sources("sid") == ("deb http://mirror/debian/ sid main",)


def test_another_mirror_may_be_named(bin_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(mmdebstrap.MIRROR, "http://near/debian")
    assert mmdebstrap.sources("trixie") == ("deb http://near/debian trixie main",)


def test_a_host_of_another_system_leaves_the_mirror_to_mmdebstrap(
    bin_folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "os-release").write_text("ID=ubuntu\nVERSION_CODENAME=noble\n")
    assert mmdebstrap.sources("trixie") == ()


@pytest.mark.parametrize(
    ("said", "kind", "hint"),
    [
        ("E: Could not resolve 'mirror'", RootFailed, mmdebstrap.MIRROR),
        ("E: Unable to locate package server", RootFailed, "correct `needs`"),
        ("tar: x: Cannot write: No space left on device", StorageError, "XDG_CACHE_HOME"),
        ("something else", RootFailed, "see the log"),
    ],
)
def test_a_root_that_cannot_be_made_says_why_and_what_to_do(
    bin_folder: Path,
    subject: Framework,
    monkeypatch: pytest.MonkeyPatch,
    said: str,
    kind: type[RootFailed | StorageError],
    hint: str,
) -> None:
    with monkeypatch.context() as patch:
        patch.setenv("MMDEBSTRAP_SAYS", said)
        with pytest.raises(kind, match=SUITE) as caught:
            install.install(subject)
    assert hint in caught.value.hint
    assert status(subject).word == "needs install"
    assert mmdebstrap.make(_root(subject)), "what the failure left does not stop the next try"


NO_SUITE = """\
I: running apt-get update...
Ign:1 http://deb.debian.org/debian {suite} InRelease
Err:4 http://deb.debian.org/debian {suite} Release
  404  Not Found [IP: 203.0.113.80 80]
Err:5 http://deb.debian.org/debian {suite}-updates Release
  404  Not Found [IP: 203.0.113.80 80]
Reading package lists...
E: The repository 'http://deb.debian.org/debian {suite} Release' does not have a Release file.
E: apt-get update --error-on=any -oAPT::Status-Fd=<$fd> -oDpkg::Use-Pty=false failed
E: mmdebstrap failed to run"""


@pytest.mark.parametrize(
    ("suite", "hint"),
    [
        ("trixei", "did you mean `debian:trixie`?"),
        ("bookwrom", "did you mean `debian:bookworm`?"),
        ("hoary", "write a suite that the mirror has"),
        ("forky", "write a suite that the mirror has"),
    ],
)
def test_a_suite_that_the_mirror_does_not_have_is_no_mirror_out_of_reach(
    bin_folder: Path, subject: Framework, monkeypatch: pytest.MonkeyPatch, suite: str, hint: str
) -> None:
    root = f"debian:{suite}"
    monkeypatch.setenv("MMDEBSTRAP_SAYS", NO_SUITE.format(suite=suite))
    with pytest.raises(
        RootFailed, match=f"http://deb.debian.org/debian has no suite `{suite}`"
    ) as caught:
        install.install(replace(subject, root=root))
    assert caught.value.message.startswith(f"`{root}` could not be made")
    assert caught.value.hint.startswith(hint)


def test_of_a_root_that_failed_its_log_alone_is_left(
    bin_folder: Path, subject: Framework, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MMDEBSTRAP_SAYS", "something else")
    with pytest.raises(RootFailed):
        install.install(subject)
    assert [file.name for file in _root(subject).folder.iterdir() if file.name != ".lock"] == [
        "root.log"
    ]


def test_without_mmdebstrap_its_package_is_what_is_missing(
    bin_folder: Path, subject: Framework, monkeypatch: pytest.MonkeyPatch
) -> None:
    (bin_folder / "mmdebstrap").unlink()
    monkeypatch.setattr(entering, "PATH", str(bin_folder))
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert status(subject).packages == ("mmdebstrap",)
    with pytest.raises(NotInstalled, match=r"the package `mmdebstrap` and a root of") as caught:
        install.install(subject)
    assert caught.value.hint.startswith("sudo apt-get install")


def test_who_may_not_mount_is_told_how_to(
    bin_folder: Path, subject: Framework, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(entering, "may_mount", lambda: False)
    here = status(subject)
    assert (here.word, here.remedy) == ("not available", requirements.NAMESPACES_REMEDY)
    with pytest.raises(NotInstalled, match="the right to enter"):
        install.install(subject)


def test_commands_enter_the_root_with_the_folders_that_they_use(
    bin_folder: Path, subject: Framework, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/nowhere")
    monkeypatch.setattr(entering, "_SHARED", ("/proc",))
    monkeypatch.setattr(tempfile, "gettempdir", lambda: "/nowhere")
    (tmp_path / "library").mkdir()
    monkeypatch.setenv("LIBRARY", str(tmp_path / "library"))
    subject = replace(subject, needs=(*subject.needs, Requirement("folder", "LIBRARY")))
    entered = commands.shell(subject, "serve $PORT")
    at = entered.index(str(_root(subject).path))
    assert entered[at + 1 : at + 3] == (str(subject.folder), "serve $PORT")
    mounted = entered[at + 3 :]
    own = (str(subject.folder), str(tmp_path / "library"))
    assert (mounted[0], mounted[-2:]) == ("/proc", own), "the build folder is below the folder"


@pytest.mark.parametrize("home", ["/", "/usr/sbin"])
def test_a_home_does_not_hide_the_system_of_the_root(
    subject: Framework, monkeypatch: pytest.MonkeyPatch, home: str
) -> None:
    monkeypatch.setattr(entering, "_SHARED", ("/proc",))
    monkeypatch.setattr(tempfile, "gettempdir", lambda: "/nowhere")
    monkeypatch.setenv("HOME", str(subject.folder.parent))
    assert str(subject.folder.parent) in commands.shell(subject, "serve")
    monkeypatch.setenv("HOME", home)
    assert home not in commands.shell(subject, "serve")


def test_a_user_without_a_home_enters_a_root(
    bin_folder: Path, subject: Framework, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", none)
    assert str(subject.folder) in commands.shell(subject, "serve $PORT")


def test_nothing_of_the_hosts_toolchains_is_in_the_environment(
    subject: Framework, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("JAVA_HOME", "LD_PRELOAD", "PYTHONPATH"):
        monkeypatch.setenv(name, "/of/the/host")
    monkeypatch.setenv("GOGC", "50")
    given = commands.environment(subject)
    assert "/of/the/host" not in given.values()
    assert (given["PATH"], given["PYTHON"]) == (entering.PATH, "/usr/bin/python3")
    parts = applications.of(subject)
    assert Part("variable", "GOGC", "50") in parts
    assert "LD_PRELOAD" not in {part.name for part in parts}


def test_what_ran_names_the_root_and_the_versions_of_its_packages(
    bin_folder: Path, subject: Framework
) -> None:
    subject = replace(subject, start='exec sh "$BUILD/app"', version="", build="true")
    install.install(subject)
    (commands.build_folder(subject) / "app").write_text("built")
    parts = applications.of(subject)
    assert Part("version", SUITE, _root(subject).digest) in parts
    assert Part("version", "server", "1.0") in parts
    programs = [part.name for part in parts if part.kind == "program"]
    assert programs == ["app"], "the shell of the host is not what runs"
    assert _root(subject).versions() == {"dash": "1.0", "server": "1.0"}


def test_a_root_with_newer_packages_is_built_in_again(
    bin_folder: Path, subject: Framework, monkeypatch: pytest.MonkeyPatch
) -> None:
    subject = replace(subject, build="true")
    install.install(subject)
    assert install.is_built(subject)
    shutil.rmtree(_root(subject).folder)
    monkeypatch.setenv("VERSION", "2.0")
    assert install.install(subject).built.done


def test_two_at_once_make_one_root(bin_folder: Path, subject: Framework) -> None:
    made: list[bool] = []
    threads = [
        threading.Thread(target=lambda: made.append(mmdebstrap.make(_root(subject))))
        for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(made) == [False, False, True]
