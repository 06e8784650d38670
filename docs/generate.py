"""Writes `docs/tables.md`, `docs/cli.md` and `docs/outcomes.md` from the program itself.

`make docs` runs it; a test fails when what it would write is not what is there.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from plimsoll import _engine, tables
from plimsoll.cli import VERBS, plimsoll

FOLDER = Path(__file__).parent
GENERATED = "<!-- written by `make docs`; do not edit -->\n"


def pages() -> dict[str, str]:
    """Content of every generated page by its file name."""
    return {"tables.md": _tables(), "cli.md": _cli(), "outcomes.md": _outcomes()}


def _tables() -> str:
    lines = [GENERATED, "# Tables", "", "Instants are nanoseconds since the trial's zero."]
    for table in tables.TABLES:
        lines += ["", f"## `{table.name}`", "", f"{table.stored}; one row is {table.row}.", ""]
        lines += ["| column | type | may be null | meaning |", "| --- | --- | --- | --- |"]
        lines += [
            f"| `{column.name}` | {_type(column)} | {'yes' if column.nullable else ''} "
            f"| {column.meaning} |"
            for column in table.columns
        ]
    lines += ["", "## Quantities of `usage`", "", "| quantity | kind | meaning |"]
    lines += ["| --- | --- | --- |"]
    lines += [f"| `{one.name}` | {one.kind} | {one.meaning} |" for one in tables.QUANTITIES]
    return "\n".join(lines) + "\n"


def _type(column: tables.Column) -> str:
    name = str(column.type)
    return "text" if name.startswith("dictionary") else name


def _outcomes() -> str:
    lines = [GENERATED, "# Outcomes", "", "How a request, or a connection, can end.", ""]
    lines += ["| outcome | group | meaning |", "| --- | --- | --- |"]
    lines += [
        f"| `{name}` | {group} | {meaning} |" for _, name, meaning, group in _engine.outcomes()
    ]
    return "\n".join(lines) + "\n"


def _cli() -> str:
    lines = [GENERATED, "# Command line", "", "```", _help(plimsoll, "plimsoll"), "```"]
    for verb in VERBS:
        command = plimsoll.get_command(click.Context(plimsoll), verb)
        if command is not None:
            lines += ["", f"## `plimsoll {verb}`", "", "```"]
            lines += [_help(command, f"plimsoll {verb}"), "```"]
    return "\n".join(lines) + "\n"


def _help(command: click.Command, name: str) -> str:
    context = click.Context(
        command, info_name=name, terminal_width=100, help_option_names=["-h", "--help"]
    )
    return "\n".join(_without_trailing_space(command.get_help(context)))


def _without_trailing_space(text: str) -> Iterator[str]:
    return (line.rstrip() for line in text.splitlines())


if __name__ == "__main__":
    for name, content in pages().items():
        (FOLDER / name).write_text(content, encoding="utf-8")
