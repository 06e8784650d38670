"""The card: the answer as one picture."""

from __future__ import annotations

import struct
from dataclasses import replace
from pathlib import Path

import sample
from plimsoll.report import answer, card, contents


def test_it_is_a_picture_of_the_size_that_sites_show(tmp_path: Path) -> None:
    path = card.write(sample.findings(), tmp_path)
    picture = path.read_bytes()
    assert path.name == "card.png"
    assert picture.startswith(b"\x89PNG")
    assert struct.unpack(">II", picture[16:24]) == (card.WIDTH_PX, card.HEIGHT_PX)


def test_it_says_who_is_fastest_by_how_much_and_how_far_to_believe_it() -> None:
    findings = sample.findings()
    drawn = card.render(findings)
    first = answer.answers(findings, contents.rankings(findings))[0]
    assert first.headline.split()[0] in drawn
    for bar in first.bars:
        assert bar.row.number in drawn
    for state, _ in first.counts:
        assert f">{state}<" in drawn
    assert "Example CPU" in drawn


def test_a_void_number_has_no_share_of_the_best() -> None:
    drawn = card.render(sample.findings())
    assert ">void<" in drawn
    assert "<script" not in drawn


def test_beyond_six_frameworks_the_rest_is_counted(monkeypatch) -> None:
    findings = sample.findings()
    found = answer.answers(findings, contents.rankings(findings))[0]
    many = replace(found, bars=(*found.bars, *found.bars))
    monkeypatch.setattr(answer, "answers", lambda *_: [many])
    assert f"and {len(many.bars) - card.MOST_BARS} more" in card.render(findings)


def test_without_any_trial_it_has_the_name_of_the_campaign() -> None:
    findings = replace(sample.findings(), trials=())
    assert findings.campaign in card.render(findings)
