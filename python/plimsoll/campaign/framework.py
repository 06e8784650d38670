"""Frameworks: finds and reads their folders."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from plimsoll.campaign import documents, places
from plimsoll.campaign.documents import ALL, near, valid_items, value_or
from plimsoll.errors import InputError, Problem
from plimsoll.texts import shown

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from plimsoll.campaign.framework_file import FrameworkTable, NeedTable, Served, VariantTable
    from plimsoll.campaign.load import Service

FILE = "framework.toml"
"""Name of the file that makes a folder a framework."""

VARIABLE = "PLIMSOLL_FRAMEWORKS"
"""Variable that names the folder of the frameworks."""


@dataclass(frozen=True)
class Requirement:
    """One requirement of a framework on the host, before it can be built.

    Attributes:
        kind: `command` (a program on the PATH), `apt` (a Debian package), `java` (a JDK) or
            `folder` (one that an environment variable names). Of a framework with a root of its own
            also `root` (that root) and `namespaces` (the right to enter it).
        name: The program, package, variable or root; for `java` the least major version.
        remedy: How to install it.
        least: Lowest version of a program, by `--version`: `5.9`; empty for any.
        below: The first version of a program that is too new; empty for none.
        variable: Variable that names a folder; if it is set, a program in its `bin` comes before
            those on the PATH. Empty for none.
    """

    kind: Literal["command", "apt", "java", "folder", "root", "namespaces"]
    name: str
    remedy: str = ""
    least: str = ""
    below: str = ""
    variable: str = ""


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
    def builds_as(self) -> str:
        """The variant whose build it uses; often itself."""
        ...

    @property
    def is_framework(self) -> bool:
        """Whether it is a framework, not a load tool or the command of a server of the user."""
        ...

    @property
    def folder(self) -> Path:
        """Folder of its file, in which its commands run."""
        ...

    @property
    def root(self) -> str:
        """The root in which its commands run, `debian:trixie`; empty for that of the host."""
        ...

    @property
    def needs(self) -> tuple[Requirement, ...]:
        """Its requirements: packages of its root, or what the host must have."""
        ...

    @property
    def build(self) -> str:
        """Command that builds it; empty for none."""
        ...

    @property
    def build_reads(self) -> tuple[str, ...]:
        """Patterns of the files that the build reads; empty for all."""
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

    Commands are run by `sh -c` in `folder`. `HOST`, `PORT`, `WORKERS` (cores to use), `BUILD`
    (its own folder for build output, kept between runs), `PROTOCOL` and, if connections are
    secured, `TLS_CERT` and `TLS_KEY` are in the environment.

    Attributes:
        name: Folder name: `go`.
        variant: Name of the variant; empty for the plain one.
        language: The language of its applications.
        folder: Folder of `framework.toml`.
        site: Address of its documentation.
        root: The root in which its commands run, `debian:trixie`; empty for that of the host.
        needs: Its requirements: packages of its root, or what the host must have.
        build: Command that builds it; empty for none. Run by `install`.
        build_reads: Patterns of the files that `build` reads, which make a build stale; empty for
            all files.
        builds_as: The variant whose build it uses: the first one that is built alike.
        start: Command that runs the server in the foreground.
        processes: Whether `start` runs one process that uses one core, so that it is run once for
            each core; the processes share the port by SO_REUSEPORT.
        version: Command that prints the version of the framework on its first line.
        endpoints: Names of the endpoints it implements.
        not_implemented: Omitted endpoints and services that have a reason, with it.
        environment: Added to the environment of every command.
        no_keep_alive: Why it closes every connection after one response; empty if it keeps them.
        contract_notes: Rules of `CONTRACT_NOTES` that it does not meet, with reasons.
        notes: What cannot be configured, and other notes for readers of the report.
        stop_signal: Name of the signal for a clean stop: `TERM`.
        clean_exit_codes: Exit codes of a clean stop.
        start_timeout_s: Time until the server must respond, in seconds.
        warm_up_s: Minimum warm-up of a load that has one, in turns of a start, in seconds: how
            long the runtime compiles under load.
        probe_path: Path that is requested until it is answered with 200; empty for one of its
            endpoints.
        services: What it serves besides HTTP/1.1 without TLS.
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
    contract_notes: dict[str, str] = field(default_factory=dict[str, str])
    no_keep_alive: str = ""
    notes: tuple[str, ...] = ()
    stop_signal: str = "TERM"
    clean_exit_codes: tuple[int, ...] = (0,)
    start_timeout_s: float = 60.0
    warm_up_s: float = 0.0
    probe_path: str = ""
    build_reads: tuple[str, ...] = ()
    builds_as: str = ""
    services: tuple[Service, ...] = ()
    processes: bool = False
    root: str = ""

    @property
    def title(self) -> str:
        """Name as people read it: `go` or `go one-core`."""
        return f"{self.name} {self.variant}" if self.variant else self.name

    @property
    def slug(self) -> str:
        """Name in file names: that of campaign files with `-` for `:`."""
        return f"{self.name}-{self.variant}" if self.variant else self.name

    @property
    def reference(self) -> str:
        """Name in campaign files: `go` or `go:one-core`."""
        return f"{self.name}:{self.variant}" if self.variant else self.name

    @property
    def has_contract(self) -> bool:
        """Whether it is to serve endpoints of the contract."""
        return bool(self.endpoints)

    @property
    def is_framework(self) -> bool:
        """Whether it is a framework, which says its language, not the command of a user."""
        return bool(self.language)

    @property
    def notes_on_rules(self) -> tuple[str, ...]:
        """The rules that are not checked for it, each with its name and reason."""
        noted = self.contract_notes.items()
        return tuple(f"Exempt from rule `{rule}`: {why}" for rule, why in noted)


def locate(given: Path | None = None) -> Path:
    """The folder of the frameworks, where they can be built.

    The first of: the one given, `PLIMSOLL_FRAMEWORKS`, `frameworks` in the current folder or one
    above it, those that come with Plimsoll.

    Args:
        given: The folder given by the user; None to search for it.

    Returns:
        The folder; for frameworks that came with a wheel, the user's copy.

    Raises:
        InputError: The given folder contains no framework, or none is found.
        StorageError: The copy cannot be made.
    """
    return places.writable(search(given))


def search(given: Path | None = None) -> Path:
    """The same folder before anything is copied; enough to see names.

    Raises:
        InputError: The given folder contains no framework, or none is found.
    """
    named = (
        ("frameworks", given),
        (VARIABLE, os.environ.get(VARIABLE)),
    )
    for where, folder in named:
        if folder:
            return _named(where, Path(folder))
    if found := places.nearest("frameworks", f"*/{FILE}"):
        return found
    message = "no `frameworks` folder here or in a parent folder, and none came with Plimsoll"
    hint = f"install Plimsoll from a wheel, or name the folder with `{VARIABLE}`"
    raise InputError([Problem("", message, hint)])


def place_of(name: str) -> Path | None:
    """The folder of a framework that its name alone leads to; nothing is copied for it.

    Args:
        name: Its name, without a variant.

    Raises:
        InputError: There is no folder of frameworks.
        StorageError: The user has no folder for copies, which it would need.
    """
    places_in_order = (search(), places.own("frameworks"))
    found = next((one for one in places_in_order if (one / name / FILE).is_file()), None)
    return None if found is None else places.copy_of(found) / name


def find(root: Path) -> tuple[Path, ...]:
    """Every folder in `root` that is a framework, by name."""
    return tuple(sorted(file.parent for file in root.glob(f"*/{FILE}")))


def choose(
    root: Path, references: Sequence[str], tools: Collection[str] = ()
) -> tuple[Framework, ...]:
    """Frameworks by their names.

    Args:
        root: The folder of the frameworks.
        references: `go` is the plain variant, `go:one-core` another, `go:all` every one of `go`;
            `all` is every plain one, `all:all` every variant of all. A framework that is not in
            the folder is looked for among Plimsoll's own.
        tools: Names of tools, where one of these may be meant as well.

    Returns:
        The frameworks in the order named.

    Raises:
        InputError: A framework or variant does not exist, or its file has mistakes; contains all
            of them.
    """
    chosen: list[Framework] = []
    problems: dict[Problem, None] = {}
    for reference in _expanded(root, references):
        try:
            chosen.extend(_chosen(root, reference, tools))
        except InputError as error:
            problems.update(dict.fromkeys(error.problems))
    if problems:
        raise InputError(tuple(problems))
    return tuple(chosen)


def read(folder: Path) -> tuple[Framework, ...]:
    """The framework in a folder: the plain variant, then the others in the order of the file.

    A variant's `environment` and `not_implemented` are merged with those of the plain one, name by
    name; every other key replaces the plain one's: `contract_notes = {}` checks every rule.

    Args:
        folder: A folder with a `framework.toml`.

    Returns:
        Its variants.

    Raises:
        InputError: The file cannot be read or has mistakes; contains all of them.
    """
    from plimsoll.campaign import framework_file as form  # noqa: PLC0415 - heavy

    document = documents.read(folder / FILE)
    table, mistakes = documents.checked(form.FrameworkTable, document.table, form.known_keys)
    mistakes += form.mistakes(folder, table)
    if mistakes:
        raise InputError(documents.problems(document, mistakes))
    return tuple(_variants(folder, table, form.served(table)))


def _named(where: str, folder: Path) -> Path:
    if find(folder):
        return folder
    message = f"`{folder}` contains no framework"
    hint = f"give the folder whose subfolders contain a `{FILE}`"
    raise InputError([Problem(where, message, hint)])


def _expanded(root: Path, references: Sequence[str]) -> Iterator[str]:
    for reference in references:
        if reference in (ALL, f"{ALL}:{ALL}"):
            every = reference.removeprefix(ALL)
            yield from (f"{folder.name}{every}" for folder in find(root))
        else:
            yield reference


def names(root: Path) -> tuple[str, ...]:
    """Names of the frameworks in a folder, then of Plimsoll's own that it does not have."""
    found = (folder.name for place in (root, places.own("frameworks")) for folder in find(place))
    return tuple(dict.fromkeys(found))


