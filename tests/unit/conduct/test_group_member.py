"""One trial among those that take turns, with a server that is only said to run."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import toy_trials
from plimsoll.conduct import recording
from plimsoll.conduct.group_member import GroupMember, ServerAtTurn
from plimsoll.conduct.run_config import RunConfig
from plimsoll.conduct.trial_state import TrialState
from plimsoll.events import ignore
from plimsoll.serving import contract
from plimsoll.serving.contract import CheckedServer, Verified


@dataclass
class ToyTurns:
    """Turns of a server that is found to work in its last rest, if it was not before."""

    freezes: bool = False

    def wake(self) -> None:
        self.freezes = True

    def rest(self) -> None:
        pass


@pytest.mark.parametrize("was_frozen", [False, True])
def test_only_a_server_that_was_frozen_is_checked_as_such(
    was_frozen: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked: list[CheckedServer] = []

    def verify(server: CheckedServer, *_: object) -> Verified:
        checked.append(server)
        return Verified(())

    def nothing(*_: object) -> None:
        pass

    monkeypatch.setattr(contract, "verify", verify)
    monkeypatch.setattr(recording, "convert_rows", nothing)
    driven = SimpleNamespace(hosts=(), stages=())
    load: Any = SimpleNamespace(process=None, finish=lambda: driven)
    place = SimpleNamespace(host="127.0.0.1", port=1, protocol="http1")
    server: Any = SimpleNamespace(
        place=place, write=None, check_alive=nothing, at_rest=lambda: None
    )
    turns: Any = ToyTurns()
    setting = RunConfig(turning=lambda _: nullcontext(load))
    member = GroupMember(TrialState(toy_trials.trial(), setting), tmp_path)
    member.examine(ServerAtTurn(server, turns), ignore)
    member.begin()
    turns.freezes = was_frozen
    member.end(ignore)
    assert not member.has_failed, member.known.ending
    assert [one.was_frozen for one in checked] == [False, was_frozen]
