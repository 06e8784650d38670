"""What is known of a trial while it is conducted; at its end it becomes the recording."""

from __future__ import annotations

import platform
import time
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING

import plimsoll
from plimsoll import _engine, capacity, machine, wording
from plimsoll.campaign import power
from plimsoll.campaign.requests import sent
from plimsoll.conduct.commit import commit
from plimsoll.drivers import records
from plimsoll.drivers.tools.plimsoll import NAME as ENGINE
from plimsoll.install import applications
from plimsoll.provenance import Provenance
from plimsoll.recording import (
    HOST,
    Driver,
    Ending,
    ExpectedResponse,
    PowerSources,
    RecordedDatabase,
    RecordedServer,
    RecordedUpstream,
    Recording,
)
from plimsoll.recording.tls import RequestedTls
from plimsoll.recording.turns import Turn
from plimsoll.sampling.sampler import Sampler
from plimsoll.sampling.samplers import energy
from plimsoll.sampling.wall import WallMeter

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from plimsoll.campaign.load import Load
    from plimsoll.campaign.requests import Exchange
    from plimsoll.campaign.tls import Tls
    from plimsoll.conduct.run_config import RunConfig
    from plimsoll.databases.served import RowCounts, ServedDatabase
    from plimsoll.drivers.job import DriverResult
    from plimsoll.errors import PlimsollError
    from plimsoll.machine import Fact
    from plimsoll.plan import Trial
    from plimsoll.recording import Recomputed, ResponseHead, SampledBodies
    from plimsoll.recording.readings import Reading
    from plimsoll.serving.database_host import DatabaseHost
    from plimsoll.serving.upstream import Upstream


