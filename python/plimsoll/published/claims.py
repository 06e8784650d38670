"""Claims of a document, compared with its own figures.

A claim is part of a table of published figures (`tool_output/readers/table.py`):

```toml
[[claim]]
place = "Conclusion"                        # where in the document
says = "ours is twice as fast as theirs"    # in words of the file's author
compare = ["ours", "theirs"]                # throughput of the first / of the second, per endpoint
ratio = 2                                   # the claimed ratio; omitted if there is none

[[claim]]
says = "ours always does 20,000 requests per second"
subject = "ours"
throughput_per_s = 20000
```

Claims get no verdict: whether 2.7 % is `about 5 %` is up to the reader.
"""

from __future__ import annotations

import math
import re
import statistics
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from plimsoll import wording
from plimsoll.errors import InputError, Problem
from plimsoll.tool_output import pasted, readers
from plimsoll.tool_output.reported import ReportedStatistics

_COMPARED = 2
_FEWEST_DIGITS, _MOST_DIGITS, _MOST_DIGITS_BELOW_1 = 2, 4, 3
_TEXTS, _NUMBERS = ("says", "place", "subject"), ("ratio", "throughput_per_s")
_KEYS = (*_TEXTS, *_NUMBERS, "compare")
_TABLE = re.compile(r"^\s*\[\[?\s*claim\s*\]", re.MULTILINE)
"""A claim, also one in single brackets, which `read` names as a mistake."""


@dataclass(frozen=True)
class Claim:
    """One claim of a document.

    Attributes:
        says: The claim, in words of the file's author.
        place: Its place in the document.
        compare: Two subjects, the one claimed to be faster first; empty for other claims.
        ratio: The claimed throughput of the first / of the second.
        subject: The subject of a claim about one.
        throughput_per_s: Its claimed throughput.
    """

    says: str
    place: str = ""
    compare: tuple[str, ...] = ()
    ratio: float | None = None
    subject: str = ""
    throughput_per_s: float | None = None

    @property
    def claimed(self) -> str:
        """The claimed number: `× 3`, `22,000/s`; empty if there is none."""
        if self.ratio is not None:
            return f"× {wording.exact(self.ratio)}"
        return "" if self.throughput_per_s is None else _rate(self.throughput_per_s)


@dataclass(frozen=True)
class ClaimCheck:
    """A claim, compared with the figures of the same document.

    Attributes:
        document: Title of the document, or name of the file.
        claim: The claim.
        by_figures: The value by its figures, in words.
    """

    document: str
    claim: Claim
    by_figures: str


def read(text: str, name: str) -> tuple[Claim, ...]:
    """The claims in a table of published figures.

    Args:
        text: The table, as TOML.
        name: Name of the file, for places in messages.

    Raises:
        InputError: A claim is empty, has an unknown key or an impossible number, or does not
            compare two subjects.
    """
    tables: Any = tomllib.loads(text).get("claim", [])
    if not isinstance(tables, list):
        raise InputError([Problem(name, "`claim` must be tables: `[[claim]]`")])
    listed = cast("list[Any]", tables)
    problems = [
        Problem(f"{name}: claim {number}", problem)
        for number, table in enumerate(listed, 1)
        for problem in _problems(table)
    ]
    if problems:
        raise InputError(problems)
    return tuple(_claim(table) for table in listed)


def checked(
    text: str, name: str, figures: Sequence[ReportedStatistics], title: str = ""
) -> tuple[ClaimCheck, ...]:
    """The claims in a file, compared with its own figures; none if it is not a table of TOML.

    Args:
        text: The file.
        name: Its name.
        figures: Its results.
        title: Title of the document; its name if it has none.

    Raises:
        InputError: A claim is invalid.
    """
    whole = pasted.unwrapped(text)
    found = read(whole, name) if _TABLE.search(whole) and _is_toml(whole) else ()
    return tuple(ClaimCheck(title or name, claim, statement(claim, figures)) for claim in found)


def _is_toml(text: str) -> bool:
    """Whether a text is a table; another one may quote a claim, as an article with output does."""
    try:
        tomllib.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _claim(table: Mapping[str, Any]) -> Claim:
    compare: list[str] = table.get("compare", [])
    return Claim(
        table["says"],
        table.get("place", ""),
        tuple(compare),
        table.get("ratio"),
        table.get("subject", ""),
        table.get("throughput_per_s"),
    )


