"""Tools: load generators and toolchains that are installed like frameworks."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from plimsoll.campaign import documents, places
from plimsoll.campaign.framework import Requirement, requirements
from plimsoll.errors import InputError

FILE = "tool.toml"
"""Name of the file that makes a folder a tool."""


@dataclass(frozen=True)
class Tool:
    """A tool, ready to be installed; it has no variants.

    Attributes:
        name: Folder name: `jmeter`.
        folder: Folder of `tool.toml`.
        site: Address of its documentation.
        root: The root in which its commands run, `debian:trixie`; empty for that of the host.
        needs: Its requirements: packages of its root, or what the host must have.
        build: Command that builds it, run in `folder`; its output goes to `BUILD`.
        version: Command that prints its version on the first line.
        notes: Notes for its users.
        variant: Always empty.
        builds_as: Always empty.
        build_reads: Always empty: a build reads all files.
        environment: Added to the environment of every command.
        is_framework: Always false: it serves nothing.
    """

    name: str
    folder: Path
    site: str
    needs: tuple[Requirement, ...]
    build: str
    version: str
    notes: tuple[str, ...] = ()
    variant: str = ""
    builds_as: str = ""
    build_reads: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict[str, str])
    root: str = ""
    is_framework: bool = False

    @property
    def title(self) -> str:
        """Name as people read it."""
        return self.name

    @property
    def slug(self) -> str:
        """Name as file names have it."""
        return self.name

    @property
    def reference(self) -> str:
        """Name as it is typed."""
        return self.name


def locate() -> Path | None:
    """The folder of the tools, where they can be built; None if there is none.

    The first of: `tools` in the current folder or one above it, those that come with Plimsoll; of
    those that came with a wheel, the user's copy.

    Raises:
        StorageError: The copy cannot be made.
    """
    found = _search()
    return places.writable(found) if found else None


def find(root: Path) -> tuple[Path, ...]:
    """Every folder in `root` that is a tool, by name."""
    return tuple(sorted(file.parent for file in root.glob(f"*/{FILE}")))


def names() -> tuple[str, ...]:
    """The names of all tools, without reading their files."""
    root = _search()
    return tuple(folder.name for folder in find(root)) if root else ()


def named(name: str) -> Tool | None:
    """The tool of a name; None when there is none.

    Raises:
        InputError: Its file has mistakes; contains all of them.
        StorageError: It is in a wheel, whose copy cannot be made.
    """
    root = locate() if name in names() else None
    return read(root / name) if root else None


def read(folder: Path) -> Tool:
    """The tool in a folder with a `tool.toml`.

    Raises:
        InputError: The file cannot be read or has mistakes; contains all of them.
    """
    from plimsoll.campaign import tool_file as form  # noqa: PLC0415 - heavy

    document = documents.read(folder / FILE)
    table, mistakes = documents.checked(form.ToolTable, document.table, form.known_keys)
    mistakes += form.mistakes(folder, table)
    if mistakes:
        raise InputError(documents.problems(document, mistakes))
    return Tool(
        name=folder.name,
        folder=folder,
        site=table.site or "",
        root=table.root or "",
        needs=tuple(requirements(table.needs)),
        build=table.build or "",
        version=table.version or "",
        notes=documents.valid_items(table.notes),
    )


def _search() -> Path | None:
    """The folder of the tools before anything is copied."""
    return places.nearest("tools", f"*/{FILE}")
