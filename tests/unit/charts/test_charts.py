"""Charts: the data they draw, and that they can be drawn."""

from __future__ import annotations

import inspect
import itertools
import json
import pkgutil
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import altair
import pyarrow as pa
import pytest
import vl_convert

import experiments
import histories
import ladders
import queues
import sample
from plimsoll import canvas, charts, tables, wording
from plimsoll.aggregate import failures, latency_buckets, memory
from plimsoll.findings import against_latency, distributions
from plimsoll.findings.against_latency import AgainstLatency
from plimsoll.findings.distributions import Distributions
from plimsoll.findings.findings import Findings
from plimsoll.findings.rankings import RankedEntry
from plimsoll.findings.trial import TrialData
from plimsoll.report.formats import pictures
from plimsoll.statistics.intervals import Estimate, Interval

Golden = Callable[[str, str], None]

AGAINST_LATENCY = {"sample": sample.findings, "rising": experiments.rising}
TRIALS = {"sound": sample.trial_data, "rough": sample.rough_trial_data}


OTHERS: dict[Any, Callable[[], Any]] = {
    charts.over_connections: lambda: experiments.rising().over_connections[0],
    charts.comparison: lambda: sample.findings().rankings[0],
    charts.history: histories.of_two_machines,
    charts.load_line: queues.searched_once,
    charts.ladder: ladders.ranking,
    charts.latency_over_rate: ladders.curves,
}
"""What charts with one example are drawn from."""


def specification(module: Any, name: str) -> dict[str, Any]:
    if module in OTHERS:
        return module.draw(OTHERS[module]())
    if module in charts.OF_DISTRIBUTIONS:
        return module.draw(distributions_of(sample.findings()))
    if module is charts.against_latency:
        return module.draw(field_of(AGAINST_LATENCY[name]()))
    return module.draw(TRIALS[name]())


def field_of(found: Findings) -> AgainstLatency:
    return against_latency.of_findings(found)[0]


def distributions_of(found: Findings) -> Distributions:
    by_id = {trial.recording.trial: trial for trial in found.trials}
    data = distributions.of_ranking(found.rankings[0], by_id)
    assert data is not None
    return data


def rows(module: Any, data: TrialData, name: str = "seconds") -> list[dict[str, Any]]:
    return module.draw(data)["datasets"][name]


def rounded(value: Any) -> Any:
    """JSON with numbers of 12 digits: the last ones differ between processors."""
    if isinstance(value, float):
        return float(f"{value:.12g}")
    if isinstance(value, dict):
        return {name: rounded(one) for name, one in value.items()}
    return [rounded(one) for one in value] if isinstance(value, list) else value


ALL = [(module, name) for module in charts.OF_A_TRIAL for name in TRIALS]
ALL += [(charts.comparison, "sample"), (charts.over_connections, "rising")]
ALL += [(charts.history, "two machines")]
ALL += [(charts.load_line, "queue")]
ALL += [(charts.ladder, "two servers"), (charts.latency_over_rate, "two servers")]
ALL += [(module, "sample") for module in charts.OF_DISTRIBUTIONS]
ALL += [(charts.against_latency, name) for name in AGAINST_LATENCY]
IDS = [f"{module.NAME}-{name}" for module, name in ALL]


@pytest.mark.parametrize(("module", "name"), ALL, ids=IDS)
def test_the_specification_with_its_data_is_the_golden_one(
    module: Any, name: str, golden: Golden
) -> None:
    drawn = rounded(specification(module, name))
    golden(f"charts/{module.NAME}.{name}.json", json.dumps(drawn, indent=1, ensure_ascii=False))


@pytest.mark.parametrize(("module", "name"), ALL, ids=IDS)
def test_a_chart_can_be_drawn_as_a_picture(module: Any, name: str) -> None:
    picture = vl_convert.vegalite_to_svg(specification(module, name))
    assert picture.startswith("<svg")
    assert "NaN" not in picture


@pytest.mark.parametrize(("module", "name"), ALL, ids=IDS)
def test_altair_takes_a_specification_and_checks_it(module: Any, name: str) -> None:
    altair.Chart.from_dict(specification(module, name))


@pytest.mark.parametrize(("module", "name"), ALL, ids=IDS)
def test_every_colour_of_a_chart_has_a_dark_twin(module: Any, name: str) -> None:
    used = set(re.findall(r"#[0-9a-fA-F]{6}", json.dumps(specification(module, name))))
    assert used <= set(canvas.DARK)


