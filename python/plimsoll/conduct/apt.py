"""Debian packages, installed without anything being started, now or when the host starts."""

from __future__ import annotations

import fcntl
import os
import subprocess
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll.conduct.logs import quoted
from plimsoll.errors import NotInstalled

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence

POLICY = Path("/usr/sbin/policy-rc.d")
"""The program Debian asks whether a service may start while packages are installed."""

SETTINGS = Path("/etc")
"""Where the host's settings are, among them which services it starts by itself."""

_REFUSAL = "#!/bin/sh\n# Plimsoll installs packages, of which none may start.\nexit 101\n"
_FORBIDDEN = 101
_UNIT_TYPES = (".service", ".socket", ".timer", ".path", ".target", ".mount")
_CAREFULLY = ("-o", "DPkg::Lock::Timeout=120", "-o", "APT::Get::Remove=false")
_QUIETLY = {"DEBIAN_FRONTEND": "noninteractive", "NEEDRESTART_SUSPEND": "1"}


def install_command(packages: Sequence[str]) -> tuple[str, ...]:
    """Program and arguments that install packages and nothing that they merely recommend."""
    options = ("-y", "--no-install-recommends")
    return ("apt-get", "install", *options, *packages)


def install(
    packages: Sequence[str], log: Path, policy: Path = POLICY, settings: Path = SETTINGS
) -> tuple[str, ...]:
    """Installs packages; needs root.

    Nothing is removed for them. When it fails the lists of packages are fetched and it is tried
    once more. What Debian has enabled by installing them is disabled again, and an Apache that the
    host had before has the modules that it had.

    Args:
        packages: Their names.
        log: File that the output is added to.
        policy: The host's policy on services.
        settings: The host's settings.

    Returns:
        The services and timers that they brought: none was started, and none will be.

    Raises:
        NotInstalled: apt-get failed twice, or the host's own policy lets services start.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    try:
        with no_services(packages, policy):
            before, links = enabled(settings), _apache_links(settings)
            done = _install(packages, log)
            brought = enabled(settings) - before
            _disable(brought, log)
            _restore(links, settings)
    except OSError as error:
        message = f"packages cannot be installed: {error.strerror} ({error.filename})"
        raise NotInstalled(message, _by_hand(packages)) from error
    if not done:
        names = " ".join(packages)
        hint = f"the whole log is `{log}`"
        raise NotInstalled(f"apt-get could not install `{names}`; {quoted(log)}", hint)
    return tuple(sorted({name.removesuffix(_unit_type(name)) for name in brought}))


@contextmanager
def no_services(packages: Sequence[str] = (), policy: Path = POLICY) -> Generator[None]:
    """Keeps packages from starting the services they bring, as long as the block runs.

    A policy that the host already has is left alone. Only one process at a time is in such a block.

    Args:
        packages: What the host's own policy is asked about.
        policy: The host's policy on services.

    Raises:
        NotInstalled: The host's own policy lets services start.

    Source:
        invoke-rc.d(8), policy-rc.d.
    """
    with _alone(policy.parent):
        if policy.exists() and policy.read_text("utf-8", "replace") != _REFUSAL:
            _require_refusal(packages, policy)
            yield
            return
        policy.write_text(_REFUSAL)
        policy.chmod(0o755)
        try:
            yield
        finally:
            policy.unlink(missing_ok=True)


def enabled(settings: Path = SETTINGS) -> frozenset[str]:
    """What the host starts by itself: units of systemd, and scripts of `init.d`.

    Source:
        systemd.unit(5), "Unit File Load Path"; update-rc.d(8).
    """
    units = (link.name for link in settings.glob("systemd/system/*.wants/*"))
    scripts = (link.name[3:] for link in settings.glob("rc[2-5].d/S*"))
    return frozenset((*units, *scripts))


def _install(packages: Sequence[str], log: Path) -> bool:
    """Says whether the packages are installed; lists that are out of date are fetched."""
    wanted = install_command(packages)
    return _apt(wanted, log) or (_apt(("apt-get", "update"), log) and _apt(wanted, log))


def _disable(names: frozenset[str], log: Path) -> None:
    """Keeps units and scripts from being started with the host."""
    for name in sorted(names):
        if _unit_type(name):
            _run(("systemctl", "--no-reload", "disable", name), log)
        else:
            _run(("update-rc.d", name, "disable"), log)


def _unit_type(name: str) -> str:
    """How a unit's name ends, `.service`; empty for a script, which may be called `php8.2-fpm`."""
    return next((ending for ending in _UNIT_TYPES if name.endswith(ending)), "")


def _apache_links(settings: Path) -> dict[Path, Path]:
    """Which modules and sites the host's own Apache has; none as long as it has no Apache.

    Source:
        a2enmod(8).
    """
    return {
        link: link.readlink() for link in settings.glob("apache2/*-enabled/*") if link.is_symlink()
    }


def _restore(links: Mapping[Path, Path], settings: Path) -> None:
    """Gives an Apache that was there before its modules back; packages enable and disable some."""
    if not links:
        return
    after = _apache_links(settings)
    for added in after.keys() - links.keys():
        added.unlink()
    for taken in links.keys() - after.keys():
        taken.symlink_to(links[taken])


def _require_refusal(packages: Sequence[str], policy: Path) -> None:
    for name in packages:
        asked = subprocess.run(
            [policy, name, "start"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        if asked.returncode != _FORBIDDEN:
            message = f"`{policy}` lets packages start their services on this host"
            raise NotInstalled(message, _by_hand(packages))


def _by_hand(packages: Sequence[str]) -> str:
    return f"install them yourself: `{' '.join(install_command(packages))}`"


def _apt(command: Sequence[str], log: Path) -> bool:
    """Runs apt-get; says whether it did what it was asked."""
    return _run((command[0], *_CAREFULLY, *command[1:]), log)


def _run(command: Sequence[str], log: Path) -> bool:
    """Runs a program of the host; says whether it did what it was asked.

    It is not stopped when the lab is killed: packages half installed are worse than a late end.
    """
    with log.open("ab") as lines:
        try:
            ended = subprocess.run(
                command,
                env={**os.environ, **_QUIETLY},
                stdin=subprocess.DEVNULL,
                stdout=lines,
                stderr=lines,
                check=False,
            )
        except OSError as error:
            lines.write(f"{error}\n".encode())
            return False
    return ended.returncode == 0


@contextmanager
def _alone(folder: Path) -> Generator[None]:
    """Waits until no other process holds a folder, and holds it."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
