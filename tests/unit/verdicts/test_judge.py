from dataclasses import replace

from plimsoll.verdicts.checks import CHECKS
from plimsoll.verdicts.judge import judge
from plimsoll.verdicts.levels import of_trial
from plimsoll.verdicts.verdict import worst
from recordings import read_trial, simulate, write_trial


def test_every_check_gives_one_verdict_in_its_order():
    verdicts = judge(simulate())
    assert [verdict.check for verdict in verdicts] == [check.NAME for check in CHECKS]
    assert of_trial(verdicts) == "sound"


def test_a_trial_is_as_bad_as_its_worst_verdict():
    assert of_trial(judge(simulate(failures={"reset_waiting": 0.005}))) == "doubtful"
    assert of_trial(judge(simulate(lost_rows=1))) == "void"
    assert worst([]) == "not_checked"


def test_limits_of_the_campaign_are_used_and_told():
    limits = {"failures_explained": {"failed_ratio_doubtful": 0.5, "failed_ratio_void": 0.6}}
    verdicts = judge(simulate(failures={"timed_out_waiting": 0.02}, limits=limits))
    assert of_trial(verdicts) == "sound"
    changed = [
        verdict.check for verdict in verdicts if "changed by this campaign" in verdict.source
    ]
    assert changed == ["failures_explained"]


def test_a_stored_trial_is_judged_as_the_one_in_memory(tmp_path):
    options = {"failures": {"reset_waiting": 0.02}, "missing": 1, "overflows": 3}
    recording = write_trial(tmp_path, **options)
    assert judge(read_trial(tmp_path, recording)) == judge(simulate(**options))


def test_a_trial_is_not_sound_where_nobody_looked_at_counts_or_responses():
    verdicts = judge(simulate())
    blind = [
        replace(one, level="not_checked")
        if one.check in ("conservation", "responses_correct")
        else one
        for one in verdicts
    ]
    assert of_trial(blind) == "not_checked"
    half = [one for one in blind if one.check != "conservation"]
    assert of_trial([*half, *(one for one in verdicts if one.check == "conservation")]) == "sound"
