"""The chart library of a page is bundled once and kept for the next report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import vl_convert

from plimsoll.report.formats import vega

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    vega.library.cache_clear()
    yield
    vega.library.cache_clear()


@pytest.fixture
def bundles(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A script for each time the converter is asked for one."""
    made: list[str] = []

    def bundle() -> str:
        made.append(f"script {len(made)} é")
        return made[-1]

    monkeypatch.setattr(vl_convert, "javascript_bundle", bundle)
    return made


def test_the_next_process_reads_what_the_first_one_kept(
    bundles: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    first = vega.library()
    vega.library.cache_clear()
    assert vega.library() == first == "script 0 é"
    assert len(bundles) == 1
    assert [path.suffix for path in (tmp_path / "plimsoll").iterdir()] == [".js"]


def test_another_version_of_the_converter_makes_its_own(
    bundles: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    vega.library()
    vega.library.cache_clear()
    monkeypatch.setattr(vega, "version", lambda _: "another")
    assert vega.library() == bundles[1]


@pytest.mark.parametrize("cache", ["/dev/null", "x\udcff\0"])
def test_a_page_needs_no_cache(
    cache: str, bundles: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vega, "user_cache", lambda: Path(cache))
    assert vega.library() == bundles[-1]


def test_a_user_without_a_home_folder_gets_a_page(
    bundles: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr("pathlib.Path.home", _no_home)
    assert vega.library() == bundles[-1]


def _no_home() -> Path:
    raise RuntimeError
