import numpy as np
import pyarrow as pa
import pytest

from plimsoll.aggregate import query
from plimsoll.aggregate.percentiles import percentiles
from plimsoll.statistics.quantiles import QUANTILES, enough


def percentiles_of(values):
    with query.opened() as database:
        database.register("given", pa.table({"x": pa.array(values, pa.int64())}))
        return percentiles(database, "x", "given")


def test_a_percentile_is_the_smallest_value_that_enough_rows_do_not_exceed():
    found = percentiles_of(range(1, 10_001))
    assert found == {
        "p25": 2500,
        "p50": 5000,
        "p75": 7500,
        "p90": 9000,
        "p95": 9500,
        "p99": 9900,
        "p999": 9990,
        "p9999": None,
    }


@pytest.mark.parametrize(
    ("quantile", "rows"), [(0.5, 20), (0.9, 100), (0.95, 200), (0.99, 1000), (0.999, 10_000)]
)
def test_ten_rows_must_lie_above_a_percentile(quantile, rows):
    assert enough(rows, quantile)
    assert not enough(rows - 1, quantile)


def test_values_that_are_far_apart_or_all_alike_keep_their_percentiles():
    values = [7] * 500 + [65_536 * 3] * 400 + [10**10] * 100
    expected = np.quantile(values, [0.5, 0.9, 0.99], method="inverted_cdf").tolist()
    found = percentiles_of(values)
    assert [found[name] for name in ("p50", "p90", "p99")] == expected


def test_nulls_are_no_rows_and_no_rows_have_no_percentiles():
    assert percentiles_of([None] * 50 + [4] * 20)["p50"] == 4
    assert percentiles_of([]) == dict.fromkeys(QUANTILES)
