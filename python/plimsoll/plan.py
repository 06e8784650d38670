"""Trials: a campaign becomes an ordered list of things to do.

Each repetition is a complete block that holds every combination once, in an order of its own, so
that a drift of the machine cannot be taken for a difference between frameworks.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from plimsoll.campaign.campaign import Campaign
    from plimsoll.campaign.framework import Framework
    from plimsoll.campaign.load import Load, Stage
    from plimsoll.campaign.requests import Endpoint, Exchange

    Refuses = Callable[[str, Load, Sequence[Exchange]], str]
    """Why a driver cannot put a load of some requests on a server; empty when it can."""

    Combination = tuple[Framework, Endpoint, Load, str]
    """Framework, endpoint, load and the name of the driver."""

REQUEST_BYTES = 48
"""Size of the record of one request before compression."""

ASSUMED_REQUESTS_PER_S = 50_000.0
"""Requests per second that an estimate takes for granted where the load does not say."""

ASSUMED_AROUND_S = 2.0
"""Seconds of one trial that are not load, as an estimate takes them for granted.

Start, two checks of the contract, stop, and storing the rows.
"""

SEED_BITS = 53
"""Length of the seed of a trial, such that every reader of JSON keeps it whole."""


@dataclass(frozen=True)
class Trial:
    """One start of one framework, one endpoint, one load, one repetition.

    Attributes:
        id: Unique in the campaign and fit for a folder name: `go.2048.steady.1`; with the driver
            where the campaign has several: `go.2048.steady.wrk.1`.
        order: Position in the plan, from 0.
        framework: What is measured.
        endpoint: What is asked of it.
        load: How much of it.
        repetition: Number of the block, from 1.
        driver: The program that puts on the load: `plimsoll`.
        seed: Seeds the contract's values, the mix and the sample of bodies; the same for every
            driver.
    """

    id: str
    order: int
    framework: Framework
    endpoint: Endpoint
    load: Load
    repetition: int
    driver: str
    seed: int


@dataclass(frozen=True)
class LeftOut:
    """A combination that is not in the plan.

    Attributes:
        framework: What would be measured.
        endpoint: What would be asked of it.
        reason: Why not, as its folder says.
        load: The load that it cannot take; None when it does not serve the endpoint at all.
    """

    framework: Framework
    endpoint: Endpoint
    reason: str
    load: Load | None = None

    def __str__(self) -> str:
        """What is left out and why, in one line."""
        named = f"load {self.load.name}" if self.load else self.endpoint.name
        verb = "cannot take" if self.load else "does not serve"
        return f"{self.framework.title} {verb} {named}: {self.reason}"


@dataclass(frozen=True)
class Refused:
    """A load that a driver does not put on.

    Attributes:
        driver: Name of the driver.
        load: The load.
        endpoint: What would be asked.
        reason: Why not, as the driver says.
    """

    driver: str
    load: Load
    endpoint: Endpoint
    reason: str

    def __str__(self) -> str:
        """What is left out and why, in one line."""
        return (
            f"{self.driver} does not put load {self.load.name} on {self.endpoint.name}: "
            f"{self.reason}"
        )


@dataclass(frozen=True)
class Estimate:
    """What a plan takes.

    Attributes:
        trials: Number of trials.
        load_s: Time under load, in seconds.
        duration_s: Time in all, in seconds: load, pauses, and what lies around each load.
        requests: Requests sent.
        bytes: Their records before compression, all trials together.
        largest_trial_bytes: The same of the trial with the most requests.
        assumed_requests_per_s: Requests per second that were taken for granted.
        assumed_around_s: Seconds around each load that were taken for granted.
    """

    trials: int
    load_s: float
    duration_s: float
    requests: int
    bytes: int
    largest_trial_bytes: int
    assumed_requests_per_s: float
    assumed_around_s: float


def _nothing(driver: str, load: Load, exchanges: Sequence[Exchange]) -> str:
    """The refusal of drivers that can do everything."""
    return ""


def plan(campaign: Campaign, refuses: Refuses = _nothing) -> tuple[Trial, ...]:
    """The trials of a campaign, in order.

    Args:
        campaign: What is asked.
        refuses: Says why a driver cannot put on a load; such trials are left out.

    Returns:
        One block for each repetition. The same campaign always has the same plan, and a trial
        keeps its seed when others come or go.
    """
    combinations = [
        (framework, endpoint, load, driver)
        for framework, endpoint in _pairs(campaign)
        if endpoint.name in framework.endpoints
        for load in campaign.loads
        if not (load.keep_alive and framework.no_keep_alive)
        for driver in campaign.drivers
        if not refuses(driver, load, endpoint.exchanges)
    ]
    orders = itertools.count()
    return tuple(
        _trial(campaign, *combination, repetition, order=next(orders))
        for repetition in range(1, campaign.repetitions + 1)
        for combination in _shuffled(combinations, f"{campaign.seed}/{repetition}")
    )


def left_out(campaign: Campaign) -> tuple[LeftOut, ...]:
    """What a campaign asks of frameworks that do not serve it."""
    return tuple(left for pair in _pairs(campaign) for left in _left_out_of(campaign.loads, *pair))


def refused(campaign: Campaign, refuses: Refuses) -> tuple[Refused, ...]:
    """What a campaign asks of drivers that do not do it.

    Args:
        campaign: What is asked.
        refuses: Says why a driver cannot put on a load.
    """
    asked = itertools.product(campaign.drivers, campaign.loads, campaign.endpoints)
    return tuple(
        Refused(driver, load, endpoint, reason)
        for driver, load, endpoint in asked
        if (reason := refuses(driver, load, endpoint.exchanges))
    )


def estimate(
    trials: Sequence[Trial],
    cool_down_s: float,
    requests_per_s: float = ASSUMED_REQUESTS_PER_S,
    around_s: float = ASSUMED_AROUND_S,
) -> Estimate:
    """What some trials take, in time and on disk.

    How many requests a closed load sends is for the server to decide, so a rate is assumed, up to
    the limits that the load itself sets: its think time and its number of requests. An open load
    says how many there are.

    Args:
        trials: The trials.
        cool_down_s: Pause between two of them, in seconds.
        requests_per_s: Rate assumed of every server.
        around_s: Time assumed around each load, in seconds.

    Returns:
        The estimate.
    """
    requests = [_requests(trial.load, requests_per_s) for trial in trials]
    load_s = sum(_load_s(trial.load, requests_per_s) for trial in trials)
    pauses_s = cool_down_s * max(0, len(trials) - 1)
    return Estimate(
        trials=len(trials),
        load_s=load_s,
        duration_s=load_s + pauses_s + around_s * len(trials),
        requests=sum(requests),
        bytes=sum(requests) * REQUEST_BYTES,
        largest_trial_bytes=max(requests, default=0) * REQUEST_BYTES,
        assumed_requests_per_s=requests_per_s,
        assumed_around_s=around_s,
    )


def duration_s(trials: Sequence[Trial], cool_down_s: float) -> float:
    """Time that some trials take in all, in seconds, as `estimate` has it."""
    return estimate(trials, cool_down_s).duration_s


def _left_out_of(
    loads: Sequence[Load], framework: Framework, endpoint: Endpoint
) -> Iterator[LeftOut]:
    if endpoint.name not in framework.endpoints:
        yield LeftOut(framework, endpoint, framework.not_implemented.get(endpoint.name, ""))
    elif framework.no_keep_alive:
        for load in loads:
            if load.keep_alive:
                yield LeftOut(framework, endpoint, framework.no_keep_alive, load)


def _pairs(campaign: Campaign) -> Iterator[tuple[Framework, Endpoint]]:
    return itertools.product(campaign.frameworks, campaign.endpoints)


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
    by = f".{driver}" if campaign.drivers[1:] else ""
    return Trial(
        id=f"{name}{by}.{repetition}",
        order=order,
        framework=framework,
        endpoint=endpoint,
        load=load,
        repetition=repetition,
        driver=driver,
        seed=draw.getrandbits(SEED_BITS),
    )


def _load_s(load: Load, requests_per_s: float) -> float:
    """How long a load lasts; one that ends after a number of requests may end before its time."""
    if load.request_limit is None:
        return load.duration_s
    return min(load.duration_s, load.request_limit / requests_per_s)


def _requests(load: Load, requests_per_s: float) -> int:
    total = sum(_stage_requests(load, stage, requests_per_s) for stage in load.stages)
    return round(total if load.request_limit is None else min(total, load.request_limit))


def _stage_requests(load: Load, stage: Stage, requests_per_s: float) -> float:
    level = _mean_level(stage)
    if load.model == "open":
        rate_per_s = level
    elif load.think_time_s > 0:
        rate_per_s = min(requests_per_s, level / load.think_time_s)
    else:
        rate_per_s = requests_per_s if level > 0 else 0.0
    return rate_per_s * stage.duration_s


def _mean_level(stage: Stage) -> float:
    """Mean level of a stage: of the steps 1 to k, the mean of i / k is (k + 1) / 2k."""
    share = (stage.steps + 1) / (2 * stage.steps) if stage.steps else 0.5
    return stage.start + (stage.end - stage.start) * share
