"""The compliance gate in a campaign: once for each framework, before its first load.

Each server is started for it alone: no server under load has seen one of these requests.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from plimsoll.errors import FrameworkError
from plimsoll.events import Step
from plimsoll.serving.compliance import gate
from plimsoll.storage import scratch

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from plimsoll.campaign.framework import Framework
    from plimsoll.conduct.run_config import RunConfig
    from plimsoll.events import Listener
    from plimsoll.plan import Trial
    from plimsoll.recording import Recording
    from plimsoll.recording.compliance import ComplianceResult
    from plimsoll.serving.place import ServerPlace


def of_group(
    group: Sequence[Trial], recorded: Iterable[Recording], setting: RunConfig, tell: Listener
) -> dict[str, tuple[ComplianceResult, ...]]:
    """Results of the frameworks of some trials that are not recorded yet; none without the gate.

    Those of servers that an earlier group had no room for are known, and not measured again.

    Args:
        group: Trials that are conducted next.
        recorded: Recordings so far.
        setting: What all trials have in common, with the results so far.
        tell: Told each framework.

    Returns:
        Results by the id of the trial whose recording keeps them. A framework whose server fails
        has none: its trial says why.
    """
    if not setting.has_gate:
        return {}
    known = {(one.framework, one.variant) for one in recorded if one.compliance}
    found = {
        trial.id: setting.compliance[trial.id] for trial in group if trial.id in setting.compliance
    }
    known |= {(one.framework.name, one.framework.variant) for one in group if one.id in found}
    for trial in group:
        framework = trial.framework
        if (framework.name, framework.variant) in known:
            continue
        known.add((framework.name, framework.variant))
        tell(Step(f"compliance of {framework.title}", framework))
        with suppress(FrameworkError):
            found[trial.id] = of_framework(framework, setting.server_cores, setting.place)
    return found


def of_framework(
    framework: Framework, cores: Sequence[int], place: ServerPlace
) -> tuple[ComplianceResult, ...]:
    """What a framework's server makes of the cases; it is started and stopped.

    For HTTP/2, if it serves that without TLS, it is started once more.

    Args:
        framework: The framework.
        cores: Cores of the server; empty for all.
        place: Where it runs.

    Raises:
        FrameworkError: It did not start.
    """
    with scratch.folder() as folder:
        log = folder / "server.log"
        with place.started(framework, log, cores, None, {}, 0) as running:
            results = gate.of_running(running, framework)
        if "h2c" not in framework.services:
            return results
        with place.started(framework, log, cores, "h2c", {}, 0) as running:
            address = (running.place.host, running.place.port)
            return (*results, *gate.examine_http2(address, framework))
