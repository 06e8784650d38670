"""Trials of the toy server, for tests that conduct some."""

from __future__ import annotations

from pathlib import Path

from plimsoll.campaign.endpoints import ENDPOINTS
from plimsoll.campaign.framework import Framework
from plimsoll.campaign.load import Load, Stage
from plimsoll.plan import Trial

FOLDER = Path(__file__).parent / "toy"
"""What is in it is the application, and nothing else is."""
EMPTY = next(endpoint for endpoint in ENDPOINTS if endpoint.name == "empty")


def framework(**environment: str) -> Framework:
    return Framework(
        name="toy",
        variant="",
        language="Python",
        folder=FOLDER,
        site="",
        needs=(),
        build="",
        start='exec "$PYTHON" app.py',
        version="echo toy 1.2",
        endpoints=("empty",),
        environment=environment,
        start_timeout_s=20.0,
    )


def load(hold_s: float = 2.0, connections: int = 4) -> Load:
    stages = (
        Stage("ramp", 1.0, 0, connections, 2),
        Stage("hold", hold_s, connections, connections),
    )
    return Load("small", "closed", stages)


def trial(number: int = 1, toy: Framework | None = None, asked: Load | None = None) -> Trial:
    return Trial(
        id=f"toy.empty.small.{number}",
        order=number - 1,
        framework=toy or framework(),
        endpoint=EMPTY,
        load=asked or load(),
        repetition=number,
        driver="plimsoll",
        seed=number,
    )
