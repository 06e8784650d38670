"""How often the checks doubt what is right: clean short trials against the reference server.

A trial is clean if nothing is wrong with it: the reference server responds as the contract
requires, neither side is near its limit, and nothing else runs on the host. Every doubt about such
a trial is a false alarm of a check, or a disturbance of this host; the sentence of each is shown,
so that a reader can decide. A fifth of the trials run at full speed. There the driver may be the
limit, which is no false alarm, so the verdicts of `driver_headroom` on them are not counted.

`--noise 0.5` has another program take half a core at random times meanwhile, so that the figure of
a noisy machine can be repeated. There one trial in ten may be doubtful.

Exit codes: 0 none is void and at most one in twenty-five is doubtful, 1 there are more, others as
`plimsoll run`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from noise import noise

PLIMSOLL = (sys.executable, "-m", "plimsoll")
FULL = "full"
"""Beginning of the names of loads that ask for as much as can be had."""
RIGHTLY = "driver_headroom"
"""The check that may doubt a trial of them."""
ALLOWED_RATIO = 1 / 25
"""Share of the trials that may be doubtful."""
ALLOWED_WITH_NOISE = 1 / 10
"""The same beside a program that takes time from them."""
JUDGED = (0, 1)
"""Exit codes of a campaign that was conducted and judged."""

FRAMEWORK = """
name = "reference"
language = "Rust"
needs = []
build = ""
start = 'exec "${PYTHON:-python3}" -m plimsoll.reference'
version = '"${PYTHON:-python3}" -c "from plimsoll import _engine; print(_engine.__version__)"'
clean_exit_codes = [0]
endpoints = [
    "empty", "2048", "8192", "32768",
    "getArgs2048", "postArgs2048", "postArgsMulti2048",
    "args", "json", "plaintext", "fibonacci", "mix",
]

