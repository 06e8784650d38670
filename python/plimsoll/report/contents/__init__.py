"""Contents: the text of each part of a report; a format only lays it out."""

from plimsoll.report.contents.campaign import (
    Facts,
    banner,
    changed_limits,
    conditions,
    configuration,
    extent,
    glossary,
    machines,
    of_yardstick,
    subtitle,
)
from plimsoll.report.contents.campaign_document import AS_RUN, as_run
from plimsoll.report.contents.naming import ENGINE, anchor, title
from plimsoll.report.contents.ranking import RankingContents, Row, detail, rankings
from plimsoll.report.contents.remarks import (
    CAMPAIGN,
    TRUST,
    Doubt,
    Remark,
    doubts,
    doubts_of,
    ended,
    of_campaign,
    of_table,
    remark,
)
from plimsoll.report.contents.trial import TrialContents, trials

__all__ = [
    "AS_RUN",
    "CAMPAIGN",
    "ENGINE",
    "TRUST",
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
    "conditions",
    "configuration",
    "detail",
    "doubts",
    "doubts_of",
    "ended",
    "extent",
    "glossary",
    "machines",
    "of_campaign",
    "of_table",
    "of_yardstick",
    "rankings",
    "remark",
    "subtitle",
    "title",
    "trials",
]
