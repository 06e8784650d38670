"""`plimsoll outdated`: which frameworks use packages of which there are newer versions."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from plimsoll import install, lab, texts, wording
from plimsoll.campaign.documents import ALL
from plimsoll.cli import json_output, messages, options

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from plimsoll.install.outdated import RegistryReport

HEADINGS = ("framework", "registry", "package", "version", "newest")

ALONE = "Each newest version is that of its package alone; other packages may not allow it."


@click.command(name="outdated")
@options.framework_names
@options.frameworks_root
@options.as_json
def command(names: tuple[str, ...], root: Path | None, as_json: bool) -> int:
    """List packages of frameworks that have newer versions in their registries.

    Asks the clients of the registries, and changes nothing: `npm outdated`, `cargo update
    --dry-run`, `go list -m -u`, Maven's Versions plugin, `pip install --dry-run`, `apt-cache
    policy`. Without names: all frameworks.

    Each newest version is that of its package alone; other packages may not allow it. A pinned
    version that PyPI or npm does not have is named. On PyPI, versions for the Python of `pip`
    count.

    Exit code 4: a registry did not respond, or its client is not on the PATH.
    """
    every = [name if ":" in name else f"{name}:{ALL}" for name in names or (ALL,)]
    chosen = lab.selection.named(every, root)
    reports: list[RegistryReport] = []
    for one in install.outdated.ask(chosen):
        messages.step(f"{one.framework}: {one.registry} {_described(one)}")
        reports.append(one)
    code = max((_failed(one) for one in reports), default=0)
    if as_json:
        json_output.show(_listed(reports), indent=1)
    else:
        _show(reports)
    return code


def _described(report: RegistryReport) -> str:
    if report.error is not None:
        return "did not respond"
    newer = f"has {wording.several(len(report.newer), 'newer version')}"
    if not report.missing:
        return newer
    return f"{newer}, and lacks {wording.several(len(report.missing), 'pinned version')}"


def _failed(report: RegistryReport) -> int:
    """Prints why a registry did not respond; returns the exit code."""
    if report.error is None:
        return 0
    message = f"{report.registry} for `{report.framework}`: {report.error.message}"
    return messages.error(message, report.error.hint, report.error.exit_code)


def _listed(reports: Sequence[RegistryReport]) -> dict[str, list[dict[str, str]]]:
    """The object that is printed as JSON."""
    return {
        "outdated": [
            {"framework": one.framework, "registry": one.registry, **asdict(newer)}
            for one in reports
            for newer in one.newer
        ],
        "missing": [
            {"framework": one.framework, "registry": one.registry, **asdict(missing)}
            for one in reports
            for missing in one.missing
        ],
        "unavailable": [
            {
                "framework": one.framework,
                "registry": one.registry,
                "why": one.error.message,
                "remedy": one.error.hint,
            }
            for one in reports
            if one.error is not None
        ],
    }


def _show(reports: Sequence[RegistryReport]) -> None:
    """Prints a line for each outdated package, and for each version that is not there."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in HEADINGS:
        table.add_column(heading, overflow="fold")
    for one in reports:
        for newer in one.newer:
            cells = (one.framework, one.registry, newer.package, newer.version, newer.newest)
            table.add_row(*(Text(texts.line(cell)) for cell in cells))
    console = Console(highlight=False)
    if table.row_count:
        console.print(table)
        console.print(f"\n{ALONE}", soft_wrap=True)
    else:
        console.print("no newer versions")
    for one in reports:
        for missing in one.missing:
            package = texts.line(f"{missing.package} {missing.version}")
            line = Text(f"{one.framework}: {one.registry} has no {package}")
            console.print(line, soft_wrap=True)