@dataclass
class TrialState:
    """What is known of a trial so far.

    Attributes:
        trial: The trial.
        setting: What it has in common with others.
        exchanges: What is sent under load; empty until the contract was checked.
        heads: Heads of the responses, as the check of the contract saw them.
        recomputed: What was found in bodies that were checked after the load.
        sampled_bodies: How alike bodies are of which nothing was expected.
        contract_requests: Requests that were sent to ask the contract.
        began_utc_ns: When it began; its zero as long as nothing was driven.
        ending: How it ended.
        server: The server's side; None until it responded.
        database: The database that the server was given; None for none.
        of_database: Has the readings of a database on a host of its own.
        rows: What was counted in it; None until the server has stopped.
        upstream: The upstream that the server was given; None for none.
        upstream_requests: What that received; None until it has stopped.
        contract_responses: Right responses of the contract checks.
        contract: What was wrong before and after the load.
        sampler: Has the readings of resources.
        idle: Readings of RAPL without load, before and after.
        wall: The power meter; None for none.
        control: Readings of the control.
        system_calls: Readings of the server's system calls, in the warm-up.
        driven: The driver's side; None until it ended.
        provenance: What runs; empty until that was looked at.
        turns: The turns that its load took with others; empty for a load in one piece.
        warming_s: How long its runtime warmed up before the load, in seconds.
        confined_late_s: How much longer than its warm-up the server could use every core, in
            seconds.
        was_frozen: Whether its server was stopped between turns, for it worked while it rested.
        had_no_partner: Whether nobody took turns with it, as when it is repeated alone.
        beside: Trials that took turns, with this one; 1 for a load in one piece.
        began_s: When it began, by the monotonic clock.
        tls: TLS to the server; None for plain TCP.
    """

    trial: Trial
    setting: RunConfig
    exchanges: tuple[Exchange, ...] = ()
    heads: tuple[ResponseHead, ...] = ()
    recomputed: tuple[Recomputed, ...] = ()
    sampled_bodies: tuple[SampledBodies, ...] = ()
    contract_requests: int = 0
    began_utc_ns: int = field(default_factory=time.time_ns)
    ending: Ending = field(default_factory=Ending)
    server: RecordedServer | None = None
    database: ServedDatabase | None = None
    of_database: Sampler = field(default_factory=Sampler)
    rows: RowCounts | None = None
    upstream: Upstream | None = None
    upstream_requests: int | None = None
    contract_responses: int = 0
    contract: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    sampler: Sampler = field(default_factory=Sampler)
    idle: list[Reading] = field(default_factory=list["Reading"])
    wall: WallMeter | None = None
    control: list[Reading] = field(default_factory=list["Reading"])
    system_calls: list[Reading] = field(default_factory=list["Reading"])
    driven: DriverResult | None = None
    provenance: Provenance = field(default_factory=Provenance)
    turns: tuple[Turn, ...] = ()
    warming_s: float = 0.0
    confined_late_s: float = 0.0
    was_frozen: bool = False
    had_no_partner: bool = False
    beside: int = 1
    began_s: float = field(default_factory=time.monotonic)
    tls: Tls | None = None

    @cached_property
    def drawn(self) -> tuple[Exchange, ...]:
        """What is sent under load, before anything was learned of the responses; drawn once."""
        return self.trial.exchanges

    def fail(self, error: PlimsollError) -> None:
        """Notes the error that ended the trial."""
        self.ending = Ending(type(error).__name__, error.message, error.hint)

    @property
    def server_cores(self) -> tuple[int, ...]:
        """Cores of its server; empty for all."""
        return self.trial.load.server_cores or self.setting.server_cores

    @property
    def readings(self) -> list[Reading]:
        """Every reading of a resource, and what the driver reported of itself."""
        stated = self.driven.readings if self.driven else ()
        host = self.setting.server_host
        metered = [replace(one, host=host) for one in self.wall.readings] if self.wall else ()
        counted = [*self.system_calls, *self.of_database.readings]
        return [*self.idle, *metered, *self.control, *counted, *self.sampler.readings, *stated]

    @property
    def zero_ns(self) -> int:
        """Zero of the trial by CLOCK_MONOTONIC; its first reading as long as nothing was driven."""
        if self.driven:
            return self.driven.zero_monotonic_ns
        return min((reading.at_ns for reading in self.sampler.readings), default=0)

    def recording(self) -> Recording:
        """What happened."""
        trial, driven = self.trial, self.driven
        host = self.setting.machine or machine.facts()
        return Recording(
            trial=trial.id,
            order=trial.order,
            framework=trial.framework.name,
            variant=trial.framework.variant,
            language=trial.framework.language,
            endpoint=trial.endpoint.name,
            load=trial.load,
            repetition=trial.repetition,
            driver_name=trial.driver,
            seed=trial.seed,
            zero_utc=utc(driven.zero_utc_ns if driven else self.began_utc_ns),
            stages=driven.stages if driven else (),
            requests=tuple(exchange.request.name for exchange in self.exchanges),
            machines=self._machines(host),
            versions=versions(self.provenance, driven, trial.framework.folder),
            clock_offsets_ns=self._clock_offsets_ns(),
            ending=self.ending,
            server=self._server(),
            driver=self._driver(host),
            contract=self.contract,
            notes=self._notes(),
            limits=self.setting.limits,
            request_bytes=self._request_bytes(),
            heads=self.heads,
            contract_requests=self.contract_requests,
            request_weights=tuple(exchange.request.weight for exchange in self.exchanges),
            provenance=self.provenance,
            expected=self._expected(),
            recomputed=self.recomputed,
            sampled_bodies=self.sampled_bodies,
            turns=self.turns,
            took_s=(time.monotonic() - self.began_s) / self.beside,
            warming_s=self.warming_s,
            tls=self.tls and _requested(self.tls),
            power=self._power(),
            hosts=driven.hosts if driven else (),
            compliance=self.setting.compliance.get(trial.id, ()),
            database=self._database(),
            upstream=self._upstream(),
        )

    def _database(self) -> RecordedDatabase | None:
        """The database's side of the trial."""
        use = self.trial.endpoint.database
        if self.database is None or use is None:
            return None
        known = RecordedDatabase(
            version=self.database.server.version,
            cores=self.database.server.cores,
            started=self.database.server.supervisor_pid is not None,
            host=self.database.server.host,
            read_per_response=use.rows_read,
            written_per_response=use.rows_written,
            contract_responses=self.contract_responses,
        )
        return known if self.rows is None else replace(known, **vars(self.rows))

    def _upstream(self) -> RecordedUpstream | None:
        """The upstream's side of the trial."""
        service_s = self.trial.endpoint.upstream_s
        if self.upstream is None or service_s is None:
            return None
        return RecordedUpstream(
            service_s, self.upstream.cores, self.contract_responses, self.upstream_requests
        )

    def _power(self) -> PowerSources:
        """What was read of power."""
        wall, serve = self.wall, self.setting.serve
        return replace(
            energy.recorded() if serve is None else serve.rapl(),
            meter=power.parsed(self.setting.power).kind if self.setting.power else "",
            meter_failed=wall.failed if wall else 0,
            meter_problem=wall.problem if wall else "",
            has_net=self.setting.has_net_power,
        )

    def _machines(self, host: dict[str, Fact]) -> dict[str, dict[str, Fact]]:
        """Facts of every host that took part, that of the server first if anything of it was read.

        Args:
            host: Facts of the host that the server runs on, or would.
        """
        others = dict(self.driven.machines) if self.driven else {}
        is_read = not others or bool(self.sampler.readings)
        if (database := self._database_host) is not None:
            others[database.host] = dict(database.machine)
        return {self.setting.server_host: host, **others} if is_read else others

    @property
    def _database_host(self) -> DatabaseHost | None:
        """Another host that runs its database; None for this one, or no database."""
        return None if self.database is None else self.setting.database_host

    def _clock_offsets_ns(self) -> dict[str, int]:
        """How far the clocks of other hosts are ahead of this one's."""
        clocks = {one.host: one.clock for one in self.driven.hosts} if self.driven else {}
        if self.server is not None and self.server.clock is not None:
            clocks[self.server.host] = self.server.clock
        if (database := self._database_host) is not None:
            clocks[database.host] = database.clock
        return {HOST: 0, **{name: clock.offset_ns for name, clock in clocks.items()}}

    def _expected(self) -> tuple[ExpectedResponse, ...]:
        """What the engine checks of each response; foreign drivers check what they like."""
        if self.trial.driver != ENGINE:
            return ()
        expected = (one.expected for one in self.exchanges)
        return tuple(
            ExpectedResponse(
                one.status,
                one.length_bytes,
                one.body is not None,
                one.codings,
                one.events is not None,
            )
            for one in expected
        )

    def _request_bytes(self) -> tuple[int, ...]:
        """Length of each kind of request as its protocol sends it; empty where only a tool knows.

        Other load generators compress the fields of HTTP/2 in their own way. The heads of the
        frames that a file is sent in are not counted.
        """
        load, driver = self.trial.load, self.trial.driver
        if self.server is None or (driver != ENGINE and load.protocol != "http1"):
            return ()
        address = self.server.address
        requests = [one.request for one in self.exchanges]
        lengths = [
            _engine.sent_bytes(load.protocol, sent(one, load.protocol, address, load.keep_alive))
            for one in requests
        ]
        files = [one.upload.size_bytes if one.upload else 0 for one in requests]
        return tuple((length or 0) + file for length, file in zip(lengths, files, strict=True))

    def _server(self) -> RecordedServer | None:
        """The server's side; of one that ran already, its memory is that of the first reading."""
        if self.server is None or self.server.rest_rss_bytes is not None:
            return self.server
        return replace(
            self.server,
            rest_rss_bytes=self._first("rss_bytes"),
            rest_pss_bytes=self._first("pss_bytes"),
        )

    def _first(self, quantity: str) -> int | None:
        """The first reading of one of the server's quantities; None when there is none."""
        values = (
            int(reading.value)
            for reading in self.sampler.readings
            if (reading.scope, reading.quantity) == ("server", quantity)
        )
        return next(values, None)

    def _driver(self, host: Mapping[str, Fact]) -> Driver | None:
        """The driver's side; one on this host with what it could have done at most."""
        if self.driven is None or self.driven.hosts:
            return self.driven and self.driven.driver
        reached = _capacity_per_s(self.driven, self.trial.load, host)
        return replace(self.driven.driver, calibrated_capacity_per_s=reached)

    def _notes(self) -> tuple[str, ...]:
        """Notes of the framework and of all trials, and which resources could not be read."""
        problems = {**self.sampler.problems, **self.of_database.problems}
        unread = [f"{what} could not be read: {why}" for what, why in problems.items()]
        framework = self.trial.framework
        of_framework = (*framework.notes, *framework.notes_on_rules)
        of_server = (*self._warmed(), *self._frozen(), *self._alone())
        return (*of_framework, *self._not_proven(), *of_server, *self.setting.notes, *unread)

    def _warmed(self) -> Iterator[str]:
        if self.trial.start_warm_up_s:
            length = wording.seconds(self.trial.start_warm_up_s)
            yield f"The server had {length} of load before its first trial, which is not recorded."
        if self.confined_late_s:
            late = wording.seconds(self.confined_late_s)
            yield f"The server could use every core for {late} after its warm-up, by mistake."

    def _frozen(self) -> Iterator[str]:
        if self.was_frozen:
            yield "The server used CPU time while it rested, so it was frozen between its turns."

    def _alone(self) -> Iterator[str]:
        if self.turns and self.had_no_partner:
            yield (
                "It took turns with no other server, so what differs from other trials may be the "
                "machine."
            )

    def _not_proven(self) -> Iterator[str]:
        """What successful responses under load do not prove."""
        endpoint = self.trial.endpoint
        if endpoint.not_proven:
            yield f"Responses of `{endpoint.name}` under load do not prove {endpoint.not_proven}."
        if endpoint.drawn is not None and self.trial.values == "fixed":
            yield (
                f"All requests of the load on `{endpoint.name}` were identical: "
                "a cached response is not detected."
            )


