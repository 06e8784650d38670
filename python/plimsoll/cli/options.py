"""Options that several verbs share, and how help shows them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from plimsoll.campaign import quantities

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

F = TypeVar("F", bound="Callable[..., Any]")


class Grouped(click.Command):
    """A verb whose help shows its options in groups.

    Args:
        groups: Heading of each group, and the names of its options; what is in none comes last.
    """

    def __init__(
        self, *args: Any, groups: Mapping[str, Sequence[str]] | None = None, **keywords: Any
    ) -> None:
        """Keep the groups."""
        super().__init__(*args, **keywords)
        self.groups = dict(groups or {})

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the options, group by group."""
        records = {
            parameter.name: record
            for parameter in self.get_params(ctx)
            if isinstance(parameter, click.Option)
            and (record := parameter.get_help_record(ctx)) is not None
        }
        for heading, names in self.groups.items():
            with formatter.section(heading):
                formatter.write_dl([records.pop(name) for name in names])
        if records:
            with formatter.section("Other options"):
                formatter.write_dl(list(records.values()))


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


def completed(kind: str) -> Callable[..., Any]:
    """What a shell offers for a parameter; read only when a shell asks.

    Args:
        kind: Name of a function in `completing`.
    """

    def offer(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> Any:
        from plimsoll.cli import completing  # noqa: PLC0415 - nobody else needs it

        return getattr(completing, kind)(ctx, parameter, incomplete)

    return offer


DURATION = Quantity("DURATION", quantities.duration_s)
COUNT = Quantity("COUNT", quantities.count)
RATE = Quantity("RATE", quantities.number)
CORES = Quantity("CORES", quantities.cores)


def address(_ctx: click.Context, _parameter: click.Parameter, value: str) -> str:
    """An address as it was typed; what may hold a password is at once taken out of `ps`."""
    from plimsoll.cli import concealing  # noqa: PLC0415 - nobody else needs it

    if "@" in value or "=" in value:
        concealing.conceal(value)
    return value


storage = click.option(
    "--storage",
    default="",
    callback=address,
    metavar="URL",
    help="Keep results in a database: postgresql://USER@HOST/DATABASE. The last part of the folder "
    "of results is then the name of the campaign; the report lies in the folder.",
)
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
    shell_complete=completed("settings"),
    help="Change a value of the campaign: `repetitions=1`, `frameworks=go,node`, "
    "`load.climb.timeout=5s`, `scale_time=0.1`. Repeatable.",
)
available = click.option(
    "--available",
    is_flag=True,
    help="Leave out, and name, what is not available here.",
)
as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON on stdout.")
campaign_file = click.argument(
    "campaign", type=click.Path(path_type=Path), shell_complete=completed("campaigns")
)
framework_names = click.argument(
    "names", nargs=-1, metavar="[FRAMEWORK]...", shell_complete=completed("frameworks")
)
