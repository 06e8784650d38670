from plimsoll.verdicts.finding import found, unknown, verdict
from plimsoll.verdicts.limits import Limits

LIMIT = Limits().of("failures_explained", "failed_ratio")


def test_a_verdict_is_as_bad_as_its_worst_finding_and_tells_all_that_are_not_sound():
    findings = [
        found(LIMIT, 0.0, "all is well", "nothing to do"),
        found(LIMIT, 0.01, "one is odd", "look"),
        found(LIMIT, 0.5, "the other is bad", "stop"),
    ]
    given = verdict("failures_explained", "go.1", findings, "somebody")
    assert given.level == "void"
    assert (given.measured, given.limit) == (0.5, 0.05)
    assert given.statement == "The other is bad. One is odd."
    assert given.remedy == "Stop. Look."
    assert (given.check, given.subject) == ("failures_explained", "go.1")
    assert given.source == "somebody; limit: first proposal"


def test_a_sound_verdict_tells_its_first_finding_and_needs_no_remedy():
    findings = [found(LIMIT, 0.0, "all is well", "do"), found(LIMIT, 0.0, "too", "do")]
    given = verdict("failures_explained", "go.1", findings, "somebody")
    assert (given.level, given.statement, given.remedy) == ("sound", "All is well.", "")
    assert given.limit == 0.001


def test_what_could_not_be_read_is_doubtful():
    given = verdict("failures_explained", "go.1", [unknown(LIMIT, "nobody knows", "ask")], "x")
    assert (given.level, given.measured) == ("doubtful", None)


def test_a_changed_limit_is_told_with_the_verdict():
    changed = Limits({"failures_explained": {"failed_ratio_void": 0.2}})
    limit = changed.of("failures_explained", "failed_ratio")
    given = verdict("failures_explained", "go.1", [found(limit, 0.0, "well", "")], "somebody")
    assert given.source == (
        "somebody; limit: changed by this campaign, by default doubtful 0.001, void 0.05"
    )
