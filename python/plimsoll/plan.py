"""Plans: the ordered list of trials of a campaign.

Each repetition is a complete block with every combination once, in its own shuffled order, so that
a drift of the host does not look like a difference between frameworks. A campaign that goes on
until its intervals are narrow enough adds further such blocks to the tables that need them.
"""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass, replace
from random import Random
from typing import TYPE_CHECKING, NamedTuple

from plimsoll.campaign.load import SERVICES
from plimsoll.campaign.requests import DRAWN, DRAWN_BY_TOOLS

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence

    from plimsoll.campaign.campaign import Campaign
    from plimsoll.campaign.framework import Framework
    from plimsoll.campaign.load import Load
    from plimsoll.campaign.requests import Endpoint, Exchange, Values
    from plimsoll.campaign.tls import Tls

    Refuses = Callable[[str, Load, Sequence[Exchange]], str]
    """Why a driver cannot put a load of some requests on a server; empty when it can."""

    Combination = tuple[Framework, Endpoint, Load, str]
    """Framework, endpoint, load and the name of the driver."""

OVER_HTTP1_ONLY = "WebSocket is measured over HTTP/1.1 only"
"""Why an endpoint of WebSocket takes no load of HTTP/2."""

SEED_BITS = 53
"""Length of a trial's seed, so that every JSON parser reads it exactly."""


@dataclass(frozen=True)
class Trial:
    """One start of one framework, one endpoint, one load, one repetition.

    Attributes:
        id: Unique in the campaign and usable as folder name: `go.2048.steady.1`; with the driver
            if the campaign has several: `go.2048.steady.wrk.1`.
        order: Position in the plan, from 0.
        framework: The framework.
        endpoint: The endpoint.
        load: The load.
        repetition: Number of the block, from 1.
        driver: The load generator: `plimsoll`.
        seed: Seed of the values of contract check and load, the mix and the sample of bodies; the
            same for every driver.
        values: Whether the values sent under load are drawn.
        tls: TLS to the server; None for plain TCP.
        start_warm_up_s: For how long its server is loaded in pulses before the load, or before the
            first one of those that share it, in seconds: what the warm-up of the load lacks of what
            its framework needs, or a search of load lines wants.
        fixtures_seed: Seed of what its server is given: files, a key, an upstream; the same for all
            trials of a block, which may share a server.
        takes_turns: Whether it takes turns, and shares its server with other trials.
    """

    id: str
    order: int
    framework: Framework
    endpoint: Endpoint
    load: Load
    repetition: int
    driver: str
    seed: int
    values: Values = "drawn"
    tls: Tls | None = None
    start_warm_up_s: float = 0.0
    fixtures_seed: int = 0
    takes_turns: bool = False

    @property
    def in_one_piece(self) -> Trial:
        """The same with all of its warm-up at the begin of the load."""
        if not self.start_warm_up_s:
            return self
        least_s = self.load.stages[0].duration_s + self.start_warm_up_s
        return replace(self, load=self.load.warmed(least_s), start_warm_up_s=0.0)

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        """The requests under load, with weights.

        They are drawn each time, and not kept: up to 25 MB each, in a plan of a thousand trials.
        """
        count = DRAWN if self.driver == "plimsoll" else DRAWN_BY_TOOLS
        return self.endpoint.of_seed(self.fixtures_seed).sent(self.values, self.seed, count)


class ComparedTable(NamedTuple):
    """One endpoint and load, by one driver: what entries share that are compared with each other.

    Attributes:
        endpoint: Name of the endpoint.
        load: Name of the load.
        driver: Name of the program that generates the load.
    """

    endpoint: str
    load: str
    driver: str


@dataclass(frozen=True)
class OmittedCombination:
    """A combination that is not in the plan.

    Attributes:
        framework: The framework.
        endpoint: The endpoint.
        reason: The reason given in its file, or what it lacks; empty for none.
        load: The load it does not support; None if it does not implement the endpoint at all.
    """

    framework: Framework
    endpoint: Endpoint
    reason: str
    load: Load | None = None

    def __str__(self) -> str:
        """What is left out and why, in one line."""
        at = "" if self.endpoint.protocol == "http1" else f" at {self.endpoint.name}"
        named = f"load {self.load.name}{at}" if self.load else self.endpoint.name
        verb = "cannot take" if self.load else "does not serve"
        why = f": {self.reason}" if self.reason else ""
        return f"{self.framework.title} {verb} {named}{why}"


@dataclass(frozen=True)
class Refused:
    """A load that a driver cannot generate.

    Attributes:
        driver: Name of the driver.
        load: The load.
        endpoint: The endpoint.
        reason: The reason given by the driver.
    """

    driver: str
    load: Load
    endpoint: Endpoint
    reason: str

    def __str__(self) -> str:
        """What is left out and why, in one line."""
        return (
            f"{self.driver} cannot generate load {self.load.name} on {self.endpoint.name}: "
            f"{self.reason}"
        )


