"""The model of a table against what it promises: simulated tables, in which the truth is known."""

from itertools import product

import numpy as np
import pytest
from scipy.special import stdtrit

from plimsoll.statistics import block_design
from plimsoll.statistics.block_design import BlockDesign
from plimsoll.statistics.studentized_range import quantile

TABLES = 1500
CHANCE = 0.05 + 3 * 0.0056
"""Three standard errors of 1,500 tables above 5 %."""
SCATTER, DRIFT = 0.05, 0.08


def full(servers, repetitions):
    cells = list(product(range(servers), range(repetitions)))
    return BlockDesign(*zip(*cells, strict=True))


def simulated(design, *, levels=None, noisy=None, tails=None, seed=1, drift=DRIFT):
    """Logarithms of many tables of the design; without levels all servers are equal."""
    rng = np.random.default_rng(seed)
    size = (TABLES, len(design.entries))
    errors = rng.standard_normal(size)
    if tails:
        errors = rng.standard_t(tails, size) / np.sqrt(tails / (tails - 2))
    scatters = np.full(design.count, SCATTER)
    if noisy is not None:
        scatters[noisy] *= 5
    owners, blocks = np.array(design.entries), np.array(design.blocks)
    drifts = drift * rng.standard_normal((TABLES, blocks.max() + 1))
    level = 0 if levels is None else np.array(levels)[owners]
    return level + drifts[:, blocks] + errors * scatters[owners]


def false_claims(design, **how):
    """Share of tables of equal servers in which any is said to be ahead of any other."""
    found = design.differences(simulated(design, **how))
    return (np.abs(found.values) > found.reaches).any(axis=-1).mean()


@pytest.mark.parametrize("servers", [2, 6, 20])
@pytest.mark.parametrize("repetitions", [2, 3, 5])
@pytest.mark.parametrize("how", [{}, {"tails": 3}, {"noisy": 0}], ids=["equal", "heavy", "noisy"])
def test_at_most_one_table_in_twenty_has_a_false_claim(servers, repetitions, how):
    assert false_claims(full(servers, repetitions), **how) < CHANCE


@pytest.mark.parametrize("how", [{}, {"tails": 3}, {"noisy": 5}], ids=["equal", "heavy", "noisy"])
def test_neither_has_one_with_void_trials(how):
    cells = [(server, block) for server, block in product(range(6), range(3)) if block <= server]
    design = BlockDesign(*zip(*cells, strict=True))
    assert design.has_blocks
    assert false_claims(design, **how) < CHANCE


def test_all_intervals_of_a_table_hold_the_truth_at_once():
    design = full(6, 3)
    levels = np.log(1.25) * np.arange(6)
    found = design.differences(simulated(design, levels=levels))
    truth = np.array([levels[one] - levels[other] for one, other in design.pairs])
    assert (np.abs(found.values - truth) <= found.reaches).all(axis=-1).mean() > 1 - CHANCE


def test_an_entry_that_scatters_widely_does_not_widen_the_intervals_of_the_others():
    design = full(5, 6)
    others = [place for place, (one, _) in enumerate(design.pairs) if one]
    calm, noisy = (
        np.median(design.differences(simulated(design, noisy=entry)).reaches[:, others])
        for entry in (None, 0)
    )
    assert noisy < 1.25 * calm


def test_further_rounds_change_no_interval(monkeypatch):
    design = full(5, 6)
    logarithms = simulated(design, noisy=0)[:100]
    found = design.differences(logarithms).reaches
    monkeypatch.setattr(block_design, "ROUNDS", 100)
    assert design.differences(logarithms).reaches == pytest.approx(found, rel=0.02)


def test_what_never_scattered_has_intervals_without_width():
    design = full(3, 4)
    levels = np.array([1.0, 2.0, 3.0])[list(design.entries)]
    found = design.differences(levels)
    assert found.reaches == pytest.approx(0, abs=1e-6)
    assert np.isfinite(found.reaches).all()


@pytest.mark.parametrize("seed", range(40))
def test_what_scatters_by_rounding_alone_has_intervals(seed):
    """Imported series repeat the same number, or differ in its last digit."""
    rng = np.random.default_rng(seed)
    for level in (18.6, 0.01, 80.0):
        design = full(int(rng.integers(3, 24)), int(rng.integers(2, 8)))
        logarithms = np.full(len(design.entries), level)
        moved = rng.integers(0, logarithms.size, int(rng.integers(0, 3)))
        logarithms[moved] += rng.choice([1e-15, 1e-13, 1e-12, 1e-9, 1.0], moved.size)
        found = design.differences(logarithms)
        assert np.isfinite(found.reaches).all() and np.isfinite(found.values).all()


