"""The compliance gate: what a server that conforms shows, and one that differs in one case."""

from __future__ import annotations

from dataclasses import replace

import pytest

import strict_server
import toy_trials
from plimsoll.campaign.requests import HttpResponse, Request
from plimsoll.recording.compliance import Compliance
from plimsoll.serving.compliance import gate, judging
from plimsoll.serving.compliance.cases import CASES, ComplianceCase
from plimsoll.serving.compliance.conversation import Conversation, Ending, Sending, converse
from plimsoll.serving.compliance.judging import Judge
from plimsoll.serving.compliance.usual import UsualRequests

GOT = HttpResponse(200, (("content-length", "2"), ("content-type", "text/plain")), b"hi")
POSTED = HttpResponse(200, (("content-length", "4"),), b"[42]")
USUAL = UsualRequests(
    "127.0.0.1:8080",
    Request("get", "GET", "/2048"),
    GOT,
    HttpResponse(404, (("content-length", "0"),), b""),
    Request("post", "POST", "/echo", (("Content-Type", "application/json"),), b"[42]"),
    POSTED,
)

PATIENT_S = 20.0
IMPATIENT_S = 0.3
"""Enough for a server that is known to differ: silence differs as well."""

EITHER = {"folded", "bare_lf", "options", "lengths_equal", "length_and_chunked", "unknown_coding"}
"""Cases in which every response that is allowed is allowed either way."""

EACH = pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])


def usual(address: tuple[str, int]) -> UsualRequests:
    """What `strict_server` responds."""
    got = HttpResponse(200, (("content-length", "2048"),), strict_server.LETTERS)
    return replace(USUAL, authority=f"{address[0]}:{address[1]}", got=got)


def tried(case: ComplianceCase, breaks: str, patience_s: float) -> tuple[Compliance, str]:
    with strict_server.served(breaks) as address:
        known = usual(address)
        return case.judge(known, converse(address, case.script(known), patience_s))


@EACH
def test_a_server_that_keeps_the_rule_conforms(case: ComplianceCase) -> None:
    result, seen = tried(case, "", PATIENT_S)
    assert result == ("either" if case.name in EITHER else "conforms"), seen


@EACH
def test_a_server_that_breaks_the_rule_differs(case: ComplianceCase) -> None:
    result, seen = tried(case, case.name, IMPATIENT_S)
    assert result == "differs", seen


def response(status: int, body: bytes = b"", **headers: str) -> HttpResponse:
    return HttpResponse(status, tuple((k.replace("_", "-"), v) for k, v in headers.items()), body)


def seen(*responses: HttpResponse, ending: Ending = "answered") -> Conversation:
    return Conversation(responses, ending)


REFUSED = response(400)
CLOSING = replace(GOT, headers=(*GOT.headers, ("connection", "close")))


