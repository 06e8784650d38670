"""A history as one HTML file: a chart and a table for each series, without script or network."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

from markupsafe import Markup

from plimsoll import canvas
from plimsoll.charts import history as chart
from plimsoll.report.formats import html, pictures
from plimsoll.report.results import history_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from plimsoll.canvas import Specification
    from plimsoll.history.kept import KeptMachine
    from plimsoll.history.series import Series

POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'"
"""What the page may do: show the pictures inside it."""


def render(found: Sequence[Series]) -> str:
    """The page as text.

    Args:
        found: The series; at least one.
    """
    return html.rendered(
        "history.html",
        policy=POLICY,
        style=Markup(html.style()),  # noqa: S704 - of this package
        caption=chart.CAPTION,
        machines=[_machine(one) for one in _machines(found).values()],
        headings=history_text.HEADINGS,
        series=[_shown(one) for one in found],
    )


def _machines(found: Sequence[Series]) -> dict[str, KeptMachine]:
    """Every machine by its fingerprint, the earliest first."""
    campaigns = [point.campaign for one in found for point in one.points]
    campaigns.sort(key=lambda one: one.measured_at)
    return {one.machine.fingerprint: one.machine for one in campaigns}


def _machine(one: KeptMachine) -> tuple[str, str]:
    """Fingerprint and facts of a machine in one line each."""
    known = (f"{name} {fact}" for name, fact in sorted(one.facts.items()) if fact is not None)
    return one.fingerprint, ", ".join(known)


def _shown(one: Series) -> Mapping[str, object]:
    drawn = chart.draw(one)
    return {
        "title": history_text.title(one),
        "summary": history_text.summary(one),
        "description": drawn["description"],
        "light": _address(drawn),
        "dark": _address(canvas.repaint(drawn)),
        "rows": history_text.rows(one),
    }


def _address(drawn: Specification) -> str:
    """A chart as an address that contains it."""
    return f"data:image/svg+xml;base64,{base64.b64encode(pictures.svg(drawn).encode()).decode()}"
