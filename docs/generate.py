"""Generates pages of `docs` from the program and the frameworks' folders.

`make docs` runs it; a test fails if a page is not up to date.
"""

from __future__ import annotations

import inspect
import json
import re
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from plimsoll import _engine, tables
from plimsoll.campaign import framework as frameworks
from plimsoll.campaign.endpoints import ENDPOINTS
from plimsoll.campaign.framework import Framework
from plimsoll.campaign.load import SERVICES
from plimsoll.cli import VERBS, plimsoll
from plimsoll.install.requirements import spoken
from plimsoll.published import claims
from plimsoll.serving.compliance import http2, websocket
from plimsoll.serving.compliance.cases import CASES
from plimsoll.tool_output.readers import table as published
from plimsoll.verdicts import campaign_checks, checks
from plimsoll.verdicts.audit import Audit, audit
from plimsoll.verdicts.catalogue import LIMITS
from plimsoll.verdicts.figure_checks import FIGURE_CHECKS
from plimsoll.verdicts.figure_set_checks import FIGURE_SET_CHECKS
from plimsoll.verdicts.limits import Limit
from plimsoll.verdicts.verdict import Sentence, Verdict

FOLDER = Path(__file__).parent
PUBLISHED = FOLDER / "published"
FAULTS = FOLDER / "faults.json"
FRAMEWORKS = FOLDER.parent / "frameworks"
GENERATED = "<!-- written by `make docs`; do not edit -->\n"

PLACES = """\
In a folder of results, recorded tables are in `trials/<trial>/`, derived ones in
`derived/<trial>/`, and `comparisons`, which covers all trials, in `derived/`. A DuckDB query can
read the derived rows of all trials:

```sql
SELECT trial, goodput_per_s FROM 'results/quick/derived/*/summaries.parquet' ORDER BY 2 DESC;
SELECT trial, unnest(verdicts, recursive := true) FROM 'results/quick/derived/*/verdicts.json';
```

[analysis.md](analysis.md) has ten queries in DuckDB, pandas and polars. For a database see
[postgres.md](postgres.md)."""
"""Where tables are stored, and how to query those of all trials."""


VERDICTS = """\
Verdicts on a trial are in `derived/<trial>/verdicts.json`, those on a campaign in
`derived/campaign_verdicts.json`: an object whose `verdicts` is a list. `origin` says what they were
derived from; when that changes, they are derived again. Each verdict has"""
"""Where verdicts are stored."""

TABLES_OF_THE_REPORT = """\
What reports read in addition to the tables above. They are in `derived/<trial>/` too, in no export,
and in a database only in the program's format (`trial_derived_tables`). Each has the column
`trial` as well."""
"""What `tables.REPORT_TABLES` are."""


def pages() -> dict[str, str]:
    """Content of every generated page by its file name."""
    return {
        "tables.md": _tables(),
        "cli.md": _cli(),
        "outcomes.md": _outcomes(),
        "frameworks.md": _frameworks(),
        "published-figures.md": _published_figures(),
        "checks.md": _checks(),
        "compliance.md": _compliance(),
    }


def _tables() -> str:
    lines = [
        GENERATED,
        "# Tables",
        "",
        PLACES,
        "",
        "Timestamps are nanoseconds since the trial's time zero.",
    ]
    for table in tables.TABLES:
        lines += _table(table)
    lines += ["", "## Tables of the report", "", TABLES_OF_THE_REPORT]
    for table in tables.REPORT_TABLES:
        lines += _table(table, heading="###")
    lines += ["", "## `verdicts` and `campaign_verdicts`", "", VERDICTS, "", *_fields(Verdict)]
    lines += ["", "and each of its sentences", "", *_fields(Sentence)]
    lines += ["", "## Quantities of `usage`", "", "| quantity | kind | meaning |"]
    lines += ["| --- | --- | --- |"]
    lines += [f"| `{one.name}` | {one.kind} | {one.meaning} |" for one in tables.QUANTITIES]
    return "\n".join(lines) + "\n"


def _fields(of: type) -> Iterator[str]:
    """The attributes of a class as its description has them."""
    yield "| field | meaning |"
    yield "| --- | --- |"
    _, _, listed = inspect.cleandoc(of.__doc__ or "").partition("Attributes:\n")
    entries = re.split(r"^    (?=\w)", listed, flags=re.MULTILINE)
    for name, _, meaning in (entry.partition(": ") for entry in entries[1:]):
        yield f"| `{name}` | {' '.join(meaning.split())} |"


