"""Tools: load drivers that this program installs as it installs frameworks."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from plimsoll.campaign import documents
from plimsoll.campaign.framework import Requirement, requirements
from plimsoll.errors import CampaignError

FILE = "tool.toml"
"""Name of the file that makes a folder a tool."""


@dataclass(frozen=True)
class Tool:
    """A tool, ready to be installed; it has no variants.

    Attributes:
        name: Folder name: `jmeter`.
        folder: Where `tool.toml` lies.
        site: Where its documentation is.
        needs: What has to be on the host.
        build: Command that brings it here; run in `folder`, what it makes goes to `BUILD`.
        version: Command that prints its version on the first line.
        notes: What a user of it must know.
        variant: Always empty.
        environment: Added to the environment of every command.
    """

    name: str
    folder: Path
    site: str
    needs: tuple[Requirement, ...]
    build: str
    version: str
    notes: tuple[str, ...] = ()
    variant: str = ""
    environment: dict[str, str] = field(default_factory=dict[str, str])

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
    """The folder that holds the tools; None when there is none.

    The first of: `tools` in the current folder or one above it, `tools` of the checkout that this
    package is in.
    """
    here = Path.cwd()
    checkout = Path(__file__).resolve().parents[3]
    places = (above / "tools" for above in (here, *here.parents, checkout))
    return next((place for place in places if find(place)), None)


def find(root: Path) -> tuple[Path, ...]:
    """Every folder in `root` that is a tool, by name."""
    return tuple(sorted(file.parent for file in root.glob(f"*/{FILE}")))


def names() -> tuple[str, ...]:
    """The names of all tools, without reading their files."""
    root = locate()
    return tuple(folder.name for folder in find(root)) if root else ()


def named(name: str) -> Tool | None:
    """The tool of a name; None when there is none.

    Raises:
        CampaignError: Its file has mistakes; all of them are in it.
    """
    root = locate()
    return read(root / name) if root and root / name in find(root) else None


def read(folder: Path) -> Tool:
    """The tool in a folder with a `tool.toml`.

    Raises:
        CampaignError: The file cannot be read or has mistakes; all of them are in it.
    """
    from plimsoll.campaign import tool_file as form  # noqa: PLC0415 - heavy

    document = documents.read(folder / FILE)
    table, mistakes = documents.checked(form.ToolTable, document.table, form.known_keys)
    mistakes += form.mistakes(folder, table)
    if mistakes:
        raise CampaignError(documents.problems(document, mistakes))
    return Tool(
        name=folder.name,
        folder=folder,
        site=table.site or "",
        needs=tuple(requirements(table.needs)),
        build=table.build or "",
        version=table.version or "",
        notes=tuple(note for note in table.notes or () if note is not None),
    )
