"""Restores the lines of a tool from pasted text.

Encodings, terminal colours, overwritten progress, quotes, HTML, Markdown and prefixes of logs are
removed here, before any reader. Every line keeps its number in the file.
"""

from __future__ import annotations

import codecs
import html
import re
from collections.abc import Iterator
from dataclasses import dataclass

from plimsoll import texts

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_LOOKED_AT = 4096
_ANSI = re.compile(
    rf"{texts.ESCAPES.pattern}|[\x9b␛]\[?[0-?]*[ -/]*[@-~]|\[(?:\d{{1,3}}(?:;\d{{1,3}})*)m"
)
"""Escapes of terminals, also where pasting changed their first character or dropped it."""

_TAGS = (
    "pre|code|p|br|hr|div|span|t[drh]|table|tbody|thead|ul|ol|li|dl|dt|dd|b|i|em|u|s|strong|a|h[1-6]"
    "|details|summary|samp|kbd|tt|html|head|title|meta|link|body|blockquote|font|section|article"
    "|main|img"
)
_HTML = re.compile(rf"</?(?:{_TAGS})\b[^<>]*>|&(?:nbsp|lt|gt|amp|quot|\#\d+|\#x[0-9a-f]+);", re.I)
_BREAK = re.compile(
    r"<(?:br|hr)\b[^<>]*>|</(?:p|div|tr|li|pre|h[1-6]|dt|dd|table|summary)\s*>", re.I
)
_CELL = re.compile(r"</t[dh]\s*>", re.I)
_TAG = re.compile(rf"</?(?:{_TAGS})\b[^<>]*>", re.I)
_UNSEEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u200b-\u200f\u2060\ufeff]")
_BLANKS = re.compile(r"[\u00a0\u2000-\u200a\u202f\u205f\u3000\t]")
_LOG = re.compile(r"^\s*(?:\d{4}-\d\d-\d\dT[\d:.]+Z\s|[\w.-]+[-_]\d+\s+\|\s)")
_QUOTE = re.compile(r"^(?:\s{0,3}>(?:\s|(?=>)|$))+")
_FENCE = re.compile(r"^\s*(?:`{3,}|~{3,})[\w+-]*\s*$")
_HEADING = re.compile(r"^\s*#{1,6}\s+")
_ITEM = re.compile(r"^(\s*)[-*+•]\s+(?=[#\w*`\[(])")
_RULER = re.compile(r"^[\s|│+:─━┌┐└┘├┤┬┴┼╔╗╚╝═║╠╣╦╩╬-]+$")
_BARS = re.compile(r"[|│║┃]")
_ESCAPED = re.compile(r"\\([\\`*_{}\[\]()#+\-.!|>~])")


@dataclass(frozen=True)
class TextLine:
    """A line of a text.

    Attributes:
        number: Its number in the file, from 1.
        text: What was printed.
    """

    number: int
    text: str


def decoded(held: bytes) -> str:
    """Decodes a file: UTF-8, UTF-16 or UTF-32 by byte order mark or zeros, else Windows-1252.

    Args:
        held: All bytes of the file.
    """
    for mark, encoding in _BOMS:
        if held.startswith(mark) and len(held) > len(mark) + 1:
            return held[len(mark) :].decode(encoding, "replace")
    start = held[:_LOOKED_AT]
    for first, encoding in ((1, "utf-16-le"), (0, "utf-16-be")):
        zeros = start[first::2]
        if (
            len(zeros) > 1
            and zeros.count(0) > len(zeros) * 0.7
            and start[1 - first :: 2].count(0) == 0
        ):
            return held.decode(encoding, "replace")
    try:
        return held.decode("utf-8")
    except UnicodeDecodeError:
        return held.decode("cp1252", "replace")


def unwrapped(text: str) -> str:
    """A document such as JSON without surrounding marks, colours and blanks."""
    return _ANSI.sub("", text.replace("\ufeff", "")).strip()


def lines(text: str) -> tuple[TextLine, ...]:
    """The lines of the tool.

    Args:
        text: The text of a file.
    """
    coloured = text if "\n" in text else text.replace("\r", "\n")
    bare = _ANSI.sub("", coloured)
    is_html = _HTML.search(bare) is not None
    return tuple(
        TextLine(number, _plain(part))
        for number, raw in enumerate(bare.split("\n"), 1)
        for part in _parts(raw, is_html=is_html)
    )


def _parts(raw: str, *, is_html: bool) -> Iterator[str]:
    """Splits a line of a file at overwritten progress and HTML breaks."""
    for part in raw.rstrip("\r").split("\r"):
        if is_html:
            broken = _BREAK.sub("\n", _CELL.sub("  ", part))
            yield from html.unescape(_TAG.sub("", broken)).split("\n")
        else:
            yield part


def _plain(line: str) -> str:
    seen = _BLANKS.sub(" ", _UNSEEN.sub("", line))
    unquoted = _QUOTE.sub("", _LOG.sub("", seen))
    if _FENCE.match(unquoted) or _RULER.match(unquoted):
        return ""
    marked = _HEADING.sub("", _ITEM.sub(r"\1", unquoted))
    marked = _HEADING.sub("", marked).replace("**", "").replace("`", "")
    return _BARS.sub("  ", _ESCAPED.sub(r"\1", marked)).rstrip()
