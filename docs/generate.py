"""Writes the pages of `docs` that say what the program and the frameworks' folders say themselves.

`make docs` runs it; a test fails when what it would write is not what is there.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from plimsoll import _engine, tables
from plimsoll.campaign import framework as frameworks
from plimsoll.campaign.framework import Framework, Requirement
from plimsoll.cli import VERBS, plimsoll
from plimsoll.conduct.requirements import spoken
from plimsoll.published import claims
from plimsoll.published.readers import table as published
from plimsoll.verdicts import campaign_checks, checks
from plimsoll.verdicts.audit import Audit, audit
from plimsoll.verdicts.figure_checks import FIGURE_CHECKS
from plimsoll.verdicts.figure_set_checks import FIGURE_SET_CHECKS
from plimsoll.verdicts.limits import LIMITS, Limit
from plimsoll.verdicts.verdict import Verdict

FOLDER = Path(__file__).parent
PUBLISHED = FOLDER / "published"
FRAMEWORKS = FOLDER.parent / "frameworks"
GENERATED = "<!-- written by `make docs`; do not edit -->\n"


def pages() -> dict[str, str]:
    """Content of every generated page by its file name."""
    return {
        "tables.md": _tables(),
        "cli.md": _cli(),
        "outcomes.md": _outcomes(),
        "frameworks.md": _frameworks(),
        "published-figures.md": _published_figures(),
        "checks.md": _checks(),
    }


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


CHECKS_INTRODUCTION = """
What each check asks, by which formula, and where that comes from; then the limits of all of them.
A number at its limit is good, and bad beyond. A campaign may change it, as `[limits.<check>]` with
`<limit>_doubtful` or `<limit>_void`; a verdict then says so. How the levels are meant is in
[how Plimsoll measures](method.md#verdicts).
"""


def _checks() -> str:
    """Every check as its module describes it, and every limit."""
    kinds = {
        "On a trial": checks.CHECKS,
        "On a campaign": campaign_checks.CAMPAIGN_CHECKS,
        "On published figures": (*FIGURE_CHECKS, *FIGURE_SET_CHECKS),
    }
    lines = [GENERATED, "# Checks", CHECKS_INTRODUCTION.rstrip()]
    for title, listed in kinds.items():
        lines += ["", f"## {title}"]
        for check in listed:
            lines += ["", f"### `{check.NAME}`", "", (check.__doc__ or "").strip()]
    lines += ["", "## Limits", "", "| check | limit | doubtful | void | unit | of what | source |"]
    lines += ["| --- | --- | ---: | ---: | --- | --- | --- |"]
    lines += [_limit_row(limit) for limit in LIMITS]
    return "\n".join(lines) + "\n"


def _limit_row(limit: Limit) -> str:
    beyond = [
        "" if value is None else f"{limit.bad} {value:g}" for value in (limit.doubtful, limit.void)
    ]
    names = (f"`{limit.check}`", f"`{limit.name}`")
    return f"| {' | '.join((*names, *beyond, limit.unit, limit.meaning, limit.source))} |"


def _frameworks() -> str:
    """Every framework and variant; versions are those of the host, `plimsoll list` has them."""
    found = [frameworks.read(folder) for folder in frameworks.find(FRAMEWORKS)]
    lines = [GENERATED, "# Frameworks", "", "What `plimsoll list NAME` shows, but for what depends"]
    lines += [
        "on the host: versions, and what is missing there. What an application must do, and how"
    ]
    lines += ["to add one, is in [frameworks/README.md](../frameworks/README.md).", ""]
    lines += ["| framework | variants | language | endpoints left out | needs |"]
    lines += ["| --- | --- | --- | --- | --- |"]
    lines += [_framework_row(variants) for variants in found]
    for variants in found:
        lines += ["", *_framework(variants)]
    return "\n".join(lines) + "\n"


def _framework_row(variants: tuple[Framework, ...]) -> str:
    plain, *others = variants
    cells = (
        f"[`{plain.name}`](#{plain.name})",
        ", ".join(f"`{other.reference}`" for other in others),
        ", ".join(dict.fromkeys(variant.language for variant in variants)),
        ", ".join(f"`{name}`" for name in plain.not_implemented),
        _needs(plain.needs),
    )
    return f"| {' | '.join(cells)} |"


def _framework(variants: tuple[Framework, ...]) -> Iterator[str]:
    plain = variants[0]
    yield f"## {plain.name}"
    for variant in variants:
        yield ""
        if variant.variant:
            yield f"### `{variant.reference}`"
            yield ""
        yield from _variant(variant, plain)


def _variant(variant: Framework, plain: Framework) -> Iterator[str]:
    """What is to be said of a variant; of one that is not the plain one what differs from it."""
    known = {} if variant is plain else dict(_facts(plain))
    for name, value in _facts(variant):
        if value and value != known.get(name):
            yield f"- {name}: {value}"
    for name, why in variant.not_implemented.items():
        if variant is plain or name not in plain.not_implemented:
            yield f"- Without `{name}`: {why}"
    if variant.no_keep_alive and (variant is plain or not plain.no_keep_alive):
        yield f"- Without keep-alive only: {variant.no_keep_alive}"
    if variant.notes and (variant is plain or variant.notes != plain.notes):
        yield "- Notes:"
        yield from (f"  - {note}" for note in variant.notes)


def _facts(variant: Framework) -> Iterator[tuple[str, str]]:
    yield "Language", variant.language
    yield "Documentation", variant.site and f"<{variant.site}>"
    yield "Needs", _needs(variant.needs)
    yield "Built by", _command(variant.build)
    yield "Started by", _command(variant.start)
    yield "With", ", ".join(f"`{name}={value}`" for name, value in variant.environment.items())
    yield "Ends with exit code", " or ".join(map(str, variant.clean_exit_codes))


def _needs(needs: tuple[Requirement, ...]) -> str:
    tools = [spoken(need) for need in needs if need.kind != "apt"]
    packages = [f"`{need.name}`" for need in needs if need.kind == "apt"]
    debian = f"of Debian {', '.join(packages)}" if packages else ""
    return ", ".join(filter(None, [*tools, debian])) or "nothing else"


def _command(command: str) -> str:
    """A command in a line of code; one of several lines is in the framework's folder."""
    lines = command.strip().splitlines()
    return (
        f"`{lines[0]}`" if len(lines) == 1 else "several lines of its `framework.toml`" * any(lines)
    )


PUBLISHED_INTRODUCTION = """
Figures of four experiments that others published, each file as `plimsoll audit` judges it. The
files hold numbers that the documents print, with the place of each; what stands in a chart alone is
left out, and nothing is guessed.

**Sound** means that figures do not contradict each other or what is possible, no more: that they
were measured well cannot be seen from them. **Doubtful** means that they may well be something else
than they are called. **Void** means that they cannot all be true. What each check asks is in its
module, `verdicts/figure_checks` for one result and `verdicts/figure_set_checks` for all of a
document.
"""
SHOWN = 4
"""Sound verdicts of one check that are written out; of more, the first one is."""


def _published_figures() -> str:
    """What the audit says of every file of published figures."""
    files = sorted(PUBLISHED.glob("*.toml"))
    lines = [GENERATED, "# Published figures, audited", PUBLISHED_INTRODUCTION]
    lines += ["| document | tool | results | void | doubtful | sound |"]
    lines += ["| --- | --- | ---: | ---: | ---: | ---: |"]
    lines += [_experiment_row(file) for file in files]
    for file in files:
        lines += ["", *_experiment(file)]
    return "\n".join(lines) + "\n"


def _audited(file: Path) -> Audit:
    return audit(published.read(file.read_text(encoding="utf-8"), file.name))


def _verdicts(audited: Audit) -> list[Verdict]:
    alone = [verdict for one in audited.results for verdict in one.verdicts]
    return [*audited.together, *alone]


def _experiment_row(file: Path) -> str:
    audited = _audited(file)
    first = audited.results[0].figures
    levels = [verdict.level for verdict in _verdicts(audited)]
    counts = (levels.count(level) for level in ("void", "doubtful", "sound"))
    cells = (f"[{first.source.name}](#{file.stem})", first.tool, len(audited.results), *counts)
    return f"| {' | '.join(map(str, cells))} |"


def _experiment(file: Path) -> Iterator[str]:
    text = file.read_text(encoding="utf-8")
    audited = _audited(file)
    source = audited.results[0].figures.source
    yield f'<a id="{file.stem}"></a>'
    yield f"## {source.name}"
    yield ""
    address = f"Published at <{source.address}>. " if source.address else ""
    yield f"{address}Figures: [`{file.name}`](published/{file.name})."
    yield from _listed("What is claimed", list(_claims(text, file.name, audited)))
    yield from _listed("Not sound", list(_not_sound(audited)))
    yield from _listed("Consistent", list(_consistent(audited)))
    yield from _listed("Cannot be checked, for want of", list(_missing(audited)))
    yield from _listed("Left out, and notes", list(_left_out(text, audited)))


def _listed(heading: str, lines: Sequence[str]) -> Iterator[str]:
    if lines:
        yield from ("", f"### {heading}", "", *lines)


def _claims(text: str, name: str, audited: Audit) -> Iterator[str]:
    """Claims, and what the figures of the same document say to them."""
    found = claims.read(text, name)
    if found:
        yield "| claim | claimed | by its own figures |"
        yield "| --- | --- | --- |"
    figures = [one.figures for one in audited.results]
    for claim in found:
        yield f"| {claim.says} | {claim.claimed} | {claims.statement(claim, figures)} |"


def _not_sound(audited: Audit) -> Iterator[str]:
    """The worst first."""
    verdicts = _verdicts(audited)
    for level in ("void", "doubtful"):
        for verdict in verdicts:
            if verdict.level == level:
                yield f"- **{level}**, {verdict.subject}, `{verdict.check}`: {verdict.statement}"
                yield f"  *{verdict.remedy}*"


def _consistent(audited: Audit) -> Iterator[str]:
    checks: dict[str, list[Verdict]] = {}
    for verdict in _verdicts(audited):
        if verdict.level == "sound":
            checks.setdefault(verdict.check, []).append(verdict)
    for check, verdicts in checks.items():
        whole = f"{len(verdicts)} of {len(audited.results)} results"
        nearest = min(verdicts, key=_distance_from_limit)
        if len({verdict.statement for verdict in verdicts}) == 1 < len(verdicts):
            yield f"- `{check}`, {whole}: {nearest.statement}"
        elif len(verdicts) > SHOWN:
            yield f"- `{check}`, {whole}, the nearest to its limit being {nearest.subject}:"
            yield f"  {nearest.statement}"
        else:
            yield from (f"- `{check}`, {one.subject}: {one.statement}" for one in verdicts)


def _distance_from_limit(verdict: Verdict) -> float:
    if verdict.measured is None or verdict.limit is None:
        return float("inf")
    return abs(verdict.limit - verdict.measured)


def _missing(audited: Audit) -> Iterator[str]:
    """Checks of which nothing could be asked, and what they would need."""
    made = {verdict.check for verdict in _verdicts(audited)}
    needs = {name: need for one in audited.results for name, need in one.missing.items()}
    needs |= {check.NAME: check.NEEDS for check in FIGURE_SET_CHECKS}
    for name, need in needs.items():
        if name not in made:
            yield f"- `{name}`: {need}"


def _left_out(text: str, audited: Audit) -> Iterator[str]:
    for what in tomllib.loads(text).get("left_out", []):
        yield f"- left out: {what}"
    notes: dict[str, list[str]] = {}
    for one in audited.results:
        for note in one.figures.notes:
            notes.setdefault(note, []).append(one.figures.label)
    for note, labels in notes.items():
        yield f"- {note}" if len(labels) > 1 else f"- {labels[0]}: {note}"


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