def _table(table: tables.Table, heading: str = "##") -> list[str]:
    return [
        *("", f"{heading} `{table.name}`", "", f"{table.stored}; one row is {table.row}.", ""),
        *("| column | type | may be null | meaning |", "| --- | --- | --- | --- |"),
        *(
            f"| `{column.name}` | {_type(column)} | {'yes' if column.nullable else ''} "
            f"| {column.meaning} |"
            for column in table.columns
        ),
    ]


def _type(column: tables.Column) -> str:
    name = str(column.type)
    return "text" if name.startswith("dictionary") else name


def _outcomes() -> str:
    lines = [GENERATED, "# Outcomes", "", "How a request or a connection can end.", ""]
    lines += ["| outcome | group | meaning |", "| --- | --- | --- |"]
    lines += [
        f"| `{name}` | {group} | {meaning} |" for _, name, meaning, group in _engine.outcomes()
    ]
    return "\n".join(lines) + "\n"


COMPLIANCE_INTRODUCTION = """
Which servers keep the rules of HTTP when a client sends what few clients send: conflicting lengths,
fragments, a folded header. A load shows none of it, and a server that reads lengths wrongly behind
a proxy lets requests be smuggled.

```
plimsoll check go node --compliance   # the contract, then these requests; --full shows every case
plimsoll run quick --available        # `compliance = true` in a campaign: a section of the report
```

A framework is started for the gate alone, before its first load, and stopped again: no server under
load has seen one of these requests. They take less than a second, and up to three with a server
that leaves them without a response. Cases of WebSocket (`ws_…`) are sent where it has the endpoint
`ws`, those of HTTP/2 (`h2_…`) to a second start where it serves `h2c`. Results are in `trial.json`
of the first trial of each framework and in `--json`. No result enters a figure, a verdict, a
ranking or an exit code.

| result | meaning |
| --- | --- |
| conforms | it did what the RFC requires (MUST) |
| allowed | the RFC leaves the choice (MAY), or only recommends something else (SHOULD) |
| differs | it did something else |
| not tried | none of its endpoints takes a body, or it did not respond to a usual request |

What a framework leaves to its application, often HEAD and OPTIONS, is judged as the application in
`frameworks/` does it. `400, next request 200` is a response with 400, after which the connection
stayed open and the next request got 200. A response is waited for 20 times as long as usual ones
took, at least 0.8 s and at most 10 s.
"""


def _compliance() -> str:
    """Every case of the compliance gate."""
    lines = [GENERATED, "# HTTP compliance", COMPLIANCE_INTRODUCTION.rstrip(), ""]
    lines += ["| case | what is sent | what is judged | source |", "| --- | --- | --- | --- |"]
    lines += [
        f"| `{case.name}` | {case.title} | {case.judge.__doc__} | {case.source} |"
        for case in (*CASES, *websocket.CASES, *http2.CASES)
    ]
    return "\n".join(lines) + "\n"


