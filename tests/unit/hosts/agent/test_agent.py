"""The orders of the lab, and what an agent has for them."""

from __future__ import annotations

from inspect import getmembers, isfunction

from plimsoll.hosts.agent.agent import Agent
from plimsoll.hosts.orders import ORDERS

NOT_ORDERED = {"abandon"}
"""What an agent does when its lab is gone."""


def test_the_orders_are_the_public_methods_of_an_agent() -> None:
    public = {name for name, _ in getmembers(Agent, isfunction) if not name.startswith("_")}
    assert public - NOT_ORDERED == ORDERS
