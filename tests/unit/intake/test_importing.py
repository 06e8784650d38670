"""Files become one recording, complete or not at all, and all that follows from it knows nulls."""

from __future__ import annotations

import codecs
import io
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from plimsoll import tables
from plimsoll.aggregate import users
from plimsoll.aggregate.trial import Tables, stored
from plimsoll.errors import InputError, StorageError
from plimsoll.findings import gathering
from plimsoll.intake import importing, runs, zabbix
from plimsoll.intake.importing import About, Cpu, Imported
from plimsoll.intake.rows import ReadOptions
from plimsoll.recording import HOST
from plimsoll.report import contents
from plimsoll.report.load import screen
from plimsoll.storage import digests
from plimsoll.storage.parquet import ParquetResults
from plimsoll.verdicts.judge import judge

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "intake"
T = 1_577_836_800_000
HEADER = (
    "timeStamp,elapsed,label,responseCode,responseMessage,threadName,success,bytes,sentBytes,"
    "allThreads,Latency,Connect\n"
)
S = 1_000_000_000

NEEDS_MORE = {
    "conservation", "connection_target_met", "evenly_served", "offered_rate_met",
    "timeout_floor", "counters_agree", "scaling", "scalability_law", "backlog", "segments_lost",
    "undisturbed", "host_speed_stable", "memory_headroom", "driver_headroom", "trial_completed",
}  # fmt: skip
"""Checks that need what JMeter does not say."""


def line(at_ms: int, *, label: str = "home", users: int = 10, code: str = "200") -> str:
    success = "true" if code == "200" else "false"
    return f"{T + at_ms},20,{label},{code},OK,T 1-1,{success},500,120,{users},18,0\n"


def jtl(path: Path, seconds: int = 10, first_ms: int = 0, **more: Any) -> Path:
    lines = (line(first_ms + at, **more) for at in range(0, seconds * 1000, 25))
    path.write_text(HEADER + "".join(lines), "utf-8")
    return path


def folder(tmp_path: Path) -> ParquetResults:
    return ParquetResults(tmp_path / "results")


def imported(tmp_path: Path, *files: Path, **about: Any) -> tuple[Imported, Tables]:
    results = folder(tmp_path)
    reader = importing.reader_of(files, "", partial=False)
    cpu = about.pop("cpu", None)
    options = ReadOptions(
        strict=about.pop("strict", False), time_zone=about.pop("time_zone", "UTC")
    )
    found = importing.rows(reader, files, options, About("subject", **about), cpu, results)
    return found, stored(results, results.recording(found.recording.trial))


def test_a_file_becomes_a_recording_that_is_read_like_any_other(tmp_path: Path) -> None:
    found, trial = imported(tmp_path, jtl(tmp_path / "a.jtl"))
    recording = trial.recording
    assert recording == found.recording
    assert (recording.title, recording.endpoint, recording.driver_name) == (
        "subject", "home", "jmeter",
    )  # fmt: skip
    assert recording.zero_utc == "2020-01-01T00:00:00+00:00"
    assert recording.found_running
    assert trial.summary.completed == 400
    assert trial.summary.service_time.p50_ns == 20_000_000
    assert trial.summary.sent_bytes == 400 * 120
    assert trial.summary.received_bytes == 400 * 500
    assert trial.seconds["completed"].to_pylist()[:10] == [40] * 10


def test_what_is_not_said_is_null_and_never_0(tmp_path: Path) -> None:
    path = tmp_path / "a.jtl"
    path.write_text("timeStamp,elapsed\n1000,5\n1500,6\n3900,7\n")
    _, trial = imported(tmp_path, path)
    for name in ("response_time_mean_ns", "lag_mean_ns", "received_bytes", "sent_bytes"):
        assert trial.summary.value(name) is None
    for name in ("opened", "with_response", "refused", "lost", "peak_open", "requested"):
        assert trial.summary.value(f"connections_{name}") is None
    for name in ("due", "received_bytes", "server_busy_cores", "response_time_p50_ns"):
        assert set(trial.seconds[name].to_pylist()) == {None}
    assert trial.summary.service_time.mean_ns == 6_000_000
    verdicts = {verdict.check: verdict for verdict in judge(trial)}
    assert verdicts["responses_correct"].measured is verdicts["failures_explained"].measured is None
    assert (
        verdicts["responses_correct"].level == verdicts["failures_explained"].level == "not_checked"
    )


