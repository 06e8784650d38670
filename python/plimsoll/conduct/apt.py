"""Debian packages, installed without anything being started."""

from __future__ import annotations

import os
import subprocess
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll.conduct.logs import quoted
from plimsoll.errors import NotInstalled

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

POLICY = Path("/usr/sbin/policy-rc.d")
"""The program Debian asks whether a service may start while packages are installed."""

_REFUSAL = "#!/bin/sh\n# Plimsoll installs packages, of which none may start.\nexit 101\n"


def install_command(packages: Sequence[str]) -> tuple[str, ...]:
    """Program and arguments that install packages and nothing that they merely recommend."""
    options = ("-y", "--no-install-recommends")
    return ("apt-get", "install", *options, *packages)


def install(packages: Sequence[str], log: Path, policy: Path = POLICY) -> None:
    """Installs packages; needs root.

    When it fails the lists of packages are fetched and it is tried once more.

    Args:
        packages: Their names.
        log: File that the output is added to.
        policy: The host's policy on services.

    Raises:
        NotInstalled: apt-get failed twice.
    """
    with no_services(policy):
        if _run(install_command(packages), log) or (
            _run(("apt-get", "update"), log) and _run(install_command(packages), log)
        ):
            return
    names = " ".join(packages)
    hint = f"the whole log is `{log}`"
    raise NotInstalled(f"apt-get could not install `{names}`; {quoted(log)}", hint)


@contextmanager
def no_services(policy: Path = POLICY) -> Generator[None]:
    """Keeps packages from starting the services they bring, as long as the block runs.

    A policy that the host already has is left alone.

    Source:
        invoke-rc.d(8), policy-rc.d.
    """
    if policy.exists() and policy.read_text("utf-8", "replace") != _REFUSAL:
        yield
        return
    policy.write_text(_REFUSAL)
    policy.chmod(0o755)
    try:
        yield
    finally:
        policy.unlink(missing_ok=True)


def _run(command: Sequence[str], log: Path) -> bool:
    """Runs apt-get; says whether it did what it was asked.

    It is not stopped when the lab is killed: packages half installed are worse than a late end.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    waiting = ("-o", "DPkg::Lock::Timeout=120")
    with log.open("ab") as lines:
        try:
            ended = subprocess.run(
                [command[0], *waiting, *command[1:]],
                env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
                stdin=subprocess.DEVNULL,
                stdout=lines,
                stderr=lines,
                check=False,
            )
        except OSError as error:
            lines.write(f"{error}\n".encode())
            return False
    return ended.returncode == 0
