"""What is measured here in place of the servers of a document."""

from __future__ import annotations

import pytest

from plimsoll.errors import InputError
from plimsoll.published import counterparts
from plimsoll.published.counterparts import CounterpartPlace

TEXT = """
[here]
baseline = "go"
load = "climb"

[here.subjects]
golang = "go"
"golang on one core" = { framework = "go", load = "one-core" }
"Django, Apache" = "django:apache-fcgi"

[here.endpoints]
"" = "plaintext"
"/2048 Heavy" = { endpoint = "2048", load = "heavy" }
"""
HERE = counterparts.read(TEXT, "file.toml")


@pytest.mark.parametrize(
    ("subject", "endpoint", "place"),
    [
        ("golang", "/2048", CounterpartPlace("go", "2048", "climb")),
        ("golang", "", CounterpartPlace("go", "plaintext", "climb")),
        ("golang", "/2048 Heavy", CounterpartPlace("go", "2048", "heavy")),
        ("golang on one core", "/2048", CounterpartPlace("go", "2048", "one-core")),
        ("Django, Apache", "/json", CounterpartPlace("django:apache-fcgi", "json", "climb")),
        ("Tomcat", "/2048", None),
    ],
)
def test_a_result_has_a_place_by_its_subject_and_endpoint(
    subject: str, endpoint: str, place: CounterpartPlace | None
) -> None:
    assert HERE.place(subject, endpoint) == place


def test_a_server_has_a_place_at_any_endpoint() -> None:
    assert HERE.everywhere("golang") == CounterpartPlace("go", "", "climb")
    assert HERE.everywhere("golang on one core") == CounterpartPlace("go", "", "one-core")
    assert HERE.everywhere("Tomcat") is None


def test_a_document_without_counterparts_has_none() -> None:
    assert counterparts.read('title = "x"', "f").place("golang", "/") is None


def test_every_mistake_is_told_with_a_remedy() -> None:
    text = """
[here]
baseline = 1
loads = "x"
endpoints = "y"
[here.subjects]
a = ""
b = { framework = "go", endpoint = "2048" }
c = { load = "x" }
d = "go"
"""
    with pytest.raises(InputError) as caught:
        counterparts.read(text, "file.toml")
    assert [problem.message for problem in caught.value.problems] == [
        "unknown key `loads`",
        "`baseline` must be a quoted string",
        *(
            f"`{name}` of `subjects` must be a name, or a table of `framework` and `load`"
            for name in "abc"
        ),
        "`endpoints` must be a table",
    ]
    assert {problem.where for problem in caught.value.problems} == {"file.toml: here"}
    assert all(problem.hint for problem in caught.value.problems)
