"""`plimsoll run`: the trials of a campaign, then their verdicts and the report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from plimsoll import errors, machine, plan
from plimsoll import storage as storages
from plimsoll.cli import chosen, messages, options, panel, reporting

if TYPE_CHECKING:
    from plimsoll.campaign.campaign import Campaign
    from plimsoll.conduct.events import CampaignEnded
    from plimsoll.conduct.setting import Setting
    from plimsoll.plan import Trial
    from plimsoll.recording import Recording
    from plimsoll.storage.results import Results

RESULTS = Path("results")

MOST_SAID = 10
"""Trials that ended with an error are shown up to this number."""

MOST_LINES = 12
"""What such an error says is shown up to this number of lines."""


@click.command(name="run")
@options.campaign_file
@click.option(
    "--into",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Folder of the results; without it, results/<name of the campaign>.",
)
@options.storage
@options.settings
@options.available
@click.option("--again", is_flag=True, help="Repeat the trials that ended with an error.")
@click.option("--no-report", is_flag=True, help="Do not judge and write the report at the end.")
@options.frameworks_root
def command(
    campaign: Path,
    into: Path | None,
    storage: str,
    settings: tuple[str, ...],
    available: bool,
    again: bool,
    no_report: bool,
    root: Path | None,
) -> int:
    """Conducts the trials of a campaign, judges them, and writes the report.

    Running the same command again goes on where it stopped. Ctrl-C ends the trial that runs, stops
    its server and keeps what is complete.
    """
    asked = chosen.campaign(campaign, settings, root)
    asked = chosen.with_available(asked) if available else asked
    chosen.require_installed(asked.frameworks)
    chosen.require_drivers(asked)
    trials = _planned(asked)
    text = campaign.read_text(encoding="utf-8")
    with storages.opened(into or RESULTS / asked.name, storage) as results:
        ended = _conducted(asked, trials, results, text, again=again, judge=not no_report)
        code = 0 if no_report else reporting.judge_and_report(results, reporting.EVERY_FORMAT)
        return _failures(results, ended.failed) or code


def _conducted(
    asked: Campaign,
    trials: tuple[Trial, ...],
    results: Results,
    campaign_toml: str,
    *,
    again: bool,
    judge: bool,
) -> CampaignEnded:
    """Conducts the trials, and shows what happens."""
    from plimsoll.conduct import campaign as campaigns  # noqa: PLC0415 - help does without it

    scene = panel.Scene()

    def judged(recording: Recording) -> str:
        return reporting.verdict_text(results, recording) if judge else ""

    with panel.showing(scene, judged=judged) as tell:
        return campaigns.conduct(
            trials,
            _setting(asked),
            results,
            campaign_toml,
            cool_down_s=asked.cool_down_s,
            again=again,
            published_toml=chosen.published(asked),
            tell=tell,
        )


def _planned(asked: Campaign) -> tuple[Trial, ...]:
    refuses = chosen.refusals(asked)
    trials = plan.plan(asked, refuses)
    for line in chosen.left_out(asked, refuses):
        messages.note(line)
    if not trials:
        problem = errors.Problem(
            "", "the campaign has no trial to conduct", "name other frameworks or drivers"
        )
        raise errors.CampaignError([problem])
    return trials


def _setting(asked: Campaign) -> Setting:
    from plimsoll.conduct.setting import Setting  # noqa: PLC0415

    division = machine.divide_cores(asked.server_cores, asked.driver_cores)
    for load in asked.loads:
        machine.divide_cores(load.server_cores or division.server, division.driver)
    if division.note:
        messages.note(division.note)
    machine.raise_open_files()
    machine.check_connections(max(load.peak_connections for load in asked.loads))
    return Setting(
        server_cores=division.server,
        driver_cores=division.driver,
        machine=machine.facts(),
        body_sample_ratio=asked.body_sample_ratio,
        limits=asked.limits,
        idle_s=asked.idle_s,
        notes=(division.note,) if division.note else (),
    )


def _failures(results: Results, failed: tuple[str, ...]) -> int:
    """Says which trials ended with an error, and why; the exit code of the first one, else 0."""
    for trial_id in failed[:MOST_SAID]:
        ending = results.recording(trial_id).ending
        messages.error(f"{trial_id}: {_shortened(ending.message)}", ending.hint)
    if not failed:
        return 0
    trials = "1 trial" if len(failed) == 1 else f"{len(failed)} trials"
    messages.note(f"{trials} ended with an error, logs are in `{results.logs_place}`")
    messages.note("the same command with `--again` repeats what failed")
    return errors.exit_code_of(results.recording(failed[0]).ending.kind)


def _shortened(message: str) -> str:
    """A message whose lines each stand once, and not more of them than are read."""
    lines = list(dict.fromkeys(message.splitlines()))
    return "\n".join([*lines[:MOST_LINES], *(["…"] if lines[MOST_LINES:] else [])])