@pytest.mark.parametrize(("repetitions", "least"), [(2, 0.6), (3, 0.83), (5, 0.98)])
def test_the_whole_table_holds_and_more_is_found_than_by_pairs(repetitions, least):
    """Servers 25 % apart: pairs told apart, beside Welch's test of each that knows no blocks."""
    levels = np.log(1.25) * np.arange(6)
    design = full(6, repetitions)
    logarithms = simulated(design, levels=levels)
    found = design.differences(logarithms)
    told = (found.values < -found.reaches).mean()
    assert told > least
    assert told > welch(logarithms.reshape(TABLES, 6, repetitions), design.pairs)


def welch(cells, pairs):
    """Share of the pairs whose later server is greater by Welch's test at 5 %."""
    repetitions = cells.shape[-1]
    one, other = np.array(pairs).T
    means, variances = cells.mean(axis=-1), cells.var(axis=-1, ddof=1) / repetitions
    first, second = variances[:, one], variances[:, other]
    freedom = (first + second) ** 2 * (repetitions - 1) / (first**2 + second**2)
    reaches = stdtrit(freedom, 0.975) * np.sqrt(first + second)
    return (means[:, other] - means[:, one] > reaches).mean()


def test_whether_blocks_are_in_the_model_depends_on_its_cells_alone():
    assert full(6, 2).has_blocks
    assert full(3, 3).has_blocks
    assert not full(3, 2).has_blocks
    assert not full(2, 3).has_blocks
    assert full(2, 4).has_blocks
    apart = BlockDesign((0, 0, 0, 0, 1, 1, 1, 1), (0, 1, 2, 3, 4, 5, 6, 7))
    assert not apart.has_blocks
    assert apart.freedom == 6


def test_differences_are_those_of_least_squares():
    cells = [(0, 0), (0, 1), (1, 0), (1, 1), (1, 2), (2, 1), (2, 2), (3, 0), (3, 2)]
    design = BlockDesign(*zip(*cells, strict=True))
    logarithms = np.random.default_rng(7).standard_normal(len(cells))
    model = np.zeros((len(cells), 4 + 2))
    for row, (server, block) in enumerate(cells):
        model[row, server] = 1
        if block:
            model[row, 3 + block] = 1
    effects = np.linalg.lstsq(model, logarithms, rcond=None)[0][:4]
    assert design.has_blocks
    assert design.values(logarithms) == pytest.approx(
        [effects[one] - effects[other] for one, other in design.pairs]
    )


def test_two_servers_in_many_blocks_are_compared_as_pairs():
    """Student's paired interval: with one pair there is nothing to correct for."""
    rng = np.random.default_rng(3)
    one, other = rng.standard_normal((2, 8))
    found = full(2, 8).differences(np.concatenate([one, other]))
    differences = one - other
    error = differences.std(ddof=1) / np.sqrt(8)
    assert found.reaches[0] == pytest.approx(2.364624 * error, rel=5e-3)


def test_one_repetition_each_has_no_interval():
    design = full(4, 1)
    assert design.freedom == 0
    with pytest.raises(ValueError, match="scatter"):
        design.differences(np.zeros(4))


@pytest.mark.parametrize(
    ("entries", "freedom", "tabulated"),
    [(2, 10, 3.151), (3, 5, 4.602), (6, 5, 6.033), (6, 20, 4.445), (10, 1, 49.07), (20, 19, 5.752)],
)
def test_quantiles_are_those_of_printed_tables(entries, freedom, tabulated):
    """H. L. Harter, Annals of Mathematical Statistics 31, 1960."""
    assert quantile(entries, freedom, 0.95) == pytest.approx(tabulated, rel=5e-3)


@pytest.mark.parametrize("missing", [(), ((0, 1),), ((0, 1), (0, 2), (2, 4)), ((1, 1), (2, 2))])
def test_effects_without_intervals_are_those_of_the_model(missing):
    cells = [(entry, block) for entry in range(3) for block in (7, 1, 2, 4)]
    kept = [cell for cell in cells if cell not in missing]
    entries, blocks = zip(*kept, strict=True)
    logarithms = np.random.default_rng(3).normal(size=len(kept))
    design = BlockDesign(entries, blocks)
    assert design.has_blocks
    found = block_design.entry_effects(entries, blocks, logarithms)
    values = [found[one] - found[other] for one, other in design.pairs]
    assert values == pytest.approx(design.values(logarithms))


def test_effects_of_entries_that_no_block_ties_together_are_their_means():
    found = block_design.entry_effects((0, 0, 1), (1, 2, 3), np.array([1.0, 3.0, 7.0]))
    assert list(found) == pytest.approx([2.0, 7.0])
