"""`plimsoll install`: install dependencies and build frameworks and tools."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import click

from plimsoll import cli, lab
from plimsoll.cli import build_progress, messages, options
from plimsoll.errors import FrameworkError
from plimsoll.install.install import build_log

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from plimsoll.campaign.framework import Installable


@dataclass
class Done:
    """The result of an installation.

    Attributes:
        installed: A sentence for each framework or tool that was installed or built.
        ready: Titles of those that were ready before.
        absent: What is missing for those whose toolchain is not on this host, by title.
        unrooted: Titles of those that need packages which only root may install.
        packages: These packages.
        failed: The reason of each failure, by title.
        exit_code: Of the first failure; 0 when there is none.
    """

    installed: list[str] = field(default_factory=list[str])
    ready: list[str] = field(default_factory=list[str])
    absent: dict[str, str] = field(default_factory=dict[str, str])
    unrooted: list[str] = field(default_factory=list[str])
    packages: list[str] = field(default_factory=list[str])
    failed: dict[str, str] = field(default_factory=dict[str, str])
    exit_code: int = 0

    def fail(self, framework: Installable, error: FrameworkError) -> None:
        """Prints and keeps a failure."""
        self.failed[framework.title] = error.message.partition("\n")[0].partition(";")[0]
        code = messages.error(error.message, error.hint, error.exit_code)
        self.exit_code = self.exit_code or code


@click.command(name="install")
@options.framework_names
@click.option("--all", "everything", is_flag=True, help="Every framework and variant.")
@click.option(
    "--campaign",
    type=options.CampaignFile(),
    metavar="CAMPAIGN",
    shell_complete=options.completed("campaigns"),
    help="The frameworks and drivers of a campaign.",
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
    """Install the dependencies of frameworks and tools (such as `jmeter`), and build them.

    Debian packages are installed only when run as root; otherwise the command to run is printed.
    No service is enabled or started. Running it again changes nothing. With `--all` or
    `--available`, frameworks without a toolchain on this host are skipped and listed.
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
        return lab.selection.of_campaign(lab.selection.campaign(campaign, (), root))
    if not names and not everything:
        raise click.UsageError("name a framework or tool, or use `--all` or `--campaign CAMPAIGN`")
    return lab.selection.installable(("all:all",) if everything else names, root)


def _install(wanted: Sequence[Installable], *, lenient: bool) -> Done:
    """Installs each; a failure does not stop the others.

    Args:
        wanted: What to install.
        lenient: Whether to skip one without its toolchain instead of failing.
    """
    done = Done()
    for place, framework in enumerate(wanted, 1):
        here = cli.status.status(framework)
        if lenient and here.word == "not available":
            remedy = f"; to include it: {here.remedy}" if here.remedy else ""
            done.absent[framework.title] = f"{here.why}{remedy}"
            messages.note(f"skipped: `{framework.title}` {here.why}{remedy}")
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
        done: Receives the result.
    """
    try:
        with build_progress.shown(framework.title, build_log(framework)):
            installed = cli.status.install(framework)
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
    """What was installed, skipped or failed, and what to do next."""
    yield from _listed("installed", done.installed)
    if done.ready:
        yield from _listed("up to date", [", ".join(done.ready)])
    yield from _listed("not available", [f"{name}: {why}" for name, why in done.absent.items()])
    yield from _listed("failed", list(done.failed.values()))
    if done.unrooted:
        again = "then `plimsoll install` again"
        typed = [", ".join(done.unrooted), cli.status.by_hand(tuple(done.packages)), again]
        yield from _listed("needs root", typed)


def _listed(heading: str, lines: Sequence[str]) -> Iterator[str]:
    for place, line in enumerate(lines):
        yield f"{'' if place else heading:<14} {line}"
