"""Going on with a campaign whose application, notes, repetitions or machine changed meanwhile."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from command_line import HERE, TOY, Ran, run
from plimsoll.storage import digests

pytestmark = [pytest.mark.long, pytest.mark.timeout(300)]

FIRST, SECOND, THIRD = (f"toy.plaintext.steady.{number}" for number in (1, 2, 3))
SHORT = ("--no-report", "--set", "load.steady.hold.duration=200ms")


class Lab:
    """A folder with a framework, a campaign and its results."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.toy = folder / "frameworks" / "toy"
        self.campaign = folder / "toy.toml"

    def make(self) -> None:
        """Puts the framework and the campaign there."""
        shutil.copytree(HERE / "frameworks", self.folder / "frameworks")
        shutil.copyfile(TOY, self.campaign)

    def run(self, *options: str) -> Ran:
        return run("run", self.campaign, *SHORT, *options, folder=self.folder)

    def append(self, text: str, name: str = "app.py") -> None:
        path = self.toy / name
        path.write_text(f"{path.read_text()}\n{text}\n")

    def ask_for(self, repetitions: int) -> None:
        asked = f"repetitions = {repetitions}\n"
        lines = self.campaign.read_text().splitlines(keepends=True)
        kept = [line for line in lines if not line.startswith("repetitions")]
        self.campaign.write_text("".join([*kept[:1], asked, *kept[1:]]))

    def recorded(self, results: str = "results/toy") -> dict[str, dict[str, object]]:
        """What each trial recorded, by its id."""
        found = sorted((self.folder / results / "trials").glob("[!.]*/trial.json"))
        return {path.parent.name: json.loads(path.read_bytes()) for path in found}