[variant.one-ms]
start = 'exec "${PYTHON:-python3}" -m plimsoll.reference --service-time 1ms'
"""
"""The reference server, with a variant that waits a millisecond before each response."""

CLOSED = (1, 2, 4, 8)
"""Connections of closed loads; as few as are a limit by themselves, since the server waits."""
OPEN = ((500, 16), (1000, 32), (2000, 64), (4000, 64))
"""Arrivals per second of open loads, and connections of their pools."""
SATURATING = (16, 64)
"""Connections of the loads that ask for as much as can be had."""
ENDPOINTS = ("empty", "2048", "8192", "json", "mix")


@dataclass(frozen=True)
class Alarm:
    """A verdict on a clean trial that is not sound.

    Attributes:
        trial: Id of the trial.
        check: Name of the check.
        level: `doubtful` or `void`.
        statement: Its sentence.
    """

    trial: str
    check: str
    level: str
    statement: str


def campaign(name: str, framework: str, loads: Sequence[str]) -> str:
    """A campaign file.

    Args:
        name: Name of the campaign.
        framework: Reference of the framework.
        loads: Tables of loads.
    """
    head = (
        f"name = {json.dumps(name)}",
        f"frameworks = {json.dumps([framework])}",
        f"endpoints = {json.dumps(ENDPOINTS)}",
        'cool_down = "0s"',
    )
    return "\n".join((*head, *loads)) + "\n"


def closed(name: str, connections: int, hold_s: float) -> str:
    """The table of a closed load."""
    return _load(name, 'model = "closed"', connections, hold_s)


def opened(name: str, per_s: int, pool: int, hold_s: float) -> str:
    """The table of an open load."""
    return _load(name, f'model = "open"\nconnections = {pool}', per_s, hold_s)


def _load(name: str, model: str, level: int, hold_s: float) -> str:
    stages = (
        f'{{ kind = "warm_up", duration = "500ms", at = {level} }}, '
        f'{{ kind = "hold", duration = "{round(hold_s * 1000)}ms", at = {level} }}'
    )
    return f'\n[[load]]\nname = "{name}"\n{model}\ntimeout = "5s"\nstages = [{stages}]'


def clean(hold_s: float) -> list[str]:
    """Loads that bring neither side near its limit."""
    return [
        *(closed(f"closed-{number}", number, hold_s) for number in CLOSED),
        *(opened(f"open-{per_s}", per_s, pool, hold_s) for per_s, pool in OPEN),
    ]


def full(hold_s: float) -> list[str]:
    """Loads that ask for as much as can be had."""
    return [closed(f"{FULL}-{number}", number, hold_s) for number in SATURATING]


def alarms(judged: Sequence[Mapping[str, Any]]) -> list[Alarm]:
    """What is not sound, except what a check finds correctly.

    Args:
        judged: Trials as `plimsoll judge --json` prints them.
    """
    return [
        Alarm(
            trial["trial"],
            verdict["check"],
            verdict["level"],
            " ".join(one["text"] for one in verdict["sentences"]),
        )
        for trial in judged
        for verdict in trial["verdicts"]
        if verdict["level"] in ("doubtful", "void")
        and not _is_right(trial["trial"], verdict["check"])
    ]


def _is_right(trial: str, check: str) -> bool:
    return check == RIGHTLY and f".{FULL}-" in trial


def page(judged: Sequence[Mapping[str, Any]], found: Sequence[Alarm]) -> str:
    """Levels by check, and the sentence of each alarm, as Markdown."""
    levels = Counter((alarm.check, alarm.level) for alarm in found)
    checks = [verdict["check"] for verdict in judged[0]["verdicts"]] if judged else []
    lines = ["| check | sound | doubtful | void |", "| --- | ---: | ---: | ---: |"]
    for check in checks:
        doubtful, void = levels[check, "doubtful"], levels[check, "void"]
        lines.append(f"| `{check}` | {len(judged) - doubtful - void} | {doubtful} | {void} |")
    told = [f"- {one.trial}, `{one.check}`, {one.level}: {one.statement}" for one in found]
    return "\n".join([*lines, "", *told, "", _total(judged, found)])


def _total(judged: Sequence[Mapping[str, Any]], found: Sequence[Alarm]) -> str:
    void, doubtful = (_trials(found, level) for level in ("void", "doubtful"))
    return f"{len(judged)} trials: {len(void)} void, {len(doubtful - void)} doubtful"


def _trials(found: Sequence[Alarm], level: str) -> set[str]:
    return {alarm.trial for alarm in found if alarm.level == level}


def is_too_many(
    judged: Sequence[Mapping[str, Any]], found: Sequence[Alarm], allowed_ratio: float
) -> bool:
    """Whether one is void, or more than so many of all are doubtful."""
    doubtful = len(_trials(found, "doubtful"))
    return bool(_trials(found, "void")) or doubtful > allowed_ratio * len(judged)


def conducted(folder: Path, name: str, content: str) -> list[dict[str, Any]]:
    """Conducts a campaign; gives its trials as they are judged."""
    file = folder / f"{name}.toml"
    file.write_text(content, encoding="utf-8")
    results = folder / "results" / name
    options = ("--frameworks", str(folder / "frameworks"), "--into", str(results), "--no-report")
    ran = subprocess.run((*PLIMSOLL, "run", str(file), *options), check=False)
    if ran.returncode not in JUDGED:
        raise SystemExit(ran.returncode)
    command = (*PLIMSOLL, "judge", str(results), "--json")
    judged = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if judged.returncode not in JUDGED:
        raise SystemExit(judged.returncode)
    return json.loads(judged.stdout)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--hold", type=float, default=2.0, help="length of each hold in seconds")
    parser.add_argument(
        "--few", action="store_true", help="one closed and one open load instead of all"
    )
    parser.add_argument(
        "--noise", type=float, default=0.0, help="cores that another program takes, such as 0.5"
    )
    parser.add_argument("--into", type=Path, help="folder for the recordings; without it, none")
    return parser.parse_args()


def main() -> int:
    """Conducts the trials and prints what was doubted."""
    options = _options()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.into or Path(temporary)
        place = folder / "frameworks" / "reference"
        place.mkdir(parents=True, exist_ok=True)
        (place / "framework.toml").write_text(FRAMEWORK, encoding="utf-8")
        loads, most = clean(options.hold), full(options.hold)
        if options.few:
            loads, most = [loads[-2], loads[len(CLOSED) - 1]], most[:1]
        with noise(options.noise):
            judged = [
                *conducted(folder, "clean", campaign("clean", "reference:one-ms", loads)),
                *conducted(folder, FULL, campaign(FULL, "reference", most)),
            ]
    found = alarms(judged)
    print(page(judged, found))
    return int(is_too_many(judged, found, ALLOWED_WITH_NOISE if options.noise else ALLOWED_RATIO))


if __name__ == "__main__":
    sys.exit(main())