def _chosen(root: Path, reference: str, tools: Collection[str]) -> tuple[Framework, ...]:
    name, _, variant = reference.partition(":")
    known = names(root)
    if name not in known:
        is_tool = " or tool" if tools else ""
        message = f"unknown framework{is_tool} `{name}` in `{shown(root)}`"
        nouns = "frameworks and tools" if tools else "frameworks"
        raise InputError([Problem("", message, near(name, {*known, *tools}, nouns))])
    is_there = root / name in find(root)
    folder = (root if is_there else places.writable(places.own("frameworks"))) / name
    variants = {framework.variant: framework for framework in read(folder)}
    if variant == ALL:
        return tuple(variants.values())
    if variant not in variants:
        message = f"`{name}` has no variant `{variant}`"
        known = [known for known in variants if known]
        raise InputError([Problem("", message, near(variant, known, f"variants of `{name}`"))])
    return (variants[variant],)


def _variants(
    folder: Path, table: FrameworkTable, served: Mapping[str, Served]
) -> Iterator[Framework]:
    """Every variant of a valid file, the plain one first."""
    blank = Framework(folder.name, "", "", folder, "", (), "", "", "", ())
    plain = _overlaid(blank, "", table, served[""])
    yield plain
    before = [plain]
    for name, over in (table.variant or {}).items():
        if over is not None:
            variant = _overlaid(plain, name, over, served[name])
            alike = next((one for one in before if _is_built_alike(one, variant)), variant)
            before.append(replace(variant, builds_as=alike.variant))
            yield before[-1]


