"""`plimsoll install`: what frameworks need on this machine, then their builds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from plimsoll.cli import chosen, messages, options
from plimsoll.conduct import install
from plimsoll.errors import FrameworkError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.campaign.framework import Framework


@click.command(name="install")
@click.argument("names", nargs=-1, metavar="[FRAMEWORK]...")
@click.option("--all", "everything", is_flag=True, help="Every framework, its plain variant.")
@click.option(
    "--campaign",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The frameworks of a campaign.",
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
    """Brings what frameworks need to this machine, and builds them.

    Debian packages are installed by root only; otherwise the command that a person must type is
    named. Nothing is enabled system-wide and no service is started. Done again, it does nothing.
    """
    wanted = _wanted(names, everything, campaign, root)
    return _install(chosen.with_toolchain(wanted) if available else wanted)


def _wanted(
    names: tuple[str, ...], everything: bool, campaign: Path | None, root: Path | None
) -> Sequence[Framework]:
    if campaign is not None:
        return chosen.campaign(campaign, (), root).frameworks
    if not names and not everything:
        raise click.UsageError("name a framework, or say `--all` or `--campaign FILE`")
    return chosen.named(("all",) if everything else names, root)


def _install(wanted: Sequence[Framework]) -> int:
    """Installs each; one that fails does not keep the others from it."""
    code = 0
    for framework in wanted:
        messages.step(f"{framework.title}: installing")
        try:
            messages.step(install.install(framework).sentence)
        except FrameworkError as error:
            code = messages.error(error.message, error.hint, error.exit_code)
    return code
