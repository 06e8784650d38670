"""What a trial runs: the application, where its server runs, and what measures it."""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import plimsoll
from plimsoll import machine
from plimsoll.install.applications import digest_of, identity
from plimsoll.provenance import Part, Provenance, digest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from plimsoll.conduct.run_config import RunConfig
    from plimsoll.plan import Trial

_HOST_FACTS = ("kernel", "cpu_model")


def of(trial: Trial, setting: RunConfig) -> Provenance:
    """What a trial with a server of its own runs.

    Args:
        trial: The trial.
        setting: What it has in common with others.
    """
    application = setting.place.application(trial.framework)
    return Provenance(application, measurement(trial, setting))


def measurements(trials: Iterable[Trial], setting: RunConfig) -> Iterator[tuple[Part, ...]]:
    """What measures each of some trials; worked out once for those that are measured alike.

    Args:
        trials: Trials of one plan.
        setting: What they have in common.
    """
    found: dict[tuple[object, ...], tuple[Part, ...]] = {}
    for trial in trials:
        alike = (
            *(trial.driver, id(trial.endpoint), trial.load, trial.values),
            trial.start_warm_up_s,  # frameworks differ in it
        )
        if alike not in found:
            found[alike] = measurement(trial, setting)
        yield found[alike]


def measurement(trial: Trial, setting: RunConfig) -> tuple[Part, ...]:
    """What measures it: driver, endpoint, load, warm-up, cores, and the host they share."""
    server_cores = trial.load.server_cores or setting.server_cores
    host = setting.machine or machine.facts()
    return (
        *_driver(trial.driver),
        Part("definition", "endpoint", _endpoint(trial)),
        Part("definition", "load", digest(json.dumps(asdict(trial.load)).encode())),
        *_start_warm_up(trial),
        Part("setting", "server cores", _cores(server_cores)),
        Part("setting", "driver cores", _cores(setting.driver_cores)),
        Part("setting", "body_sample", f"{setting.body_sample_ratio:g}"),
        *_database(trial, setting),
        *_upstream(trial, setting),
        *((Part("setting", "turns", _turns(setting.turn_s, trial)),) if setting.turn_s else ()),
        *(Part("setting", name, str(host[name])) for name in _HOST_FACTS if host.get(name)),
        *setting.hosts,
    )


def _start_warm_up(trial: Trial) -> Iterator[Part]:
    """The load of its fresh server that is not recorded; the recorded one does not tell it."""
    if trial.start_warm_up_s:
        yield Part("setting", "start warm-up", f"{trial.start_warm_up_s:g} s")


def _turns(length_s: float, trial: Trial) -> str:
    """A length of turns; servers are shared (decision 83), and warm up in pulses (decision 109).

    No arrival of an open load is due between them (decision 159).
    """
    between = ", no arrivals between them" if trial.load.model == "open" else ""
    return f"{length_s:g} s, shared servers, warm-up in pulses{between}"


def _database(trial: Trial, setting: RunConfig) -> Iterator[Part]:
    """Version and cores of the database, if the trial uses one."""
    if setting.database is not None and trial.endpoint.database is not None:
        yield Part("version", "PostgreSQL", setting.database.version)
        yield Part("setting", "database cores", _cores(setting.database.cores))


def _upstream(trial: Trial, setting: RunConfig) -> Iterator[Part]:
    """Cores of the upstream, if the trial uses one."""
    if trial.endpoint.upstream_s is not None:
        yield Part("setting", "upstream cores", _cores(setting.upstream_cores))


def _driver(name: str) -> Iterator[Part]:
    """The program that generates the load, and the version of the lab."""
    yield Part("version", "plimsoll", plimsoll.__version__)
    if name == "plimsoll":
        from plimsoll import _engine  # noqa: PLC0415 - not needed for other load generators

        yield Part("program", "engine", digest_of(*identity(Path(_engine.__file__))))
        return
    version = _driver_version(name)
    if version:
        yield Part("version", name, version)


@cache
def _driver_version(name: str) -> str:
    from plimsoll.drivers.tools import DRIVERS  # noqa: PLC0415

    return next((one.version() for one in DRIVERS if one.NAME == name and one.needs() is None), "")


def _endpoint(trial: Trial) -> str:
    """Digest of what is sent and what is right; where values are drawn, that they are."""
    endpoint = trial.endpoint
    reported: list[object] = [
        (repr(one.request), one.expected.status, one.expected.length_bytes, one.expected.body)
        for one in endpoint.exchanges
    ]
    if endpoint.drawn is not None:
        reported.append(trial.values)
    return digest(repr(reported).encode())


def _cores(cores: tuple[int, ...]) -> str:
    return ",".join(map(str, cores)) or "all"
