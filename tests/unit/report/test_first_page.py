"""The screen of a load in README.md is what the program prints of these figures.

`tests/end_to_end/test_load.py` compares the number of checks with that of a real load.
"""

from __future__ import annotations

import io
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console

import sample
from plimsoll.aggregate.counted import StatusTotal
from plimsoll.campaign.load import Load, Stage
from plimsoll.findings.trial import TrialFindings
from plimsoll.report.load import screen
from plimsoll.verdicts.verdict import Sentence, Verdict

CHECKOUT = Path(__file__).parents[3]
UNITS_NS = {"µs": 1e3, "ms": 1e6, "s": 1e9}
STATISTICS = ("mean", "p50", "p90", "p95", "p99", "p999", "max")


def example() -> list[str]:
    """The screen on the first page, without the command."""
    text = (CHECKOUT / "README.md").read_text("utf-8")
    block = next(one for one in text.split("```\n") if one.startswith("$ plimsoll load "))
    return block.splitlines()[1:]


def figures(lines: list[str]) -> dict[str, str]:
    """What stands behind the name of each line."""
    named = (re.split(r"\s{2,}", line, maxsplit=1) for line in lines)
    return {parts[0]: parts[1] for parts in named if len(parts) > 1}


def number(text: str) -> float:
    found = re.search(r"[\d.,]+", text)
    assert found is not None
    return float(found[0].replace(",", "").rstrip("."))


def times_ns(text: str) -> dict[str, float]:
    found = re.findall(r"([\d.,]+) (µs|ms|s)", text)
    values = [float(value) * UNITS_NS[unit] for value, unit in found]
    return {f"response_time_{name}_ns": at for name, at in zip(STATISTICS, values, strict=True)}


def shown_of(lines: list[str]) -> TrialFindings:
    """A load with the figures of a screen."""
    told = figures(lines)
    rate, received = told["throughput"].split("; ")
    completed = int(number(told["requests"]))
    summary: dict[str, Any] = {
        "throughput_per_s": number(rate),
        "goodput_per_s": number(rate),
        "received_bytes_per_s": number(received) * 1e6,
        "completed": completed,
        "ok": completed,
        "unfinished": int(number(told["requests"].split(", ")[-1])),
        "driver_busy_cores": number(told["load generator"]),
        **times_ns(told["response time"]),
    }
    for name, count in re.findall(r"([a-z][a-z ]*) (\d+)", told["connections"]):
        summary[f"connections_{name.replace(' ', '_')}"] = int(count)
    target, _, endpoint = lines[0].partition("/")
    length_s, connections = map(float, re.findall(r"hold (\d+) s at (\d+)", lines[1])[0])
    load = Load("load", "closed", (Stage("hold", length_s, connections, connections),))
    memory = number(told["load generator"].split("; ")[1]) * 1e6
    driver = sample.driver(threads=1, peak_rss_bytes=int(memory))
    found = sample.sound_trial()
    recording = replace(
        found.recording, framework=target, endpoint=f"/{endpoint}", load=load, driver=driver
    )
    data = replace(
        found.data, recording=recording, summary=sample.changed(found.summary, **summary)
    )
    return replace(
        found,
        data=data,
        statuses=(StatusTotal(200, completed, completed, 0),),
        verdicts=sound_by(int(number(lines[-1]))),
    )


def sound_by(count: int) -> tuple[Verdict, ...]:
    """Verdicts of so many sound checks, and of one that has nothing to check."""
    (sound,) = sample.verdicts_of("t")[-1:]
    nothing = Sentence("not_checked", "There is no database.", "", applies=False)
    idle = replace(sound, check="database_headroom", level="not_checked", sentences=(nothing,))
    return (*[sound] * count, idle)


def test_the_first_page_shows_what_is_printed() -> None:
    text = io.StringIO()
    screen.show(shown_of(example()), Console(file=text, width=80, highlight=False))
    printed = text.getvalue().replace("\u00a0", " ").splitlines()
    assert [line.rstrip() for line in printed] == example()