CHECKS_INTRODUCTION = """
The names of each check where it passes and where it doubts, its question, formula and source; then
all limits. A number at its limit passes. A
campaign may override a limit with `<limit>_doubtful` or `<limit>_void` in `[limits.<check>]`,
which its verdicts show. The levels are explained in [the method](method.md#verdicts).
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
            lines += [
                "",
                f"### `{check.NAME}`",
                "",
                f"*{check.TITLE}*; a doubt: *{check.PROBLEM}*.",
            ]
            lines += ["", (check.__doc__ or "").strip()]
    lines += ["", "## Planted faults", FAULTS_INTRODUCTION.rstrip(), "", *_faults()]
    lines += ["", "## Limits", "", "| check | limit | doubtful | void | unit | of what | source |"]
    lines += ["| --- | --- | ---: | ---: | --- | --- | --- |"]
    lines += [_limit_row(limit) for limit in LIMITS]
    return "\n".join(lines) + "\n"


FAULTS_INTRODUCTION = """
Each fault is injected at growing sizes, and its check must not doubt the same load without it.
*From* is the smallest size that the check detects; smaller ones were tried and not detected. The
catalogue is [`tests/faults/catalogue.py`](../tests/faults/catalogue.py). Its tests inject each
fault at one size, and `make faults` measures this table again. *Refused* is a fault on which
`load` ends with an error instead of a verdict.
"""


def _faults() -> Iterator[str]:
    """Every planted fault, the check that detects it, and from which size, by `make faults`."""
    rows: list[dict[str, Any]] = json.loads(FAULTS.read_text(encoding="utf-8"))["faults"]
    trials, disturbed = (sum(row[name] for row in rows) for name in ("trials", "disturbed"))
    is_quiet = "a quiet" if disturbed < trials / 10 else "a busy"
    yield f"Measured on {is_quiet} host: in {disturbed} of {trials} trials other programs kept the"
    yield "cores busy. † marks rows where they may have hidden the fault, or looked like it."
    yield ""
    yield "| fault | what is done | at fault | found by | from | tried |"
    yield "| --- | --- | --- | --- | --- | --- |"
    yield from (_fault_row(row) for row in rows)


def _fault_row(row: dict[str, Any]) -> str:
    found_by, first = row["found_by"], row["first"]
    named = f"`{found_by}`" if found_by not in ("", "refused") else found_by or "not found"
    test = row["test"] and f" ([its test](../tests/{row['test']}))"
    sizes = " ".join(f"{size:,g}" for size in row["sizes"])
    unsure = " †" if row["needs_quiet"] and row["disturbed"] else ""
    if first is not None:
        from_size = f"{first:,g} {row['unit']}{unsure}{test}"
    elif not row["trials"]:
        from_size = "not measured yet"
    elif row["twin_doubted"]:
        from_size = f"unknown: its twin was doubted, too{unsure}"
    else:
        from_size = row["why"] or f"not found at these sizes{unsure}"
    return f"| {row['name']} | {row['what']} | {row['side']} | {named} | {from_size} | {sizes} |"


def _limit_row(limit: Limit) -> str:
    beyond = [
        "" if value is None else f"{limit.bad} {value:g}" for value in (limit.doubtful, limit.void)
    ]
    names = (f"`{limit.check}`", f"`{limit.name}`")
    return f"| {' | '.join((*names, *beyond, limit.unit, limit.meaning, limit.source))} |"


def _frameworks() -> str:
    """Every framework and variant; versions are those of the host, `plimsoll list` has them."""
    found = [frameworks.read(folder) for folder in frameworks.find(FRAMEWORKS)]
    lines = [GENERATED, "# Frameworks", "", "The output of `plimsoll list NAME`, without what"]
    lines += [
        "depends on the host: versions, and what is missing. What an application must do, and"
    ]
    lines += ["how to add one, is in [frameworks/README.md](../frameworks/README.md).", ""]
    lines += ["| endpoint | request and response | what correct responses do not prove |"]
    lines += ["| --- | --- | --- |"]
    lines += [f"| `{one.name}` | {one.summary} | {one.not_proven} |" for one in ENDPOINTS]
    lines += ["", "| service | what it is |", "| --- | --- |"]
    lines += [f"| `{name}` | {meaning} |" for name, meaning in SERVICES.items()]
    lines += [""]
    lines += ["| framework | variants | language | endpoints left out | services | needs |"]
    lines += ["| --- | --- | --- | --- | --- | --- |"]
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
        ", ".join(f"`{one.name}`" for one in ENDPOINTS if one.name not in plain.endpoints),
        ", ".join(f"`{name}`" for name in plain.services),
        _needs(plain),
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
    """The facts of a variant; for others than the plain one, those that differ from it."""
    known = {} if variant is plain else dict(_facts(plain))
    for name, value in _facts(variant):
        if value and value != known.get(name):
            yield f"- {name}: {value}"
    for name, why in variant.not_implemented.items():
        if variant is plain or why != plain.not_implemented.get(name):
            yield f"- Without `{name}`: {why}"
    if variant.no_keep_alive and (variant is plain or not plain.no_keep_alive):
        yield f"- Without keep-alive only: {variant.no_keep_alive}"
    yield from _contract_notes(variant, plain)
    if variant.notes and (variant is plain or variant.notes != plain.notes):
        yield "- Notes:"
        yield from (f"  - {note}" for note in variant.notes)


def _contract_notes(variant: Framework, plain: Framework) -> Iterator[str]:
    for note in variant.notes_on_rules:
        if variant is plain or note not in plain.notes_on_rules:
            yield f"- {note}"
    for name in plain.contract_notes:
        if name not in variant.contract_notes:
            yield f"- Checked for this variant: `{name}`"


def _facts(variant: Framework) -> Iterator[tuple[str, str]]:
    yield "Language", variant.language
    yield "Documentation", variant.site and f"<{variant.site}>"
    yield "Needs", _needs(variant)
    yield "Built by", _command(variant.build)
    yield "Started by", _command(variant.start)
    yield "With", ", ".join(f"`{name}={value}`" for name, value in variant.environment.items())
    yield "Ends with exit code", " or ".join(map(str, variant.clean_exit_codes))


def _needs(variant: Framework) -> str:
    tools = [spoken(need) for need in variant.needs if need.kind != "apt"]
    packages = [f"`{need.name}`" for need in variant.needs if need.kind == "apt"]
    where = f"in a root of `{variant.root}`" if variant.root else "of Debian"
    debian = f"{where} {', '.join(packages)}" if packages else ""
    return ", ".join(filter(None, [*tools, debian])) or "nothing else"


def _command(command: str) -> str:
    """A command as code; one of several lines is in the framework's folder."""
    lines = command.strip().splitlines()
    return (
        f"`{lines[0]}`" if len(lines) == 1 else "several lines of its `framework.toml`" * any(lines)
    )