def test_a_check_that_cannot_know_says_so_and_never_passes(tmp_path: Path) -> None:
    _, trial = imported(tmp_path, jtl(tmp_path / "a.jtl"))
    verdicts = {verdict.check: verdict for verdict in judge(trial)}
    assert {name for name in NEEDS_MORE if verdicts[name].level == "sound"} == set()
    assert {name for name in NEEDS_MORE if verdicts[name].measured is not None} == set()
    assert verdicts["responses_correct"].level == "sound"
    assert verdicts["failures_explained"].level == "sound"


def test_several_files_are_engines_of_one_load(tmp_path: Path) -> None:
    files = [jtl(tmp_path / "one.jtl"), jtl(tmp_path / "two.jtl", first_ms=1500, users=5)]
    found, trial = imported(tmp_path, *files)
    recording = found.recording
    assert [*recording.machines] == ["one", "two"]
    assert trial.summary.completed == 360 + 340
    assert recording.stages[0].kind == "ramp"
    assert recording.stages[-1].end == 15
    assert recording.driver is not None
    (note,) = [note for note in recording.driver.notes if "engines" in note]
    assert "`two` sent its first request 1.500 s after the first of all" in note
    assert "the offset of their clocks is unknown" in note
    clocks = next(verdict for verdict in judge(trial) if verdict.check == "clocks_agree")
    assert clocks.level == "not_checked"