def _is_built_alike(one: Framework, other: Framework) -> bool:
    """Whether nothing that a build depends on differs between two variants."""
    parts = [(it.build, it.build_reads, it.environment, it.needs, it.root) for it in (one, other)]
    return bool(one.build) and parts[0] == parts[1]


def _overlaid(under: Framework, variant: str, over: VariantTable, served: Served) -> Framework:
    return replace(
        under,
        variant=variant,
        builds_as=variant,
        language=value_or(over.language, under.language),
        site=value_or(over.site, under.site),
        root=value_or(over.root, under.root),
        needs=under.needs if over.needs is None else tuple(requirements(over.needs)),
        build=value_or(over.build, under.build),
        build_reads=(
            under.build_reads if over.build_reads is None else valid_items(over.build_reads)
        ),
        start=value_or(over.start, under.start),
        processes=value_or(over.processes, under.processes),
        version=value_or(over.version, under.version),
        endpoints=served.endpoints,
        services=served.services,
        not_implemented=dict(served.not_implemented),
        environment={**under.environment, **_filled(over.environment)},
        contract_notes=(
            under.contract_notes if over.contract_notes is None else _filled(over.contract_notes)
        ),
        no_keep_alive=value_or(over.no_keep_alive, under.no_keep_alive),
        notes=under.notes if over.notes is None else valid_items(over.notes),
        stop_signal=value_or(over.stop_signal, under.stop_signal).removeprefix("SIG"),
        clean_exit_codes=valid_items(over.clean_exit_codes) or under.clean_exit_codes,
        start_timeout_s=value_or(over.start_timeout, under.start_timeout_s),
        warm_up_s=value_or(over.warm_up, under.warm_up_s),
    )


def requirements(needs: list[NeedTable | None] | None) -> Iterator[Requirement]:
    """The valid rows of `needs`."""
    for need in valid_items(needs):
        if need.kind is not None and need.name is not None:
            details = (need.least or "", need.below or "", need.variable or "")
            yield Requirement(need.kind, need.name, need.remedy or "", *details)


def _filled(table: dict[str, str | None] | None) -> dict[str, str]:
    return {key: value for key, value in (table or {}).items() if value is not None}
