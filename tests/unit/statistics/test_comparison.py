import pytest

from plimsoll.statistics.comparison import compared


def blocks(*values):
    """What was measured in blocks 1, 2 and so on; None where a trial is void."""
    return [(block, value) for block, value in enumerate(values, 1) if value is not None]


@pytest.mark.parametrize(
    ("one", "other", "ahead"),
    [
        ([200.0, 201, 199], [100.0, 101, 99], True),
        ([100.0, 101, 99], [200.0, 201, 199], False),
        ([101.0, 101.01, 100.99], [100.0, 100.01, 99.99], False),  # surely, but by 1 % only
        ([200.0, 100, 150], [140.0, 120, 90], False),  # more, but not surely
        ([200.0], [100.0], False),
        ([200.0, 200.1], [100.0], True),  # the scatter of one is known
        ([200.0, 170], [150.0], False),
        ([5.0, 6.0], [0.0, 0.0], True),
        ([5.0], [0.0, 0.0], True),
        ([5.0, 6.0], [0.0], False),  # once is no habit
        ([0.0, 6.0], [0.0, 0.0], False),
        ([600.0, 601.0], [0.0, 6.0], False),
    ],
)
def test_one_is_ahead_only_surely_and_by_more_than_the_threshold(one, other, ahead):
    assert compared([blocks(*one), blocks(*other)]).is_ahead(0, 1) is ahead


def test_ranks_of_a_tie_are_a_range():
    values = [[300.0, 301, 299], [200.0, 201, 199], [200.5, 199.5, 201], [100.0, 101, 99], []]
    found = compared([blocks(*numbers) for numbers in values])
    assert found.rank_ranges() == ((1, 1), (2, 3), (2, 3), (4, 4), None)


def test_with_one_repetition_each_nobody_has_a_rank_of_their_own_and_no_ratio_an_interval():
    found = compared([blocks(300.0), blocks(200.0), blocks(1.0)])
    assert found.rank_ranges() == ((1, 3), (1, 3), (1, 3))
    assert found.scatter is None
    ratio = found.ratio(0, 1)
    assert ratio is not None
    assert ratio.value == pytest.approx(1.5)
    assert ratio.interval is None


def test_one_repetition_among_others_that_have_two_has_an_interval():
    """The table of a real campaign in which a repetition of the first and of the last was void."""
    found = compared(
        [
            blocks(159_270.0, None),
            blocks(84_579.0, 90_100.0),
            blocks(43_350.0, 41_000.0),
            blocks(30_100.0, 33_000.0),
            blocks(9_200.0, 8_700.0),
            blocks(None, 2_151.0),
        ]
    )
    ranks = found.rank_ranges()
    assert ranks[0] is not None
    assert ranks[0][1] <= 2
    assert ranks[-1] == (6, 6)
    ratio = found.ratio(0, 5)
    assert ratio is not None
    assert ratio.interval is not None
    assert 10 < ratio.interval.low < 74 < ratio.interval.high < 500


def test_an_interval_beyond_any_use_is_none_and_leaves_ranks_open():
    """One of ten was repeated, once, and was 1,000 times slower then: e to the 720 has no float."""
    found = compared([blocks(30_000.0, 30.0), *(blocks(20_000.0 + place) for place in range(9))])
    for pair in ((0, 1), (1, 0), (1, 2)):
        ratio = found.ratio(*pair)
        assert ratio is not None
        assert ratio.interval is None
    assert found.rank_ranges() == ((1, 10),) * 10


def test_a_wide_interval_that_still_says_something_is_kept():
    """Of three one was repeated, once, and was 2 % slower then."""
    ratio = compared([blocks(30_000.0, 29_400.0), blocks(20_000.0), blocks(9_000.0)]).ratio(0, 2)
    assert ratio is not None
    assert ratio.interval is not None
    assert 1 < ratio.interval.low < 3.3 < ratio.interval.high < 10


def test_blocks_that_tie_nothing_together_are_left_out():
    apart = compared([[(1, 200.0), (2, 202.0), (3, 198.0)], [(4, 100.0), (5, 101.0), (6, 99.0)]])
    assert apart.is_ahead(0, 1)


def test_a_block_in_which_everything_was_slower_is_no_scatter():
    slow = 0.6
    one, other = [100.0, 101, 99 * slow, 100], [90.0, 91, 90 * slow, 89]
    assert compared([blocks(*one), blocks(*other)]).is_ahead(0, 1)
    assert not compared([blocks(*one), blocks(*reversed(other))]).is_ahead(0, 1)


def test_a_void_trial_in_a_slow_block_makes_nobody_faster():
    """Without the block effect the first would look 20 % faster: its slow block is missing."""
    third = 0.4
    found = compared(
        [
            blocks(100.0, 101, None),
            blocks(100.5, 99.5, 100 * third),
            blocks(80.0, 81, 80 * third),
            blocks(60.0, 60.5, 61 * third),
        ]
    )
    ratio = found.ratio(0, 1)
    assert ratio is not None
    assert ratio.value == pytest.approx(1.0, abs=0.01)
    assert not found.is_ahead(0, 1)


def test_a_ratio_and_its_inverse_have_inverse_intervals():
    found = compared([blocks(200.0, 202, 198), blocks(100.0, 101, 103), blocks(50.0, 52, 51)])
    one, other = found.ratio(0, 1), found.ratio(1, 0)
    assert one is not None
    assert other is not None
    assert one.interval is not None
    assert other.interval is not None
    assert one.interval.low == pytest.approx(1 / other.interval.high)


def test_what_follows_from_two_intervals_is_known_of_the_third():
    """The outer two scatter so much that their own interval says less than the way round."""
    found = compared([blocks(400.0, 410, 395), blocks(300.0, 299, 301), blocks(120.0, 100, 180)])
    ends = {
        pair: ratio.interval
        for pair in ((0, 1), (1, 2), (0, 2))
        if (ratio := found.ratio(*pair)) is not None and ratio.interval is not None
    }
    assert len(ends) == 3
    assert ends[0, 2].low >= ends[0, 1].low * ends[1, 2].low * (1 - 1e-9)
    assert ends[0, 2].high <= ends[0, 1].high * ends[1, 2].high * (1 + 1e-9)


def test_nothing_has_nothing():
    assert compared([]).rank_ranges() == ()
    assert compared([[], []]).rank_ranges() == (None, None)
    assert compared([blocks(5.0)]).order() == (0,)
