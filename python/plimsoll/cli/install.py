"""`plimsoll install`: what frameworks and tools need on this machine, then their builds.

What does it is imported where it is used: help does without it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import click

from plimsoll.cli import chosen, messages, options
from plimsoll.errors import FrameworkError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from plimsoll.campaign.framework import Installable


@dataclass
class Done:
    """What became of the frameworks and tools that were to be installed.

    Attributes:
        installed: What was done for each of which something was done.
        ready: Titles of those of which nothing had to be done.
        absent: Titles of those whose toolchain is not here, and the one thing that is missing.
        unrooted: Titles of those that need packages which only root may install.
        packages: These packages.
        failed: Why others could not be installed, a sentence for each, by title.
        exit_code: Of the first that failed; 0 when none did.
    """

    installed: list[str] = field(default_factory=list[str])
    ready: list[str] = field(default_factory=list[str])
    absent: dict[str, str] = field(default_factory=dict[str, str])
    unrooted: list[str] = field(default_factory=list[str])
    packages: list[str] = field(default_factory=list[str])
    failed: dict[str, str] = field(default_factory=dict[str, str])
    exit_code: int = 0

    def fail(self, framework: Installable, error: FrameworkError) -> None:
        """Notes that one could not be installed, and tells it at once."""
        self.failed[framework.title] = error.message.partition("\n")[0].partition(";")[0]
        code = messages.error(error.message, error.hint, error.exit_code)
        self.exit_code = self.exit_code or code


@click.command(name="install")
@options.framework_names
@click.option("--all", "everything", is_flag=True, help="Every framework, every variant of it.")
@click.option(
    "--campaign",
    type=click.Path(path_type=Path),
    metavar="FILE",
    shell_complete=options.completed("campaigns"),
    help="The frameworks of a campaign, and the tools it names as drivers.",
)
@options.available
@options.frameworks_root
def command(
    names: tuple[str, ...],
    everything: bool,
    campaign: Path | None,
    available: bool,
    root: Path | None,
) -> int:
    """Brings what frameworks need to this machine, and builds them; brings tools: `jmeter`.

    Debian packages are installed by root only; otherwise the command that a person must type is
    named. Nothing is enabled system-wide and no service is started. Done again, it does nothing.
    With `--all` and `--available`, what this machine has no toolchain for is left out and named.
    """
    wanted = _wanted(names, everything, campaign, root)
    done = _install(wanted, lenient=everything or available)
    if wanted[1:]:
        for line in _summary(done):
            click.echo(line)
    return done.exit_code


def _wanted(
    names: tuple[str, ...], everything: bool, campaign: Path | None, root: Path | None
) -> Sequence[Installable]:
    if campaign is not None:
        return chosen.of_campaign(chosen.campaign(campaign, (), root))
    if not names and not everything:
        raise click.UsageError("name a framework or a tool, or say `--all` or `--campaign FILE`")
    return chosen.installable(("all:all",) if everything else names, root)


def _install(wanted: Sequence[Installable], *, lenient: bool) -> Done:
    """Installs each; one that fails does not keep the others from it.

    Args:
        wanted: What to install.
        lenient: Whether one without its toolchain is left out, and is no failure.
    """
    from plimsoll.cli.status import status  # noqa: PLC0415

    done = Done()
    for place, framework in enumerate(wanted, 1):
        here = status(framework)
        if lenient and here.word == "not available":
            remedy = f"; to have it: {here.remedy}" if here.remedy else ""
            done.absent[framework.title] = f"{here.why}{remedy}"
            messages.note(f"left out: `{framework.title}` {here.why}{remedy}")
            continue
        count = f"[{place}/{len(wanted)}] " if wanted[1:] else ""
        messages.step(f"{count}{framework.title}: installing")
        _install_one(framework, here.packages, done)
    return done


def _install_one(framework: Installable, by_root: Sequence[str], done: Done) -> None:
    """Installs one.

    Args:
        framework: What to install.
        by_root: Packages that it needs and that this user may not install.
        done: Where what became of it is noted.
    """
    from plimsoll.conduct import install  # noqa: PLC0415

    try:
        installed = install.install(framework)
    except FrameworkError as error:
        done.fail(framework, error)
        if by_root:
            done.failed.pop(framework.title)
            done.unrooted.append(framework.title)
            done.packages += [name for name in by_root if name not in done.packages]
        return
    messages.step(installed.sentence)
    if installed.packages or installed.built.done:
        done.installed.append(installed.sentence)
    else:
        done.ready.append(framework.title)


def _summary(done: Done) -> Iterator[str]:
    """What was done, what was left out and why, and what a person must do now."""
    from plimsoll.cli.status import by_hand  # noqa: PLC0415

    yield from _listed("installed", done.installed)
    if done.ready:
        yield from _listed("already there", [", ".join(done.ready)])
    yield from _listed("not available", [f"{name}: {why}" for name, why in done.absent.items()])
    yield from _listed("failed", list(done.failed.values()))
    if done.unrooted:
        again = "then `plimsoll install` again"
        typed = [", ".join(done.unrooted), by_hand(tuple(done.packages)), again]
        yield from _listed("needs root", typed)


def _listed(heading: str, lines: Sequence[str]) -> Iterator[str]:
    for place, line in enumerate(lines):
        yield f"{'' if place else heading:<14} {line}"