@pytest.mark.parametrize(("module", "name"), ALL, ids=IDS)
def test_the_table_beneath_a_chart_has_only_columns_that_are_drawn(module: Any, name: str) -> None:
    drawn = specification(module, name)["datasets"][module.TABLE]
    assert set(module.COLUMNS) <= set(drawn[0])


def test_the_tuple_holds_every_chart_of_the_folder() -> None:
    found = {module.name for module in pkgutil.iter_modules(charts.__path__)}
    assert found == {module.NAME for module in charts.CHARTS}


@pytest.mark.parametrize("module", charts.CHARTS, ids=lambda module: module.NAME)
def test_every_chart_says_how_to_read_it(module: Any) -> None:
    assert module.TITLE
    assert module.CAPTION.endswith(".")
    assert inspect.getdoc(module.draw)


@pytest.mark.parametrize("module", charts.OF_A_TRIAL, ids=lambda module: module.NAME)
def test_a_trial_without_rows_is_drawn_as_well(module: Any) -> None:
    failed = sample.failed_trial().data
    assert vl_convert.vegalite_to_svg(module.draw(failed)).startswith("<svg")


@pytest.mark.parametrize("module", charts.OF_A_TRIAL, ids=lambda module: module.NAME)
def test_the_axis_of_time_reaches_over_every_stage(module: Any) -> None:
    short = sample.trial_data(
        seconds=sample.seconds("t").slice(0, 6),
        memory=sample.memory_rows().slice(0, 6),
        connections=sample.connection_rows().slice(0, 6),
    )
    assert ">12</text>" in pictures.svg(module.draw(short))


def test_drawing_twice_gives_the_same_specification() -> None:
    first, second = (charts.throughput.draw(sample.trial_data()) for _ in range(2))
    assert first == second


# --- throughput ---


def test_throughput_has_a_row_for_every_second_and_marks_the_silent_ones() -> None:
    drawn = rows(charts.throughput, sample.rough_trial_data())
    assert [row["second"] for row in drawn] == list(range(12))
    assert [row["second"] for row in drawn if row["silent"]] == [3, 8, 9]
    assert all(row["completed"] == 0 for row in drawn if row["silent"])


def test_a_second_after_the_load_is_not_silent_when_nothing_is_answered_in_it() -> None:
    table = sample.seconds("t", silent=(11,))
    stages = [*table["stage"].to_pylist()[:-1], "after"]
    place = table.column_names.index("stage")
    kind = table.schema.field("stage").type
    late = table.set_column(place, "stage", pa.array(stages, pa.string()).cast(kind))
    drawn = rows(charts.throughput, sample.trial_data(seconds=late))
    assert not any(row["silent"] for row in drawn)


def test_the_average_lies_over_the_hold_and_says_its_number() -> None:
    mean = rows(charts.throughput, sample.trial_data(), "mean")
    assert mean == [{"start_s": 5, "end_s": 12, "value": 8000, "text": "mean 8,000/s"}]


def test_without_a_summary_there_is_no_average() -> None:
    assert rows(charts.throughput, sample.trial_data(summary=None), "mean") == []


def test_marks_and_their_legend_are_left_out_where_there_is_nothing_to_mark() -> None:
    assert '"shape"' not in json.dumps(charts.throughput.draw(sample.trial_data())["layer"])
    assert '"shape"' in json.dumps(charts.throughput.draw(sample.rough_trial_data())["layer"])


def test_one_level_alone_has_no_legend_of_levels() -> None:
    steady = sample.seconds("t").slice(5)
    place = steady.column_names.index("stage")
    kind = steady.schema.field("stage").type
    stages = pa.array([*["hold"] * (len(steady) - 1), "after"], pa.string()).cast(kind)
    drawn = charts.throughput.draw(
        sample.trial_data(seconds=steady.set_column(place, "stage", stages))
    )
    assert '"gradientLength"' not in json.dumps(drawn["layer"])
    assert '"gradientLength"' in json.dumps(charts.throughput.draw(sample.trial_data())["layer"])


