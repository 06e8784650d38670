"""What a signal that ends a command says of what is recorded."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from plimsoll.cli import load, run
from plimsoll.errors import Interrupted

if TYPE_CHECKING:
    from pathlib import Path

    from plimsoll.lab.results import CampaignResults


def test_a_load_that_is_not_recorded_yet_says_that_nothing_was(tmp_path: Path) -> None:
    with (
        pytest.raises(Interrupted, match=f"nothing was recorded in `{tmp_path}`"),
        load._naming_recording(tmp_path),
    ):
        raise KeyboardInterrupt
    with pytest.raises(KeyboardInterrupt), load._naming_recording(None):
        raise KeyboardInterrupt


def test_a_load_that_is_recorded_names_its_folder(tmp_path: Path) -> None:
    (tmp_path / "trials" / "load").mkdir(parents=True)
    (tmp_path / "trials" / "load" / "trial.json").touch()
    with (
        pytest.raises(Interrupted, match="the load is kept in") as caught,
        load._naming_recording(tmp_path),
    ):
        raise KeyboardInterrupt
    assert f"`plimsoll report {tmp_path}`" in caught.value.hint


def test_a_signal_while_a_campaign_is_judged_says_how_to_go_on() -> None:
    stored: Any = SimpleNamespace(stored=SimpleNamespace(place="results/mine"))
    with (
        pytest.raises(Interrupted, match="every trial is recorded") as caught,
        run._naming_results(cast("CampaignResults", stored)),
    ):
        raise KeyboardInterrupt
    assert caught.value.hint == "`plimsoll report results/mine` judges them"
