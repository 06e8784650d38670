"""The form of a `framework.toml`, and every mistake in one.

A model takes None wherever a value was wrong, so that the rest can still be looked at; a check
that meets None passes over it, since the mistake is known already.
"""

from __future__ import annotations

import re
import signal
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from plimsoll.campaign import documents
from plimsoll.campaign.documents import Mistake, near
from plimsoll.campaign.endpoints import ENDPOINTS, mix
from plimsoll.campaign.framework import ALL
from plimsoll.campaign.quantities import duration_s

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from plimsoll.campaign.framework import Framework
    from plimsoll.campaign.lines import KeyPath

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]*")
_VERSION = r"^\d+(\.\d+)*$"
_NAME_HINT = "use small letters, digits, `-` and `_`; it becomes part of file names"
_CONTRACT = tuple(endpoint.name for endpoint in ENDPOINTS)
_REQUIRED = ("language", "version", "start", "endpoints")
_OURS = ("HOST", "PORT", "WORKERS", "BUILD")
_STRICT = ConfigDict(extra="forbid", strict=True, frozen=True)


class NeedTable(BaseModel):
    """One row of `needs`."""

    model_config = _STRICT

    kind: Literal["command", "apt", "java", "folder"] | None
    name: str | None
    remedy: str | None = None
    least: str | None = Field(default=None, pattern=_VERSION)
    below: str | None = Field(default=None, pattern=_VERSION)


class VariantTable(BaseModel):
    """One `[variant.<name>]`."""

    model_config = _STRICT

    language: str | None = None
    site: str | None = None
    needs: list[NeedTable | None] | None = None
    build: str | None = None
    start: str | None = None
    version: str | None = None
    endpoints: list[str | None] | None = None
    not_implemented: dict[str, str | None] | None = None
    environment: dict[str, str | None] | None = None
    no_keep_alive: str | None = None
    notes: list[str | None] | None = None
    stop_signal: str | None = None
    clean_exit_codes: list[int | None] | None = None
    start_timeout: Annotated[float, BeforeValidator(duration_s)] | None = None


class FrameworkTable(VariantTable):
    """A whole file: the plain variant, and the others in it."""

    name: str | None
    variant: dict[str, VariantTable | None] | None = None


def known_keys(path: KeyPath) -> tuple[str, ...]:
    """The keys that the table at a path may have."""
    match path:
        case ():
            return documents.keys_of(FrameworkTable)
        case (*_, "needs", int()):
            return documents.keys_of(NeedTable)
        case _:
            return documents.keys_of(VariantTable)


def mistakes(
    folder: Path, table: FrameworkTable, variants: Mapping[str, Framework]
) -> Iterator[Mistake]:
    """What is wrong in a file whose form is right.

    Args:
        folder: Where it lies.
        table: The table.
        variants: What it amounts to: every variant by its name, the plain one as the empty name.

    Yields:
        The mistakes, one by one.
    """
    yield from _names(folder.resolve().name, table)
    for key in _REQUIRED:
        if key not in table.model_fields_set:
            yield Mistake((), f"`{key}` is missing")
    yield from _variant(table, variants[""], ())
    for name, variant in (table.variant or {}).items():
        if variant is not None:
            yield from _variant(variant, variants[name], ("variant", name))


def _variant(table: VariantTable, result: Framework, at: KeyPath) -> Iterator[Mistake]:
    yield from _texts(table, at)
    yield from _stop(table, at)
    yield from _endpoints(table, at)
    yield from _coverage(table, result, at)


def _names(actual: str, table: FrameworkTable) -> Iterator[Mistake]:
    if table.name is not None and table.name != actual:
        message = f"`name` is `{table.name}`, but the folder is `{actual}`"
        yield Mistake(("name",), message, "give both the same name")
    elif table.name is not None and (not _NAME.fullmatch(table.name) or table.name == ALL):
        yield Mistake(("name",), f"`{table.name}` is no name for a framework", _NAME_HINT)
    for name in table.variant or {}:
        if not _NAME.fullmatch(name) or name == ALL:
            yield Mistake(("variant", name), f"`{name}` is no name for a variant", _NAME_HINT)


def _texts(table: VariantTable, at: KeyPath) -> Iterator[Mistake]:
    for key in ("language", "start", "version"):
        if getattr(table, key) is not None and not getattr(table, key).strip():
            yield Mistake((*at, key), f"`{key}` is empty")
    for name in _OURS:
        if name in (table.environment or {}):
            yield Mistake((*at, "environment", name), f"`{name}` is set by Plimsoll for each trial")
    if table.no_keep_alive is not None and not table.no_keep_alive.strip():
        message = "`no_keep_alive` is empty"
        yield Mistake((*at, "no_keep_alive"), message, "say why it closes every connection")


def _stop(table: VariantTable, at: KeyPath) -> Iterator[Mistake]:
    if table.stop_signal is not None:
        name = f"SIG{table.stop_signal.removeprefix('SIG')}"
        if name not in signal.Signals.__members__:
            message = f"there is no signal `{table.stop_signal}`"
            yield Mistake((*at, "stop_signal"), message, "write `TERM`, `INT` or `QUIT`")
    if table.clean_exit_codes is not None and not table.clean_exit_codes:
        yield Mistake(
            (*at, "clean_exit_codes"), "`clean_exit_codes` is empty", "leave it out for 0"
        )
    if table.start_timeout == 0:
        yield Mistake((*at, "start_timeout"), "`start_timeout` must be more than 0")


def _endpoints(table: VariantTable, at: KeyPath) -> Iterator[Mistake]:
    listed = table.endpoints or []
    for index, name in enumerate(listed):
        if name is not None and name not in _CONTRACT:
            message = f"the contract has no endpoint `{name}`"
            yield Mistake((*at, "endpoints", index), message, near(name, _CONTRACT, "endpoints"))
        elif name is not None and name in listed[:index]:
            yield Mistake((*at, "endpoints", index), f"`{name}` is listed twice")
    for name, reason in (table.not_implemented or {}).items():
        path = (*at, "not_implemented", name)
        if name not in _CONTRACT:
            message = f"the contract has no endpoint `{name}`"
            yield Mistake(path, message, near(name, _CONTRACT, "endpoints"))
        elif name in listed:
            yield Mistake(path, f"`{name}` is both in `endpoints` and left out")
        elif reason is not None and not reason.strip():
            yield Mistake(
                path, f"`{name}` is left out without a reason", "say why, so a reader can check"
            )


def _coverage(table: VariantTable, result: Framework, at: KeyPath) -> Iterator[Mistake]:
    """Endpoints neither served nor left out, where the table lists endpoints that all exist."""
    if table.endpoints is None or not {*table.endpoints} <= {*_CONTRACT}:
        return
    accounted = (*result.endpoints, *result.not_implemented)
    missing = [name for name in _CONTRACT if name not in accounted]
    if missing:
        message = f"{_quoted(missing)}: neither in `endpoints` nor in `[not_implemented]`"
        hint = "serve it, or say in `[not_implemented]` why not"
        yield Mistake((*at, "endpoints"), message, hint)
    if mix.NAME in table.endpoints and mix.NAME not in result.endpoints:
        yield Mistake((*at, "endpoints"), f"`{mix.NAME}`: {result.not_implemented[mix.NAME]}")


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
