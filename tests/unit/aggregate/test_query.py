import duckdb
import pytest

from plimsoll.aggregate import query


@pytest.mark.parametrize(
    "error",
    [RuntimeError("Query interrupted"), duckdb.InterruptException("INTERRUPT Error: Interrupted!")],
)
def test_ctrl_c_within_a_query_is_an_interrupt_as_elsewhere(error):
    with pytest.raises(KeyboardInterrupt), query.opened():
        raise error


@pytest.mark.parametrize("error", [RuntimeError("something else"), ValueError("interrupted")])
def test_other_errors_stay_what_they_are(error):
    with pytest.raises(type(error), match=str(error)), query.opened():
        raise error
