"""Whatever is done to an output: `audit` reads it, or says why not; and never a shorter number."""

from __future__ import annotations

import re
from dataclasses import asdict
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from examples import some
from plimsoll.cli import audit
from plimsoll.errors import PlimsollError
from plimsoll.tool_output import pasted, readers
from plimsoll.tool_output.reported import ReportedStatistics

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "published"
FILES = sorted(path for path in GOLDEN.iterdir() if path.name != "README.md")
TEXTS = [path for path in FILES if path.suffix == ".txt" and not path.stem.endswith("-files")]
NUMBER = re.compile(r"(?<![\w.,:/#-])(\d{4,})(?![\d:])")
DECIMAL = re.compile(r"(?<![\w.,:/#-])(\d+)\.(\d+)(?![\d.:/])")
ODD = [
    "\x00",
    "\x1b[31m",
    ",",
    ".",
    "'",
    "{",
    "[",
    "<pre>",
    "> ",
    "9" * 400,
    "-",
    "%",
    "\r",
    "é",
    "\u202f",
]


def ends(held: bytes, tmp_path: Path) -> None:
    """Audits a file, and lets nothing through but what has a sentence and a documented code."""
    file = tmp_path / "held"
    file.write_bytes(held)
    result = CliRunner().invoke(audit.command, [str(file), "--json"], standalone_mode=False)
    if result.exception is not None:
        assert isinstance(result.exception, PlimsollError), result.exc_info
        assert result.exception.exit_code == 2
        assert str(result.exception)
    else:
        assert result.return_value in (0, 1)


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """A golden file with bytes cut out, doubled, exchanged, or put in from elsewhere."""
    held = draw(st.sampled_from(FILES)).read_bytes()[:20_000]
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, max(len(held) - 1, 0)))
        end = min(start + draw(st.integers(0, 400)), len(held))
        put = draw(
            st.one_of(
                st.just(b""),
                st.just(held[start:end] * 2),
                st.sampled_from(ODD).map(str.encode),
                st.binary(max_size=20),
            )
        )
        held = held[:start] + put + held[end:]
    return held


@given(held=mutated())
@some(60)
def test_a_mutated_output_ends_with_figures_or_a_sentence(
    held: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    ends(held, tmp_path_factory.mktemp("audit"))


@given(held=st.binary(max_size=2000) | st.text(max_size=500).map(str.encode))
@some(30)
def test_anything_ends_with_a_sentence(
    held: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    ends(held, tmp_path_factory.mktemp("audit"))


def numbers_of(figures: ReportedStatistics) -> dict[str, object]:
    """Everything that was read of a result but the words."""
    held = asdict(figures)
    return {key: value for key, value in held.items() if key not in ("source", "notes", "subject")}


def grouped(text: str, sign: str) -> str:
    return NUMBER.sub(lambda match: f"{int(match[1]):,}".replace(",", sign), text)


def of_another_language(text: str) -> str:
    """Decimal commas, and points between thousands; addresses and versions stay as they are."""
    marked = DECIMAL.sub(lambda match: f"{match[1]}\x00{match[2]}", text)
    pointed = re.sub(r"(?<=\d),(?=\d{3}\b)", ".", marked)
    return re.sub(
        r"(\d+)\x00(\d+)",
        lambda match: f"{int(match[1]):,}".replace(",", ".") + f",{match[2]}",
        pointed,
    )


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.stem)
def test_numbers_of_another_language_give_the_same_figures_or_a_refusal(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    whole = readers.reading(text, "x").figures
    found = readers.reading(of_another_language(text), "x")
    if not found.refused:
        for one, other in zip(whole, found.figures, strict=True):
            assert numbers_of(one) == numbers_of(other)


@pytest.mark.parametrize("sign", [",", "'", "’", " ", "\u00a0", "\u202f", "_"])
@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.stem)
def test_signs_between_thousands_give_the_same_figures_or_a_refusal(path: Path, sign: str) -> None:
    text = path.read_text(encoding="utf-8")
    whole = readers.reading(text, "x").figures
    found = readers.reading(pasted.decoded(grouped(text, sign).encode()), "x")
    if found.refused:
        assert all(problem.where.startswith("x:") for problem in found.refused)
        return
    for one, other in zip(whole, found.figures, strict=True):
        shorter = {
            key: (value, numbers_of(other)[key])
            for key, value in numbers_of(one).items()
            if numbers_of(other)[key] != value
        }
        told = bool(found.left)
        assert not shorter or (told and _only_lacks(shorter)), shorter


def _only_lacks(differing: dict[str, tuple[object, object]]) -> bool:
    """Whether what differs is absent, and nothing is another number."""
    for before, after in differing.values():
        if isinstance(before, dict) and isinstance(after, dict):
            if any(before.get(key) != value for key, value in after.items()):
                return False
        elif isinstance(before, tuple) and isinstance(after, tuple):
            if any(one not in before for one in after):
                return False
        elif after not in (None, 1.0, False, {}):
            return False
    return True


@given(path=st.sampled_from(TEXTS), chosen=st.sets(st.integers(0, 60), max_size=6))
@some(60)
def test_some_numbers_with_signs_are_no_shorter(path: Path, chosen: set[int]) -> None:
    text = path.read_text(encoding="utf-8")
    at = iter(range(10_000))
    some = NUMBER.sub(lambda match: f"{int(match[1]):,}" if next(at) in chosen else match[0], text)
    whole = readers.reading(text, "x").figures
    found = readers.reading(some, "x")
    if not found.refused:
        for one, other in zip(whole, found.figures, strict=True):
            assert numbers_of(one) == numbers_of(other)