def _nothing(driver: str, load: Load, exchanges: Sequence[Exchange]) -> str:
    """The refusal of drivers that can do everything."""
    return ""


def plan(campaign: Campaign, refuses: Refuses = _nothing) -> tuple[Trial, ...]:
    """The trials of a campaign, in order.

    Args:
        campaign: The campaign.
        refuses: Returns why a driver cannot generate a load; such trials are left out.

    Returns:
        One block per repetition. The same campaign always has the same plan, and a trial keeps its
        seed if others are added or removed.
    """
    return blocks(campaign, range(1, campaign.repetitions + 1), refuses)


def blocks(
    campaign: Campaign, repetitions: Iterable[int], refuses: Refuses = _nothing
) -> tuple[Trial, ...]:
    """The trials of some blocks, in order; also of blocks beyond `repetitions`.

    Args:
        campaign: The campaign.
        repetitions: Numbers of the blocks, from 1.
        refuses: As for `plan`.
    """
    combinations = _combinations(campaign, refuses)
    return tuple(
        _trial(campaign, *combination, repetition, order=order)
        for repetition in repetitions
        for order, combination in enumerate(
            _ordered(campaign, combinations, f"{campaign.seed}/{repetition}"),
            (repetition - 1) * len(combinations),
        )
    )


def tried(campaign: Campaign, like: Trial, load: Load, number: int, order: int) -> Trial:
    """A try of a campaign of kind `line`.

    Args:
        campaign: The campaign.
        like: The peak of the same framework and endpoint.
        load: The load of the try.
        number: Its number, from 1.
        order: Its position in the plan, from 0.
    """
    parts = (like.framework, like.endpoint, load, like.driver)
    return _trial(campaign, *parts, number, order=order)


def table(trial: Trial) -> ComparedTable:
    """The table that a trial belongs to."""
    return _table(trial.endpoint, trial.load, trial.driver)


def shared_start(trial: Trial) -> tuple[int, str, str, str]:
    """What trials in turns have in common if each server starts once for all of them.

    Another load may need another service, other cores or more memory, and a database or an upstream
    is that of one endpoint.
    """
    return trial.repetition, *_start(trial.endpoint, trial.load, trial.driver)


def groups(trials: Sequence[Trial]) -> tuple[tuple[Trial, ...], ...]:
    """Trials whose servers start once for all of them and take turns, in order."""
    return tuple(tuple(group) for _, group in itertools.groupby(trials, shared_start))


def tables(trials: Sequence[Trial]) -> tuple[tuple[Trial, ...], ...]:
    """The trials of each table, in the order in which tables and trials come."""
    found: dict[ComparedTable, list[Trial]] = {}
    for trial in trials:
        found.setdefault(table(trial), []).append(trial)
    return tuple(map(tuple, found.values()))


def load_s(trials: Sequence[Trial]) -> float:
    """Length of the loads of some trials in seconds, with those that only warm up their servers."""
    return sum(trial.load.duration_s for trial in trials) + start_warm_ups_s(trials)


def start_warm_ups_s(trials: Sequence[Trial]) -> float:
    """Loads that only warm up a server, once for each of its starts."""
    found = {
        (shared_start(one) if one.takes_turns else one.id, one.framework.reference): (
            one.start_warm_up_s
        )
        for one in trials
    }
    return sum(found.values())


def servers(trials: Sequence[Trial]) -> int:
    """How many servers some trials of one group have."""
    return sum(servers_of_each(trials).values())


def servers_of_each(trials: Sequence[Trial]) -> dict[str, int]:
    """Framework to its number of servers in one group: no two trials of a table share one."""
    counts = Counter((trial.framework.reference, table(trial)) for trial in trials)
    most: dict[str, int] = {}
    for (reference, _), count in counts.items():
        most[reference] = max(most.get(reference, 0), count)
    return most


def starts(trials: Sequence[Trial]) -> int:
    """How often servers start for some trials in turns."""
    return sum(map(servers, groups(trials)))


def left_out(campaign: Campaign) -> tuple[OmittedCombination, ...]:
    """Combinations that frameworks do not implement."""
    return tuple(left for pair in _pairs(campaign) for left in _left_out_of(campaign.loads, *pair))


def refused(campaign: Campaign, refuses: Refuses) -> tuple[Refused, ...]:
    """Loads that drivers cannot generate.

    Args:
        campaign: The campaign.
        refuses: Returns why a driver cannot generate a load.
    """
    sent = campaign.sent
    requested = itertools.product(campaign.drivers, campaign.loads, campaign.endpoints)
    return tuple(
        Refused(driver, load, endpoint, reason)
        for driver, load, endpoint in requested
        if (reason := refuses(driver, load.on(endpoint.protocol), sent[endpoint.name]))
    )