PUBLISHED_INTRODUCTION = """
The verdicts of `plimsoll audit` on the published figures of four experiments. The files contain the
numbers that the documents print, each with its place. Numbers that appear only in charts are left
out; nothing is guessed.

**Sound** means only that the figures contradict neither each other nor what is possible; whether
they were measured well is not visible in them. **Doubtful** means that they may be something else
than what they are called. **Void** means that they cannot all be true. [Checks](checks.md)
describes each check.
"""
SHOWN = 4
"""Sound verdicts of a check that are all listed; of more, only the closest to its limit."""


def _published_figures() -> str:
    """The audit of every file of published figures."""
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
    yield from _listed("Claims", list(_claims(text, file.name, audited)))
    yield from _listed("Not sound", list(_not_sound(audited)))
    yield from _listed("Consistent", list(_consistent(audited)))
    yield from _listed("Not checked, and the missing facts", list(_missing(audited)))
    yield from _listed("Omitted figures and notes", list(_left_out(text, audited)))


def _listed(heading: str, lines: Sequence[str]) -> Iterator[str]:
    if lines:
        yield from ("", f"### {heading}", "", *lines)


def _claims(text: str, name: str, audited: Audit) -> Iterator[str]:
    """Claims, compared with the figures of the same document."""
    found = claims.read(text, name)
    if found:
        yield "| claim | claimed | from its own figures |"
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
                yield f"- **{level}**, {verdict.subject}, `{verdict.check}`: {verdict.text}"
                yield f"  *{' '.join(verdict.remedies)}*"


def _consistent(audited: Audit) -> Iterator[str]:
    checks: dict[str, list[Verdict]] = {}
    for verdict in _verdicts(audited):
        if verdict.level == "sound":
            checks.setdefault(verdict.check, []).append(verdict)
    for check, verdicts in checks.items():
        whole = f"{len(verdicts)} of {len(audited.results)} results"
        nearest = min(verdicts, key=_distance_from_limit)
        if len({verdict.text for verdict in verdicts}) == 1 < len(verdicts):
            yield f"- `{check}`, {whole}: {nearest.text}"
        elif len(verdicts) > SHOWN:
            yield f"- `{check}`, {whole}; closest to its limit: {nearest.subject}:"
            yield f"  {nearest.text}"
        else:
            yield from (f"- `{check}`, {one.subject}: {one.text}" for one in verdicts)


def _distance_from_limit(verdict: Verdict) -> float:
    if verdict.measured is None or verdict.limit is None:
        return float("inf")
    return abs(verdict.limit - verdict.measured)


def _missing(audited: Audit) -> Iterator[str]:
    """Checks without a verdict, and the facts they need."""
    made = {verdict.check for verdict in _verdicts(audited)}
    needs = {name: need for one in audited.results for name, need in one.missing.items()}
    needs |= {check.NAME: check.NEEDS for check in FIGURE_SET_CHECKS}
    for name, need in needs.items():
        if name not in made:
            yield f"- `{name}`: {need}"


def _left_out(text: str, audited: Audit) -> Iterator[str]:
    for what in tomllib.loads(text).get("left_out", []):
        yield f"- omitted: {what}"
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
            lines += _section(command, f"plimsoll {verb}", "##")
    return "\n".join(lines) + "\n"


def _section(command: click.Command, name: str, mark: str) -> Iterator[str]:
    """Help of a command, then that of its commands."""
    yield from ("", f"{mark} `{name}`", "", "```", _help(command, name), "```")
    if isinstance(command, click.Group):
        for one, below in command.commands.items():
            yield from _section(below, f"{name} {one}", f"{mark}#")


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
