import re
from pathlib import Path

from plimsoll.aggregate.outcomes import COMPLETED, OUTCOMES, RIGHT

ENGINE = Path(__file__).parents[3] / "crates" / "engine" / "src" / "outcome.rs"


def test_every_outcome_of_the_engine_has_its_group_here():
    lines = re.findall(r'\w+ = \d+, "(\w+)", (\w+),', ENGINE.read_text(encoding="utf-8"))
    of_engine = {name: re.sub(r"(?<!^)([A-Z])", r"_\1", group).lower() for name, group in lines}
    assert of_engine == {outcome.name: outcome.group for outcome in OUTCOMES}


def test_a_complete_answer_is_right_or_wrong():
    assert RIGHT == ("ok",)
    assert COMPLETED == (
        *("ok", "wrong_status", "wrong_length", "wrong_body"),
        *("wrong_coding", "broken_coding", "decoded_too_large"),
        *("redirected_elsewhere", "too_many_redirects", "redirect_not_followed"),
        *("not_events", "wrong_events"),
    )
