"""Loads of a calibration by TLS, HTTP/2 and WebSocket."""

from __future__ import annotations

from plimsoll.calibration import protocols
from plimsoll.calibration.bench import HTTP1, closed
from plimsoll.campaign.load import HANDSHAKE_S


def test_as_many_requests_are_in_flight_by_every_protocol() -> None:
    for spoken in protocols.PROTOCOLS:
        made = [spoken.by(case.load) for case in protocols.cases(spoken, 1.0)]
        closed_load, open_load = made
        assert closed_load.peak_connections * closed_load.in_flight_each == protocols.IN_FLIGHT
        assert open_load.connections * open_load.in_flight_each == 64
        assert {one.service for one in made} == {spoken.service}


def test_a_load_by_tls_warms_up_until_its_handshakes_are_made() -> None:
    load = closed(64, 1.0)
    tls = protocols.PROTOCOLS[0].by(load)
    assert tls.stages[0].duration_s == 64 * HANDSHAKE_S > load.stages[0].duration_s
    assert HTTP1.by(load) == load
