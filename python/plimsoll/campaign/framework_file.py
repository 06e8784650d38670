"""The schema of a `framework.toml`, and every mistake in one.

A model has None where a value was invalid, so that the rest can still be checked; checks skip None,
since that mistake is already reported.
"""

from __future__ import annotations

import re
import signal
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Literal, TypeVar, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from plimsoll.campaign import documents
from plimsoll.campaign import framework_names as names
from plimsoll.campaign.documents import Mistake, near
from plimsoll.campaign.endpoints import ENDPOINTS, mix
from plimsoll.campaign.load import LONGEST_S, ExcessiveValue, Service
from plimsoll.campaign.quantities import duration_s

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from plimsoll.campaign.lines import KeyPath

CONTRACT_NOTES = (
    "date",
    "etag",
    "length",
    "vary",
    "refused-coding",
    "replaced",
    "split",
    "chunked",
    "fragments",
)
"""Rules of the contract on headers, framing and files, from which a note can exempt a framework:

- `date`: a correct `Date`
- `etag`: none
- `length`: a `Content-Length`, or chunks
- `vary`: of compressed responses
- `refused-coding`: `gzip;q=0` gets a plain body
- `replaced`: a file that is replaced while the server runs is served as it is then
- `split`: a request in three pieces gets its response
- `chunked`: so does one with a chunked body
- `fragments`: a message of WebSocket in fragments comes back whole
"""

_VERSION = r"^\d+(\.\d+)*$"
_ROOT = re.compile(r"debian:[a-z]+")
_OF_ROOTS = ("apt", "folder")
_CONTRACT = tuple(endpoint.name for endpoint in ENDPOINTS)
_REQUIRED = ("language", "version", "start", "endpoints")
_SERVICES: tuple[Service, ...] = get_args(Service)
_OURS = (
    *("HOST", "PORT", "WORKERS", "BUILD", "PROTOCOL", "TLS_CERT", "TLS_KEY"),
    *("FILES", "AUTH_KEY", "UPSTREAM_URL"),
)
_STRICT = ConfigDict(extra="forbid", strict=True, frozen=True)


class NeedTable(BaseModel):
    """One row of `needs`."""

    model_config = _STRICT

    kind: Literal["command", "apt", "java", "folder"] | None
    name: str | None
    remedy: str | None = None
    least: str | None = Field(default=None, pattern=_VERSION)
    below: str | None = Field(default=None, pattern=_VERSION)
    variable: str | None = None


class VariantTable(BaseModel):
    """One `[variant.<name>]`."""

    model_config = _STRICT

    language: str | None = None
    site: str | None = None
    root: str | None = None
    needs: list[NeedTable | None] | None = None
    build: str | None = None
    build_reads: list[str | None] | None = None
    start: str | None = None
    processes: bool | None = None
    version: str | None = None
    endpoints: list[str | None] | None = None
    services: list[Service | None] | None = None
    not_implemented: dict[str, str | None] | None = None
    environment: dict[str, str | None] | None = None
    contract_notes: dict[str, str | None] | None = None
    no_keep_alive: str | None = None
    notes: list[str | None] | None = None
    stop_signal: str | None = None
    clean_exit_codes: list[int | None] | None = None
    start_timeout: Annotated[float, BeforeValidator(duration_s)] | None = None
    warm_up: Annotated[float, BeforeValidator(duration_s)] | None = None


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
        case (*_, "environment" | "not_implemented" | "contract_notes"):
            return ()
        case _:
            return documents.keys_of(VariantTable)


T = TypeVar("T", bound=str)


@dataclass(frozen=True)
class Served:
    """What a variant serves.

    Attributes:
        endpoints: Names of the endpoints it implements.
        services: What it serves besides HTTP/1.1 without TLS.
        not_implemented: Omitted ones of both that have a reason, with it.
    """

    endpoints: tuple[str, ...] = ()
    services: tuple[Service, ...] = ()
    not_implemented: Mapping[str, str] = field(default_factory=dict[str, str])


def served(table: FrameworkTable) -> dict[str, Served]:
    """What every variant serves, by its name; the plain one has the empty name.

    The endpoint `mix` follows from the endpoints it consists of.
    """
    plain = _served(Served(), table)
    variants = {name: over for name, over in (table.variant or {}).items() if over is not None}
    return {"": plain, **{name: _served(plain, over) for name, over in variants.items()}}