def _problems(table: Any) -> list[str]:
    if not isinstance(table, Mapping):
        return ["must be a table"]
    claim = cast("Mapping[str, object]", table)
    problems = [f"unknown key `{key}` here" for key in claim if key not in _KEYS]
    problems += [
        f"`{key}` must be a quoted string"
        for key in _TEXTS
        if key in claim and not isinstance(claim[key], str)
    ]
    problems += [
        f"`{key}` must be a number above 0 and below {wording.exact(readers.MOST)}"
        for key in _NUMBERS
        if key in claim and not _is_possible(claim[key])
    ]
    if not claim.get("says"):
        problems.append("`says` is missing")
    if not _are_names(claim.get("compare", [])):
        problems.append("`compare` must have two names")
    return problems


def _is_possible(value: object) -> bool:
    """Whether it is a number that a load test can have."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return 0 < value < readers.MOST


def _are_names(compared: Any) -> bool:
    """Whether it lists two subjects, or none."""
    if not isinstance(compared, list):
        return False
    names = cast("list[Any]", compared)
    return len(names) in (0, _COMPARED) and all(isinstance(name, str) for name in names)


def figures_of(claim: Claim, figures: Sequence[ReportedStatistics]) -> dict[str, float]:
    """The values of the figures for a claim, by endpoint.

    Several results of one subject and endpoint, such as repetitions, count as their median.

    Args:
        claim: The claim.
        figures: The results of the same document.

    Returns:
        Ratio of throughputs for a claim that compares two; throughput per second for a claim about
        one; empty if the figures do not contain them.
    """
    if claim.compare:
        one, other = (_throughputs(name, figures) for name in claim.compare)
        return {name: one[name] / other[name] for name in one if other.get(name)}
    return _throughputs(claim.subject, figures) if claim.subject else {}


def _throughputs(subject: str, figures: Sequence[ReportedStatistics]) -> dict[str, float]:
    """Median throughput of a subject by endpoint, in the order of the document."""
    found: dict[str, list[float]] = {}
    for one in figures:
        if one.subject == subject and one.throughput_per_s is not None:
            found.setdefault(one.endpoint, []).append(one.throughput_per_s)
    return {endpoint: statistics.median(rates) for endpoint, rates in found.items()}


def statement(claim: Claim, figures: Sequence[ReportedStatistics]) -> str:
    """The figures for a claim in words: `× 0.845` for one endpoint, the range for several.

    A ratio has as many digits as the figure with the fewest, of which two to four are shown.

    Args:
        claim: The claim.
        figures: The results of the same document.
    """
    found = figures_of(claim, figures)
    if not found:
        return "no figure of it was published" if claim.compare else "judged below"
    digits = _digits_by_endpoint(claim, figures)

    def say(value: float, count: int) -> str:
        return ratio_text(value, count) if claim.compare else _rate(value)

    if len(found) == 1:
        ((endpoint, value),) = found.items()
        return say(value, digits[endpoint])
    least, most = min(found, key=found.__getitem__), max(found, key=found.__getitem__)
    median = say(statistics.median(found.values()), min(digits[name] for name in found))
    return (
        f"{say(found[least], digits[least])} (`{least}`) to "
        f"{say(found[most], digits[most])} (`{most}`), median {median}, of {len(found)} endpoints"
    )


def _digits_by_endpoint(claim: Claim, figures: Sequence[ReportedStatistics]) -> dict[str, int]:
    """The digits of the figures for a claim, by endpoint: those of the subject with the fewest."""
    subjects = claim.compare or (claim.subject,)
    found: dict[str, dict[str, list[ReportedStatistics]]] = {}
    for one in figures:
        if one.subject in subjects:
            found.setdefault(one.endpoint, {}).setdefault(one.subject, []).append(one)
    return {
        endpoint: min(map(throughput_digits, by_subject.values()))
        for endpoint, by_subject in found.items()
    }


def throughput_digits(figures: Sequence[ReportedStatistics]) -> int:
    """The significant digits of a published throughput; noughts at its end are none.

    Of several runs those of the one with the most: another may end in noughts by chance.

    Args:
        figures: What was published of one subject at one endpoint.
    """
    known = (one.throughput_per_s for one in figures if one.throughput_per_s is not None)
    return max(map(wording.written_digits, known), default=0)


def ratio_text(value: float, digits: int) -> str:
    """A ratio of published numbers with the digits that these have, two to four: `× 2.97`.

    Args:
        value: The ratio.
        digits: Digits of the number with the fewest.
    """
    if not value:
        return "× 0"
    most = _MOST_DIGITS if value >= 1 else _MOST_DIGITS_BELOW_1
    places = min(max(digits, _FEWEST_DIGITS), most) - 1 - math.floor(math.log10(value))
    return f"× {wording.decimals(value, max(places, 0))}"


def _rate(value: float) -> str:
    return wording.per_second(value)
