"""Lists of items: requests, and the JSON that responds to them, with and without compression."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, NamedTuple

from plimsoll.campaign.bodies import equal_as_json
from plimsoll.campaign.fixtures import ITEMS
from plimsoll.campaign.requests import Exchange, Expected, Header, Request, first_problem, of_type

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from plimsoll.campaign.fixtures import Fixtures
    from plimsoll.campaign.requests import Coding, HttpResponse

MOST_FACTOR = 100
"""The largest factor of a request; the smallest is 1."""


class ItemList(NamedTuple):
    """What is requested of `/items`.

    Attributes:
        length: Number of items, from the first one on.
        factor: What each total is multiplied by.
    """

    length: int
    factor: int

    @property
    def target(self) -> str:
        """Path and query."""
        return f"/items/{self.length}?m={self.factor}"

    def of(self, fixtures: Fixtures) -> dict[str, object]:
        """The right response as JSON."""
        listed = fixtures.items[: self.length]
        items = [{**one, "total": one["price"] * one["quantity"] * self.factor} for one in listed]
        return {"count": self.length, "items": items}


def exchange(
    name: str,
    fixtures: Fixtures,
    wanted: ItemList,
    headers: tuple[Header, ...] = (),
    codings: tuple[Coding, ...] = (),
    *checks: Callable[[HttpResponse], str | None],
) -> Exchange:
    """The request of a list, and what is expected.

    Args:
        name: Name of the request.
        fixtures: What the server was given.
        wanted: The list.
        headers: Headers of the request.
        codings: Content codings that it accepts.
        checks: Checks of the response besides that of its type.
    """
    return Exchange(
        Request(name, "GET", wanted.target, headers),
        Expected(
            codings=codings,
            check=first_problem(of_type("application/json"), *checks),
            check_body=equal_as_json(wanted.of(fixtures)),
        ),
    )


def drawn(random: Random, count: int, shortest: int = 1) -> Iterator[ItemList]:
    """Draws lists whose lengths are spread evenly, so that every seed needs equal work.

    Args:
        random: Draws them.
        count: How many; no two are equal as long as there are enough.
        shortest: The smallest number of items of a list.
    """
    lengths = range(shortest, ITEMS + 1)
    rounds = -(-count // len(lengths))
    factors = {length: random.sample(range(1, MOST_FACTOR + 1), rounds) for length in lengths}
    lists = [ItemList(length, factors[length][at]) for at in range(rounds) for length in lengths]
    # The last round is cut in the middle: what is left out is drawn.
    last = lists[(rounds - 1) * len(lengths) :]
    kept = random.sample(last, count - (rounds - 1) * len(lengths))
    yield from (*lists[: (rounds - 1) * len(lengths)], *kept)
