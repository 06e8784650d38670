"""`plimsoll install`: install dependencies and build frameworks and tools."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from plimsoll import cli, lab
from plimsoll.cli import build_progress, messages, options
from plimsoll.errors import FrameworkError, StorageError
from plimsoll.install import short_commands
from plimsoll.install.commands import build_folder
from plimsoll.install.install import build_log

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from plimsoll.campaign.framework import Installable
    from plimsoll.errors import PlimsollError
    from plimsoll.install.install import Installed


MOST_AT_A_TIME = 4
"""How many are installed at a time where there are more cores: most builds use several."""


@dataclass(frozen=True)
class InstallOutcome:
    """How the installation of one ended.

    Attributes:
        framework: The framework or tool.
        installed: The result; None if it failed or was skipped.
        absent: What is missing if it was skipped, since its toolchain is not on this host.
        error: Why it failed.
        packages: Packages that it needs and that this user may not install.
    """

    framework: Installable
    installed: Installed | None = None
    absent: str = ""
    error: FrameworkError | StorageError | None = None
    packages: tuple[str, ...] = ()


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
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(1),
    metavar="N",
    help=f"How many to install at a time.  [default: one for each core, {MOST_AT_A_TIME} at most]",
)
@options.frameworks_root
def command(
    names: tuple[str, ...],
    everything: bool,
    campaign: Path | None,
    available: bool,
    jobs: int | None,
    root: Path | None,
) -> int:
    """Install the dependencies of frameworks and tools (such as `jmeter`), and build them.

    Debian packages are installed only when run as root; otherwise the command to run is printed.
    No service is enabled or started. Running it again changes nothing. With `--all` or
    `--available`, frameworks without a toolchain on this host are skipped and listed.
    """
    wanted = _wanted(names, everything, campaign, root)
    jobs = jobs or min(len(os.sched_getaffinity(0)), MOST_AT_A_TIME)
    outcomes = _install(wanted, lenient=everything or available, jobs=jobs)
    if wanted[1:]:
        for line in _summary(outcomes):
            click.echo(line)
    return next((outcome.error.exit_code for outcome in outcomes if outcome.error), 0)


def _wanted(
    names: tuple[str, ...], everything: bool, campaign: Path | None, root: Path | None
) -> Sequence[Installable]:
    if campaign is not None:
        return lab.selection.of_campaign(lab.selection.campaign(campaign, (), root))
    if not names and not everything:
        raise click.UsageError("name a framework or tool, or use `--all` or `--campaign CAMPAIGN`")
    return lab.selection.installable(("all:all",) if everything else names, root)


def _install(wanted: Sequence[Installable], *, lenient: bool, jobs: int) -> list[InstallOutcome]:
    """Installs several at a time; a failure does not stop the others.

    What is built in the same folder is installed one after the other.

    Args:
        wanted: What to install.
        lenient: Whether to skip one without its toolchain instead of failing.
        jobs: How many at a time.

    Returns:
        How each ended, those of one folder next to each other.
    """
    by_folder: dict[Path, list[tuple[str, Installable]]] = {}
    for place, framework in enumerate(wanted, 1):
        count = f"[{place}/{len(wanted)}] " if wanted[1:] else ""
        by_folder.setdefault(build_folder(framework), []).append((count, framework))
    stop = threading.Event()
    with build_progress.shown() as follow, short_commands.threads(jobs, stop) as threads:
        installation = _Installation(lenient, follow, stop)
        begun = [threads.submit(installation.of_all, alike) for alike in by_folder.values()]
        return [outcome for alike in begun for outcome in alike.result()]


@dataclass(frozen=True)
class _Installation:
    """Installs and prints how it goes on; several threads do so at a time.

    Attributes:
        lenient: Whether to skip one without its toolchain instead of failing.
        follow: Shows how a build goes on.
        stop: Ends all of them when it is set.
    """

    lenient: bool
    follow: build_progress.Follow
    stop: threading.Event

    def of_all(self, alike: Sequence[tuple[str, Installable]]) -> list[InstallOutcome]:
        """Installs one after the other, each with its number among all."""
        return [self.of(framework, count) for count, framework in alike]

    def of(self, framework: Installable, count: str) -> InstallOutcome:
        """Installs one."""
        here = cli.status.status(framework)
        if self.lenient and here.word == "not available":
            remedy = f"; to include it: {here.remedy}" if here.remedy else ""
            absent = f"{here.why}{remedy}"
            messages.note(f"skipped: `{framework.title}` {absent}")
            return InstallOutcome(framework, absent=absent)
        messages.step(f"{count}{framework.title}: installing")
        try:
            with self.follow(build_progress.Build.of(framework.title, build_log(framework))):
                installed = cli.status.install(framework, stop=self.stop)
        except (FrameworkError, StorageError) as error:
            messages.error(error.message, error.hint, error.exit_code)
            return InstallOutcome(framework, error=error, packages=here.packages)
        messages.step(installed.sentence)
        return InstallOutcome(framework, installed)


def _summary(outcomes: Sequence[InstallOutcome]) -> Iterator[str]:
    """What was installed, skipped or failed, and what to do next."""
    installed = [outcome.installed for outcome in outcomes if outcome.installed]
    done = [one.sentence for one in installed if one.packages or one.built.done]
    ready = [one.framework for one in installed if not (one.packages or one.built.done)]
    failed = [outcome for outcome in outcomes if outcome.error]
    yield from _listed("installed", done)
    if ready:
        yield from _listed("up to date", [", ".join(ready)])
    absent = [f"{one.framework.title}: {one.absent}" for one in outcomes if one.absent]
    yield from _listed("not available", absent)
    causes = [_cause(one.error) for one in failed if one.error and not one.packages]
    yield from _listed("failed", causes)
    if unrooted := [one for one in failed if one.packages]:
        packages = dict.fromkeys(name for one in unrooted for name in one.packages)
        again = "then `plimsoll install` again"
        titles = ", ".join(one.framework.title for one in unrooted)
        yield from _listed("needs root", [titles, cli.status.by_hand(tuple(packages)), again])


def _cause(error: PlimsollError) -> str:
    """The first clause of an error, without the lines of a log."""
    return error.message.partition("\n")[0].partition(";")[0]


def _listed(heading: str, lines: Sequence[str]) -> Iterator[str]:
    for place, line in enumerate(lines):
        yield f"{'' if place else heading:<14} {line}"