@pytest.mark.parametrize("module", [charts.cpu, charts.response_time], ids=lambda m: m.NAME)
def test_cpu_and_response_time_show_the_level_asked_for(module: Any) -> None:
    drawn = module.draw(sample.trial_data())
    asked = sample.seconds("t")["requested_level"].to_pylist()
    assert [row["requested_level"] for row in drawn["datasets"]["seconds"]] == asked
    assert f"to {wording.count(max(asked))} connections requested" in pictures.svg(drawn)


@pytest.mark.parametrize("module", charts.OF_A_TRIAL, ids=lambda module: module.NAME)
def test_every_chart_of_a_trial_ends_with_its_last_second_and_not_with_its_last_stage(
    module: Any,
) -> None:
    shorter = sample.recording(stages=sample.recording().stages[:-1])
    stages = rows(module, sample.trial_data(recording=shorter), "stages")
    assert max(row["end_s"] for row in stages) == len(sample.seconds("t"))


def cut_short(end_s: float) -> TrialData:
    """The sample, whose load ends within its last second."""
    *before, last = sample.recording().stages
    shorter = (*before, replace(last, end_ns=round(end_s * 1e9)))
    return sample.trial_data(recording=sample.recording(stages=shorter))


def test_a_load_that_ends_within_a_second_has_a_bar_of_that_part_and_its_rate() -> None:
    whole, part = (rows(charts.throughput, data) for data in (sample.trial_data(), cut_short(11.5)))
    assert "until" not in whole[-1]
    assert [row["until"] for row in part] == [None] * 11 + [11.5]
    assert part[-1]["completed"] == whole[-1]["completed"]
    assert part[-1]["per_s"] == 2 * whole[-1]["completed"]


def test_a_load_that_ends_with_a_second_or_hardly_after_it_has_whole_bars() -> None:
    assert all("until" not in rows(charts.throughput, cut_short(at_s))[0] for at_s in (12, 11.02))


@pytest.mark.parametrize("module", [charts.cpu, charts.response_time], ids=lambda m: m.NAME)
def test_the_strip_of_levels_ends_with_the_load(module: Any) -> None:
    assert rows(module, cut_short(11.5))[-1]["until"] == 11.5
    strips = [
        layer["encoding"]["x2"]["field"]
        for layer in module.draw(cut_short(11.5))["layer"][1]["layer"]
        if "x2" in layer["encoding"]
    ]
    assert strips == ["end"]