def of_engines(path: Path, engines: int, sign: str) -> Path:
    """The log of a distributed test: 10 users of each engine begin over 5 s, and wait 0.4 s."""
    header = HEADER.strip() + (",Hostname\n" if sign == "Hostname" else "\n")
    lines: list[tuple[int, str]] = []
    for engine in range(engines):
        host = f"10.0.0.{engine + 1}"
        thread = f"{host}-T 1" if sign == "threadName" else "T 1"
        for user in range(10):
            for at in range(500 * user, 20_000, 400):
                users, end = (
                    min(10, 1 + (at + 400) // 500),
                    f",{host}" if sign == "Hostname" else "",
                )
                row = (
                    f"{T + at},400,home,200,OK,{thread}-{user + 1},true,500,120,{users},390,0{end}"
                )
                lines.append((at, row))
    path.write_text(header + "".join(f"{row}\n" for _, row in sorted(lines)))
    return path


@pytest.mark.parametrize("sign", ["Hostname", "threadName"])
def test_active_users_of_the_engines_in_one_log_are_added(tmp_path: Path, sign: str) -> None:
    found, trial = imported(tmp_path, of_engines(tmp_path / "a.jtl", 3, sign))
    assert [*found.recording.machines] == [HOST]
    hold = found.recording.stages[-1]
    assert (hold.end, hold.start_ns // S in (4, 5)) == (30, True)
    assert found.recording.driver is not None
    assert found.recording.driver.threads == 30
    assert users.most_at_once(trial.recording, trial.usage) == 30
    assert trial.seconds["requested_level"].to_pylist()[5:19] == [30] * 14
    law = next(verdict for verdict in judge(trial) if verdict.check == "littles_law")
    assert law.level == "sound", law.text
    assert "with 30 active users" in law.text


def slow(path: Path, users: int, ramp_ms: int, takes_ms: int) -> Path:
    """A log of a slow server: users begin over a ramp, and send for 60 s."""
    lines: list[tuple[int, str]] = []
    for user in range(users):
        begin = user * ramp_ms // users
        for at in range(begin, 60_000, takes_ms):
            end = at + takes_ms
            active = min(users, 1 + end * users // ramp_ms) if ramp_ms else users
            row = f"{T + at},{takes_ms},home,200,OK,T 1-{user + 1},true,500,120,{active},18,0\n"
            lines.append((end, row))
    path.write_text(HEADER + "".join(row for _, row in sorted(lines)))
    return path


@pytest.mark.parametrize(
    ("ramp_ms", "takes_ms", "first_s"),
    [(10_000, 15_000, 9), (10_000, 4_000, 9), (0, 15_000, 0), (10_000, 200, 9), (500, 15_000, 0)],
)
def test_a_ramp_before_the_first_response_is_seen_by_the_requests_that_began(
    tmp_path: Path, ramp_ms: int, takes_ms: int, first_s: int
) -> None:
    found, _ = imported(tmp_path, slow(tmp_path / "a.jtl", 100, ramp_ms, takes_ms))
    *before, hold = found.recording.stages
    assert (hold.kind, hold.start_ns, hold.end) == ("hold", first_s * S, 100)
    assert [(one.kind, one.end_ns) for one in before] == [("ramp", first_s * S)] * bool(first_s)


def test_more_in_flight_than_the_users_of_all_engines_is_impossible(tmp_path: Path) -> None:
    path = of_engines(tmp_path / "a.jtl", 3, "Hostname")
    path.write_text(path.read_text().replace(",400,home", ",800,home"))
    _, trial = imported(tmp_path, path)
    law = next(verdict for verdict in judge(trial) if verdict.check == "littles_law")
    assert law.level == "void", law.text
    assert "with 30 active users" in law.text


def test_an_engine_that_sent_nothing_takes_no_check_from_the_others(tmp_path: Path) -> None:
    idle = tmp_path / "idle.jtl"
    idle.write_text(HEADER)
    found, trial = imported(tmp_path, jtl(tmp_path / "busy.jtl", code="500"), idle)
    verdicts = {verdict.check: verdict for verdict in judge(trial)}
    assert verdicts["responses_correct"].level == "void"
    assert "400 of 400 responses" in verdicts["responses_correct"].text
    driver = found.recording.driver
    assert driver is not None
    assert (driver.has_outcomes, driver.users_bound) == (True, "certain")
    of_idle = [note for note in driver.notes if "idle" in note]
    assert of_idle == ["`idle.jtl`: contributed no request"]


def vegeta_line(seq: int, at_ns: int) -> str:
    return f"{T * 1_000_000 + at_ns},200,20000000,0,500,,,a,{seq},GET,http://x/,\n"


def vegeta(path: Path, back_s: int, *, by_time: bool = False) -> Path:
    """A log of 12 s, whose clock was set back in the middle, maybe sorted by its timestamps."""
    at_ns = [one * 10**7 - (back_s * S if one >= 600 else 0) for one in range(1200)]
    lines = [vegeta_line(seq, one) for seq, one in enumerate(at_ns)]
    path.write_text("".join(sorted(lines) if by_time else lines))
    return path


@pytest.mark.parametrize(
    ("back_s", "by_time", "said"),
    [(2, False, "set back by 2 s, at 6 s"), (2, True, "set back by 2 s"), (0, False, "")],
)
def test_a_clock_that_was_set_back_is_named(
    tmp_path: Path, back_s: int, by_time: bool, said: str
) -> None:
    _, trial = imported(tmp_path, vegeta(tmp_path / "a.csv", back_s, by_time=by_time))
    given = {verdict.check: verdict for verdict in judge(trial)}["clocks_agree"]
    assert (given.level == "void", said in given.text) == (bool(said), True), given.text


def test_of_several_logs_the_one_whose_clock_was_set_back_is_named(tmp_path: Path) -> None:
    files = (vegeta(tmp_path / "one.csv", 0), vegeta(tmp_path / "two.csv", 2))
    _, trial = imported(tmp_path, *files)
    given = {verdict.check: verdict for verdict in judge(trial)}["clocks_agree"]
    assert "The clock of the log of `two` was set back by 2 s" in given.text


def test_engines_of_one_name_are_told_apart(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    files = [jtl(tmp_path / name / "results.jtl") for name in ("a", "b")]
    found, _ = imported(tmp_path, *files)
    assert [*found.recording.machines] == ["results 1", "results 2"]


def dated(path: Path, begin: datetime, zone: str = "Europe/Berlin") -> Path:
    """A log of ten minutes with dates of a clock of local time, and no zone."""
    lines = (
        f"{(begin + timedelta(milliseconds=at)).astimezone(ZoneInfo(zone)):%Y/%m/%d %H:%M:%S},"
        f"180,home,200,OK,T 1-1,true,500,120,10,18,0\n"
        for at in range(0, 600_000, 50)
    )
    path.write_text(HEADER + "".join(lines))
    return path


def test_an_hour_that_summer_time_skips_is_refused_unless_a_zone_tells_it(tmp_path: Path) -> None:
    path = dated(tmp_path / "a.jtl", datetime(2025, 3, 30, 0, 55, tzinfo=UTC))
    with pytest.raises(InputError) as refused:
        imported(tmp_path, path)
    (problem,) = refused.value.problems
    assert "no row in the hour from 2025-03-30 02:00 on" in problem.message
    assert "`time_zone='Europe/Berlin'`" in problem.hint
    assert "timestamp_format=ms" in problem.hint
    _, trial = imported(tmp_path, path, time_zone="Europe/Berlin")
    assert trial.summary.completed == 12_000
    assert len(trial.seconds) == 600
    found, _ = imported(tmp_path, path, run=runs.ALL)
    assert found.recording.driver is not None
    assert any("where summer time begins" in note for note in found.recording.driver.notes)


def test_an_hour_that_summer_time_repeats_voids_a_recording(tmp_path: Path) -> None:
    path = dated(tmp_path / "a.jtl", datetime(2025, 10, 26, 0, 55, tzinfo=UTC))
    found, trial = imported(tmp_path, path)
    given = {verdict.check: verdict for verdict in judge(trial)}["clocks_agree"]
    assert (given.level, given.text.startswith("Summer time ended at ")) == ("void", True)
    assert found.recording.driver is not None
    (note,) = [one for one in found.recording.driver.notes if "summer time" in one]
    assert "goes back by an hour, to 2025-10-26 02:00" in note
    assert "timestamp_format=ms" in note
    _, other = imported(tmp_path, dated(path, datetime(2025, 10, 27, 0, 55, tzinfo=UTC)))
    assert other.recording.driver is not None
    assert other.recording.driver.clock_set_back is None


def test_dates_without_a_zone_are_named_where_other_instants_must_fit(tmp_path: Path) -> None:
    begin = datetime(2025, 7, 1, tzinfo=UTC)
    path, other = (dated(tmp_path / name, begin, "UTC") for name in ("a.jtl", "b.jtl"))
    cpu = tmp_path / "cpu.csv"
    cpu.write_text("".join(f"{round(begin.timestamp()) + at},50\n" for at in range(600)))
    asked = Cpu(cpu, zabbix.CpuOptions(cores=8))
    of_epoch = jtl(tmp_path / "c.jtl")
    cases = [
        ((path,), {}, 0),
        ((path,), {"cpu": asked}, 1),
        ((path, other), {}, 2),
        ((path,), {"cpu": asked, "time_zone": "+00:00"}, 0),
    ]
    for files, about, expected in cases:
        driver = imported(tmp_path, *files, **about)[0].recording.driver
        assert driver is not None
        assert sum("have no zone and are taken as UTC" in one for one in driver.notes) == expected
    driver = imported(tmp_path, of_epoch)[0].recording.driver
    assert driver is not None
    assert not any("no zone" in one for one in driver.notes)


def test_a_number_in_a_page_that_grows_by_a_digit_is_no_wrong_response(tmp_path: Path) -> None:
    of_jmeter, of_vegeta = tmp_path / "a.jtl", tmp_path / "a.csv"
    digits = [len(str(visits)) for visits in range(1, 2001)]
    of_jmeter.write_text(
        HEADER
        + "".join(
            line(5 * at).replace(",500,120,", f",{210 + more},120,")
            for at, more in enumerate(digits)
        )
    )
    lines = (
        f"{T * 1_000_000 + at * 5_000_000},200,20000000,120,{110 + more},,,a,{at},GET,http://x/,\n"
        for at, more in enumerate(digits)
    )
    of_vegeta.write_text("".join(lines))
    for path in (of_jmeter, of_vegeta):
        _, trial = imported(tmp_path, path)
        given = {verdict.check: verdict for verdict in judge(trial)}["responses_correct"]
        assert given.level == "sound", given.text
    assert "Body lengths vary from 111 to 114 bytes" in given.text


def test_only_requests_of_a_label_are_kept_when_that_is_asked(tmp_path: Path) -> None:
    path = jtl(tmp_path / "a.jtl")
    path.write_text(path.read_text() + line(3, label="other"))
    found, trial = imported(tmp_path, path, labels=("other",))
    assert trial.summary.completed == 1
    assert found.recording.endpoint == "other"
    assert dict(found.tallies[0].left_out) == {importing.OTHERS: 400}
    with pytest.raises(InputError) as refused:
        imported(tmp_path, path, labels=("none",))
    assert "`labels=`" in refused.value.problems[0].hint


def test_other_labels_and_other_runs_are_other_recordings(tmp_path: Path) -> None:
    path = jtl(tmp_path / "a.jtl")
    path.write_text(path.read_text() + line(3, label="other"))
    labels = ((), ("other",), ("home",), ("home", "other"), ("other", "home"))
    found = [imported(tmp_path, path, labels=one)[0].recording for one in labels]
    whole, other, home, both, both_again = (one.trial for one in found)
    assert (whole, other) == ("subject.jmeter", "subject.other.jmeter")
    assert both == both_again
    assert len({whole, other, home, both}) == 4
    run, _ = imported(tmp_path, path, run=1)
    assert run.recording.trial not in {one.trial for one in found}
    assert run.recording.repetition == 1


def test_cpu_beside_it_is_that_of_the_server_and_missing_seconds_stay_null(tmp_path: Path) -> None:
    cpu = tmp_path / "cpu.csv"
    known = [0, 1, 2, 5, 6, 7, 8, 9]
    cpu.write_text("clock,value\n" + "".join(f"{T // 1000 + at},{at * 10}\n" for at in known))
    asked = Cpu(cpu, zabbix.CpuOptions(cores=8))
    found, trial = imported(tmp_path, jtl(tmp_path / "a.jtl"), cpu=asked, cores=8)
    busy = trial.seconds["server_busy_cores"].to_pylist()[:10]
    assert busy == [pytest.approx(at * 0.8) if at in known else None for at in range(10)]
    assert trial.summary.server_busy_cores == pytest.approx(sum(known) * 0.8 / len(known))
    assert found.recording.server is not None
    assert found.recording.server.workers == 8


def test_cpu_readings_may_have_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "cpu.csv"
    path.write_bytes(codecs.BOM_UTF8 + f"{T // 1000},50\n{T // 1000 + 1},25\n".encode())
    cpu = Cpu(path, zabbix.CpuOptions(cores=8))
    (tally,) = importing.readings(cpu, About("subject", cores=8), folder(tmp_path)).tallies
    assert (tally.kept, tally.broken) == (2, 0)


def test_cpu_alone_is_a_recording_without_requests(tmp_path: Path) -> None:
    cpu = tmp_path / "cpu.csv"
    cpu.write_text(f"{T // 1000},50\n{T // 1000 + 2},25\n")
    results = folder(tmp_path)
    importing.readings(Cpu(cpu, zabbix.CpuOptions(cores=4)), About("subject", cores=4), results)
    (one,) = gathering.gather(results).trials
    assert one.summary is None
    assert one.level == "not_checked"
    trial = stored(results, one.recording)
    assert trial.seconds["server_busy_cores"].to_pylist() == [2.0, None, 1.0]


def test_the_same_import_again_takes_the_place_of_the_earlier_one(tmp_path: Path) -> None:
    path = jtl(tmp_path / "a.jtl", seconds=4)
    imported(tmp_path, path)
    _, trial = imported(tmp_path, jtl(path, seconds=2))
    assert trial.summary.completed == 80
    assert len(folder(tmp_path).trial_ids()) == 1


def broken(path: Path) -> None:
    path.write_text(path.read_text() + "nonsense\n")


def emptied(path: Path) -> None:
    path.write_text(HEADER)


def cut(path: Path) -> None:
    path.write_bytes(b"PK\x03\x04" + path.read_bytes())


@pytest.mark.parametrize("spoil", [broken, emptied, cut])
def test_an_import_that_fails_keeps_nothing_and_leaves_the_earlier_one(
    tmp_path: Path, spoil: Callable[[Path], None]
) -> None:
    path = jtl(tmp_path / "a.jtl", seconds=4)
    imported(tmp_path, path)
    spoil(path)
    with pytest.raises(InputError):
        imported(tmp_path, path, strict=True)
    results = folder(tmp_path)
    (trial,) = results.trial_ids()
    assert stored(results, results.recording(trial)).summary.completed == 160
    assert [one.name for one in results.trials.iterdir()] == [trial]


@pytest.mark.parametrize("rows", [3, 10_001])
def test_where_all_lines_are_malformed_the_arguments_that_read_others_are_named(
    tmp_path: Path, rows: int
) -> None:
    path = tmp_path / "a.jtl"
    path.write_text("timeStamp,elapsed\n" + "02.03.2026 10:00:00.000,5\n" * rows)
    with pytest.raises(InputError) as refused:
        imported(tmp_path, path)
    (problem,) = refused.value.problems
    assert "`02.03.2026 10:00:00.000`, which is not a whole number" in problem.message
    assert "`timestamp_format=`" in problem.hint
    assert "`separator=`" in problem.hint


def test_a_campaign_is_not_mixed_with_an_import(tmp_path: Path) -> None:
    results = folder(tmp_path)
    results.folder.mkdir()
    (results.folder / "campaign.toml").write_text("")
    with pytest.raises(StorageError, match="contains the results of a campaign"):
        imported(tmp_path, jtl(tmp_path / "a.jtl"))


def test_a_warm_up_is_not_summarised(tmp_path: Path) -> None:
    _, trial = imported(tmp_path, jtl(tmp_path / "a.jtl"), warm_up_s=4.0)
    assert trial.summary.completed == 240
    assert trial.seconds["stage"].to_pylist()[:5] == ["warm_up"] * 4 + ["hold"]


def test_the_level_of_a_second_is_the_number_of_active_users(tmp_path: Path) -> None:
    path = tmp_path / "a.jtl"
    lines = (line(at, users=1 + at // 1000) for at in range(0, 10_000, 50))
    path.write_text(HEADER + "".join(lines))
    _, trial = imported(tmp_path, path)
    assert trial.seconds["requested_level"].to_pylist()[:10] == [
        float(users) for users in range(1, 11)
    ]


def test_times_are_told_as_service_times_on_the_screen_and_in_the_report(tmp_path: Path) -> None:
    from rich.console import Console  # noqa: PLC0415

    imported(tmp_path, jtl(tmp_path / "a.jtl"))
    findings = gathering.gather(folder(tmp_path))
    console = Console(width=100, file=io.StringIO(), record=True)
    screen.show(findings.trials[0], console, verbose=True)
    text = console.export_text()
    assert "service time      20 ms" in text
    assert " not checked" in text
    (ranking,) = contents.rankings(findings)
    assert ("p50", "20 ms service") in ranking.rows[0].others
    (found,) = contents.trials(findings)
    assert "Offered rate met" in {one.name for one in found.not_checked}


def shown(tmp_path: Path) -> str:
    from rich.console import Console  # noqa: PLC0415

    findings = gathering.gather(folder(tmp_path))
    console = Console(width=100, file=io.StringIO(), record=True)
    screen.show(findings.trials[0], console)
    return console.export_text()


def test_a_time_below_the_resolution_of_a_log_is_no_0(tmp_path: Path) -> None:
    path = tmp_path / "a.jtl"
    path.write_text(HEADER + "".join(line(at) for at in range(0, 9000, 25)).replace(",20,", ",0,"))
    imported(tmp_path, path)
    text = shown(tmp_path)
    assert "< 1 ms" in text
    assert "0 ns" not in text
    assert "All 360 responses took less than 1 ms, the resolution of the log" in text


def k6_file(path: Path, connecting_ms: float) -> Path:
    """Twenty requests of k6, of which the first took some time to connect."""
    named = "duration", "connecting", "tls_handshaking", "sending", "waiting", "receiving"
    lines = ["metric_name,timestamp,metric_value,error,error_code,name,status\n"]
    for at in range(20):
        ms = (5, 0 if at else connecting_ms, 0, 1, 3, 1)
        stamp = (T + at * 100) * 1_000_000
        parts = {
            "http_reqs": 1,
            **{f"http_req_{name}": m for name, m in zip(named, ms, strict=True)},
        }
        lines += [f"{name},{stamp},{value},,,a,200\n" for name, value in parts.items()]
    path.write_text("".join(lines))
    return path


@pytest.mark.parametrize(("connecting_ms", "opened"), [(0.0, "–"), (0.5, "1")])
def test_connections_that_a_log_does_not_show_are_not_0(
    tmp_path: Path, connecting_ms: float, opened: str
) -> None:
    imported(tmp_path, k6_file(tmp_path / "a.csv", connecting_ms))
    assert f"requested –, opened {opened}, with response –" in shown(tmp_path)


def test_a_recording_of_before_sent_bytes_is_still_read(tmp_path: Path) -> None:
    _, trial = imported(tmp_path, jtl(tmp_path / "a.jtl"))
    path = folder(tmp_path).trials / trial.recording.trial / "requests.parquet"
    pq.write_table(pq.read_table(path).drop_columns(["sent_bytes"]), path)
    document = path.with_name("trial.json")
    content = json.loads(document.read_text())
    for name in ("notes", "has_connects"):
        del content["driver"][name]
    document.write_text(json.dumps(content))
    digests.keep(path.parent)
    results = folder(tmp_path)
    again = stored(results, results.recording(trial.recording.trial))
    assert again.summary.completed == 400
    assert again.summary.sent_bytes is None
    table: pa.Table = results.table(trial.recording.trial, "requests").to_table()
    assert table.schema.names == tables.REQUESTS.schema.names


@pytest.mark.parametrize(
    "name",
    [
        "ab-sound.tsv", "h2load-sound.tsv", "k6-mixed.csv", "oha-sound.csv", "vegeta-sound.csv",
        "vegeta-mixed.json", "jmeter-5.6.3-written.csv", "jmeter-5.6.3-written.jtl",
    ],
)  # fmt: skip
def test_a_log_with_a_byte_order_mark_is_that_of_its_tool(tmp_path: Path, name: str) -> None:
    marked = tmp_path / name
    marked.write_bytes(codecs.BOM_UTF8 + (GOLDEN / name).read_bytes())
    plain, found = (imported(tmp_path, one)[0] for one in (GOLDEN / name, marked))
    assert found.recording.driver_name == name.partition("-")[0]
    (expected,), (given,) = plain.tallies, found.tallies
    assert (given.read, given.kept, given.broken) == (expected.read, expected.kept, expected.broken)


def test_nobody_recognises_what_no_tool_wrote(tmp_path: Path) -> None:
    path = tmp_path / "letter.txt"
    path.write_text("Dear Sir or Madam,\n")
    with pytest.raises(InputError) as refused:
        importing.reader_of([path], "", partial=False)
    assert (
        "`jmeter`, with `columns='timeStamp,elapsed,responseCode'`"
        in refused.value.problems[0].hint
    )
    assert HOST == "local"
