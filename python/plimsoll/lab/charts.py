"""What a notebook shows of results: charts, rankings with verdicts, and the report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from plimsoll import charts, texts
from plimsoll.errors import InputError, Problem
from plimsoll.events import Listener, Step
from plimsoll.report import made
from plimsoll.report.formats import cells, html, pictures
from plimsoll.report.formats.every import FORMATS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from plimsoll.canvas import Specification
    from plimsoll.findings.findings import Findings
    from plimsoll.findings.trial import TrialData
    from plimsoll.load_line.search import Searched

rankings_html = html.rankings_fragment
trial_html = html.trial_fragment
audit_html = cells.audit
calibration_html = cells.calibration
check_html = cells.check
comparison_html = cells.comparison
line_html = cells.line


@dataclass(frozen=True, repr=False)
class TrialChart:
    """A chart of one trial, or of a load line, which a notebook draws by itself.

    Attributes:
        name: `throughput`, `machine_speed`, `response_time`, `heat_map`, `cpu`, `memory` or
            `connections`; of a load line `load_line`.
        title: Its title.
        caption: How to read it.
        spec: Its Vega-Lite specification with its data.
    """

    name: str
    title: str
    caption: str
    spec: Specification

    def svg(self) -> str:
        """The chart as a picture, on light paper."""
        return pictures.svg(self.spec)

    def __repr__(self) -> str:
        """Its name and title, without its data."""
        return texts.object_line(self, f"{self.name}: {self.title}")

    def _repr_mimebundle_(self, **_: Any) -> dict[str, object]:
        """The specification for notebooks that draw Vega-Lite, a picture for the others."""
        return {
            _media_type(self.spec): self.spec,
            "image/svg+xml": self.svg(),
            "text/plain": f"{self.title}: {self.spec['description']}",
        }


def of_trial(data: TrialData, name: str) -> TrialChart:
    """A chart of one trial.

    Args:
        data: What it is drawn from.
        name: Its name.

    Raises:
        InputError: There is no such chart, or nothing to draw it from.
    """
    known = {module.NAME: module for module in charts.OF_A_TRIAL}
    if name not in known:
        hint = f"charts are {', '.join(f'`{one}`' for one in known)}"
        raise InputError([Problem("", f"there is no chart `{name}`", hint)])
    module = known[name]
    if not data.seconds.num_rows or module not in charts.drawn(data):
        message = f"the trial recorded nothing that the chart `{name}` shows"
        raise InputError([Problem("", message, "draw another chart")])
    return TrialChart(name, module.TITLE, module.CAPTION, module.draw(data))


def of_line(found: Searched) -> TrialChart:
    """Latency over rate, with every try of a search for a load line."""
    module = charts.load_line
    return TrialChart(module.NAME, module.TITLE, module.CAPTION, module.draw(found))


def report(
    findings: Findings, into: Path, formats: Sequence[str], of: str, on_event: Listener
) -> tuple[Path, ...]:
    """Writes a report.

    Args:
        findings: What to report.
        into: Folder of the report.
        formats: Names of formats that are files.
        of: Digest of what the findings follow from; empty where it is not known.
        on_event: Called with a `Step` before each format is drawn.

    Returns:
        The main file of each format.

    Raises:
        InputError: There is no such format.
        StorageError: It could not be written.
    """
    writers = {module.NAME: module for module in FORMATS if module.NAME != "terminal"}
    unknown = [name for name in formats if name not in writers]
    if unknown:
        hint = f"formats are {', '.join(f'`{one}`' for one in writers)}"
        raise InputError([Problem("", f"there is no format `{unknown[0]}`", hint)])
    written: dict[str, Path] = {}
    for name in (one for one in writers if one in formats):
        on_event(Step(f"drawing {writers[name].FILE}"))
        written[name] = writers[name].write(findings, into)
    if of:
        files = {name: str(path.relative_to(into)) for name, path in written.items()}
        made.remember(into, files, of)
    return tuple(written.values())


def _media_type(spec: Specification) -> str:
    """The media type of a Vega-Lite specification: `application/vnd.vegalite.v6+json`."""
    version = str(spec["$schema"]).rpartition("/v")[2].partition(".")[0]
    return f"application/vnd.vegalite.v{version}+json"