def _combinations(campaign: Campaign, refuses: Refuses) -> list[Combination]:
    """What is measured once in each block."""
    sent = campaign.sent
    return [
        (framework, endpoint, load, driver)
        for framework, endpoint in _pairs(campaign)
        if endpoint.name in framework.endpoints
        for load in campaign.loads
        if not _cannot(framework, endpoint, load)
        for driver in campaign.drivers
        if not refuses(driver, load.on(endpoint.protocol), sent[endpoint.name])
    ]


def _left_out_of(
    loads: Sequence[Load], framework: Framework, endpoint: Endpoint
) -> Iterator[OmittedCombination]:
    if endpoint.name not in framework.endpoints:
        yield OmittedCombination(
            framework, endpoint, framework.not_implemented.get(endpoint.name, "")
        )
        return
    for load in loads:
        if reason := _cannot(framework, endpoint, load):
            yield OmittedCombination(framework, endpoint, reason, load)


def _cannot(framework: Framework, endpoint: Endpoint, load: Load) -> str:
    """Why a framework cannot take a load at one of its endpoints; empty when it can."""
    if load.keep_alive and framework.no_keep_alive:
        return framework.no_keep_alive
    if load.service is not None and load.service not in framework.services:
        lacking = f"it does not serve {SERVICES[load.service]}"
        return framework.not_implemented.get(load.service, lacking)
    if not endpoint.goes_by(load.protocol):
        return OVER_HTTP1_ONLY
    return ""


def _pairs(campaign: Campaign) -> Iterator[tuple[Framework, Endpoint]]:
    return itertools.product(campaign.frameworks, campaign.endpoints)


def _ordered(
    campaign: Campaign, combinations: Sequence[Combination], seed: str
) -> list[Combination]:
    """One block in its order: shuffled, and with `turns` or `until` those of a table together.

    With `turns`, tables whose servers start once for all of them are together, too.
    """
    drawn = _shuffled(combinations, seed)
    if campaign.turn_s:
        drawn = _together(drawn, _start)
    return _together(drawn, _table) if campaign.turn_s or campaign.until else drawn


def _together(
    drawn: Sequence[Combination], key: Callable[[Endpoint, Load, str], Hashable]
) -> list[Combination]:
    """Combinations with one key together, where the first of them was."""
    places: dict[Hashable, int] = {}
    for _, endpoint, load, driver in drawn:
        places.setdefault(key(endpoint, load, driver), len(places))
    return sorted(drawn, key=lambda one: places[key(*one[1:])])


def _start(endpoint: Endpoint, load: Load, driver: str) -> tuple[str, str, str]:
    has_own = endpoint.database is not None or endpoint.upstream_s is not None
    return load.name, driver, endpoint.name if has_own else ""


def _table(endpoint: Endpoint, load: Load, driver: str) -> ComparedTable:
    return ComparedTable(endpoint.name, load.name, driver)


def _shuffled(combinations: Sequence[Combination], seed: str) -> list[Combination]:
    draw = Random(seed)  # noqa: S311  a seed makes it repeatable
    return draw.sample(combinations, len(combinations))


def _trial(
    campaign: Campaign,
    framework: Framework,
    endpoint: Endpoint,
    load: Load,
    driver: str,
    repetition: int,
    *,
    order: int,
) -> Trial:
    name = f"{framework.slug}.{endpoint.name}.{load.name}"
    draw = Random(f"{campaign.seed}/{name}.{repetition}")  # noqa: S311  a seed makes it repeatable
    of_block = Random(f"{campaign.seed}/fixtures.{repetition}")  # noqa: S311
    by = f".{driver}" if campaign.drivers[1:] else ""
    takes_turns = bool(campaign.turn_s)
    on_endpoint = load.on(endpoint.protocol)
    own = on_endpoint if takes_turns else on_endpoint.warmed(0.0)
    lacking_s = own.warmed(framework.warm_up_s).duration_s - own.duration_s
    of_tries_s = campaign.line.server_warm_up_s if campaign.line else 0.0
    return Trial(
        id=f"{name}{by}.{repetition}",
        order=order,
        framework=framework,
        endpoint=endpoint,
        load=own,
        repetition=repetition,
        driver=driver,
        seed=draw.getrandbits(SEED_BITS),
        values=campaign.values,
        start_warm_up_s=max(lacking_s, of_tries_s),
        fixtures_seed=of_block.getrandbits(SEED_BITS),
        takes_turns=takes_turns,
    )
