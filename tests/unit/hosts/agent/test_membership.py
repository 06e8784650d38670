"""An agent that the lab started serves it until that sends it away, or is gone."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from typing import Any

import pytest

from plimsoll.hosts.agent import membership

NOTHING: Any = None


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """Serves with connections that end in some ways; gives what the agent said."""

    def reached(answer: object) -> Callable[..., Any]:
        async def reachable(*_: object, **__: object) -> None:
            if answer is None:
                await asyncio.sleep(60)

        return reachable

    def serve(ends: list[bool | None], lifeline: Any, *, returns: bool = True) -> list[str]:
        async def one(*_: object, **__: object) -> bool:
            if (end := ends.pop(0)) is None:
                await asyncio.sleep(60)
            return bool(end)

        said: list[str] = []
        monkeypatch.setattr(membership, "_make_ready", lambda _: None)
        monkeypatch.setattr(membership, "_serve_one", one)
        monkeypatch.setattr(membership, "_reachable", reached(returns or None))
        asyncio.run(membership.serve_one(NOTHING, NOTHING, said.append, lifeline))
        return said

    return serve


def test_an_agent_joins_again_where_only_its_connection_broke(served: Any) -> None:
    reader, writer = os.pipe()
    ends = [False, False, True, True]
    with os.fdopen(reader, "rb") as lifeline, os.fdopen(writer, "wb"):
        said = served(ends, lifeline)
    assert ends == [True], "the lab sent it away at the third"
    assert said == ["lost the connection to the lab; joining it again"] * 2


def test_an_agent_ends_with_its_lifeline_also_while_it_waits_for_the_lab(served: Any) -> None:
    reader, writer = os.pipe()
    os.close(writer)
    with os.fdopen(reader, "rb") as lifeline:
        assert len(served([False, None], lifeline)) <= 1


def test_an_agent_does_not_wait_for_a_lab_for_ever(
    served: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(membership, "RETURN_S", 0.01)
    reader, writer = os.pipe()
    with os.fdopen(reader, "rb") as lifeline, os.fdopen(writer, "wb"):
        said = served([False], lifeline, returns=False)
    assert said[-1] == "the lab was out of reach for 0.01 s"
