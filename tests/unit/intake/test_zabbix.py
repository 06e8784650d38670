"""Histories of CPU as Zabbix exports them."""

from __future__ import annotations

import io

import pytest

from plimsoll.errors import InputError
from plimsoll.intake import zabbix
from plimsoll.intake.rows import ImportStats
from plimsoll.intake.zabbix import Busy, CpuOptions

S = 1_000_000_000
T = 1_577_836_800


def read(text: str, asked: CpuOptions | None = None) -> tuple[list[tuple[int, float]], ImportStats]:
    tally = ImportStats("cpu.csv")
    found = zabbix.read(io.BytesIO(text.encode()), asked or CpuOptions(cores=8), tally)
    return [(one.clock_ns - T * S, one.cores) for one in found], tally


@pytest.mark.parametrize(
    "text",
    [
        f"clock,value\n{T},50\n{T + 1},25\n",
        f"value,clock\n50,{T}\n25,{T + 1}\n",
        f"{T},50\n{T + 1},25\n",
        f"50,{T}\n25,{T + 1}\n",
        f"{T};50\n{T + 1};25\n",
        f"{T}\t50\n{T + 1}\t25\n",
        f"{T}  50.0\n{T + 1}  25.0\n",
        f'"itemid","clock","value","ns"\n"23296","{T}","50.0000","0"\n"23296","{T + 1}","25","0"\n',
        f"clock,value\r\n{T + 1},25 %\r\n{T},50 %\r\n\r\n",
    ],
)
def test_either_order_any_separator_and_no_header_give_the_same(text: str) -> None:
    found, tally = read(text)
    assert found == [(0, 4.0), (S, 2.0)]
    assert tally.kept == 2


def test_nanoseconds_belong_to_the_instant() -> None:
    found, _ = read(f"clock,ns,value\n{T},5,50\n{T},900000000,100\n")
    assert found == [(5, 4.0), (900_000_000, 8.0)]


@pytest.mark.parametrize(
    ("unit", "value", "cores"),
    [("percent-of-all", 50, 36.0), ("percent-of-one", 7200, 72.0), ("cores", 71.5, 71.5)],
)
def test_a_value_means_what_is_asked(unit: zabbix.Unit, value: float, cores: float) -> None:
    found, _ = read(f"{T},{value}\n", CpuOptions(unit=unit, cores=72))
    assert found == [(0, cores)]


def test_more_than_there_can_be_is_refused_with_the_other_units() -> None:
    with pytest.raises(InputError) as refused:
        read(f"{T},7200\n", CpuOptions(cores=72))
    (problem,) = refused.value.problems
    assert "`7200` would be 5184 cores, but the server has 72" in problem.message
    assert problem.hint == "give the unit with `cpu_unit=`: `percent-of-one` (72 cores)"


def test_what_fits_no_unit_is_refused_with_another_remedy() -> None:
    with pytest.raises(InputError) as refused:
        read(f"{T},9000\n", CpuOptions(cores=8))
    assert refused.value.problems[0].hint.startswith("give more `cores=`")


def test_shares_of_all_cores_need_their_number() -> None:
    with pytest.raises(InputError) as refused:
        read(f"{T},50\n", CpuOptions())
    assert "`cores=`" in refused.value.problems[0].hint


@pytest.mark.parametrize(
    "line", [f"{T + 1},", f"{T + 1},n/a", f"{T + 1},-3", f"{T + 1},nan", "noon,50", f"{T + 1}"]
)
def test_a_broken_line_is_named_and_is_no_reading(line: str) -> None:
    text = f"clock,value\n{T},50\n{line}\n{T + 2},25\n"
    found, tally = read(text)
    assert [at for at, _ in found] == [0, 2 * S]
    assert [broken.line for broken in tally.broken_lines] == [3]
    with pytest.raises(InputError, match=r"cpu\.csv:3"):
        read(text, CpuOptions(cores=8, strict=True))


def test_a_second_reading_of_an_instant_is_left_out() -> None:
    found, tally = read(f"{T},50\n{T},90\n")
    assert found == [(0, 4.0)]
    assert dict(tally.left_out) == {zabbix.REPEATED: 1}


@pytest.mark.parametrize("text", ["", "\n", "clock,value\n", "hello\n", "1,2\n"])
def test_what_holds_no_reading_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        read(text)


def test_where_all_lines_are_broken_their_number_and_the_first_reason_are_named() -> None:
    with pytest.raises(InputError) as refused:
        read("clock,value\n" + "".join(f"{(T + at) * 1000},50\n" for at in range(7)))
    (problem,) = refused.value.problems
    assert problem.message == (
        "contains no reading, but malformed lines (7), the first is 2: "
        f"`{T * 1000}` is not a Unix timestamp in whole seconds"
    )
    with pytest.raises(InputError) as empty:
        read("clock,value\n")
    assert empty.value.problems[0].message == "contains no reading"


def test_readings_from_long_before_or_after_the_load_are_left_out() -> None:
    tally = ImportStats("cpu.csv")
    tally.keep(4)
    instants = (T - 3600, T - 5, T + 5, T + 3600)
    found = zabbix.readings([Busy(at * S, 2.0) for at in instants], T * S, 10 * S, tally)
    assert [(one.at_ns // S, one.scope, one.quantity) for one in found] == [
        (-5, "server", "busy_cores"), (5, "server", "busy_cores"),
    ]  # fmt: skip
    assert (tally.kept, tally.left_out[zabbix.OUTSIDE]) == (2, 2)
    assert "9 of 11 seconds have no reading" in tally.remarks[0]


def test_readings_of_another_day_are_refused() -> None:
    with pytest.raises(InputError, match="at least 3,590 s away from the load"):
        zabbix.readings([Busy((T + 3600) * S, 2.0)], (T + 7190) * S, 10 * S, ImportStats("cpu.csv"))
