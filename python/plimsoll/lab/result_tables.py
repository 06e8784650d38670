"""Tables of everything that was found of a campaign, in the columns of `docs/tables.md`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from plimsoll import tables
from plimsoll.aggregate import stages as of_stages
from plimsoll.aggregate import summaries as of_summaries

if TYPE_CHECKING:
    from plimsoll.findings.findings import Findings

VERDICTS = pa.schema(
    [
        ("check", pa.string()),
        ("subject", pa.string()),
        ("level", pa.string()),
        ("measured", pa.float64()),
        ("limit", pa.float64()),
        ("unit", pa.string()),
        ("text", pa.string()),
        ("remedies", pa.list_(pa.string())),
        ("source", pa.string()),
        (
            "tables",
            pa.list_(pa.struct([(name, pa.string()) for name in ("endpoint", "load", "driver")])),
        ),
    ]
)
"""Columns of `CampaignResults.verdicts`, as the attributes of `verdicts.verdict.Verdict`.

`tables` are those that a verdict on the campaign is about; empty where it is about all of them.
"""


def summaries(found: Findings) -> pa.Table:
    """One row for each trial with a load."""
    each = [(one.recording, one.summary) for one in found.trials]
    return of_summaries.summaries([(of, one) for of, one in each if one is not None])


def stages(found: Findings) -> pa.Table:
    """One row for each stage of each trial."""
    each = [of_stages.stages(one.recording) for one in found.trials]
    return pa.concat_tables([tables.STAGES.schema.empty_table(), *each])


def seconds(found: Findings) -> pa.Table:
    """One row for each second of each trial."""
    each = [one.data.seconds for one in found.trials]
    return pa.concat_tables([tables.SECONDS.schema.empty_table(), *each])


def verdicts(found: Findings) -> pa.Table:
    """One row for each verdict, those on trials first, then those on the campaign."""
    of_trials = [verdict for one in found.trials for verdict in one.verdicts]
    rows = [
        {name: getattr(one, name) for name in VERDICTS.names}
        | {"tables": [table._asdict() for table in one.tables]}
        for one in (*of_trials, *found.verdicts)
    ]
    return pa.Table.from_pylist(rows, schema=VERDICTS)
