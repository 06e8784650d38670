"""Events that are expected of a response: one sentence about what is wrong with those that came."""

from __future__ import annotations

import pytest

from plimsoll.campaign.requests import Events, HttpResponse, ServerSentEvent

TYPE = (("content-type", "text/event-stream"),)
THREE = Events(("0", "1", "2"), every_s=0.01)


def came(*instants_ms: float, data: str = "012") -> HttpResponse:
    pairs = zip(data, instants_ms, strict=False)
    return HttpResponse(200, TYPE, b"", tuple(ServerSentEvent(one, at / 1e3) for one, at in pairs))


@pytest.mark.parametrize(
    ("response", "problem"),
    [
        (came(1, 11, 21), None),
        (came(0, 8.5, 18.5), None),
        (came(15, 15, 20), None),
        (came(1, 2, 21), "event 1 came 2 ms after the request, due after 10 ms"),
        (came(20, 20, 20), "all events came within 0 ns, due over 20 ms"),
        (came(50, 50, 50), None),
        (came(1, 11), "there are 2 events, expected 3"),
        (came(1, 11, 21, data="013"), "the data of event 2 is `3`, expected `2`"),
        (
            HttpResponse(200, (("content-type", "text/plain"),), b""),
            "`content-type` is `text/plain`, expected `text/event-stream`",
        ),
    ],
)
def test_events_have_their_data_and_come_when_they_are_due(
    response: HttpResponse, problem: str | None
) -> None:
    assert THREE.problem(response) == problem


def test_any_events_will_do_where_none_are_known_but_one_at_least() -> None:
    assert Events().problem(came(5)) is None
    assert Events().problem(came()) == "there is no event"
