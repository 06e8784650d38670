"""Options that several verbs share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from plimsoll.campaign import quantities

if TYPE_CHECKING:
    from collections.abc import Callable

F = TypeVar("F", bound="Callable[..., Any]")


class Quantity(click.ParamType):  # pyright: ignore[reportMissingTypeArgument]
    """A quantity as people write it.

    Args:
        name: What it is called in help.
        read: Reads it.
    """

    def __init__(self, name: str, read: Callable[[str], Any]) -> None:
        """Keep both."""
        self.name = name
        self._read = read

    def convert(
        self,
        value: Any,
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> Any:
        """The value, or a usage error that says how to write it."""
        if not isinstance(value, str):
            return value
        try:
            return self._read(value)
        except quantities.Unreadable as error:
            self.fail(f"{error.message}; {error.hint}", param, ctx)


DURATION = Quantity("DURATION", quantities.duration_s)
COUNT = Quantity("COUNT", quantities.count)
RATE = Quantity("RATE", quantities.number)
CORES = Quantity("CORES", quantities.cores)

frameworks_root = click.option(
    "--frameworks",
    "root",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Folder of the frameworks; without it, the one here, above, or of the checkout.",
)
settings = click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    help="Change a value of the campaign: `repetitions=1`, `frameworks=go,node`, "
    "`load.climb.timeout=5s`, `scale_time=0.1`. Repeatable.",
)
available = click.option(
    "--available",
    is_flag=True,
    help="Leave out, and name, what this machine has no toolchain for.",
)
as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON on stdout.")
campaign_file = click.argument("campaign", type=click.Path(path_type=Path))
