"""Frameworks: what is measured, and how their folders are found and read."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol, TypeVar

from plimsoll.campaign import documents
from plimsoll.campaign.documents import near, shown
from plimsoll.errors import CampaignError, Problem

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from plimsoll.campaign.framework_file import FrameworkTable, NeedTable, VariantTable

FILE = "framework.toml"
"""Name of the file that makes a folder a framework."""

ALL = "all"
"""Stands for the plain variant of every framework, after a colon for every variant.

No framework or variant may have this name.
"""


@dataclass(frozen=True)
class Requirement:
    """One thing that a framework needs on the host before it can be built.

    Attributes:
        kind: `command` (a program on the PATH), `apt` (a Debian package), `java` (a JDK) or
            `folder` (one that a variable of the environment names).
        name: The program, package or variable; for `java` the least major version.
        remedy: What a person types to get it.
        least: Least version of a program, by what `--version` says: `5.9`; empty for any.
        below: The first version of a program that is too new; empty for none.
    """

    kind: Literal["command", "apt", "java", "folder"]
    name: str
    remedy: str = ""
    least: str = ""
    below: str = ""


class Installable(Protocol):
    """What can be installed: a framework, or a tool."""

    @property
    def title(self) -> str:
        """Name as people read it."""
        ...

    @property
    def reference(self) -> str:
        """Name as it is typed."""
        ...

    @property
    def slug(self) -> str:
        """Name as file names have it."""
        ...

    @property
    def variant(self) -> str:
        """Name of the variant; empty for the plain one."""
        ...

    @property
    def folder(self) -> Path:
        """Where its file lies, and where its commands run."""
        ...

    @property
    def needs(self) -> tuple[Requirement, ...]:
        """What has to be on the host."""
        ...

    @property
    def build(self) -> str:
        """Command that makes it ready; empty for none."""
        ...

    @property
    def version(self) -> str:
        """Command that prints its version on the first line."""
        ...

    @property
    def environment(self) -> dict[str, str]:
        """Added to the environment of every command."""
        ...


@dataclass(frozen=True)
class Framework:
    """One framework in one variant, ready to be built, started and stopped.

    Commands are run by `sh -c` in `folder`. `HOST`, `PORT`, `WORKERS` (cores to use) and `BUILD`
    (a folder of its own for what the build makes, kept between runs) are in the environment.

    Attributes:
        name: Folder name: `go`.
        variant: Name of the variant; empty for the plain one.
        language: The language its users write.
        folder: Where `framework.toml` lies.
        site: Where its documentation is.
        needs: What has to be on the host.
        build: Command that makes it ready to start; empty for none. Run by `install`.
        start: Command that runs the server in the foreground.
        version: Command that prints the version of the framework on its first line.
        endpoints: Names of the endpoints it serves.
        not_implemented: Endpoint left out, and why.
        environment: Added to the environment of every command.
        no_keep_alive: Why it closes every connection after one answer; empty when it keeps them.
        notes: What it cannot be told, and other things a reader of the report must know.
        stop_signal: Name of the signal that asks for a clean stop: `TERM`.
        clean_exit_codes: Exit codes that count as a clean stop.
        start_timeout_s: The server must answer after this long, in seconds.
    """

    name: str
    variant: str
    language: str
    folder: Path
    site: str
    needs: tuple[Requirement, ...]
    build: str
    start: str
    version: str
    endpoints: tuple[str, ...]
    not_implemented: dict[str, str] = field(default_factory=dict[str, str])
    environment: dict[str, str] = field(default_factory=dict[str, str])
    no_keep_alive: str = ""
    notes: tuple[str, ...] = ()
    stop_signal: str = "TERM"
    clean_exit_codes: tuple[int, ...] = (0,)
    start_timeout_s: float = 60.0

    @property
    def title(self) -> str:
        """Name as people read it: `go` or `go one-core`."""
        return f"{self.name} {self.variant}" if self.variant else self.name

    @property
    def slug(self) -> str:
        """Name as campaigns and file names have it: `go` or `go:one-core` with `-` for `:`."""
        return f"{self.name}-{self.variant}" if self.variant else self.name

    @property
    def reference(self) -> str:
        """Name as campaign files have it: `go` or `go:one-core`."""
        return f"{self.name}:{self.variant}" if self.variant else self.name


T = TypeVar("T")


def locate(given: Path | None = None) -> Path:
    """The folder that holds the frameworks.

    The first of: the one given, `PLIMSOLL_FRAMEWORKS`, `frameworks` in the current folder or one
    above it, `frameworks` of the checkout that this package is in.

    Args:
        given: The folder that was asked for by name; None to look for it.

    Returns:
        The folder.

    Raises:
        CampaignError: The one asked for holds no framework, or none is found.
    """
    named = (
        ("--frameworks", given),
        ("PLIMSOLL_FRAMEWORKS", os.environ.get("PLIMSOLL_FRAMEWORKS")),
    )
    for where, folder in named:
        if folder:
            return _named(where, Path(folder))
    here = Path.cwd()
    checkout = Path(__file__).resolve().parents[3]
    for above in (here, *here.parents, checkout):
        if find(above / "frameworks"):
            return above / "frameworks"
    hint = "go to a checkout of Plimsoll, or name the folder with `PLIMSOLL_FRAMEWORKS`"
    message = "there is no folder `frameworks` here or above, so nothing can be measured"
    raise CampaignError([Problem("", message, hint)])


def find(root: Path) -> tuple[Path, ...]:
    """Every folder in `root` that is a framework, by name."""
    return tuple(sorted(file.parent for file in root.glob(f"*/{FILE}")))


def choose(root: Path, references: Sequence[str]) -> tuple[Framework, ...]:
    """Frameworks by their names.

    Args:
        root: The folder that holds the frameworks.
        references: `go` is the plain variant, `go:one-core` another, `go:all` every one of `go`;
            `all` is every plain one, `all:all` every variant of all.

    Returns:
        The frameworks in the order named.

    Raises:
        CampaignError: There is no such framework or variant, or its file has mistakes; all of
            them are in it.
    """
    chosen: list[Framework] = []
    problems: dict[Problem, None] = {}
    for reference in _expanded(root, references):
        try:
            chosen.extend(_chosen(root, reference))
        except CampaignError as error:
            problems.update(dict.fromkeys(error.problems))
    if problems:
        raise CampaignError(tuple(problems))
    return tuple(chosen)


def read(folder: Path) -> tuple[Framework, ...]:
    """The framework in a folder: the plain variant, then the others as the file has them.

    A variant's `environment` and `not_implemented` are laid over those of the plain one, name by
    name; every other key takes the place of the plain one's.

    Args:
        folder: A folder with a `framework.toml`.

    Returns:
        Its variants.

    Raises:
        CampaignError: The file cannot be read or has mistakes; all of them are in it.
    """
    from plimsoll.campaign import framework_file as form  # noqa: PLC0415 - heavy

    document = documents.read(folder / FILE)
    table, mistakes = documents.checked(form.FrameworkTable, document.table, form.known_keys)
    variants = _variants(folder, table)
    mistakes += form.mistakes(folder, table, variants)
    if mistakes:
        raise CampaignError(documents.problems(document, mistakes))
    return tuple(variants.values())


def _named(where: str, folder: Path) -> Path:
    if find(folder):
        return folder
    message = f"`{folder}` holds no framework"
    hint = f"name the folder whose folders have a `{FILE}`"
    raise CampaignError([Problem(where, message, hint)])


def _expanded(root: Path, references: Sequence[str]) -> Iterator[str]:
    for reference in references:
        if reference in (ALL, f"{ALL}:{ALL}"):
            every = reference.removeprefix(ALL)
            yield from (f"{folder.name}{every}" for folder in find(root))
        else:
            yield reference


def _chosen(root: Path, reference: str) -> tuple[Framework, ...]:
    name, _, variant = reference.partition(":")
    names = [folder.name for folder in find(root)]
    if name not in names:
        message = f"there is no framework `{name}` in `{shown(root)}`"
        raise CampaignError([Problem("", message, near(name, names, "frameworks"))])
    variants = {framework.variant: framework for framework in read(root / name)}
    if variant == ALL:
        return tuple(variants.values())
    if variant not in variants:
        message = f"`{name}` has no variant `{variant}`"
        known = [known for known in variants if known]
        raise CampaignError([Problem("", message, near(variant, known, f"variants of `{name}`"))])
    return (variants[variant],)


def _variants(folder: Path, table: FrameworkTable) -> dict[str, Framework]:
    """Every variant by its name, the plain one first, as far as the file is right."""
    blank = Framework(folder.name, "", "", folder, "", (), "", "", "", ())
    plain = _overlaid(blank, "", table)
    variants = {name: over for name, over in (table.variant or {}).items() if over is not None}
    others = {name: _overlaid(plain, name, over) for name, over in variants.items()}
    return {"": plain, **others}


def _overlaid(under: Framework, variant: str, over: VariantTable) -> Framework:
    endpoints, not_implemented = _served(under, over)
    return replace(
        under,
        variant=variant,
        language=_or(over.language, under.language),
        site=_or(over.site, under.site),
        needs=under.needs if over.needs is None else tuple(requirements(over.needs)),
        build=_or(over.build, under.build),
        start=_or(over.start, under.start),
        version=_or(over.version, under.version),
        endpoints=endpoints,
        not_implemented=not_implemented,
        environment={**under.environment, **_filled(over.environment)},
        no_keep_alive=_or(over.no_keep_alive, under.no_keep_alive),
        notes=under.notes if over.notes is None else _listed(over.notes),
        stop_signal=_or(over.stop_signal, under.stop_signal).removeprefix("SIG"),
        clean_exit_codes=_listed(over.clean_exit_codes) or under.clean_exit_codes,
        start_timeout_s=_or(over.start_timeout, under.start_timeout_s),
    )


def _served(under: Framework, over: VariantTable) -> tuple[tuple[str, ...], dict[str, str]]:
    """The endpoints served and those left out; `mix` follows from the endpoints it is made of."""
    from plimsoll.campaign.endpoints import mix  # noqa: PLC0415 - makes every body there is

    left_out = _filled(over.not_implemented)
    if over.endpoints is None:
        served = [name for name in under.endpoints if name not in left_out]
    else:
        served = list(_listed(over.endpoints))
    kept = {name: why for name, why in under.not_implemented.items() if name not in served}
    not_implemented = {**kept, **left_out}
    absent = [part for part in mix.PARTS if part not in served]
    if absent:
        served = [name for name in served if name != mix.NAME]
        parts = ", ".join(f"`{part}`" for part in absent)
        not_implemented.setdefault(mix.NAME, f"it is made of others, {parts} among them")
    elif mix.NAME not in (*served, *left_out):
        served.append(mix.NAME)
        not_implemented.pop(mix.NAME, None)
    return tuple(served), not_implemented


def requirements(needs: list[NeedTable | None] | None) -> Iterator[Requirement]:
    """The rows of `needs`, as far as they are right."""
    for need in _listed(needs):
        if need.kind is not None and need.name is not None:
            bounds = (need.least or "", need.below or "")
            yield Requirement(need.kind, need.name, need.remedy or "", *bounds)


def _or(value: T | None, otherwise: T) -> T:
    return otherwise if value is None else value


def _listed(values: list[T | None] | None) -> tuple[T, ...]:
    return tuple(value for value in values or () if value is not None)


def _filled(table: dict[str, str | None] | None) -> dict[str, str]:
    return {key: value for key, value in (table or {}).items() if value is not None}
