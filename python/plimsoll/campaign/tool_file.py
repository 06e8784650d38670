"""The schema of a `tool.toml`, and every mistake in one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

from plimsoll.campaign import documents
from plimsoll.campaign.documents import Mistake
from plimsoll.campaign.framework_file import NeedTable, root_mistakes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from plimsoll.campaign.lines import KeyPath

_REQUIRED = ("build", "version")


class ToolTable(BaseModel):
    """A whole file."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    name: str | None
    site: str | None = None
    root: str | None = None
    needs: list[NeedTable | None] | None = None
    build: str | None = None
    version: str | None = None
    notes: list[str | None] | None = None


def known_keys(path: KeyPath) -> tuple[str, ...]:
    """The keys that the table at a path may have."""
    return documents.keys_of(NeedTable if path else ToolTable)


def mistakes(folder: Path, table: ToolTable) -> Iterator[Mistake]:
    """Mistakes in a file with a valid schema.

    Args:
        folder: Its folder.
        table: The table.

    Yields:
        The mistakes, one by one.
    """
    actual = folder.resolve().name
    if table.name is not None and table.name != actual:
        message = f"`name` is `{table.name}`, but the folder is `{actual}`"
        yield Mistake(("name",), message, "give both the same name")
    for key in _REQUIRED:
        if key not in table.model_fields_set:
            yield Mistake((), f"`{key}` is missing")
    yield from root_mistakes(table.root, table.needs)