def _served(under: Served, over: VariantTable) -> Served:
    left_out = {name: why for name, why in (over.not_implemented or {}).items() if why is not None}
    names = _replaced(over.endpoints, under.endpoints, left_out)
    services = tuple(_replaced(over.services, under.services, left_out))
    served = (*names, *services)
    kept = {name: why for name, why in under.not_implemented.items() if name not in served}
    not_implemented = {**kept, **left_out}
    absent = [part for part in mix.PARTS if part not in names]
    if absent:
        names = [name for name in names if name != mix.NAME]
        parts = ", ".join(f"`{part}`" for part in absent)
        not_implemented.setdefault(mix.NAME, f"it combines other endpoints, including {parts}")
    elif mix.NAME not in (*names, *left_out):
        names.append(mix.NAME)
        not_implemented.pop(mix.NAME, None)
    return Served(tuple(names), services, not_implemented)


def _replaced(
    over: Sequence[T | None] | None, under: Sequence[T], left_out: Mapping[str, str]
) -> list[T]:
    """The names of a variant: its own, or those of the plain one that it does not leave out."""
    if over is None:
        return [name for name in under if name not in left_out]
    return [name for name in over if name is not None]


def mistakes(folder: Path, table: FrameworkTable) -> Iterator[Mistake]:
    """Mistakes in a file with a valid schema.

    Args:
        folder: Its folder.
        table: The table.

    Yields:
        The mistakes, one by one.
    """
    yield from _names(folder.resolve().name, table)
    for key in _REQUIRED:
        if key not in table.model_fields_set:
            yield Mistake((), f"`{key}` is missing")
    yield from _build_reads_of_none(table)
    found = served(table)
    yield from _variant(folder, table, found[""], ())
    yield from root_mistakes(table.root, table.needs)
    for name, variant in (table.variant or {}).items():
        if variant is not None:
            at = ("variant", name)
            yield from _variant(folder, variant, found[name], at)
            if variant.root is not None or variant.needs is not None:
                root = table.root if variant.root is None else variant.root
                needs = table.needs if variant.needs is None else variant.needs
                yield from root_mistakes(root, needs, at)


def root_mistakes(
    root: str | None, needs: Sequence[NeedTable | None] | None, at: KeyPath = ()
) -> Iterator[Mistake]:
    """Mistakes in a root, and in what is needed in it.

    Args:
        root: The root as it is written; empty or None for that of the host.
        needs: The requirements that go with it.
        at: Path of the table that has them.

    Yields:
        The mistakes, one by one.
    """
    if not root:
        return
    if not _ROOT.fullmatch(root):
        message = f"`{root}` is not a root that Plimsoll can make"
        yield Mistake((*at, "root"), message, "write `debian:` and a Debian suite: `debian:trixie`")
    for need in needs or []:
        if need is not None and need.kind is not None and need.kind not in _OF_ROOTS:
            message = f"`root` and a requirement of kind `{need.kind}` exclude each other"
            yield Mistake((*at, "root"), message, f"name the Debian package that has `{need.name}`")


def _variant(folder: Path, table: VariantTable, result: Served, at: KeyPath) -> Iterator[Mistake]:
    yield from _texts(table, at)
    yield from _build_reads(folder, table, at)
    yield from _start_and_stop(table, at)
    yield from _contract_notes(table, at)
    yield from _endpoints(table, at)
    yield from _mix(table, result, at)


def _names(actual: str, table: FrameworkTable) -> Iterator[Mistake]:
    if table.name is not None and table.name != actual:
        message = f"`name` is `{table.name}`, but the folder is `{actual}`"
        yield Mistake(("name",), message, "give both the same name")
    elif table.name is not None and not names.is_valid(table.name):
        yield Mistake(("name",), f"`{table.name}` is not a valid framework name", names.HINT)
    for name in table.variant or {}:
        if not names.is_valid(name):
            yield Mistake(("variant", name), f"`{name}` is not a valid variant name", names.HINT)


def _texts(table: VariantTable, at: KeyPath) -> Iterator[Mistake]:
    for key in ("language", "start", "version"):
        if getattr(table, key) is not None and not getattr(table, key).strip():
            yield Mistake((*at, key), f"`{key}` is empty")
    for name in _OURS:
        if name in (table.environment or {}):
            yield Mistake((*at, "environment", name), f"`{name}` is set by Plimsoll for each trial")
    if table.no_keep_alive is not None and not table.no_keep_alive.strip():
        message = "`no_keep_alive` is empty"
        yield Mistake(
            (*at, "no_keep_alive"), message, "give the reason for closing every connection"
        )


def _build_reads(folder: Path, table: VariantTable, at: KeyPath) -> Iterator[Mistake]:
    for index, pattern in enumerate(table.build_reads or []):
        if pattern is not None and not _matches(folder, pattern):
            message = f"`{pattern}` names no file in the folder"
            hint = "name files that `build` reads: `requirements.txt`, `src/*`"
            yield Mistake((*at, "build_reads", index), message, hint)