@pytest.mark.parametrize(
    ("judge", "conversation", "expected"),
    [
        (judging.as_usual_or_refused, seen(GOT), ("either", "200")),
        (judging.as_usual_or_refused, seen(response(505)), ("either", "505")),
        (judging.as_usual_or_refused, seen(ending="silent"), ("differs", "no response")),
        (judging.as_usual_preferably, seen(REFUSED), ("either", "400")),
        (judging.refused, seen(ending="closed"), ("differs", "closed without a response")),
        (judging.refused, seen(ending="not_http"), ("differs", "invalid HTTP")),
        (judging.refused_and_closed, seen(REFUSED, GOT), ("differs", "400, next request 200")),
        (
            judging.refused_and_closed,
            seen(REFUSED, ending="silent"),
            ("differs", "400, then no response"),
        ),
        (judging.refused_and_closed, seen(REFUSED, ending="closed"), ("conforms", "400, closed")),
        (
            judging.refused_and_closed,
            seen(response(500), ending="closed"),
            ("differs", "500, closed"),
        ),
        (judging.coding_refused, seen(REFUSED, ending="closed"), ("either", "400, closed")),
        (judging.coding_refused, seen(response(501), GOT), ("differs", "501, next request 200")),
        (judging.length_repeated, seen(REFUSED), ("either", "400")),
        (judging.length_and_chunked, seen(REFUSED, ending="closed"), ("either", "400, closed")),
        (judging.length_and_chunked, seen(POSTED, ending="closed"), ("either", "200, closed")),
        (judging.length_and_chunked, seen(POSTED, GOT), ("differs", "200, next request 200")),
        (
            judging.length_and_chunked,
            seen(response(200, b"[4"), ending="closed"),
            ("differs", "200, closed"),
        ),
        (judging.chunks_read, seen(response(411), ending="closed"), ("either", "411, closed")),
        (judging.chunks_read, seen(POSTED, ending="closed"), ("conforms", "200, closed")),
        (judging.chunks_read, seen(POSTED, REFUSED), ("differs", "200, next request 400")),
        (judging.in_order, seen(CLOSING, ending="closed"), ("either", "200, closed")),
        (judging.in_order, seen(GOT, ending="closed"), ("differs", "200, closed")),
        (judging.in_order, seen(GOT, response(404), GOT), ("differs", "200, 404, 200")),
        (
            judging.closed_without_chunks,
            seen(replace(GOT, headers=(("transfer-encoding", "chunked"),)), ending="closed"),
            ("differs", "200, closed, with transfer-encoding"),
        ),
        (
            judging.goes_on_after_refusal,
            seen(response(404), ending="closed"),
            ("either", "404, closed"),
        ),
        (judging.long_head, seen(GOT), ("either", "200")),
        (judging.long_head, seen(response(500)), ("differs", "500")),
        (judging.head_only, seen(response(405)), ("differs", "405")),
        (judging.head_only, seen(GOT, ending="silent"), ("differs", "200, then no response")),
        (
            judging.head_only,
            seen(GOT, ending="not_http"),
            ("differs", "200, content after the head"),
        ),
        (
            judging.head_only,
            seen(replace(GOT, body=b""), GOT),
            ("conforms", "200, next request 200"),
        ),
        (
            judging.head_only,
            seen(response(200, content_length="2"), ending="closed"),
            ("either", "200, without content-type"),
        ),
        (
            judging.head_only,
            seen(response(200, content_length="0", content_type="text/plain"), GOT),
            ("differs", "content-length 0, 2 for GET"),
        ),
        (judging.options, seen(response(204, allow="GET")), ("either", "204, allow: GET")),
        (judging.options, seen(response(405)), ("differs", "405 without allow")),
        (judging.options, seen(response(500)), ("differs", "500")),
        (judging.unknown_method, seen(response(501)), ("conforms", "501")),
        (judging.unknown_method, seen(GOT), ("either", "200")),
        (judging.unknown_method, seen(response(503)), ("differs", "503")),
        (judging.continues, seen(response(417)), ("conforms", "417")),
        (judging.continues, seen(response(100), POSTED), ("conforms", "100, 200")),
        (
            judging.continues,
            Conversation((POSTED,), "answered", waited_in_vain=True),
            ("differs", "no 100, 200 after the body"),
        ),
        (
            judging.continues,
            seen(response(100), ending="silent"),
            ("differs", "100, then no response"),
        ),
    ],
)
def test_what_is_seen_is_judged_by_the_rfc(
    judge: Judge, conversation: Conversation, expected: tuple[Compliance, str]
) -> None:
    assert judge(USUAL, conversation) == expected


def test_every_case_has_a_name_of_its_own_and_a_source() -> None:
    assert len({case.name for case in CASES}) == len(CASES)
    assert all(case.source.startswith("RFC 9") for case in CASES)


def test_without_an_endpoint_that_takes_a_body_these_cases_are_not_tried() -> None:
    with strict_server.served() as address:
        toy = replace(toy_trials.framework(), probe_path="/2048")
        found = gate.examine(address, toy, PATIENT_S)
    untried = {one.case for one in found if one.result == "not_tried"}
    assert untried == {case.name for case in CASES if case.needs_body}
    assert not [one for one in found if one.result == "differs"]


def test_a_server_that_is_gone_is_not_tried() -> None:
    with strict_server.served() as address:
        pass
    found = gate.examine(address, toy_trials.framework())
    assert {one.result for one in found} == {"not_tried"}


def test_a_body_after_the_response_to_head_is_no_next_response() -> None:
    with strict_server.served("head") as address:
        request = f"HEAD /2048 HTTP/1.1\r\nHost: {address[0]}\r\n\r\n".encode()
        found = converse(address, (Sending((request,), ("HEAD", "GET")),), PATIENT_S)
    assert (found.ending, len(found.responses)) == ("not_http", 1)
