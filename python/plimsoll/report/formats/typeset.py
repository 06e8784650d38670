"""Typeset: documents and pictures by Typst, from a template of this package and values.

A template gets its values as JSON, so no text from outside is markup. The fonts are this
package's own and the system's are ignored, so a document is the same on every machine.
"""

from __future__ import annotations

import json
import re
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, cast

import typst

from plimsoll import canvas, texts
from plimsoll.wording import bound

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_FOLDER = Path(__file__).parent

COVERED = (
    "\u0020-\u007e\u00a0-\u00ac\u00ae-\u02ff\u0384-\u038a\u038c\u038e-\u03a1\u03a3-\u03ce"
    "\u0400-\u0482\u1e00-\u1e9b\u1ea0-\u1ef9\u2010\u2012-\u2022\u2026\u2030\u2032-\u2034"
    "\u2039\u203a\u2044\u2074-\u2079\u207f-\u2089\u20a0-\u20b5\u2116\u2122\u2190-\u2195\u2202"
    "\u2206\u2211\u2212\u221a\u221e\u2248\u2260\u2264\u2265\u25a0\u25a1\u25b2\u25bc\u25cb\u25cf"
)
"""The characters that are shown as they are, as ranges of a regular expression: Latin, Greek,
Cyrillic, punctuation and some signs, all of which both fonts have."""

_NOT_COVERED = re.compile(f"[^\n{COVERED}]")

_COLOURS = {
    "paper": canvas.PAPER,
    "ink": canvas.INK,
    "muted": canvas.MUTED,
    "line": canvas.LINE,
    "band": canvas.BAND,
    "bar": canvas.SERVER,
    "uncounted": canvas.MACHINE,
    **canvas.LEVEL_COLOURS,
    "failed": canvas.VOID,
}
"""The colours of the templates, by name or state."""


def pdf(template: str, values: object, pictures: Mapping[str, str]) -> bytes:
    """A document as tagged PDF, for screen readers too (PDF/UA-1).

    Args:
        template: Its file in `templates`.
        values: What it shows: dataclasses, tuples, texts, numbers and None.
        pictures: Name to SVG of the pictures that the values name.

    Source:
        ISO 14289-1:2014, PDF/UA-1.
    """
    return typst.compile(
        _files(template, values, pictures),
        root=_FOLDER,
        font_paths=_fonts(),
        format="pdf",
        pdf_standards="ua-1",
    )


def png(template: str, values: object) -> bytes:
    """A document of one page as picture, one pixel for each point of the page.

    Args:
        template: Its file in `templates`.
        values: What it shows, as for `pdf`.
    """
    return typst.compile(
        _files(template, values, {}),
        root=_FOLDER,
        font_paths=_fonts(),
        format="png",
        ppi=72,
    )


def _files(template: str, values: object, pictures: Mapping[str, str]) -> dict[str, bytes]:
    """The files of a document by their names."""
    colours = {name: colour.light for name, colour in _COLOURS.items()}
    given = json.dumps({"colours": colours, "shown": plain(values)}, ensure_ascii=False)
    return {
        "main.typ": _template(template),
        "parts.typ": _template("parts.typ"),
        "values.json": given.encode(),
        **{name: _covered(svg).encode() for name, svg in pictures.items()},
    }


@cache
def _fonts() -> typst.Fonts:
    """Our own fonts, and those that the library brings for code."""
    return typst.Fonts(include_system_fonts=False, font_paths=[_FOLDER / "fonts"])


@cache
def _template(name: str) -> bytes:
    return (_FOLDER / "templates" / name).read_bytes()


def plain(value: object) -> object:
    """A value as JSON has it; each text is as `shown` gives it.

    Args:
        value: Dataclasses become objects of their fields, tuples lists.
    """
    if isinstance(value, str):
        return shown(value)
    if isinstance(value, tuple | list):
        return [plain(one) for one in cast("Sequence[object]", value)]
    if is_dataclass(value):
        return {one.name: plain(getattr(value, one.name)) for one in fields(value)}
    return value


def shown(text: str) -> str:
    r"""A text as the fonts can show it: on one line, and other characters as `\u65e5`.

    PDF/UA-1 allows no character without a glyph.
    """
    return _covered(bound(texts.line(text)))


def _covered(text: str) -> str:
    return _NOT_COVERED.sub(
        lambda found: found[0].encode("ascii", "backslashreplace").decode(), text
    )