def _requested(tls: Tls) -> RequestedTls:
    """TLS as requested, without the files of keys."""
    return RequestedTls(
        tls.server_name,
        trusted="anyone" if tls.insecure else "system" if tls.ca is None else "file",
        has_client_certificate=tls.cert is not None,
        version=tls.version,
        ciphers=tls.ciphers,
        resume=tls.resume,
    )


def _capacity_per_s(driven: DriverResult, load: Load, host: Mapping[str, Fact]) -> float | None:
    """The calibrated capacity of the case that is most like a drive; None when there is none."""
    driver = driven.driver
    known = capacity.kept(host, capacity.engine(driver.name, driver.version))
    responses = sum(driver.outcomes.get(name, 0) for name in records.complete_outcomes())
    received = [one.value for one in driven.readings if one.quantity == "received_bytes"]
    if not known or not responses or not received:
        return None
    case = capacity.nearest(
        known,
        driver.connections_requested or 1,
        received[-1] / responses,
        protocol=load.protocol,
        tls=load.tls,
        in_flight_each=load.in_flight_each,
    )
    return case and case.thread_per_s * driver.threads


def versions(ran: Provenance, driven: DriverResult | None, folder: Path) -> dict[str, str]:
    """Version of each part that took part, and the commit of the sources of the server."""
    has_sources = any(part.kind == "file" for part in ran.application)
    known = {
        "plimsoll": plimsoll.__version__,
        "python": platform.python_version(),
        "framework": applications.stated_version(ran.application),
        "driver": driven.driver.version if driven else "",
        "commit": commit(folder) if has_sources else "",
    }
    return {part: version for part, version in known.items() if version}


def utc(ns: int) -> str:
    """An instant of the wall clock in ISO 8601, to the microsecond.

    Args:
        ns: Nanoseconds since 1970.
    """
    return datetime.fromtimestamp(ns / 1e9, UTC).isoformat().replace("+00:00", "Z")
