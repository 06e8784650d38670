"""Claims of a document stand beside what its own figures say."""

from __future__ import annotations

import pytest

from plimsoll.errors import InputError
from plimsoll.published import claims
from plimsoll.published.claims import Claim
from plimsoll.tool_output.reported import ReportedStatistics, Source


def figures(
    subject: str, endpoint: str, throughput_per_s: float, at: str = ""
) -> ReportedStatistics:
    return ReportedStatistics(
        Source("a document"),
        subject=subject,
        endpoint=endpoint,
        at=at,
        throughput_per_s=throughput_per_s,
    )


FOUR = (
    figures("ours", "/small", 200),
    figures("theirs", "/small", 100),
    figures("ours", "/large", 90),
    figures("theirs", "/large", 100),
)


def test_a_claim_that_compares_two_is_answered_for_every_endpoint_that_both_have() -> None:
    claim = Claim("ours is twice as fast", compare=("ours", "theirs"), ratio=2)
    found = claims.figures_of(claim, (*FOUR, figures("ours", "/alone", 7)))
    assert found == {"/small": 2.0, "/large": 0.9}
    sentence = claims.statement(claim, FOUR)
    assert sentence == "× 0.90 (`/large`) to × 2.0 (`/small`), median × 1.4, of 2 endpoints"


@pytest.mark.parametrize(
    ("ours", "theirs", "said"),
    [
        (46_333, 15_579, "× 2.974"),
        (18_056, 21_377, "× 0.845"),
        (22_000, 15_579, "× 1.4"),
        (46_333, 185, "× 250"),
        (8_000, 90, "× 89"),
        (12_300, 12_345, "× 0.996"),
        (185, 300_012, "× 0.000617"),
        (0, 100, "× 0"),
        (0.25, 0.125, "× 2.0"),
    ],
)
def test_a_ratio_has_no_more_digits_than_the_figures(ours: float, theirs: float, said: str) -> None:
    claim = Claim("ours is ahead", compare=("ours", "theirs"))
    both = (figures("ours", "/", ours), figures("theirs", "/", theirs))
    assert claims.statement(claim, both) == said


def test_a_round_figure_among_exact_ones_takes_no_digit() -> None:
    runs = [figures("ours", "/", rate, f"run {n}") for n, rate in enumerate((8_000, 8_123, 8_217))]
    claim = Claim("ours is ahead", compare=("ours", "theirs"))
    assert claims.statement(claim, [*runs, figures("theirs", "/", 4_001)]) == "× 2.030"


def test_a_low_rate_keeps_its_digits() -> None:
    claim = Claim("ours is slow", subject="ours", throughput_per_s=0.25)
    assert (claim.claimed, claims.statement(claim, [figures("ours", "/", 0.2)])) == (
        "0.25/s",
        "0.2/s",
    )


def test_repetitions_count_as_their_median() -> None:
    runs = [figures("ours", "/", rate, f"run {n}") for n, rate in enumerate((100, 300, 110))]
    claim = Claim("ours does a hundred", subject="ours", throughput_per_s=100)
    assert claims.figures_of(claim, runs) == {"/": 110}
    assert claims.statement(claim, runs) == "110/s"


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        (Claim("all is well"), "judged below"),
        (Claim("ours is best", compare=("ours", "unheard of")), "no figure of it was published"),
    ],
)
def test_a_claim_that_no_figure_speaks_to_gets_no_number(claim: Claim, said: str) -> None:
    assert claims.figures_of(claim, FOUR) == {}
    assert claims.statement(claim, FOUR) == said


def test_claims_are_read_from_their_tables() -> None:
    text = '[[claim]]\nsays = "x"\nplace = "here"\ncompare = ["a", "b"]\nratio = 3\n'
    assert claims.read(text, "f") == (Claim("x", "here", ("a", "b"), 3),)
    assert claims.read("", "f") == ()


def test_a_claim_in_single_brackets_is_a_mistake_and_not_none() -> None:
    with pytest.raises(InputError, match=r"must be tables: `\[\[claim\]\]`"):
        claims.checked('[claim]\nsays = "x"\n', "f.toml", ())
    assert claims.checked("a page about the [claim] of others\n", "f.txt", ()) == ()


def test_every_mistake_in_claims_is_told() -> None:
    text = '[[claim]]\nsaid = "x"\n[[claim]]\nsays = "y"\ncompare = ["a"]\n'
    with pytest.raises(InputError) as raised:
        claims.read(text, "f.toml")
    assert [str(problem) for problem in raised.value.problems] == [
        "f.toml: claim 1: unknown key `said` here",
        "f.toml: claim 1: `says` is missing",
        "f.toml: claim 2: `compare` must have two names",
    ]


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        ("[claim]\nsays = 'x'", "`claim` must be tables"),
        ("claim = [3]", "must be a table"),
        ("[[claim]]\nsays = 3", "`says` must be a quoted"),
        ("[[claim]]\nsays = 'x'\ncompare = 3", "two names"),
        ("[[claim]]\nsays = 'x'\ncompare = [1, 2]", "two names"),
        ("[[claim]]\nsays = 'x'\nratio = true", "`ratio` must be a number"),
        *(
            (f"[[claim]]\nsays = 'x'\n{key} = {value}", f"`{key}` must be a number above 0")
            for key in ("ratio", "throughput_per_s")
            for value in ("inf", "nan", "-1", "0", "1e400", "9" * 400)
        ),
    ],
)
def test_what_is_no_claim_is_told_in_a_sentence(claim: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        claims.read(claim, "f.toml")


def test_claims_are_answered_where_a_file_has_them() -> None:
    text = '[[result]]\n[[claim]]\nsays = "x"\ncompare = ["ours", "theirs"]\n'
    (found,) = claims.checked(text, "f.toml", FOUR, "A document")
    assert (found.document, found.claim.says) == ("A document", "x")
    assert found.by_figures == claims.statement(found.claim, FOUR)
    assert claims.checked("{}", "f.json", FOUR) == ()


@pytest.mark.parametrize(
    "text",
    [
        "subject,throughput_per_s\na,100\n[[claim]],5\n",
        "Requests/sec:  50000.00\n\nsee docs:\n[[claim]]\nsays = 'x'\n",
        "x = " + "[" * 20_000 + "\n[[claim]]\n",
    ],
)
def test_what_is_no_table_makes_no_claims(text: str) -> None:
    assert claims.checked(text, "f.txt", FOUR) == ()


def test_claims_of_a_table_with_a_byte_order_mark_are_read() -> None:
    text = '\ufeff[[claim]]\nsays = "x"\n'
    assert [one.claim.says for one in claims.checked(text, "f.toml", FOUR)] == ["x"]


def test_a_claimed_number_is_said_as_the_figures_are() -> None:
    assert Claim("", compare=("a", "b"), ratio=3).claimed == "× 3"
    assert Claim("", subject="a", throughput_per_s=22000).claimed == "22,000/s"
    assert Claim("").claimed == ""
