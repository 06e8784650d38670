"""A small trial as each format has it, word for word."""

import dataclasses

import pytest
from hdrh.histogram import HdrHistogram

from plimsoll.aggregate.trial import Tables
from plimsoll.export import histogram, hlog, jtl, seconds
from recordings import request_rows, simulate, usage_rows

MS = 1_000_000
RECORDING = dataclasses.replace(
    simulate(warm_up_s=0, ramp_s=0, hold_s=3.0).recording,
    zero_utc="2026-01-02T03:04:05.678900Z",
    requests=("2048", "json, echoed"),
    request_bytes=(100, 250),
)
ANSWERED = {"received_bytes": 2170, "status": 200}


def sent(start_ms, first_ms, end_ms, **more):
    instants = {"sent_ns": start_ms * MS, "first_byte_ns": first_ms * MS, "done_ns": end_ms * MS}
    return {"due_ns": (start_ms - 1) * MS, **instants, **ANSWERED, **more}


SMALL = Tables(
    RECORDING,
    request_rows(
        sent(10, 14, 15),
        sent(20, 30, 50, request=1, connection=1, worker=1),
        sent(30, 31, 34),
        sent(900, 990, 1100),
        sent(40, 45, 46, status=503, outcome="wrong_status"),
        {"due_ns": 60 * MS, "sent_ns": 61 * MS, "done_ns": 2061 * MS,
         "outcome": "timed_out_waiting"},
        {"due_ns": 70 * MS, "done_ns": 71 * MS, "outcome": "connect_refused"},
        {"due_ns": 2900 * MS, "outcome": "not_sent", "connection": None},
        {"due_ns": 2900 * MS, "sent_ns": 2950 * MS, "outcome": "unfinished"},
    ),
    None,
    usage_rows(
        (0.0, "server", "cpu_user_s", 0.0), (3.0, "server", "cpu_user_s", 4.5),
        (0.0, "server", "cpu_system_s", 0.0), (3.0, "server", "cpu_system_s", 1.5),
        (0.5, "driver", "connections_open", 2), (2.5, "driver", "connections_open", 4),
    ),
)  # fmt: skip


@pytest.mark.parametrize(
    ("module", "name"), [(module, name) for module in (seconds, jtl) for name in module.FILES]
)
def test_a_file_is_as_it_was(tmp_path, golden, module, name):
    module.write(SMALL, tmp_path)
    golden(f"export/{name}", (tmp_path / name).read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", hlog.FILES)
def test_a_log_is_as_it_was_once_its_histograms_are_unpacked(tmp_path, golden, name):
    """What packs them may do so otherwise in another version; what is in them may not change."""
    hlog.write(SMALL, tmp_path)
    lines = (tmp_path / name).read_text(encoding="utf-8").splitlines()[1:]
    golden(f"export/{name}", "".join(f"{unpacked(line)}\n" for line in lines))


def unpacked(line):
    """A line of a log with counts by cell in place of a histogram."""
    before, _, packed = line.rpartition(",")
    if not packed.startswith("HIST"):
        return line
    found = HdrHistogram.decode(packed)
    assert found.highest_trackable_value == histogram.HIGHEST_NS
    counts = ((cell, found.get_count_at_index(cell)) for cell in range(found.counts_len))
    return f"{before},{ {cell: count for cell, count in counts if count} }"