def test_a_long_load_that_ends_within_a_second_is_no_dip(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(canvas, "MOST_COLUMNS", 6)
    whole, part = (rows(charts.throughput, data) for data in (sample.trial_data(), cut_short(11.5)))
    assert part[-1]["until"] == 11.5
    assert part[-1]["low"] == whole[-1]["low"]


def test_the_legend_of_levels_names_arrivals_when_the_load_is_open() -> None:
    opened = sample.recording(load=sample.load(model="open", connections=50))
    drawn = charts.throughput.draw(sample.trial_data(recording=opened))
    assert "arrivals/s requested" in json.dumps(drawn["layer"])


# --- response time ---


def test_percentiles_of_a_silent_second_are_absent_and_not_zero() -> None:
    silent = rows(charts.response_time, sample.rough_trial_data())[8]
    assert silent["p50"] is None
    assert silent["p99"] is None


def test_percentiles_are_drawn_in_milliseconds() -> None:
    data = sample.trial_data()
    median_ns = data.seconds["response_time_p50_ns"][6].as_py()
    assert rows(charts.response_time, data)[6]["p50"] == pytest.approx(median_ns / 1e6, rel=1e-3)


def test_failures_are_counted_by_kind_the_most_frequent_first() -> None:
    drawn = rows(charts.response_time, sample.rough_trial_data(), "failures")
    kinds = list(dict.fromkeys(row["kind"] for row in drawn))
    assert kinds == [
        "reset_waiting (ECONNRESET)",
        "connect_refused (ECONNREFUSED)",
        "wrong_length",
    ]
    assert sum(row["count"] for row in drawn) == 6 * (40 + 25 + 5)


def test_without_failures_there_is_no_second_plot() -> None:
    drawn = charts.response_time.draw(sample.trial_data())
    assert "vconcat" not in drawn
    assert "failures" not in drawn["datasets"]


def test_rare_kinds_of_failure_are_drawn_together_as_other_kinds() -> None:
    many: dict[tuple[str, int | None], int] = {
        (f"kind_{number:02}", None): 100 - number for number in range(12)
    }
    data = sample.trial_data(failures=sample.failure_rows(many))
    drawn = rows(charts.response_time, data, "failures")
    kinds = list(dict.fromkeys(row["kind"] for row in drawn))
    assert len(kinds) == len(canvas.KINDS)
    assert kinds[-1] == "other kinds"
    assert sum(row["count"] for row in drawn) == 6 * sum(many.values())


@pytest.mark.parametrize(("slowest", "is_logarithmic"), [(1.5, False), (100.0, True)])
def test_the_scale_is_logarithmic_only_where_percentiles_lie_far_apart(
    slowest: float, is_logarithmic: bool
) -> None:
    table = sample.seconds("t").slice(6)
    for name, factor in (("p25", 1.0), ("p50", 1.0), ("p75", 1.1), ("p95", 1.2), ("p99", slowest)):
        column = f"response_time_{name}_ns"
        values = pa.array([factor * 1e6] * table.num_rows)
        table = table.set_column(table.column_names.index(column), column, values)
    drawn = charts.response_time.draw(sample.trial_data(seconds=table))
    assert ('"type": "log"' in json.dumps(drawn)) is is_logarithmic


# --- heat map ---


def cells(data: TrialData) -> dict[tuple[int, int], int]:
    """Responses of the heat map by second and bucket."""
    return {
        (row["second"], row["first"] + place): count
        for row in rows(charts.heat_map, data, "columns")
        for place, count in enumerate(row["counts"])
        if count
    }


def test_every_response_of_a_trial_is_in_a_cell_of_its_second_and_latency() -> None:
    data = sample.rough_trial_data()
    assert cells(data) == {
        (row["second"], row["bucket"]): row["completed"] for row in data.latencies.to_pylist()
    }
    assert {second for second, _ in cells(data)} == set(range(12)) - {3, 8, 9}


def test_the_table_of_the_heat_map_is_its_sum_over_time() -> None:
    table = sample.trial_data().latencies
    drawn = rows(charts.heat_map, sample.trial_data(), "buckets")
    for name in ("completed", "held"):
        assert sum(row[name] for row in drawn) == sum(table[name].to_pylist())
    for row, following in itertools.pairwise(drawn):
        assert (
            row["high"]
            == following["low"]
            == pytest.approx(latency_buckets.GROWTH * row["low"], rel=0.001)
        )


def test_the_heat_map_says_in_words_where_most_responses_are() -> None:
    told = charts.heat_map.draw(sample.trial_data())["description"]
    assert told.startswith("Response time of every response of go over time: 77,719 responses")
    assert told.endswith("24 % of them between 126 ms and 158 ms")


def test_cells_of_several_seconds_are_as_wide_and_the_legend_says_so() -> None:
    data = sample.trial_data()
    place = data.latencies.schema.get_field_index("seconds")
    wide = pa.array([3] * data.latencies.num_rows, pa.int32())
    joined = data.latencies.set_column(place, data.latencies.field(place), wide)
    drawn = json.dumps(charts.heat_map.draw(replace(data, latencies=joined)))
    assert "datum.second + 3" in drawn
    assert "responses in 3 seconds" in drawn


@pytest.mark.parametrize(
    "scale", [canvas.HEAT, (canvas.LEVEL_LOW, canvas.LEVEL_HIGH)], ids=["heat", "level"]
)
def test_a_scale_of_colours_goes_away_from_the_paper_in_light_and_in_dark(
    scale: tuple[canvas.Colour, ...],
) -> None:
    def brightness(colour: str) -> float:
        return sum(
            share * int(colour[place : place + 2], 16)
            for share, place in ((0.3, 1), (0.59, 3), (0.11, 5))
        )

    light = [brightness(one.light) for one in (canvas.PAPER, *scale)]
    dark = [brightness(one.dark) for one in (canvas.PAPER, *scale)]
    assert all(after < before - 25 for before, after in itertools.pairwise(light))
    assert all(after > before + 25 for before, after in itertools.pairwise(dark))


@pytest.mark.parametrize("module", charts.CHARTS, ids=lambda module: module.NAME)
def test_a_caption_is_true_on_light_and_on_dark_paper(module: Any) -> None:
    assert not re.search(r"\b(dark|light|deep|pal)er?\b", module.CAPTION, re.IGNORECASE)


def test_a_trial_whose_responses_have_no_rows_has_no_heat_map() -> None:
    data = sample.trial_data(latencies=tables.LATENCY_BUCKETS.schema.empty_table())
    assert charts.heat_map not in charts.drawn(data)
    assert charts.heat_map.TITLE in charts.left_out(data)


# --- cpu ---


def test_the_limit_of_cpu_is_the_number_of_cores_each_had() -> None:
    made = sample.recording(server=sample.server(cores=(0,)), driver=sample.driver(cores=(1, 2)))
    limits = rows(charts.cpu, sample.trial_data(recording=made), "limits")
    assert [(row["cores"], row["text"]) for row in limits] == [
        (1, "server had 1 core"),
        (2, "load generator had 2 cores"),
    ]


def test_equal_numbers_of_cores_are_one_limit() -> None:
    limits = rows(charts.cpu, sample.trial_data(), "limits")
    assert [row["text"] for row in limits] == ["server and load generator had 2 cores each"]


def test_who_was_not_confined_had_the_whole_machine() -> None:
    made = sample.recording(server=sample.server(cores=()), driver=sample.driver(cores=()))
    limits = rows(charts.cpu, sample.trial_data(recording=made), "limits")
    assert [row["text"] for row in limits] == ["the host had 4 cores"]


# --- memory and connections ---


def test_memory_is_drawn_in_megabytes_with_what_the_server_held_at_rest() -> None:
    data = sample.trial_data()
    assert rows(charts.memory, data)[11] == {"second": 11, "rss": 22, "pss": 20, "driver": 30}
    assert rows(charts.memory, data, "rest") == [{"value": 14.2, "text": "at rest 14.2 MB"}]


def test_memory_that_was_not_read_is_absent() -> None:
    unread = pa.Table.from_pylist(
        [{"second": 0, "server_rss_bytes": None}], schema=memory.BY_SECOND
    )
    drawn = rows(charts.memory, sample.trial_data(memory=unread))
    assert drawn == [{"second": 0, "rss": None, "pss": None, "driver": None}]


def test_connections_show_what_was_asked_opened_and_answered() -> None:
    drawn = rows(charts.connections, sample.rough_trial_data())
    whole = {"requested": 1000, "open": 1000, "with_response": 790, "waiting": 0}
    assert drawn[11] == {"second": 11, **whole}


def test_connections_show_how_many_wait_in_the_listen_queue() -> None:
    seconds = sample.seconds("t")
    place = seconds.schema.get_field_index("listen_queue")
    queues = [None, *range(11)]
    column = pa.array(queues, seconds.schema.field(place).type)
    data = sample.trial_data(seconds=seconds.set_column(place, seconds.field(place), column))
    assert [row["waiting"] for row in rows(charts.connections, data)] == queues
    told = charts.connections.draw(data)["description"]
    assert told.endswith("; at most 10 waited in the listen queue")
    unread = pa.nulls(12, seconds.schema.field(place).type)
    data = sample.trial_data(seconds=seconds.set_column(place, seconds.field(place), unread))
    assert charts.connections.draw(data)["description"].endswith("had received a response")


def test_in_the_open_model_the_pool_is_what_is_asked_for() -> None:
    opened = sample.recording(load=sample.load(model="open", connections=50))
    drawn = rows(charts.connections, sample.trial_data(recording=opened))
    assert {row["requested"] for row in drawn} == {50}


def test_the_schema_of_failures_is_that_of_the_aggregate() -> None:
    assert sample.rough_trial_data().failures.schema == failures.BY_SECOND


# --- distribution ---


def test_each_repetition_that_counts_has_a_line_of_its_own() -> None:
    drawn = charts.distribution.draw(distributions_of(sample.findings()))["datasets"]["quantiles"]
    lines = list(dict.fromkeys((row["framework"], row["repetition"]) for row in drawn))
    assert lines == [("axum", 1), ("axum", 2), ("spring virtual", 1), ("go", 1), ("go", 2)]
    first = [row for row in drawn if (row["framework"], row["repetition"]) == ("axum", 1)]
    assert [row["quantile"] for row in first] == sorted(row["quantile"] for row in first)
    assert first[12]["quantile"] == 0.9


def test_no_label_of_a_logarithmic_axis_is_left_out_for_the_count_of_ticks() -> None:
    """Vega halves explicit values until there are no more than the count of ticks."""
    drawn = charts.distribution.draw(distributions_of(sample.findings()))
    axis = drawn["layer"][0]["encoding"]["y"]["axis"]
    assert axis["tickCount"] >= len(axis["values"]) > 20


def test_a_distribution_says_in_words_what_it_shows() -> None:
    told = charts.distribution.draw(distributions_of(sample.findings()))["description"]
    assert told.startswith("Response time at 2048 by quantile. axum: 90 % below ")


def test_frameworks_without_any_response_have_no_distribution() -> None:
    failed = sample.failed_trial()
    found = Findings("x", "0.1.0", (failed,), sample.findings().comparisons.slice(0, 0))
    by_id = {failed.recording.trial: failed}
    assert distributions.of_ranking(found.rankings[0], by_id) is None


# --- density ---


def outline(data: Distributions, framework: str) -> list[dict[str, Any]]:
    drawn = charts.density.draw(data)["datasets"]["density"]
    return [row for row in drawn if row["framework"] == framework]


def test_a_density_is_an_outline_of_all_responses_from_zero_to_zero() -> None:
    data = distributions_of(sample.findings())
    for framework in data.frameworks:
        drawn = outline(data, framework)
        assert drawn[0]["share"] == drawn[-1]["share"] == 0
        assert sum(row["share"] for row in drawn) == pytest.approx(100, abs=0.1)
        for row, following in itertools.pairwise(drawn):
            assert following["low"] == pytest.approx(latency_buckets.GROWTH * row["low"], rel=2e-3)


def test_a_density_counts_every_repetition_by_its_responses() -> None:
    data = distributions_of(sample.findings())
    first, second = (
        replace(entry, framework="x", buckets=buckets)
        for entry, buckets in zip(data.entries, ({70: 30, 72: 10}, {70: 60}), strict=False)
    )
    drawn = outline(replace(data, entries=(first, second)), "x")
    assert [row["share"] for row in drawn] == [0, 90, 0, 10, 0]


def test_a_density_holds_the_measurement_window_only() -> None:
    trial = sample.sound_trial(throughput=8000.0)
    found = Findings("x", "0.1.0", (trial,), sample.findings().comparisons.slice(0, 0))
    (entry,) = distributions_of(found).entries
    held, completed = (
        sum(trial.data.latencies[name].to_pylist()) for name in ("held", "completed")
    )
    assert sum(entry.buckets.values()) == held < completed


def test_a_density_of_unknown_latencies_is_said_to_be_unknown() -> None:
    data = distributions_of(sample.findings())
    empty = tuple(replace(entry, buckets={}) for entry in data.entries)
    drawn = charts.density.draw(replace(data, entries=empty))
    assert drawn["datasets"]["density"] == []
    assert "go: unknown" in drawn["description"]


# --- against latency ---


def points(found: Findings, **changes: Any) -> list[dict[str, Any]]:
    field = field_of(found)
    changed = tuple(replace(point, **changes) for point in field.points)
    return charts.against_latency.draw(replace(field, points=changed))["datasets"]["points"]


def test_a_point_has_the_goodput_and_the_latency_of_the_comparison() -> None:
    found = sample.findings()
    (row,) = (row for row in points(found) if row["framework"] == "go")
    compared = {
        one["quantity"]: one
        for one in found.comparisons.to_pylist()
        if (one["framework"], one["endpoint"]) == ("go", "2048")
    }
    goodput, latency = compared["goodput_per_s"], compared["response_time_p99_ns"]
    assert (row["goodput"], row["level"]) == (8050, "sound")
    assert row["goodput_low"] == pytest.approx(goodput["low"], rel=1e-3)
    assert row["latency"] == pytest.approx(latency["median"] / 1e6, rel=1e-3)
    assert row["latency_high"] == pytest.approx(latency["high"] / 1e6, rel=1e-3)


def test_the_shape_of_a_doubtful_point_differs_and_the_legend_says_what_it_is() -> None:
    drawn = json.dumps(charts.against_latency.draw(field_of(sample.findings())))
    assert '"range": ["circle", "triangle-up"]' in drawn
    assert ">doubtful</text>" in vl_convert.vegalite_to_svg(drawn)
    assert '"range": ["circle"]' in json.dumps(
        charts.against_latency.draw(field_of(experiments.rising()))
    )


@pytest.mark.parametrize(("slowest", "kind"), [(5.0, "linear"), (500.0, "log")])
def test_an_axis_is_logarithmic_only_where_values_lie_far_apart(slowest: float, kind: str) -> None:
    field = field_of(sample.findings())
    far = replace(field.points[-1], latency=Estimate(field.points[0].latency.value * slowest))
    drawn = charts.against_latency.draw(replace(field, points=(*field.points[:-1], far)))
    scales = {
        layer["encoding"]["y"]["scale"]["type"]
        for layer in drawn["layer"]
        if "y" in layer.get("encoding", {})
    }
    assert scales == {kind}


def test_an_interval_that_reaches_beyond_its_axis_ends_there_and_is_whole_in_the_table() -> None:
    field = field_of(sample.findings())
    wide = Estimate(field.points[0].goodput.value, Interval(1.0, 1e9))
    first = replace(field.points[0], goodput=wide)
    drawn = charts.against_latency.draw(replace(field, points=(first, *field.points[1:])))
    assert drawn["datasets"]["points"][0]["goodput_high"] == 1e9
    picture = pictures.svg(drawn)
    assert all(abs(float(x)) <= canvas.WIDTH_PX for x in re.findall(r'x2="(-?[\d.]+)"', picture))


@pytest.mark.parametrize("name", AGAINST_LATENCY)
def test_two_pictures_of_points_are_the_same(name: str) -> None:
    drawn = specification(charts.against_latency, name)
    first, second = (vl_convert.vegalite_to_svg(drawn) for _ in range(2))
    assert first == second


AT_WIDTHS = [f"at_{width}" for width in (210, 280, 480, 620, 790, 1000)]


def test_names_lie_upon_no_other_and_a_point_without_room_is_listed_below() -> None:
    field = field_of(sample.findings())
    crowd = tuple(replace(field.points[0], framework=f"go {place}") for place in range(9))
    full = charts.against_latency.draw(replace(field, points=crowd))
    drawn = full["datasets"]["points"]
    for width in AT_WIDTHS:
        sides = [row[width] for row in drawn if isinstance(row[width], str)]
        assert set(sides) <= {"above-left", "above-right", "below-left", "below-right"}
        assert len(sides) == len(set(sides)) >= 2
        listed = [tuple(row[width]) for row in drawn if not isinstance(row[width], str)]
        assert len(listed) == len(set(listed)) == len(crowd) - len(sides)
        assert all(top > full["height"] for _, top in listed)
    words = "".join(re.findall(r"<text[^>]*>([^<]*)</text>", pictures.svg(full)))
    listed = [row for row in drawn if not isinstance(row["at_620"], str)]
    assert all(row["listed"] in words for row in listed)
    assert listed[0]["listed"] == f"{listed[0]['framework']}: 12,500/s, 360 ms"
    apart = points(sample.findings())
    assert all(isinstance(row[width], str) for row in apart for width in AT_WIDTHS[2:])


@pytest.mark.parametrize("width_px", [284, 640, 1006])
def test_each_point_has_its_name_once_in_a_plot_of_any_width(width_px: int) -> None:
    field = field_of(sample.findings())
    many = tuple(
        replace(
            field.points[0],
            framework=f"framework of many {place:02}",
            goodput=Estimate(10_000.0 + 900 * place, Interval(9_000.0, 30_000.0)),
            latency=Estimate(field.points[0].latency.value * (1 + place / 9)),
            is_yardstick=place == 13,
        )
        for place in range(14)
    )
    drawn = charts.against_latency.draw(replace(field, points=many))
    outside_px = canvas.AXIS_PX + canvas.ASIDE_PX
    picture = pictures.svg(pictures.sized(drawn, width_px + outside_px, {}))
    words = re.findall(r"<text[^>]*>([^<]*)</text>", picture)
    for place in range(14):
        named = {one for one in words if re.search(rf"any {place:02}( .yardstick.)?(:|$)", one)}
        assert len(named) == 1, place


def test_a_wide_plot_has_names_that_a_narrow_one_has_no_room_for() -> None:
    field = field_of(sample.findings())
    apart = tuple(
        replace(
            field.points[0],
            framework=f"framework {place}",
            goodput=Estimate(1_000.0 * (5 + place)),
            latency=Estimate(1e6),
        )
        for place in range(30)
    )
    drawn = charts.against_latency.draw(replace(field, points=apart))["datasets"]["points"]
    named = [sum(isinstance(row[width], str) for row in drawn) for width in AT_WIDTHS]
    assert named == sorted(named)
    assert named[0] < named[3] < named[-1]


def test_a_yardstick_at_the_edge_goes_without_its_role_rather_than_without_a_name() -> None:
    field = field_of(sample.findings())
    first = field.points[0]
    narrow = {
        "framework": "other",
        "goodput": Estimate(first.goodput.value * 0.8),
        "latency": Estimate(first.latency.value, Interval(1.0, 1e12)),
    }
    edge = replace(first, framework="reference", is_yardstick=True)
    drawn = charts.against_latency.draw(replace(field, points=(edge, replace(first, **narrow))))
    row = drawn["datasets"]["points"][0]
    assert row["at_620"].endswith(" short")
    words = re.findall(r"<text[^>]*>([^<]*)</text>", pictures.svg(drawn))
    assert "reference" in words
    assert "reference (yardstick)" not in words


def test_names_that_differ_at_their_end_still_do_when_they_are_short() -> None:
    field = field_of(sample.findings())
    crowd = tuple(
        replace(field.points[0], framework=f"a-framework-of-a-long-name-{place}")
        for place in range(30)
    )
    drawn = charts.against_latency.draw(replace(field, points=crowd))["datasets"]["points"]
    short = {row["short"] for row in drawn}
    assert len(short) == len(crowd)
    assert max(map(len, short)) == 20


def test_each_point_of_a_framework_with_several_loads_names_its_load() -> None:
    drawn = points(experiments.rising())
    assert {row["framework"] for row in drawn} == {"go", "php"}
    named = [row["label"] for row in drawn if isinstance(row["at_620"], str)]
    assert named[:5] == ["go, c1", "php, c1", "go, c100", "php, c100", "go, c1000"]


# --- comparison ---


def entry(low: int | None, high: int | None) -> RankedEntry:
    return RankedEntry("x", low, high, 1.0, None, None, "sound", ())


@pytest.mark.parametrize(
    ("ranges", "groups"),
    [
        ([(1, 1), (2, 2), (3, 3)], [0, 1, 2]),
        ([(1, 2), (1, 2), (3, 3)], [0, 0, 1]),
        ([(1, 2), (1, 3), (2, 3)], [0, 0, 0]),
        ([(1, 2), (1, 2), (3, 4), (3, 4)], [0, 0, 1, 1]),
        ([(1, 1), (None, None), (None, None)], [0, 1, 2]),
        ([(2, 3), (1, 3), (1, 2)], [0, 0, 0]),
        ([], []),
    ],
)
def test_ties_are_groups_that_no_range_of_ranks_reaches_over(
    ranges: list[tuple[int | None, int | None]], groups: list[int]
) -> None:
    found = charts.comparison.tie_groups([entry(low, high) for low, high in ranges])
    assert found == groups


def test_a_void_number_is_drawn_without_a_rank_and_without_a_shade() -> None:
    drawn = charts.comparison.draw(sample.findings().rankings[0])["datasets"]["entries"]
    void = next(row for row in drawn if row["framework"] == "django")
    assert void["rank"] == "–"
    assert void["label"] == "django"
    assert void["value"] == 9500
    assert void["level"] == "void"
    assert not void["shaded"]


def test_every_repetition_with_a_number_is_a_point() -> None:
    drawn = charts.comparison.draw(sample.findings().rankings[0])["datasets"]["repetitions"]
    assert len(drawn) == 7
    assert {row["trial"] for row in drawn if row["label"] == "1–2 · axum"} == {
        "axum.2048.steady.1",
        "axum.2048.steady.2",
    }


def test_a_legend_names_every_entry_and_is_no_wider_than_the_chart() -> None:
    series = experiments.rising().over_connections[0]
    widths: list[float] = []
    for count in (2, 58):
        names = [f"framework {number}" for number in range(count)]
        points = [replace(point, framework=name) for name in names for point in series.points[:3]]
        picture = pictures.svg(charts.over_connections.draw(replace(series, points=tuple(points))))
        assert set(re.findall(r">(framework \d+)<", picture)) == set(names)
        (width,) = re.findall(r'<svg [^>]*?\bwidth="([\d.]+)"', picture)
        widths.append(float(width))
    assert widths[1] < 1.1 * widths[0]
