"""Names of parts of a report: anchors, which are names of files as well."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from plimsoll.report.contents.naming import anchor

LONG = f"/search?q={'abcdefghij' * 25}"


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        (("ranking", "2048", "steady"), "ranking-2048-steady"),
        (("trial", "go-gin.json.c_10.1"), "trial-go-gin.json.c_10.1"),
        (("trial", "x" * 114), f"trial-{'x' * 114}"),
    ],
)
def test_plain_names_are_their_anchors(parts: tuple[str, ...], expected: str) -> None:
    assert anchor(*parts) == expected


@pytest.mark.parametrize("url", [LONG, "/a b/ü?x=[1]", "/", "/\udcff", "."])
def test_an_anchor_is_fit_for_the_name_of_a_file(url: str, tmp_path: Path) -> None:
    name = anchor("trial", f"127.0.0.1:8080.{url}.load.1")
    assert re.fullmatch(r"[A-Za-z0-9._-]+", name)
    (tmp_path / f"{name}.throughput.svg").write_text("")


@pytest.mark.parametrize(
    ("one", "other"),
    [("c_10", "c-10"), ("steady-", "steady"), ("/a?b", "/a/b"), (f"{LONG}&a", f"{LONG}&b")],
)
def test_no_two_names_share_an_anchor(one: str, other: str) -> None:
    assert anchor("ranking", "json", one) != anchor("ranking", "json", other)
