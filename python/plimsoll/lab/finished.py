"""Whether a campaign has anything left to run here, found without reading its recordings."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from plimsoll import live, machine, plan
from plimsoll.conduct import provenance
from plimsoll.conduct.run_config import RunConfig
from plimsoll.events import CampaignEnded, CampaignStarted, Notice, TrialSkipped
from plimsoll.install import applications
from plimsoll.lab import databases, selection
from plimsoll.provenance import id_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from plimsoll.campaign.campaign import Campaign
    from plimsoll.events import Listener
    from plimsoll.plan import Trial
    from plimsoll.storage.documents import CampaignFiles
    from plimsoll.storage.outlines import Outline
    from plimsoll.storage.parquet import ParquetResults


@dataclass(frozen=True)
class Finished:
    """A campaign with nothing left to run.

    Attributes:
        trials: Its trials.
        endings: How each ended, by its id.
        notes: What is remarked about it.
    """

    trials: Sequence[Trial]
    endings: Mapping[str, str]
    notes: Sequence[str]

    def tell(self, on_event: Listener) -> None:
        """Tells of it as of a run that skipped every trial."""
        for note in self.notes:
            on_event(Notice(note))
        on_event(CampaignStarted(len(self.trials), 0, 0.0))
        for trial in self.trials:
            on_event(TrialSkipped(trial, self.endings[trial.id]))
        failed = tuple(one.id for one in self.trials if self.endings[one.id] != "completed")
        on_event(CampaignEnded(len(self.trials) - len(failed), failed))


def of(requested: Campaign, files: CampaignFiles, stored: ParquetResults) -> Finished | None:
    """A campaign whose every trial was conducted with what is here now.

    Args:
        requested: The campaign, of which nothing is left out.
        files: Its files as its results would keep them.
        stored: Its results, which need not exist.

    Returns:
        None where something is left to run, to build or to write. The same for a campaign whose
        plan goes on, that needs more than servers, or measures power: only a run can tell.

    Raises:
        InputError: A driver cannot generate a load.
        StorageError: The results cannot be read.
    """
    if _needs_a_run(requested) or stored.campaign_toml() != files.toml:
        return None
    if (stored.folder / live.FILE).exists():
        return None  # one goes on, or was killed and left what a run removes
    lacking = selection.lacking_here()
    selection.require_drivers(requested, lacking)
    if selection.unready(requested.frameworks):
        return None
    refuses = selection.refusals(requested, lacking)
    trials = plan.plan(requested, refuses)
    if not trials or not stored.holds(files, trials):
        return None
    common, notes = here(requested)
    known = stored.outlines()
    if not _are_current(trials, known, common):
        return None
    endings = {one.id: known[one.id].ending for one in trials}
    return Finished(trials, endings, (*selection.left_out(requested, refuses), *notes))


def setting(requested: Campaign) -> RunConfig:
    """What all trials of a campaign have in common wherever they run."""
    return RunConfig(
        body_sample_ratio=requested.body_sample_ratio,
        limits=requested.limits,
        idle_s=requested.idle_s,
        reads_costs=requested.ladder is not None,
        has_net_power=requested.has_net_power,
        power=requested.power,
        turn_s=requested.turn_s,
        has_gate=requested.compliance,
    )


def _needs_a_run(requested: Campaign) -> bool:
    """Whether more decides what is left to run than the plan and what is recorded."""
    goes_on = requested.until or requested.line is not None or requested.ladder is not None
    return bool(
        goes_on
        or requested.power
        or requested.idle_s
        or databases.has_third_party(requested.endpoints)
    )


def here(requested: Campaign) -> tuple[RunConfig, tuple[str, ...]]:
    """What trials would have in common that ran here, and what is remarked about it.

    Raises:
        InputError: This machine cannot give server and driver the cores that they are to have.
    """
    division = machine.divide_cores(requested.server_cores, requested.driver_cores)
    found = replace(
        setting(requested),
        server_cores=division.server,
        driver_cores=division.driver,
        machine=machine.facts(),
    )
    return found, (division.note,) if division.note else ()


def _are_current(trials: Sequence[Trial], known: Mapping[str, Outline], here: RunConfig) -> bool:
    """Whether every trial was conducted, and the same would be measured now where it completed."""
    if any(one.id not in known for one in trials):
        return False
    completed = [one for one in trials if known[one.id].ending == "completed"]
    ran = {one.framework.title: one.framework for one in completed}
    now = {title: id_of(applications.of(one)) for title, one in ran.items()}
    return all(
        known[one.id].application == now[one.framework.title] != ""
        and known[one.id].measurement == id_of(measured)
        for one, measured in zip(completed, provenance.measurements(completed, here), strict=True)
    )
