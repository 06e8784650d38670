"""The checks on recordings made by really running: the reference server, and servers that fail.

Each recording is one short load as it is typed. What a check must find in it does not depend on how
busy this machine is otherwise; where it does, another check is asked to say so. What a sound trial
must pass is asked of up to three recordings of it: a neighbour on this machine may spoil one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from command_line import remedies_of, run, text_of

pytestmark = pytest.mark.timeout(180)

HOSTILE = Path(__file__).parents[1] / "hostile_server.py"
BURN = "while True: pass"
Verdicts = Callable[[str], dict[str, dict[str, Any]]]
RECORDED_AT_MOST = 3
"""How often a sound trial is recorded until a check passes it."""
KEPT = ("-c", "8", "-d", "2s", "--timeout", "5s")


@dataclass(frozen=True)
class Made:
    """How a recording is made.

    Attributes:
        server: Options of the reference server, or the way of a hostile one.
        load: What is typed behind the address.
        path: What is asked for.
        burners: Programs that take all the time they get meanwhile.
    """

    server: tuple[str, ...] | str
    load: tuple[str, ...] = KEPT
    path: str = ""
    burners: int = 0


RECORDINGS = {
    "clean": Made(("--service-time", "2ms"), path="/2048"),
    "mixed": Made(("--service-time", "1ms"), path="/2048 /empty"),
    "climbing": Made(("--service-time", "2ms"), ("-c", "12", "-d", "2s", "--ramp", "3s"), "/empty"),
    "at a rate": Made((), ("-R", "200", "-c", "16", "-d", "2s"), "/empty"),
    "beyond its rate": Made(
        ("--service-time", "50ms"), ("-R", "2000", "-c", "4", "-d", "2s"), "/empty"
    ),
    "few places": Made(
        ("--backlog", "1", "--stall", "900ms", "--stall-every", "1s"),
        ("-c", "200", "-d", "3s"),
        "/empty",
    ),
    "disturbed": Made((), path="/empty", burners=4),
    "overdriven": Made("swells", ("-c", "64", "-d", "2s", "--compressed")),
    "wrong": Made("wrong", (*KEPT, "--expect-status", "200")),
    "resets": Made("resets"),
    "starves": Made("starves", ("-c", "8", "-d", "3s", "--timeout", "10s")),
    "silent": Made("silent", ("-c", "8", "-d", "2s", "--timeout", "300ms")),
    "freezes": Made("freezes", ("-c", "8", "-d", "4s", "--timeout", "10s")),
    "tires": Made("tires", ("-c", "8", "-d", "4s", "--timeout", "10s")),
}

SOUND = {
    "clean": (
        "trial_completed",
        "conservation",
        "responses_correct",
        "failures_explained",
        "evenly_served",
        "round_trip_floor",
        "counters_agree",
        "cpu_bounds",
        "backlog",
        "ports_and_files",
    ),
    "mixed": ("request_mix_met", "conservation"),
    "climbing": ("scaling", "trial_completed", "conservation"),
    "at a rate": ("failures_explained", "conservation"),
    "silent": ("timeout_floor", "conservation", "trial_completed"),
    "resets": ("conservation", "counters_agree"),
    "starves": ("conservation",),
    "freezes": ("conservation", "failures_explained"),
}
"""Recording to the checks that must pass it."""

BEYOND = {
    "beyond its rate": {"offered_rate_met": "void"},
    "few places": {"backlog": "void"},
    "disturbed": {"undisturbed": "void"},
    "wrong": {"responses_correct": "void"},
    "resets": {"failures_explained": "void"},
    "starves": {"evenly_served": "void", "connection_target_met": "void"},
    "silent": {"failures_explained": "void"},
    "freezes": {"steady": "void"},
    "tires": {"steady": "void"},
    "overdriven": {"driver_headroom": "void"},
}
"""Recording to the checks that must not, and what they must say."""

COUNTED = {"at a rate", "mixed", "few places", "wrong"}
"""Recordings of which only counts are judged, whatever else this host does."""


LESS_OFTEN = {"tires"}
"""Recordings that `make thorough` alone makes: `steady` finds what freezes, and the same fault."""


def marks(name: str) -> list[pytest.MarkDecorator]:
    """Marks of the tests of a recording."""
    thorough = [pytest.mark.thorough] if name in LESS_OFTEN else []
    return thorough if name in COUNTED else [pytest.mark.alone, *thorough]


@contextmanager
def started(*command: str) -> Generator[str]:
    """The first line of a program that runs as long as the block does."""
    program = subprocess.Popen(
        [sys.executable, *command],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "HOST": "127.0.0.1"},
    )
    try:
        assert program.stdout is not None
        yield program.stdout.readline()
    finally:
        program.kill()
        program.communicate(timeout=20)


@contextmanager
def serving(server: tuple[str, ...] | str) -> Generator[str]:
    """Address and port of a server."""
    if isinstance(server, str):
        with started(str(HOSTILE), server) as line:
            yield line.strip()
    else:
        with started("-m", "plimsoll.reference", "--port", "0", *server) as line:
            yield json.loads(line)["address"]


def judged(made: Made, folder: Path) -> dict[str, dict[str, Any]]:
    """The verdicts on a recording, which is kept in a folder, by check."""
    with ExitStack() as stack:
        address = stack.enter_context(serving(made.server))
        for _ in range(made.burners):
            stack.enter_context(started("-c", f"print(flush=True)\n{BURN}"))
        urls = [address + path for path in made.path.split() or [""]]
        kept = ("--record", "recording", "--json")
        ran = run("load", *urls, *made.load, *kept, folder=folder)
    found = json.loads(ran.stdout)
    assert ran.code == (1 if found["level"] == "void" else 0), ran.stderr
    return {verdict["check"]: verdict for verdict in found["verdicts"]}


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> Verdicts:
    """Name of a recording to its verdicts; each is made when it is first asked for."""

    @cache
    def of(name: str) -> dict[str, dict[str, Any]]:
        return judged(RECORDINGS[name], tmp_path_factory.mktemp(name.replace(" ", "-")))

    return of


def found_on_a_quiet_host(
    verdicts: Verdicts, folder: Path, name: str, check: str, level: str
) -> dict[str, Any]:
    """What a check finds, after some recordings if the first ones do not have the level.

    Where other programs explain what happened a check says nothing, which is right: the test is
    then skipped, and says so.
    """
    found = verdicts(name)
    for number in range(1, RECORDED_AT_MOST):
        if found[check]["level"] == level:
            break
        again = folder / str(number)
        again.mkdir()
        found = judged(RECORDINGS[name], again)
    is_disturbed = check != "undisturbed" and found["undisturbed"]["level"] != "sound"
    if found[check]["level"] == "not_checked" and is_disturbed:
        pytest.skip(f"other programs disturb this host: {text_of(found[check])}")
    return found[check]


@pytest.mark.parametrize(
    ("name", "check"),
    [
        pytest.param(name, check, marks=marks(name))
        for name, checks in SOUND.items()
        for check in checks
    ],
)
def test_a_recording_within_the_limits_passes(
    verdicts: Verdicts, tmp_path: Path, name: str, check: str
) -> None:
    verdict = found_on_a_quiet_host(verdicts, tmp_path, name, check, "sound")
    assert verdict["level"] == "sound", text_of(verdict)


@pytest.mark.parametrize(
    ("name", "check", "level"),
    [
        pytest.param(name, check, level, marks=marks(name))
        for name, checks in BEYOND.items()
        for check, level in checks.items()
    ],
)
def test_a_recording_beyond_a_limit_does_not_pass_and_says_what_to_do(
    verdicts: Verdicts, tmp_path: Path, name: str, check: str, level: str
) -> None:
    verdict = found_on_a_quiet_host(verdicts, tmp_path, name, check, level)
    assert verdict["level"] == level, text_of(verdict)
    assert verdict["measured"] is not None
    assert remedies_of(verdict)
    assert verdict["source"]


@pytest.mark.alone
def test_what_was_in_flight_agrees_with_the_drivers_clock_whoever_was_busy(
    verdicts: Verdicts,
) -> None:
    for name in ("clean", "climbing", "overdriven", "resets", "silent"):
        verdict = verdicts(name)["littles_law"]
        assert verdict["level"] == "sound", f"{name}: {verdict['statement']}"


@pytest.mark.alone
def test_what_this_host_does_not_say_is_called_unknown_and_given_no_number(
    verdicts: Verdicts,
) -> None:
    energy = verdicts("clean")["energy_net"]
    assert energy["measured"] is None
    assert energy["level"] == "not_checked"


@pytest.mark.alone
def test_every_check_has_looked_at_every_recording(verdicts: Verdicts) -> None:
    from plimsoll.verdicts.checks import CHECKS  # noqa: PLC0415 - heavy

    assert set(verdicts("clean")) == {check.NAME for check in CHECKS}
