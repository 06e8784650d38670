"""The blocks of a campaign that goes on: which were begun, and which comes next."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from plimsoll import plan
from plimsoll.campaign.campaign import Campaign, resolved
from plimsoll.campaign.endpoints import by_name
from plimsoll.campaign.framework import Framework
from plimsoll.campaign.load import Load, Stage
from plimsoll.errors import InputError, StorageError
from plimsoll.lab import following, selection
from plimsoll.storage.documents import CampaignFiles
from plimsoll.storage.parquet import ParquetResults

GO = Framework("go", "", "Go", Path("go"), "", (), "", "true", "true", ("2048", "json"))
ASKED = Campaign(
    name="a",
    frameworks=(GO, replace(GO, name="node", endpoints=("2048",))),
    endpoints=(by_name("2048"), by_name("json")),
    loads=(Load("steady", "closed", (Stage("hold", 10.0, 64.0, 64.0),)),),
    repetitions=2,
    until=0.05,
    budget_s=100.0,
)


def nothing(*_: object) -> str:
    return ""


@pytest.fixture
def stored(tmp_path: Path) -> ParquetResults:
    return ParquetResults(tmp_path / "results")


def prepare(stored: ParquetResults, asked: Campaign, *more: plan.Trial) -> None:
    with stored.locked():
        files = CampaignFiles("", None, resolved(asked))
        stored.prepare(files, (*plan.plan(asked), *more))


def test_blocks_that_were_begun_belong_to_the_plan(stored: ParquetResults) -> None:
    assert following.begun(ASKED, nothing, stored) == ()
    third = plan.blocks(ASKED, (3,))
    prepare(stored, ASKED, *third[:2])
    assert following.begun(ASKED, nothing, stored) == third[:2]
    assert following.begun(replace(ASKED, until=0.0), nothing, stored) == ()


def test_until_stays_with_results_that_it_made(stored: ParquetResults) -> None:
    following.require_until(replace(ASKED, until=0.0), stored)
    prepare(stored, ASKED)
    following.require_until(replace(ASKED, until=0.01, budget_s=0.0), stored)
    with pytest.raises(StorageError, match="was run with `until`"):
        following.require_until(replace(ASKED, until=0.0), stored)


def test_results_of_a_fixed_number_of_blocks_may_go_on(stored: ParquetResults) -> None:
    prepare(stored, replace(ASKED, until=0.0))
    following.require_until(ASKED, stored)


def test_a_budget_must_hold_the_first_blocks() -> None:
    trials = plan.plan(ASKED)
    selection.require_rule(ASKED, trials)
    selection.require_rule(replace(ASKED, budget_s=0.0), trials)
    selection.require_rule(replace(ASKED, until=0.0, budget_s=1.0), trials)
    with pytest.raises(InputError) as raised:
        selection.require_rule(replace(ASKED, budget_s=59.0), trials)
    (problem,) = raised.value.problems
    assert problem.message == "`budget` is 59 s, and the loads of 2 blocks take 60 s"


def test_one_framework_has_nothing_to_decide() -> None:
    alone = replace(ASKED, frameworks=(GO,))
    with pytest.raises(InputError) as raised:
        selection.require_rule(alone, plan.plan(alone))
    assert "needs two frameworks" in raised.value.problems[0].message
    beside = replace(ASKED, frameworks=(GO, replace(GO, name="reference")))
    with pytest.raises(InputError, match="needs two frameworks"):
        selection.require_rule(beside, plan.plan(beside))
