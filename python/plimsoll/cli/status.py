"""Whether a framework can run on this host, and what is missing if not."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from plimsoll.install import apt, typed
from plimsoll.install.install import install, is_built, stale
from plimsoll.install.requirements import missing, spoken
from plimsoll.provenance import named as parts_named

if TYPE_CHECKING:
    from plimsoll.campaign.framework import Installable

__all__ = ["Status", "Word", "by_hand", "install", "status"]

Word = Literal["ready", "needs install", "not available"]


@dataclass(frozen=True)
class Status:
    """Whether a framework can run on this host.

    Attributes:
        word: `ready`; `needs install` when `plimsoll install` would make it ready; `not available`
            when it needs something that `plimsoll install` does not install.
        why: What is missing, or the command to run and what changed; empty when ready.
        remedy: How to get what is missing; may be empty.
        packages: Debian packages that root must install first.
    """

    word: Word
    why: str = ""
    remedy: str = ""
    packages: tuple[str, ...] = ()


def status(framework: Installable) -> Status:
    """Whether a framework can run on this host, and the next thing to do if not."""
    needs = missing(framework)
    tools = [need for need in needs if need.kind not in ("apt", "root")]
    if tools:
        return Status("not available", f"needs {spoken(tools[0])}", tools[0].remedy)
    packages = tuple(need.name for need in needs if need.kind == "apt")
    if packages and os.geteuid() != 0:
        return Status("needs install", f"`{by_hand(packages)}`, as root", packages=packages)
    if needs or not is_built(framework):
        changed = stale(framework)
        since = f", since {parts_named(changed)}" if changed else ""
        return Status("needs install", f"{typed.commands('install', [framework])}{since}")
    return Status("ready")


def by_hand(packages: tuple[str, ...]) -> str:
    """The command that installs Debian packages."""
    return f"sudo {' '.join(apt.install_command(packages))}"
