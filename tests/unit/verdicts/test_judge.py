from plimsoll.verdicts.checks import CHECKS
from plimsoll.verdicts.judge import judge, level
from plimsoll.verdicts.verdict import worst
from recordings import read_trial, simulate, write_trial


def test_every_check_gives_one_verdict_in_its_order():
    verdicts = judge(simulate())
    assert [verdict.check for verdict in verdicts] == [check.NAME for check in CHECKS]
    assert level(verdicts) == "sound"


def test_a_trial_is_as_bad_as_its_worst_verdict():
    assert level(judge(simulate(failures={"reset_waiting": 0.02}))) == "doubtful"
    assert level(judge(simulate(lost_rows=1))) == "void"
    assert worst([]) == "sound"


def test_limits_of_the_campaign_are_used_and_told():
    limits = {"failures_explained": {"failed_ratio_doubtful": 0.5, "failed_ratio_void": 0.6}}
    verdicts = judge(simulate(failures={"reset_waiting": 0.02}, limits=limits))
    assert level(verdicts) == "sound"
    changed = [
        verdict.check for verdict in verdicts if "changed by this campaign" in verdict.source
    ]
    assert changed == ["failures_explained"]


def test_a_stored_trial_is_judged_as_the_one_in_memory(tmp_path):
    options = {"failures": {"reset_waiting": 0.02}, "missing": 1, "overflows": 3}
    recording = write_trial(tmp_path, **options)
    assert judge(read_trial(tmp_path, recording)) == judge(simulate(**options))
