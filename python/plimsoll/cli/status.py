"""Whether a framework can run here, and what is missing if not."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from plimsoll.conduct import apt
from plimsoll.conduct.install import is_built
from plimsoll.conduct.requirements import missing, spoken

if TYPE_CHECKING:
    from plimsoll.campaign.framework import Installable

Word = Literal["ready", "needs install", "not available"]


@dataclass(frozen=True)
class Status:
    """Whether a framework can run here.

    Attributes:
        word: `ready`; `needs install` when `plimsoll install` would make it so; `not available`
            when something must be brought here that it does not bring.
        why: What is missing, or what to type; empty when ready.
        remedy: What brings the thing that is missing; may be empty.
        packages: Debian packages that a person must have installed first, without being root.
    """

    word: Word
    why: str = ""
    remedy: str = ""
    packages: tuple[str, ...] = ()


def status(framework: Installable) -> Status:
    """Whether a framework can run here, and the one thing to do if not."""
    needs = missing(framework)
    tools = [need for need in needs if need.kind != "apt"]
    if tools:
        return Status("not available", f"needs {spoken(tools[0])}", tools[0].remedy)
    packages = tuple(need.name for need in needs)
    if packages and os.geteuid() != 0:
        return Status("needs install", f"`{by_hand(packages)}`, by root", packages=packages)
    if needs or not is_built(framework):
        return Status("needs install", f"`plimsoll install {framework.reference}`")
    return Status("ready")


def by_hand(packages: tuple[str, ...]) -> str:
    """What a person types to have Debian packages installed."""
    return f"sudo {' '.join(apt.install_command(packages))}"
