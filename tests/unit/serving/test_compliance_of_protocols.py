"""The compliance gate of HTTP/2 and WebSocket, on the reference server and on lenient ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

import lenient_servers
import reference_servers
import toy_trials
from plimsoll.recording.compliance import ComplianceResult
from plimsoll.serving.asking import Address
from plimsoll.serving.compliance import gate, http2, websocket
from plimsoll.serving.compliance.cases import CASES

TOY = replace(toy_trials.framework(), probe_path="/2048")
PATIENT_S = 20.0
IMPATIENT_S = 0.3

AGREED = {"h2_request", "h2_acknowledged", "h2_unknown_frame", "h2_unknown_setting"} | {
    *("h2_continuations", "ws_upgrade", "ws_pong"),
}
"""Cases in which a server that takes everything does what is required."""


@pytest.fixture(scope="module")
def reference() -> Iterator[Address]:
    with reference_servers.reference() as address:
        host, _, port = address.rpartition(":")
        yield host, int(port)


def differing(results: tuple[ComplianceResult, ...]) -> dict[str, str]:
    return {one.case: one.seen for one in results if one.result == "differs"}


def test_the_reference_server_conforms_in_every_case(reference: Address) -> None:
    results = (
        *gate.examine_http2(reference, TOY, PATIENT_S),
        *gate.examine_websocket(reference, PATIENT_S),
    )
    assert {one.result: one.seen for one in results if one.result != "conforms"} == {}
    assert len(results) == len(http2.CASES) + len(websocket.CASES)


def test_a_server_of_http2_that_takes_everything_differs_where_it_must_refuse() -> None:
    with lenient_servers.served(lenient_servers.LenientHttp2) as address:
        found = differing(gate.examine_http2(address, TOY, IMPATIENT_S))
    assert set(found) == {case.name for case in http2.CASES} - AGREED
    assert found["h2_ping_length"] == "went on"
    assert found["h2_upper_case"].startswith("200")


def test_a_server_of_http2_that_says_nothing_differs_in_every_case() -> None:
    usual = http2.Http2Usual("127.0.0.1", "/2048")
    with lenient_servers.served(lenient_servers.MuteHttp2) as address:
        case = http2.CASES[0]
        assert http2.tried(address, usual, IMPATIENT_S, case) == ("differs", "no response")
        found = [http2.tried(address, usual, IMPATIENT_S, case)[0] for case in http2.CASES[1:4]]
    assert found == ["differs"] * 3


def test_a_server_of_websocket_that_takes_everything_differs_where_it_must_refuse() -> None:
    with lenient_servers.served(lenient_servers.LenientWebSocket) as address:
        found = differing(gate.examine_websocket(address, IMPATIENT_S))
    assert set(found) == {case.name for case in websocket.CASES} - AGREED
    assert found["ws_unmasked"] == "went on"
    assert found["ws_version"] == "went on, without sec-websocket-version"


def test_a_server_without_websocket_differs_in_every_case() -> None:
    with lenient_servers.served(lenient_servers.MuteWebSocket) as address:
        found = differing(gate.examine_websocket(address, IMPATIENT_S))
    assert set(found) == {case.name for case in websocket.CASES}
    assert found["ws_upgrade"] == "503"


def test_a_status_that_is_no_number_is_none() -> None:
    with lenient_servers.served(lenient_servers.SquaredStatus) as address:
        found = differing(gate.examine_websocket(address, IMPATIENT_S))
    assert set(found) == {case.name for case in websocket.CASES}


def test_every_case_has_a_name_of_its_own_and_a_source() -> None:
    cases = (*CASES, *http2.CASES, *websocket.CASES)
    assert len({case.name for case in cases}) == len(cases)
    assert all(case.source.startswith("RFC ") for case in cases)
