import json
from dataclasses import asdict, replace

from plimsoll import verdicts
from plimsoll.campaign.load import UnknownLoad
from plimsoll.plan import ComparedTable
from plimsoll.recording import HostClock, HostDriver
from plimsoll.verdicts.catalogue import limit
from plimsoll.verdicts.checks import CHECKS
from plimsoll.verdicts.finding import Remedy, found, not_checked, of_trial, unknown, verdict
from plimsoll.verdicts.limits import Limits
from plimsoll.verdicts.verdict import Sentence, Verdict
from recordings import simulate

LIMIT = limit("failures_explained", "failed_ratio")


def test_a_verdict_is_as_bad_as_its_worst_finding_and_tells_all_that_are_not_sound():
    findings = [
        found(LIMIT, 0.0, "all is well", "nothing to do"),
        found(LIMIT, 0.01, "one is odd", "look"),
        found(LIMIT, 0.5, "the other is bad", "stop"),
    ]
    given = verdict("failures_explained", "go.1", findings, "somebody")
    assert given.level == "void"
    assert (given.measured, given.limit) == (0.5, 0.01)
    assert given.sentences == (
        Sentence("void", "The other is bad.", "Stop.", LIMIT.name),
        Sentence("doubtful", "One is odd.", "Look.", LIMIT.name),
    )
    assert (given.check, given.subject) == ("failures_explained", "go.1")
    assert given.source == f"somebody; limit: {LIMIT.source}"


def test_a_sound_verdict_tells_its_first_finding_and_needs_no_remedy():
    findings = [found(LIMIT, 0.0, "all is well", "do"), found(LIMIT, 0.0, "too", "do")]
    given = verdict("failures_explained", "go.1", findings, "somebody")
    assert (given.level, given.text, given.remedies) == ("sound", "All is well.", ())
    assert given.limit == 0.001


def test_what_could_not_be_read_is_doubtful():
    given = verdict("failures_explained", "go.1", [unknown(LIMIT, "nobody knows", "ask")], "x")
    assert (given.level, given.measured) == ("doubtful", None)


def test_a_changed_limit_is_told_with_the_verdict():
    changed = Limits({"failures_explained": {"failed_ratio_void": 0.2}})
    given = verdict(
        "failures_explained", "go.1", [found(changed.of(LIMIT), 0.0, "well", "")], "somebody"
    )
    assert given.source == (
        "somebody; limit: changed by this campaign, default: doubtful 0.001, void 0.01"
    )


def test_what_does_not_apply_is_not_checked_and_has_no_remedy():
    given = verdict("failures_explained", "go.1", [not_checked(LIMIT, "there is no ramp")], "x")
    assert (given.level, given.measured) == ("not_checked", None)
    assert given.sentences == (Sentence("not_checked", "There is no ramp.", limit=LIMIT.name),)


def test_a_sound_verdict_says_what_it_could_not_see():
    findings = [not_checked(LIMIT, "there is no ramp"), found(LIMIT, 0.0, "all is well", "do")]
    given = verdict("failures_explained", "go.1", findings, "x", unread=["energy"])
    assert (given.level, given.measured) == ("sound", 0.0)
    assert given.text == "All is well. There is no ramp. Not available on this host: energy."


REMEDY = Remedy("set `server_cores`", "use `taskset`", "")


def test_a_remedy_is_one_that_the_reader_can_follow():
    findings = [found(LIMIT, 0.5, "the server was disturbed", REMEDY)]
    campaign = simulate().recording
    assert campaign.server is not None
    load = replace(campaign, server=replace(campaign.server, start_s=None))
    imported = replace(campaign, load=UnknownLoad("imported"))
    told = [
        of_trial("failures_explained", one, findings, "x").remedies
        for one in (campaign, load, imported)
    ]
    assert told == [("Set `server_cores`.",), ("Use `taskset`.",), ()]


def test_what_another_tool_did_not_record_is_not_checked():
    imported = replace(simulate().recording, load=UnknownLoad("imported"))
    findings = [unknown(LIMIT, "nobody knows", "ask")]
    assert of_trial("failures_explained", imported, findings, "x").level == "not_checked"
    assert of_trial("failures_explained", simulate().recording, findings, "x").level == "doubtful"


def test_a_verdict_is_the_same_after_it_was_written_and_read():
    tables = (ComparedTable("2048", "steady", "plimsoll"),)
    findings = [found(LIMIT, 0.5, "bad", "stop", tables=tables)]
    given = verdict("failures_explained", "go.1", findings, "somebody")
    read = Verdict.read(json.loads(json.dumps(asdict(given))))
    assert read.tables == given.tables == tables
    assert replace(read, sentences=given.sentences) == given
    assert read.sentences == given.sentences


REFUSED_WITH_HOSTS = ("(`-t`)", "--threads", "--driver-cores", "--server-cores", "--upload")


def remedies() -> list[Remedy]:
    """Every remedy that checks have as a constant, alone or in a table."""
    modules = (*CHECKS, verdicts.remedies)
    values = [value for module in modules for value in vars(module).values()]
    values += [one for value in values if isinstance(value, dict) for one in value.values()]
    return [value for value in values if isinstance(value, Remedy)]


def test_a_load_of_several_hosts_is_told_of_no_option_that_it_cannot_have():
    assert len(remedies()) > len(REFUSED_WITH_HOSTS)
    for remedy in remedies():
        said = remedy.of("load", by_hosts=True)
        assert not [option for option in REFUSED_WITH_HOSTS if option in said], said


def test_a_remedy_for_hosts_is_told_where_hosts_generated_the_load():
    remedy = Remedy("change `threads`", "change `-t`", hosts="change `threads` of the host")
    trial = simulate().recording
    host = HostDriver("one", 1.0, HostClock(0, 0.0, 0, 0), 0, 0, None)
    for hosts, words in (((), "Change `threads`."), ((host,), "Change `threads` of the host.")):
        bad = found(LIMIT, 0.5, "it is bad", remedy)
        given = of_trial("failures_explained", replace(trial, hosts=hosts), [bad], "somebody")
        assert given.sentences[0].remedy == words