def _build_reads_of_none(table: FrameworkTable) -> Iterator[Mistake]:
    """Each `build_reads` that goes with no build: neither here nor in a variant that takes it."""
    variants = {name: over for name, over in (table.variant or {}).items() if over is not None}
    takes = [over for over in variants.values() if "build_reads" not in over.model_fields_set]
    if table.build_reads and not any(map(_has_build, (table, *takes))):
        yield _reads_for_nothing(())
    for name, over in variants.items():
        built = over if "build" in over.model_fields_set else table
        if over.build_reads and not _has_build(built):
            yield _reads_for_nothing(("variant", name))


def _has_build(table: VariantTable) -> bool:
    """Whether a table has a build; an invalid one counts, since that mistake is reported."""
    return "build" in table.model_fields_set and table.build != ""


def _reads_for_nothing(at: KeyPath) -> Mistake:
    message = "`build_reads` names what `build` reads, but there is no `build`"
    hint = "add the command `build`, or remove `build_reads`"
    return Mistake((*at, "build_reads"), message, hint)


def _matches(folder: Path, pattern: str) -> bool:
    try:
        return any(folder.glob(pattern))
    except (ValueError, NotImplementedError, OSError):  # empty, absolute, or with a NUL
        return False


def _start_and_stop(table: VariantTable, at: KeyPath) -> Iterator[Mistake]:
    if table.stop_signal is not None:
        name = f"SIG{table.stop_signal.removeprefix('SIG')}"
        if name not in signal.Signals.__members__:
            message = f"unknown stop signal `{table.stop_signal}`"
            yield Mistake((*at, "stop_signal"), message, "write `TERM`, `INT` or `QUIT`")
    if table.clean_exit_codes is not None and not table.clean_exit_codes:
        yield Mistake(
            (*at, "clean_exit_codes"), "`clean_exit_codes` is empty", "remove it for the default, 0"
        )
    if table.start_timeout == 0:
        yield Mistake((*at, "start_timeout"), "`start_timeout` must be more than 0")
    for key, length_s in (("start_timeout", table.start_timeout), ("warm_up", table.warm_up)):
        if length_s is not None and length_s > LONGEST_S:
            excess = ExcessiveValue(key, None, length_s, LONGEST_S, "s")
            yield Mistake((*at, key), excess.message, excess.hint)


def _contract_notes(table: VariantTable, at: KeyPath) -> Iterator[Mistake]:
    for name, why in (table.contract_notes or {}).items():
        path = (*at, "contract_notes", name)
        if name not in CONTRACT_NOTES:
            message = f"the contract has no rule `{name}`"
            yield Mistake(path, message, near(name, CONTRACT_NOTES, "rules"))
        elif why is not None and not why.strip():
            yield Mistake(path, f"`{name}` has no reason", "give a reason a reader can check")


def _endpoints(table: VariantTable, at: KeyPath) -> Iterator[Mistake]:
    listed = table.endpoints or []
    if table.endpoints == []:
        yield Mistake((*at, "endpoints"), "`endpoints` is empty", near("", _CONTRACT, "endpoints"))
    for index, name in enumerate(listed):
        if name is not None and name not in _CONTRACT:
            message = f"the contract has no endpoint `{name}`"
            yield Mistake((*at, "endpoints", index), message, near(name, _CONTRACT, "endpoints"))
    yield from _twice(listed, "endpoints", at)
    yield from _twice(table.services or [], "services", at)
    for name, reason in (table.not_implemented or {}).items():
        path = (*at, "not_implemented", name)
        if name not in (*_CONTRACT, *_SERVICES):
            message = f"the contract has no endpoint `{name}`"
            yield Mistake(path, message, near(name, _CONTRACT, "endpoints"))
        elif name in listed:
            message = f"`{name}` is both in `endpoints` and in `[not_implemented]`"
            yield Mistake(path, message, "remove it from one of them")
        elif name in (table.services or []):
            message = f"`{name}` is both in `services` and in `[not_implemented]`"
            yield Mistake(path, message, "remove it from one of them")
        elif reason is not None and not reason.strip():
            yield Mistake(
                path,
                f"`{name}` has no reason in `[not_implemented]`",
                "give a reason a reader can check",
            )


def _twice(names: Sequence[str | None], key: str, at: KeyPath) -> Iterator[Mistake]:
    for index, name in enumerate(names):
        if name is not None and name in names[:index]:
            yield Mistake((*at, key, index), f"`{name}` is listed twice")


def _mix(table: VariantTable, result: Served, at: KeyPath) -> Iterator[Mistake]:
    """A listed mix without one of its parts, if all listed endpoints exist."""
    listed = table.endpoints or []
    if {*listed} <= {*_CONTRACT} and mix.NAME in listed and mix.NAME not in result.endpoints:
        yield Mistake((*at, "endpoints"), f"`{mix.NAME}`: {result.not_implemented[mix.NAME]}")
