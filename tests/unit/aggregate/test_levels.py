import pyarrow as pa

from plimsoll.aggregate.levels import rising


def seconds(*rows):
    names = ("second", "stage", "requested_level", "completed", "in_flight", "server_busy_cores")
    numbered = [(second, *row) for second, row in enumerate(rows)]
    return pa.Table.from_pylist([dict(zip(names, row, strict=True)) for row in numbered])


def test_a_level_is_told_from_its_seconds_but_the_first():
    (level,) = rising(
        seconds(
            ("hold", 8.0, 10, 2.0, 0.1), ("hold", 8.0, 100, 8.0, 0.5), ("hold", 8.0, 200, 8.0, 0.7)
        ),
        end_s=3.0,
    )
    assert (level.connections, level.lasted, level.counted) == (8.0, 3, 2)
    assert (level.completed_per_s, level.in_flight, level.server_busy_cores) == (150.0, 8.0, 0.6)


def test_a_level_of_one_second_is_that_second():
    (level,) = rising(seconds(("ramp", 8.0, 10, 2.0, None)), end_s=1.0)
    assert (level.lasted, level.counted, level.completed_per_s) == (1, 1, 10)
    assert level.server_busy_cores is None


def test_warm_up_small_levels_and_levels_that_fall_are_left_out():
    found = rising(
        seconds(
            ("warm_up", 64.0, 9, 1.0, 0.1),
            ("ramp", 2.0, 9, 1.0, 0.1),
            ("ramp", 16.0, 9, 1.0, 0.1),
            ("ramp", 32.0, 9, 1.0, 0.1),
            ("hold", 8.0, 9, 1.0, 0.1),
        ),
        end_s=5.0,
        fewest=4,
    )
    assert [level.connections for level in found] == [16.0, 32.0]


def test_a_second_in_which_the_load_ended_is_no_second_of_its_level():
    found = seconds(
        ("hold", 8.0, 100, 8.0, 0.5), ("hold", 8.0, 100, 8.0, 0.5), ("hold", 8.0, 30, 8.0, 0.2)
    )
    (level,) = rising(found, end_s=2.3)
    assert (level.lasted, level.completed_per_s, level.server_busy_cores) == (2, 100, 0.5)
    (whole,) = rising(found, end_s=2.995)
    assert whole.lasted == 3
