import pytest

from plimsoll.aggregate.energy import energy
from plimsoll.aggregate.usage import usage
from recordings import usage_rows

S = 1_000_000_000
HOLD = [(0, 10 * S)]


def readings(loaded_w, before, after):
    """Energy under load, and of an idle host with the power given second by second."""
    rows = [(float(t), "machine", "energy_j", 500 + loaded_w * t) for t in range(-1, 12)]
    for start_s, powers in ((-100.0, before), (50.0, after)):
        total = 0.0
        for second, power in enumerate([0.0, *powers]):
            total += power
            rows.append((start_s + second, "machine", "idle_energy_j", total))
    return usage(usage_rows(*rows))


def test_net_power_is_that_of_the_load_less_that_of_the_idle_host():
    found = energy(readings(50.0, [20.0, 22.0, 18.0], [21.0, 19.0]), HOLD)
    assert found is not None
    assert found.gross_w == pytest.approx(50)
    assert found.idle_w == pytest.approx(20)
    assert found.net_w == pytest.approx(30)
    assert found.deviation_w == pytest.approx(1.58, abs=0.01)
    assert found.idle_s == 2
    assert found.is_significant


def test_a_net_power_within_the_scatter_of_the_idle_host_is_no_figure():
    found = energy(readings(23.0, [20.0, 22.0, 18.0], [21.0, 19.0]), HOLD)
    assert found is not None
    assert found.deviations == pytest.approx(3 / 1.58, abs=0.01)
    assert not found.is_significant


@pytest.mark.parametrize(("before", "after"), [([], []), ([20.0] * 5, []), ([20.0], [20.0])])
def test_an_idle_host_that_was_not_measured_on_both_sides_is_unknown(before, after):
    assert energy(readings(50.0, before, after), HOLD) is None


def test_a_host_that_shows_no_energy_has_none():
    assert energy(usage(None), HOLD) is None
