"""The page: a snapshot as HTML, whole or part by part, in the style of the report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from markupsafe import Markup

import plimsoll
from plimsoll.report.formats import html

if TYPE_CHECKING:
    from plimsoll.watch.snapshot import JudgedCampaign, Snapshot

PARTS = {
    "state": "state.html",
    "now": "now.html",
    "answers": "ranking.html",
    "following": "following.html",
    "ended": "ended.html",
}
"""Id of a part in the page, and its template."""

LASTING = ("answers", "ended")
"""Parts that change only with what `judged` says."""

_TEMPLATES = Path(__file__).parent / "templates"


@dataclass
class PageParts:
    """Makes the parts of the page; those that last are made once."""

    _judged: JudgedCampaign | None = None
    _lasting: Mapping[str, str] | None = None

    def of(self, snapshot: Snapshot, judged: JudgedCampaign) -> dict[str, str]:
        """HTML of each part, by its id.

        Args:
            snapshot: What the page shows.
            judged: Of which its rankings and verdicts are.
        """
        values = _values(snapshot)
        if self._lasting is None or judged is not self._judged:
            self._judged = judged
            self._lasting = {name: _rendered(PARTS[name], values) for name in LASTING}
        made = {
            name: _rendered(file, values) for name, file in PARTS.items() if name not in LASTING
        }
        return {**made, **self._lasting}


def title(snapshot: Snapshot) -> str:
    """The title of the page: `5/36 · quick · Plimsoll`."""
    return f"{snapshot.done}/{snapshot.planned} · {snapshot.campaign} · Plimsoll"


def ranking_heading(snapshot: Snapshot) -> str:
    """What stands above the rankings: they form as long as trials are missing."""
    return "Ranking" if snapshot.state == "finished" else "Ranking so far"


def whole(snapshot: Snapshot) -> str:
    """The page as it is loaded; without a script it is all that is seen."""
    style = html.style() + file("watch.css")
    values = {
        **_values(snapshot),
        "title": title(snapshot),
        "version": plimsoll.__version__,
        "ranking_heading": ranking_heading(snapshot),
        "style": Markup(style),  # noqa: S704 - of this package
    }
    return _rendered("watch.html", values)


def file(name: str) -> str:
    """A file of the page, as it is."""
    return (_TEMPLATES / name).read_text("utf-8")


def _values(snapshot: Snapshot) -> dict[str, object]:
    return {
        "snapshot": snapshot,
        "answers": [{**vars(one), "laid_over": None} for one in snapshot.answers],
        "ended": snapshot.ended,
        "more_ended": snapshot.more_ended,
    }


def _rendered(template: str, values: Mapping[str, object]) -> str:
    return html.environment("plimsoll.watch").get_template(template).render(values)
