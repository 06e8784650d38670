"""JUnit XML, which CI services show as test results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree import ElementTree as Xml

from plimsoll import texts


@dataclass(frozen=True)
class JunitCase:
    """One test.

    Attributes:
        name: Its name.
        failure: Why it failed, in one sentence; empty when it did not.
        skipped: Why it is undecided; empty when it is not.
        error: Why there is no result; empty when there is one.
        details: More about the failure or the error.
        output: What is shown beside it.
        duration_s: Time that it took; None when unknown.
    """

    name: str
    failure: str = ""
    skipped: str = ""
    error: str = ""
    details: str = ""
    output: str = ""
    duration_s: float | None = None


def document(suite: str, cases: Sequence[JunitCase]) -> str:
    """A JUnit file with one suite.

    Args:
        suite: Its name; with a dot for each space it is the class of its tests.
        cases: Its tests.
    """
    root = Xml.Element(
        "testsuite",
        name=suite,
        tests=str(len(cases)),
        failures=str(sum(bool(one.failure) for one in cases)),
        errors=str(sum(bool(one.error) for one in cases)),
        skipped=str(sum(bool(one.skipped) for one in cases)),
    )
    for one in cases:
        _add(root, suite.replace(" ", "."), one)
    Xml.indent(root)
    return Xml.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _add(root: Xml.Element, classname: str, one: JunitCase) -> None:
    case = Xml.SubElement(root, "testcase", classname=classname, name=texts.line(one.name))
    if one.duration_s is not None:
        case.set("time", f"{one.duration_s:.1f}")
    if one.failure:
        Xml.SubElement(case, "failure", message=texts.line(one.failure)).text = one.details
    if one.error:
        Xml.SubElement(case, "error", message=texts.line(one.error)).text = one.details
    if one.skipped:
        Xml.SubElement(case, "skipped", message=texts.line(one.skipped))
    if one.output:
        Xml.SubElement(case, "system-out").text = one.output
