"""Contact with a host whose agent ends while another one takes its name."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from plimsoll.errors import HostLost
from plimsoll.hosts.lab.contact import Contact


def lab_with(agents: dict[str, str]) -> Any:
    """A lab whose hosts answer every order."""
    return SimpleNamespace(
        joined=lambda: agents, clock=lambda _host: (), order=lambda *_arguments: None
    )


@pytest.mark.parametrize(
    ("later", "is_lost"),
    [("tls://127.0.0.2:1", False), ("tls://127.0.0.2:2", True)],
)
def test_an_agent_that_was_started_anew_is_not_the_one_of_before(later: str, is_lost: bool) -> None:
    agents = {"db": "tls://127.0.0.2:1"}
    contact = Contact(lab_with(agents), "db")
    try:
        agents["db"] = later
        if is_lost:
            with pytest.raises(HostLost, match="the agent of `db` ended, and another one"):
                contact.have_done("read_database")
        else:
            contact.have_done("read_database")
    finally:
        contact.end()