@pytest.fixture(scope="module")
def conducted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a campaign of one trial that was conducted."""
    found = Lab(tmp_path_factory.mktemp("conducted"))
    found.make()
    found.ask_for(1)
    assert found.run().code == 0
    return found.folder


@pytest.fixture
def lab(conducted: Path, tmp_path: Path) -> Lab:
    """A copy of it."""
    shutil.copytree(conducted, tmp_path, dirs_exist_ok=True)
    return Lab(tmp_path)


def test_again_repeats_what_is_void_and_keeps_what_it_was(lab: Lab) -> None:
    (path,) = (lab.folder / "results" / "toy" / "trials").glob("*/trial.json")
    recorded = json.loads(path.read_bytes())
    recorded["driver"]["requests_lost_by_recorder"] = 1
    path.write_text(json.dumps(recorded))
    digests.keep(path.parent)
    assert lab.run().code == 0
    assert json.loads(path.read_bytes()) == recorded, "without `--again` nothing is repeated"
    assert lab.run("--again").code == 0
    assert json.loads(path.read_bytes())["driver"]["requests_lost_by_recorder"] == 0
    aside = lab.folder / "results" / "toy" / "superseded" / "1" / "trials" / FIRST / "trial.json"
    assert json.loads(aside.read_bytes()) == recorded


@pytest.mark.parametrize("repetitions", [1, 2])
def test_a_changed_application_is_refused_in_one_sentence(lab: Lab, repetitions: int) -> None:
    lab.append("SLOWER = True")
    lab.ask_for(repetitions)
    ran = lab.run()
    assert ran.code == 6
    assert "error: `toy` changed since 1 trial was recorded: `app.py` changed\n" in ran.stderr
    assert "`--repeat-changed` runs the changed trials again" in ran.said
    assert "[1/" not in ran.stderr
    assert set(lab.recorded()) == {FIRST}


def test_what_changed_is_repeated_on_demand_and_the_earlier_trial_is_kept(lab: Lab) -> None:
    before = lab.recorded()[FIRST]
    lab.append("SLOWER = True")
    lab.ask_for(2)
    ran = lab.run("--repeat-changed")
    assert ran.code == 0, ran.stderr
    assert "1 trial to run again, earlier recordings moved to results/toy/superseded/1" in ran.said
    now = lab.recorded()
    assert set(now) == {FIRST, SECOND}
    assert now[FIRST]["provenance"] == now[SECOND]["provenance"] != before["provenance"]
    assert lab.recorded("results/toy/superseded/1") == {FIRST: before}
    earlier = ("results/toy/superseded/1", "--format", "markdown")
    report = run("report", *earlier, folder=lab.folder)
    assert report.code in (0, 1), report.stderr
    assert lab.run("--repeat-changed").code == 0
    assert lab.recorded() == now


def test_a_note_is_no_change(lab: Lab) -> None:
    manifest = lab.toy / "framework.toml"
    manifest.write_text(f'notes = ["it does not compress"]\n{manifest.read_text()}')
    (lab.toy / "NOTES.md").write_text("A note.")
    lab.ask_for(2)
    ran = lab.run()
    assert ran.code == 0, ran.stderr
    assert "2 trials, 1 complete" in ran.stderr
    assert set(lab.recorded()) == {FIRST, SECOND}


def test_a_campaign_grows_by_repetitions_and_by_nothing_else(lab: Lab) -> None:
    first = lab.recorded()[FIRST]
    lab.ask_for(3)
    ran = lab.run()
    assert ran.code == 0, ran.stderr
    grown = lab.recorded()
    assert set(grown) == {FIRST, SECOND, THIRD}
    assert grown[FIRST] == first
    assert [grown[key]["order"] for key in (FIRST, SECOND, THIRD)] == [0, 1, 2]
    lab.campaign.write_text(lab.campaign.read_text().replace("at = 4", "at = 5"))
    ran = lab.run()
    assert ran.code == 6
    assert "has results of another campaign: `load` differs" in ran.said


def test_a_server_on_other_cores_is_another_measurement(lab: Lab) -> None:
    lab.ask_for(2)
    ran = lab.run("--set", "server_cores=1", "--set", "driver_cores=0")
    assert ran.code == 6
    assert "the measurement changed since 1 trial was recorded: driver cores 1 → 0" in ran.said


def test_what_changed_since_it_was_built_is_built_before_anything_starts(lab: Lab) -> None:
    manifest = lab.toy / "framework.toml"
    manifest.write_text(f'build = "cp app.py $BUILD"\n{manifest.read_text()}')
    frameworks = ("--frameworks", "frameworks")
    never = lab.run("--into", "other")
    assert never.code == 4
    assert "error: `toy` is not built\n" in never.stderr
    assert run("install", "toy", *frameworks, folder=lab.folder).code == 0
    assert lab.run("--into", "other").code == 0
    lab.append("SLOWER = True")
    planned = run("plan", "toy.toml", *frameworks, folder=lab.folder)
    assert "note: `toy` will be built first, since `app.py` changed\n" in planned.stderr
    changed = lab.run("--into", "other")
    assert "toy: building, since `app.py` changed\n" in changed.stderr
    assert changed.code == 6, "its results are those of another application"
    assert lab.run("--into", "third").code == 0


def test_results_of_two_programs_that_were_put_together_are_void(lab: Lab) -> None:
    other = lab.folder / "other"
    lab.append("SLOWER = True")
    lab.ask_for(2)
    assert lab.run("--into", str(other)).code == 0
    trials = lab.folder / "results" / "toy" / "trials"
    shutil.rmtree(other / "trials" / FIRST)
    shutil.copytree(trials / FIRST, other / "trials" / FIRST)
    judged = run("judge", "other", "--json", folder=lab.folder)
    assert judged.code == 1
    found = json.loads(judged.stdout)
    for trial in found:
        verdict = next(one for one in trial["verdicts"] if one["check"] == "one_program")
        assert verdict["level"] == trial["level"] == "void"
        told = " ".join(sentence["text"] for sentence in verdict["sentences"])
        assert "Toy mixes 2 programs" in told
        assert "`app.py` changed" in told
    ids = {trial["provenance"]["application_id"] for trial in found}
    assert len(ids) == 2
    assert run("report", "other", "--format", "markdown", folder=lab.folder).code == 1
    written = (other / "report" / "report.md").read_text()
    assert all(one in written for one in ids)


def test_list_shows_the_digest_that_a_trial_records(lab: Lab) -> None:
    frameworks = ("--frameworks", "frameworks")
    listed = run("list", "toy", *frameworks, "--json", folder=lab.folder)
    (toy,) = [one for one in json.loads(listed.stdout)["frameworks"] if one["name"] == "toy"]
    judged = run("judge", "results/toy", "--json", folder=lab.folder)
    assert json.loads(judged.stdout)[0]["provenance"]["application_id"] == toy["application_id"]
    assert toy["application_id"] in run("list", "toy", *frameworks, folder=lab.folder).stdout
