"""Debian packages: installed carefully, and nothing that they bring is started."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from plimsoll.errors import NotInstalled
from plimsoll.install import apt

INSTALL = "install -y --no-install-recommends"


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A host of its own: its programs, its settings and its policy lie below one folder."""
    for name in ("bin", "sbin", "etc/systemd/system/multi-user.target.wants", "etc/rc2.d"):
        (tmp_path / name).mkdir(parents=True)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    (tmp_path / "etc/systemd/system/multi-user.target.wants/mine.service").touch()
    (tmp_path / "etc/rc2.d/S01mine").touch()
    return tmp_path


def _program(path: Path, answer: str) -> None:
    path.write_text(f"#!/bin/sh\n{answer}\n")
    path.chmod(0o755)


def _apt(host: Path, answer: str) -> None:
    """An apt-get that writes its arguments to its output and then does as it is told."""
    _program(host / "bin" / "apt-get", f'shift 4\necho "$@"\n{answer}')


def _install(host: Path, *packages: str) -> tuple[str, ...]:
    return apt.install(packages, host / "log", host / "sbin" / "policy-rc.d", host / "etc")


def test_packages_are_installed_without_what_is_merely_recommended(host: Path) -> None:
    _apt(host, "exit 0")
    assert _install(host, "one", "two") == ()
    assert (host / "log").read_text() == f"{INSTALL} one two\n"


def test_nothing_is_removed_for_them(host: Path) -> None:
    _program(host / "bin" / "apt-get", 'echo "$@"')
    _install(host, "one")
    assert "APT::Get::Remove=false" in (host / "log").read_text().split()


def test_packages_that_cannot_be_installed_are_tried_with_fresh_lists_and_then_told(
    host: Path,
) -> None:
    _apt(host, '[ "$1" = update ]')
    with pytest.raises(NotInstalled, match="apt-get could not install `one`; the last lines"):
        _install(host, "one")
    assert (host / "log").read_text().splitlines() == [f"{INSTALL} one", "update", f"{INSTALL} one"]


def test_a_host_without_apt_is_told_too(host: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(NotInstalled, match="No such file"):
        _install(host, "one")


def test_services_that_the_packages_bring_are_disabled_and_named(host: Path) -> None:
    wants, scripts = host / "etc/systemd/system/multi-user.target.wants", host / "etc/rc2.d"
    _apt(host, f"touch {wants}/web8.2.service {wants}/clean.timer {scripts}/S02web8.2")
    _program(host / "bin" / "systemctl", f'rm "{wants}/$3"')
    _program(host / "bin" / "update-rc.d", f'rm "{scripts}/S02$1"')
    assert _install(host, "web") == ("clean", "web8.2")
    assert apt.enabled(host / "etc") == {"mine.service", "mine"}


def test_an_apache_that_was_there_keeps_its_modules(host: Path) -> None:
    modules = host / "etc/apache2/mods-enabled"
    modules.mkdir(parents=True)
    (modules / "event.load").symlink_to("../mods-available/event.load")
    _apt(host, f"rm {modules}/event.load; ln -s ../mods-available/prefork.load {modules}")
    _install(host, "php")
    assert [link.name for link in modules.iterdir()] == ["event.load"]
    assert (modules / "event.load").readlink() == Path("../mods-available/event.load")


def test_an_apache_that_comes_with_the_packages_is_left_as_it_comes(host: Path) -> None:
    modules = host / "etc/apache2/mods-enabled"
    _apt(host, f"mkdir -p {modules}; ln -s ../mods-available/event.load {modules}")
    _install(host, "apache2")
    assert [link.name for link in modules.iterdir()] == ["event.load"]


def test_no_service_may_start_while_packages_are_installed(host: Path) -> None:
    policy = host / "sbin" / "policy-rc.d"
    with apt.no_services((), policy):
        assert os.access(policy, os.X_OK)
        assert "exit 101" in policy.read_text()
    assert not policy.exists()


def test_a_policy_that_is_there_and_refuses_is_left_alone(host: Path) -> None:
    policy = host / "sbin" / "policy-rc.d"
    _program(policy, "exit 101 # mine")
    with apt.no_services(("web",), policy):
        assert "mine" in policy.read_text()
    assert "mine" in policy.read_text()


def test_a_policy_that_lets_services_start_keeps_packages_from_being_installed(host: Path) -> None:
    _apt(host, "exit 0")
    _program(host / "sbin" / "policy-rc.d", '[ "$1" = web ] || exit 101')
    with pytest.raises(NotInstalled, match="lets packages start their services") as caught:
        _install(host, "one", "web")
    assert "apt-get install" in caught.value.hint
    assert not (host / "log").exists()
    _install(host, "one")


def test_a_policy_left_by_a_run_that_was_killed_is_taken_away(host: Path) -> None:
    policy = host / "sbin" / "policy-rc.d"
    policy.write_text(apt._REFUSAL)
    with apt.no_services((), policy):
        pass
    assert not policy.exists()


def test_a_second_install_waits_so_that_the_first_does_not_take_its_policy_away(host: Path) -> None:
    policy = host / "sbin" / "policy-rc.d"
    seen: list[bool] = []

    def second() -> None:
        with apt.no_services((), policy):
            seen.append(policy.exists())

    thread = threading.Thread(target=second)
    with apt.no_services((), policy):
        thread.start()
        thread.join(0.1)
        assert seen == []
    thread.join()
    assert seen == [True]


def test_a_policy_that_cannot_be_written_is_told(host: Path) -> None:
    with pytest.raises(NotInstalled, match="cannot install packages: No such file"):
        apt.install(["one"], host / "log", host / "nowhere" / "policy-rc.d", host / "etc")
