"""Installs Debian packages without starting or enabling their services."""

from __future__ import annotations

import fcntl
import os
import subprocess
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll.errors import NotInstalled
from plimsoll.processes.logs import quoted

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence

POLICY = Path("/usr/sbin/policy-rc.d")
"""The program that decides whether services may start while packages are installed."""

SETTINGS = Path("/etc")
"""Folder of the host's settings, including enabled services."""

_REFUSAL = "#!/bin/sh\n# Packages installed by Plimsoll must not start services.\nexit 101\n"
_FORBIDDEN = 101
_UNIT_TYPES = (".service", ".socket", ".timer", ".path", ".target", ".mount")
_CAREFULLY = ("-o", "DPkg::Lock::Timeout=120", "-o", "APT::Get::Remove=false")
_QUIETLY = {"DEBIAN_FRONTEND": "noninteractive", "NEEDRESTART_SUSPEND": "1"}


def install_command(packages: Sequence[str]) -> tuple[str, ...]:
    """Program and arguments that install packages without their recommendations."""
    options = ("-y", "--no-install-recommends")
    return ("apt-get", "install", *options, *packages)


def install(
    packages: Sequence[str], log: Path, policy: Path = POLICY, settings: Path = SETTINGS
) -> tuple[str, ...]:
    """Installs packages; needs root.

    No package is removed. After a failure the package lists are updated for a second attempt.
    Services that the packages enable are disabled again, and an existing Apache gets its previous
    modules back.

    Args:
        packages: Their names.
        log: File to which the output is appended.
        policy: The host's policy on services.
        settings: The host's settings.

    Returns:
        Their services and timers, none of which is started or enabled.

    Raises:
        NotInstalled: apt-get failed twice, or the host's own policy allows services to start.
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
        message = f"cannot install packages: {error.strerror} ({error.filename})"
        raise NotInstalled(message, _by_hand(packages)) from error
    if not done:
        names = " ".join(packages)
        hint = f"see the log, `{log}`"
        raise NotInstalled(f"apt-get could not install `{names}`; {quoted(log)}", hint)
    return tuple(sorted({name.removesuffix(_unit_type(name)) for name in brought}))


@contextmanager
def no_services(packages: Sequence[str] = (), policy: Path = POLICY) -> Generator[None]:
    """Prevents packages from starting their services during the block.

    An existing policy of the host is not changed. Only one process at a time is in such a block.

    Args:
        packages: Packages for which the host's own policy is checked.
        policy: The host's policy on services.

    Raises:
        NotInstalled: The host's own policy allows services to start.

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
    """The enabled services of the host: units of systemd, and scripts of `init.d`.

    Source:
        systemd.unit(5), "Unit File Load Path"; update-rc.d(8).
    """
    units = (link.name for link in settings.glob("systemd/system/*.wants/*"))
    scripts = (link.name[3:] for link in settings.glob("rc[2-5].d/S*"))
    return frozenset((*units, *scripts))


def _install(packages: Sequence[str], log: Path) -> bool:
    """Installs the packages, updating outdated lists; returns whether they are installed."""
    wanted = install_command(packages)
    return _apt(wanted, log) or (_apt(("apt-get", "update"), log) and _apt(wanted, log))


def _disable(names: frozenset[str], log: Path) -> None:
    """Disables units and scripts."""
    for name in sorted(names):
        if _unit_type(name):
            _run(("systemctl", "--no-reload", "disable", name), log)
        else:
            _run(("update-rc.d", name, "disable"), log)


def _unit_type(name: str) -> str:
    """The suffix of a unit's name, `.service`; empty for a script, which may be `php8.2-fpm`."""
    return next((ending for ending in _UNIT_TYPES if name.endswith(ending)), "")


def _apache_links(settings: Path) -> dict[Path, Path]:
    """The enabled modules and sites of the host's Apache; none if it has no Apache.

    Source:
        a2enmod(8).
    """
    return {
        link: link.readlink() for link in settings.glob("apache2/*-enabled/*") if link.is_symlink()
    }


def _restore(links: Mapping[Path, Path], settings: Path) -> None:
    """Restores the modules of an existing Apache; packages enable and disable some."""
    if not links:
        return
    after = _apache_links(settings)
    for added in after.keys() - links.keys():
        added.unlink()
    for taken in links.keys() - after.keys():
        taken.symlink_to(links[taken])


def _require_refusal(packages: Sequence[str], policy: Path) -> None:
    for name in packages:
        requested = subprocess.run(
            [policy, name, "start"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        if requested.returncode != _FORBIDDEN:
            message = f"`{policy}` lets packages start their services on this host"
            raise NotInstalled(message, _by_hand(packages))


def _by_hand(packages: Sequence[str]) -> str:
    return f"install them yourself: `{' '.join(install_command(packages))}`"


def _apt(command: Sequence[str], log: Path) -> bool:
    """Runs apt-get; returns whether it succeeded."""
    return _run((command[0], *_CAREFULLY, *command[1:]), log)


def _run(command: Sequence[str], log: Path) -> bool:
    """Runs a program of the host; returns whether it succeeded.

    Neither Ctrl-C nor the end of the lab stops it: half-installed packages are worse than a late
    end.
    """
    with log.open("ab") as lines:
        try:
            program = subprocess.Popen(
                command,
                env={**os.environ, **_QUIETLY},
                stdin=subprocess.DEVNULL,
                stdout=lines,
                stderr=lines,
                start_new_session=True,
            )
        except OSError as error:
            lines.write(f"{error}\n".encode())
            return False
    try:
        return program.wait() == 0
    finally:
        program.wait()  # also after Ctrl-C


@contextmanager
def _alone(folder: Path) -> Generator[None]:
    """Waits for the lock of a folder, and holds it during the block."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
