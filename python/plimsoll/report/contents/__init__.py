"""Contents: the text of each part of a report; a format only lays it out.

What a part needs is imported when it is used: the screen of one load needs two modules of it.
"""

from typing import TYPE_CHECKING

from plimsoll import doors

if TYPE_CHECKING:
    from plimsoll.report.contents.campaign import (
        AS_RUN,
        GLOSSARY,
        Facts,
        as_run,
        banner,
        changed_limits,
        configuration,
        extent,
        machines,
        subtitle,
    )
    from plimsoll.report.contents.naming import ENGINE, anchor, title
    from plimsoll.report.contents.ranking import RankingContents, Row, detail, rankings
    from plimsoll.report.contents.remarks import (
        CAMPAIGN,
        Doubt,
        Remark,
        doubts,
        doubts_of,
        ended,
        of_campaign,
        remark,
    )
    from plimsoll.report.contents.trial import TrialContents, trials

_HOMES = {
    "campaign": (
        "AS_RUN",
        "GLOSSARY",
        "Facts",
        "as_run",
        "banner",
        "changed_limits",
        "configuration",
        "extent",
        "machines",
        "subtitle",
    ),
    "naming": ("ENGINE", "anchor", "title"),
    "ranking": ("RankingContents", "Row", "detail", "rankings"),
    "remarks": (
        "CAMPAIGN",
        "Doubt",
        "Remark",
        "doubts",
        "doubts_of",
        "ended",
        "of_campaign",
        "remark",
    ),
    "trial": ("TrialContents", "trials"),
}
"""Module to the names that this room offers of it."""

__all__ = [
    "AS_RUN",
    "CAMPAIGN",
    "ENGINE",
    "GLOSSARY",
    "Doubt",
    "Facts",
    "RankingContents",
    "Remark",
    "Row",
    "TrialContents",
    "anchor",
    "as_run",
    "banner",
    "changed_limits",
    "configuration",
    "detail",
    "doubts",
    "doubts_of",
    "ended",
    "extent",
    "machines",
    "of_campaign",
    "rankings",
    "remark",
    "subtitle",
    "title",
    "trials",
]

__getattr__ = doors.of_names(
    __name__,
    {name: (f"{__name__}.{module}", name) for module, names in _HOMES.items() for name in names},
)
