"""HTML: one file that opens from disk and asks the network for nothing.

The chart library, the styles and all data are inside. A policy in the page's head forbids
everything else, and scripts other than the two of the page itself. So text that a server sent
cannot act even if it got past the escaping of the templates. A chart is drawn when it comes into
view; specifications that several charts share are kept once.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jinja2
from markupsafe import Markup, escape

from plimsoll import canvas, charts
from plimsoll.report import contents, level_text, sections, trial_numbers
from plimsoll.report.contents import against_latency, answer, looks, naming, repeat, servers
from plimsoll.report.formats import vega
from plimsoll.storage.parquet import keep
from plimsoll.wording import bound

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import ModuleType

    from plimsoll.canvas import Specification
    from plimsoll.findings.findings import Findings
    from plimsoll.report.contents import RankingContents, TrialContents
    from plimsoll.report.contents.answer import RankingAnswer
    from plimsoll.report.contents.section import Picture, Section

    Columns = dict[str, list[Any]]
    """A data set of a chart: its columns."""

    DataSets = dict[str, Columns]

NAME = "html"
FILE = "index.html"

SHOWN = 3
"""Remarks of one doubt that are shown at once; the others are behind a click."""

_VARIABLES = {
    "paper": canvas.PAPER,
    "ink": canvas.INK,
    "muted": canvas.MUTED,
    "line": canvas.LINE,
    "panel": canvas.BAND,
    "server": canvas.SERVER,
    "machine": canvas.MACHINE,
    "sound": canvas.SOUND,
    "doubtful": canvas.DOUBTFUL,
    "void": canvas.VOID,
}


@dataclass
class Charts:
    """The charts of a page while it is made: their data by group, what they share only once.

    Attributes:
        specifications: Each specification without its data, to its number.
        groups: Group, then chart, to its data and the number of its specification.
        tables: Chart to the data set that is its table, and the headings of its columns.
    """

    specifications: dict[str, int] = field(default_factory=dict[str, int])
    groups: dict[str, dict[str, object]] = field(default_factory=dict[str, dict[str, object]])
    tables: dict[str, object] = field(default_factory=dict[str, object])
    _own: dict[str, dict[str, DataSets]] = field(default_factory=dict[str, "dict[str, DataSets]"])

    def _shared(self, group: str, data: DataSets) -> dict[str, object]:
        """Data sets of a chart; what another chart of its group has too is the name of that one.

        That holds for whole data sets, and for single columns.
        """
        others = self._own.get(group, {})

        def shared(name: str, columns: Columns) -> object:
            same = {chart: sets[name] for chart, sets in others.items() if name in sets}
            if owner := _first(chart for chart, sets in same.items() if sets == columns):
                return owner
            return {
                column: _first(chart for chart, sets in same.items() if sets.get(column) == values)
                or values
                for column, values in columns.items()
            }

        return {name: shared(name, columns) for name, columns in data.items()}

    def add(
        self, group: str, module: ModuleType, specification: Specification
    ) -> Mapping[str, object]:
        """Take in a chart and return what the template needs to place it.

        Args:
            group: Anchor of the part of the page that it belongs to; also names its data.
            module: The chart's module.
            specification: What it drew.
        """
        template = dict(specification)
        data = template.pop("datasets")
        description = template.pop("description")
        outside_px = canvas.AXIS_PX + canvas.ASIDE_PX
        template.setdefault("usermeta", {"outside_px": outside_px})
        text = json.dumps(template, sort_keys=True)
        number = self.specifications.setdefault(text, len(self.specifications))
        columns = {name: canvas.rows_as_columns(rows) for name, rows in data.items()}
        placed = self.groups.setdefault(group, {})
        placed[module.NAME] = {"specification": number, "data": self._shared(group, columns)}
        self._own.setdefault(group, {})[module.NAME] = columns
        self.tables[module.NAME] = {"table": module.TABLE, "columns": module.COLUMNS}
        return {
            "group": group,
            "name": module.NAME,
            "title": module.TITLE,
            "caption": module.CAPTION,
            "description": description,
            "height_px": _height_px(specification),
        }


def _first(names: Iterable[str]) -> str | None:
    return next(iter(names), None)


def write(findings: Findings, into: Path) -> Path:
    """Writes the report as one HTML file.

    Args:
        findings: What to report.
        into: Folder of the report; made when it is not there.

    Returns:
        Path of the file.

    Raises:
        StorageError: It could not be written.
    """
    return keep(into / FILE, render(findings).encode())


def render(findings: Findings) -> str:
    """The page as text."""
    drawn = Charts()
    entries = looks.entries(findings)
    ranked = contents.rankings(findings)
    rankings = [_with_chart(ranking, drawn) for ranking in ranked]
    of_campaign = contents.of_campaign(findings)
    of_sections = sections.of(findings)
    placed = [_section(section, drawn) for section in of_sections]
    of_trials = contents.trials(findings)
    trials = [_with_charts(trial, drawn) for trial in of_trials]
    scripts = {"library": vega.library(), "script": _template_text("page.js")}
    return (
        environment()
        .get_template("report.html")
        .render(
            findings=findings,
            policy=_policy(scripts.values()),
            style=Markup(style()),  # noqa: S704 - of this package
            subtitle=contents.subtitle(findings),
            configuration=contents.configuration(findings),
            repeat=repeat.repeat(findings),
            repeat_heading=repeat.HEADING,
            repeat_caption=repeat.CAPTION,
            as_run=contents.as_run(findings),
            as_run_heading=contents.AS_RUN,
            machines=contents.machines(findings),
            banner=contents.banner(findings),
            of_yardstick=contents.of_yardstick(findings),
            extent=contents.extent(findings),
            limits=contents.changed_limits(findings),
            failed=[shown for one, shown in zip(of_trials, trials, strict=True) if one.error],
            answers=[_answer(one, drawn, entries) for one in answer.answers(findings, ranked)],
            frameworks=_frameworks(findings),
            conditions=contents.conditions(findings),
            campaign=[one for one in of_campaign if one.level != "sound"],
            campaign_sound=[one for one in of_campaign if one.level == "sound"],
            trust=contents.TRUST,
            campaign_heading=contents.CAMPAIGN,
            doubts=[_doubt(doubt) for doubt in contents.doubts(findings)],
            matrix=_matrix(ranked),
            rankings=rankings,
            detail=contents.detail(ranked),
            against_latency=_pictures(against_latency.drawn(findings), drawn),
            foremost=_only(placed, of_sections, is_answer=True),
            sections=_only(placed, of_sections, is_answer=False),
            servers=servers.rows(findings),
            subject=naming.subject(findings),
            server_headings=servers.HEADINGS,
            server_caption=servers.CAPTION,
            trials=trials,
            glossary=contents.glossary(findings),
            captions={module.NAME: module.CAPTION for module in charts.CHARTS},
            statistic_headings=trial_numbers.STATISTIC_HEADINGS,
            twins=_json(canvas.DARK),
            chart_tables=_json(drawn.tables),
            specifications=_json([json.loads(text) for text in drawn.specifications]),
            chart_data=[(group, _json(content)) for group, content in drawn.groups.items()],
            **{name: Markup(text) for name, text in scripts.items()},  # noqa: S704 - of this package
        )
    )


def rendered(template: str, **values: object) -> str:
    """Another page by its template.

    Args:
        template: Its file in `templates`.
        values: What it shows; texts are escaped.
    """
    return environment().get_template(template).render(**values)


def rankings_fragment(findings: Findings) -> str:
    """The rankings with their verdicts, small enough for an output cell of a notebook."""
    return (
        environment()
        .get_template("rankings_fragment.html")
        .render(
            title=findings.campaign,
            subtitle=contents.subtitle(findings),
            rankings=contents.rankings(findings),
        )
    )


def trial_fragment(findings: Findings, trial_id: str) -> str:
    """The main numbers of a trial and what the checks say of it, for a cell of a notebook.

    Args:
        findings: What the trial belongs to.
        trial_id: Its id.
    """
    found = next(one for one in contents.trials(findings) if one.trial.recording.trial == trial_id)
    return environment().get_template("trial_fragment.html").render(trial=found)


def _with_chart(ranking: RankingContents, drawn: Charts) -> Mapping[str, object]:
    module = charts.comparison
    chart = drawn.add(f"data-{ranking.anchor}", module, module.draw(ranking.ranking))
    return {**vars(ranking), "chart": {**chart, "caption": ""}}


def _answer(found: RankingAnswer, drawn: Charts, entries: tuple[str, ...]) -> Mapping[str, object]:
    """An answer with the charts of its distributions, and which are laid over each other."""
    data = found.distributions
    if data is None:
        return {**vars(found), "laid_over": None}
    placed = [
        drawn.add(f"data-{found.anchor}", module, module.draw(data, entries))
        for module in charts.OF_DISTRIBUTIONS
    ]
    colours = canvas.entry_colours(data.frameworks, entries)
    dashes = canvas.dashes_of(data.frameworks, entries)
    choices = [
        {
            "name": name,
            "colour": colour,
            "dash": dashes[name],
            "is_chosen": place < answer.LAID_OVER,
        }
        for place, (name, colour) in enumerate(colours.items())
    ]
    return {**vars(found), "laid_over": {"charts": placed, "choices": choices}}


def _frameworks(findings: Findings) -> list[str]:
    """Each framework once, in the order of the rankings."""
    ranked = (entry for ranking in findings.rankings for entry in ranking.entries)
    return list(dict.fromkeys(entry.framework for entry in ranked))


def _only(
    placed: Iterable[Mapping[str, object]], sections: Iterable[Section], *, is_answer: bool
) -> list[Mapping[str, object]]:
    """The sections that answer a question of the campaign, or the others."""
    return [
        shown for one, shown in zip(sections, placed, strict=True) if one.is_answer == is_answer
    ]


def _section(section: Section, drawn: Charts) -> Mapping[str, object]:
    return {**vars(section), "pictures": _pictures(section.pictures, drawn)}


def _pictures(pictures: Iterable[Picture], drawn: Charts) -> list[tuple[str, Mapping[str, object]]]:
    """Title and chart of each picture; what they have in common is said once above them."""
    return [
        (
            one.title,
            {**drawn.add(f"data-{one.anchor}", one.module, one.specification), "caption": ""},
        )
        for one in pictures
    ]


def _with_charts(trial: TrialContents, drawn: Charts) -> Mapping[str, object]:
    data = trial.trial.data
    modules = charts.drawn(data) if data.seconds.num_rows else ()
    placed = [drawn.add(f"data-{trial.anchor}", module, module.draw(data)) for module in modules]
    names = {"sound_names": trial.sound_names, "inapplicable_names": trial.inapplicable_names}
    return {**vars(trial), **names, "charts": placed}


def _doubt(doubt: contents.Doubt) -> Mapping[str, object]:
    remarks = list(doubt.remarks)
    return {**vars(doubt), "shown": remarks[:SHOWN], "more": remarks[SHOWN:]}


def _matrix(rankings: list[RankingContents]) -> Mapping[str, object] | None:
    """Every framework at every endpoint and load; None when there is only one of these."""
    if len(rankings) < 2:  # noqa: PLR2004
        return None
    cells = {
        (row.framework, ranking.anchor): {
            "number": row.number,
            "level": row.state,
            "rank": f"rank {row.rank}" if row.is_ranked else "not ranked",
        }
        for ranking in rankings
        for row in ranking.rows
    }
    frameworks = dict.fromkeys(framework for framework, _ in cells)
    return {
        "heads": rankings,
        "rows": [
            {
                "framework": framework,
                "cells": [cells.get((framework, ranking.anchor)) for ranking in rankings],
            }
            for framework in frameworks
        ],
    }


def _height_px(specification: Specification) -> int:
    """About the height of a chart, kept free until it is drawn so that the page does not jump."""
    views = specification.get("vconcat", [specification])
    return sum(view["height"] + 70 for view in views)


_OF_PARTS = {
    "marks": level_text.MARKS,
    "answer_number": answer.NUMBER,
    "answer_headings": answer.HEADINGS,
    "answer_labels": answer.LABELS,
    "most_laid_over": answer.MOST_LAID_OVER,
    "comparison": answer.COMPARISON,
}
"""What the parts of pages show on every page; `parts.html` has them whoever uses it."""


@cache
def environment(*packages: str) -> jinja2.Environment:
    """The templates of this package, and of others that make pages of its parts.

    Args:
        packages: Names of the others; their templates are in their folder `templates`.
    """
    environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader(
            [jinja2.PackageLoader(name) for name in ("plimsoll.report.formats", *packages)]
        ),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(_OF_PARTS)  # pyright: ignore[reportUnknownMemberType]
    environment.filters["bound"] = bound  # pyright: ignore[reportUnknownMemberType]
    environment.filters["parted"] = parted  # pyright: ignore[reportUnknownMemberType]
    environment.filters["ticked"] = ticked  # pyright: ignore[reportUnknownMemberType]
    return environment


def ticked(sentence: str) -> Markup:
    """A sentence with what stands in backticks set as code; everything in it is escaped."""
    return Markup(re.sub(r"`([^`]*)`", r"<code>\1</code>", str(escape(bound(sentence)))))  # noqa: S704


def parted(text: str) -> Markup:
    """A number with its interval in brackets as two lines; everything in it is escaped."""
    value, bracket, interval = bound(text).rpartition(" (")
    if not bracket or not interval.endswith(")"):
        return escape(bound(text))
    under = Markup('<span class="under">{}</span>').format(interval.removesuffix(")"))
    return escape(value) + under


def _template_text(name: str) -> str:
    return (Path(__file__).parent / "templates" / name).read_text(encoding="utf-8")


def style() -> str:
    """The style sheet, for light and dark paper."""
    return (
        _template_text("style.css")
        .replace("{{ light }}", _variables("light"))
        .replace("{{ dark }}", _variables("dark"))
    )


def _variables(paper: str) -> str:
    return " ".join(f"--{name}: {getattr(c, paper)};" for name, c in _VARIABLES.items())


def _json(value: object) -> Markup:
    """JSON that may stand in a script element: no `<` begins or ends anything in it."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    return Markup(text.replace("<", "\\u003c").replace("\u2028", "\\u2028"))  # noqa: S704


def _policy(scripts: Iterable[str]) -> str:
    """What the page may do: run its own scripts, and nothing over the network.

    Source:
        W3C, Content Security Policy Level 3.
    """
    hashes = " ".join(f"'sha256-{_digest(script)}'" for script in scripts)
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
