"""What a check of frameworks found, as JSON, Markdown and tables."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.recording.compliance import RESULTS, count
from plimsoll.report.results import sheet
from plimsoll.report.results.sheet import Sheet

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from plimsoll.recording.compliance import ComplianceResult
    from plimsoll.recording.framework_check import FrameworkCheck
    from plimsoll.report.results.machine_readable import JsonObject

HEADINGS = ("Framework", "Verified", "Violations")


def documents(found: Sequence[FrameworkCheck]) -> list[JsonObject]:
    """One object for each framework, ready for JSON; times in seconds."""
    return [_document(one) for one in found]


def _document(one: FrameworkCheck) -> JsonObject:
    failures = [
        {"endpoint": part.name, **asdict(violation)}
        for part in one.parts
        for violation in part.violations
    ]
    return {
        "framework": one.framework,
        "failures": failures,
        "error": None if one.error is None else one.error.message,
        "to_paste": list(one.exceptions),
        **asdict(one.measurements),
        "compliance": [asdict(result) for result in one.compliance],
    }


def markdown(found: Sequence[FrameworkCheck]) -> str:
    """What was verified, as a table, with every violation below."""
    violations = [f"- {line}" for line in stated(found)]
    return "\n".join([verdict(found), "", *sheet.markdown(table(found)), "", *violations]).rstrip()


def verdict(found: Sequence[FrameworkCheck]) -> str:
    """How many frameworks keep the contract, in one sentence."""
    passed = sum(one.is_passed for one in found)
    return f"{passed} of {wording.several(len(found), 'framework')} passed."


def table(found: Sequence[FrameworkCheck]) -> Sheet:
    """What was verified of each framework, and the number of violations."""
    rows = [
        (one.framework, part.name, str(len(part.violations))) for one in found for part in one.parts
    ]
    return Sheet("", HEADINGS, tuple(rows))


def stated(found: Sequence[FrameworkCheck]) -> Iterator[str]:
    """Every error, every violation and what differs from an RFC, a line each."""
    for one in found:
        if one.error is not None:
            yield f"{one.framework}: {one.error.message}"
        for part in one.parts:
            for violation in dict.fromkeys(part.violations):
                yield f"{one.framework}, {part.name}: {violation}"
        for result in one.compliance:
            if result.result == "differs":
                yield f"{one.framework}: {compliance_line(result)}"


def compliance_counts(results: Sequence[ComplianceResult]) -> str:
    """How many cases have each result."""
    found = count(results)
    return ", ".join(f"{found[one]} × {name}" for one, name in RESULTS.items() if found[one])


def compliance_line(one: ComplianceResult) -> str:
    """What a server did in one case, with the section that says what it should."""
    source = f" ({one.source})" if one.source else ""
    return f"{one.title}: {one.seen}{source}"
