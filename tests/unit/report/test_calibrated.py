"""What a calibration found, as tables."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import numpy as np
from rich.console import Console

from plimsoll.calibration import accuracy, calibration, pacing, protocols, stalls
from plimsoll.calibration.calibration import Calibration
from plimsoll.calibration.capacity import CapacitiesFound, OmittedCase
from plimsoll.calibration.tools import ToolFound
from plimsoll.capacity import EngineCapacity
from plimsoll.cli import calibrate
from plimsoll.report.formats import cells
from plimsoll.report.results import calibrated

US, MS = 1_000, 1_000_000
SCHEMA = Path(__file__).parents[3] / "docs" / "schemas" / "calibrate-1.json"
WAY = np.full(10_000, 80 * US)
HELD = np.full(10_000, 10 * MS)
ARRIVALS = np.arange(5_000) * MS


def case(late_ns: int = 0) -> accuracy.CaseFound:
    points = accuracy.points(HELD, WAY, HELD + WAY + late_ns)
    return accuracy.CaseFound("10 ms, open", 10_000, {}, points, 300 * US)


def found(**changes: object) -> Calibration:
    waits = stalls.USUAL.waits(ARRIVALS)
    whole = Calibration(
        engine="1.0",
        machine={},
        way=accuracy.summarised(WAY),
        cases=(case(),),
        protocols=(protocols.ProtocolFound("TLS", accuracy.summarised(WAY), (case(),)),),
        paces=(pacing.judged(1_000, 3_000, 3_000, {"p50": 20 * US, "p99": 60 * US}, 400 * US),),
        stall=stalls.StallFound(
            stalls.USUAL, 5_000, stalls.points(waits, waits), {"p50": 90 * US}, None
        ),
        capacities=CapacitiesFound(
            (
                EngineCapacity(64, 2115.0, 48_000.0, 1, 8e-6, 0.4, 1.0),
                EngineCapacity(64, 2060.0, 90_000.0, 1, 4e-6, 0.4, 1.0, "http2", True, 8),
            ),
            (OmittedCase(9_000, "too few files", "raise the limit"),),
        ),
        tools=(
            ToolFound("wrk", {"p50": 400 * US, "p99": 2 * MS, "max": 1000 * MS}),
            ToolFound("hey -q", {}, failed="it printed nothing"),
            ToolFound("oha -q", {}, missing="cargo install oha"),
        ),
    )
    return replace(whole, **changes)  # pyright: ignore[reportArgumentType]


def shown(what: Calibration, width: int = 80) -> str:
    text = io.StringIO()
    calibrated.show(what, Path("/state/capacity.json"), Console(file=text, width=width))
    return text.getvalue()


def test_all_that_was_found_fits_80_columns_and_nothing_is_cut() -> None:
    text = shown(found())
    assert max(map(len, text.splitlines())) <= 80
    assert "…" not in text


def test_a_calibration_within_its_limits_says_so() -> None:
    assert found().misses == ()
    assert "within its limits" in shown(found())


def test_what_is_beyond_its_limits_is_marked_and_named() -> None:
    bad = found(
        cases=(case(), case(200 * US)),
        paces=(pacing.judged(5_000, 1_000, 1_000, {"p50": 1, "p99": MS}, None),),
    )
    assert bad.misses == ("10 ms, open", "5,000/s")
    text = shown(bad)
    assert "+0.200 ✗" in text
    assert "Limits exceeded: 10 ms, open; 5,000/s" in text


def test_a_protocol_has_times_and_a_capacity_of_its_own() -> None:
    text = " ".join(shown(found()).split())
    assert "Service times by TLS, in ms" in text
    assert "HTTP/2 over TLS × 8 2,060 B 90,000 40 % 100 % 4.00 µs 250,000" in text
    late = protocols.ProtocolFound("TLS", accuracy.summarised(WAY), (case(200 * US),))
    assert found(protocols=(late,)).misses == ("10 ms, open by TLS",)


def test_every_tool_is_named_with_what_it_said_or_why_it_said_nothing() -> None:
    text = " ".join(shown(found()).split())
    assert "wrk 0.400" in text
    assert "hey -q failed: it printed nothing" in text
    assert "oha -q was skipped; install it with `cargo install oha`" in text


def test_a_host_that_is_not_quiet_is_told_of() -> None:
    noisy = np.concatenate([WAY, np.full(300, 9 * MS)])
    text = " ".join(shown(found(way=accuracy.summarised(noisy))).split())
    assert "not idle" in text
    assert "112 times" in text
    assert "not idle" not in shown(found())


def test_ceilings_say_what_the_engine_could_do_alone_and_what_could_not_be_tried() -> None:
    text = " ".join(shown(found()).split())
    assert "8.00 µs 125,000" in text
    assert "9,000 connections: too few files; raise the limit" in text
    assert "/state/capacity.json" in text


def test_a_ceiling_that_neither_side_set_is_told_of() -> None:
    half = CapacitiesFound((EngineCapacity(64, 2115.0, 20_000.0, 1, 8e-6, 0.4, 0.5),), ())
    assert "neither side was saturated" in " ".join(shown(found(capacities=half)).split())
    assert "neither side" not in shown(found())


def test_markdown_has_a_row_for_each_row() -> None:
    text = calibrated.markdown(found(), None)
    rows = [line for line in text.splitlines() if line.startswith("|")]
    sheets = list(calibrated.sheets(found(), None))
    assert len(rows) == sum(len(sheet.rows) + 2 for sheet in sheets)
    widths = [sum(line.count("|") for line in [row]) for row in rows]
    assert set(widths) == {len(sheet.headings) + 1 for sheet in sheets}


def test_a_cell_of_a_notebook_has_the_verdict_and_a_row_for_each_row() -> None:
    html = cells.calibration(found(), None)
    assert calibrated.verdict(found()) in html
    assert html.count("<tr>") == sum(
        len(sheet.rows) + 1 for sheet in calibrated.sheets(found(), None)
    )


def test_json_holds_everything_and_the_judgement() -> None:
    document = json.loads(json.dumps(calibrated.document(found(), Path("/x"))))
    jsonschema.validate(document, json.loads(SCHEMA.read_text()))
    assert document["within"] is True
    assert document["cases"][0]["points"][0]["true_ns"] == 10_080_000
    assert document["capacities_kept"] == "/x"


def test_a_part_that_was_not_asked_for_leaves_no_table() -> None:
    nothing = found(
        way=None, cases=(), protocols=(), paces=(), stall=None, capacities=None, tools=()
    )
    assert list(calibrated.sheets(nothing, None)) == []


def test_the_verb_knows_every_part_in_order() -> None:
    assert tuple(calibration.PARTS) == calibrate.PARTS
