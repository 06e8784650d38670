"""Options that several verbs share, and how help shows them."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.shell_completion import CompletionItem

from plimsoll import cli
from plimsoll.campaign import quantities
from plimsoll.campaign.tls import VERSIONS
from plimsoll.cli import messages
from plimsoll.errors import InputError, Problem

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

ONE_MACHINE = {
    "--hosts": (
        "one machine only",
        "several hosts generate `plimsoll load` and `plimsoll run`; load lines over hosts: "
        "`plimsoll run line --hosts FILE`",
    )
}
"""What verbs say that measure from one machine."""

F = TypeVar("F", bound="Callable[..., Any]")


class Grouped(click.Command):
    """A verb whose help shows its options in groups.

    Args:
        groups: Heading of each group, and the names of its options; what is in none comes last.
        alone: Options that may stand without `=VALUE`, and the value that they have then.
        elsewhere: Options that it does not have, with the reason, and what to use.
    """

    def __init__(
        self,
        *args: Any,
        groups: Mapping[str, Sequence[str]] | None = None,
        alone: Mapping[str, str] | None = None,
        elsewhere: Mapping[str, tuple[str, str]] | None = None,
        **keywords: Any,
    ) -> None:
        """Keep the groups."""
        super().__init__(*args, **keywords)
        self.groups = dict(groups or {})
        self.elsewhere = dict(elsewhere or {})
        self.alone = {option: f"{option}={value}" for option, value in (alone or {}).items()}

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Reads arguments; an option that stands alone does not take the next one as its value.

        Raises:
            InputError: An option is of another verb, for a reason.
        """
        for option, (message, hint) in self.elsewhere.items():
            if any(one == option or one.startswith(f"{option}=") for one in args):
                raise InputError([Problem("", f"`{option}`: {message}", hint)])
        return super().parse_args(ctx, [self.alone.get(one, one) for one in args])

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


class QuantityType(click.ParamType):  # pyright: ignore[reportMissingTypeArgument]
    """A quantity with its unit, such as `30s` or `5k`.

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
        """The value.

        Raises:
            UnreadableValue: It cannot be parsed; the hint gives an example.
        """
        if not isinstance(value, str):
            return value
        try:
            return self._read(value)
        except quantities.UnreadableQuantity as error:
            raise messages.UnreadableValue(error.message, error.hint, param, ctx) from error


SAME = {"markdown": "md", "md": "markdown", "table": "text"}
"""Other names of formats, which are taken where a verb has the one that they mean."""


class Format(click.Choice[str]):
    """A format, which may have another name."""

    def convert(
        self,
        value: Any,
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> Any:
        """The format by its own name.

        Raises:
            UsageError: There is none.
        """
        is_other = value not in self.choices and SAME.get(value) in self.choices
        return super().convert(SAME[value] if is_other else value, param, ctx)


class FormatList(click.ParamType):  # pyright: ignore[reportMissingTypeArgument]
    """Formats of files, with commas between; options that take it may be repeated, too.

    Args:
        names: Names of the formats.
        elsewhere: Formats that it does not have, and what prints them.
    """

    name = "FORMATS"

    def __init__(self, names: Sequence[str], elsewhere: Mapping[str, str] | None = None) -> None:
        """Keep them."""
        self._names = tuple(names)
        self._elsewhere = dict(elsewhere or {})

    def convert(
        self,
        value: Any,
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> Any:
        """Each format by its own name, once.

        Raises:
            UnreadableValue: One of them is unknown.
        """
        if not isinstance(value, str):
            return value
        typed = [one.strip() for one in value.split(",")]
        found = [one if one in self._names else SAME.get(one, one) for one in typed]
        for one in found:
            if one not in self._names:
                message = f"unknown format `{one}`{messages.meant(one, self._names)}"
                formats = ", ".join(f"`{name}`" for name in self._names)
                hint = self._elsewhere.get(one, f"formats: {formats}; several with commas between")
                raise messages.UnreadableValue(message, hint, param, ctx)
        return tuple(dict.fromkeys(found))

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """The formats that the last one of a list may become."""
        before, comma, last = incomplete.rpartition(",")
        begins = (name for name in self._names if name.startswith(last))
        return [CompletionItem(f"{before}{comma}{name}") for name in begins]


def _joined(
    _context: click.Context, _option: click.Parameter, lists: Sequence[Sequence[str]]
) -> tuple[str, ...]:
    """The formats of a repeated option, each once."""
    return tuple(dict.fromkeys(chain.from_iterable(lists)))


def formats(
    names: Sequence[str], elsewhere: Mapping[str, str] | None = None, *also: str
) -> Callable[[F], F]:
    """The option of a verb that writes files: `--format html,pdf`, which may be repeated.

    Args:
        names: Names of the formats.
        elsewhere: Formats that it does not have, and what prints them.
        also: Other names of the option.
    """
    return click.option(
        "--format",
        *also,
        "formats",
        multiple=True,
        type=FormatList(names, elsewhere),
        callback=_joined,
        help=f"{', '.join(names)}: with commas between, or repeated.  [default: all]",
    )


class Folder(click.ParamType):  # pyright: ignore[reportMissingTypeArgument]
    """A folder, which need not exist.

    One whose name Arrow would take for an address, such as `s3:x`, becomes an absolute path.
    """

    name = "DIR"

    def convert(
        self,
        value: Any,
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> Any:
        """The path.

        Raises:
            UsageError: The name is empty or contains a NUL.
        """
        if not isinstance(value, str):
            return value
        if not value.strip() or "\0" in value:
            self.fail("the folder name is empty or contains a NUL character", param, ctx)
        return Path.cwd() / value if ":" in value else Path(value)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Has the shell offer folders."""
        return [CompletionItem(incomplete, type="dir")]


class CampaignFile(click.ParamType):  # pyright: ignore[reportMissingTypeArgument]
    """A campaign: the path of its file, or the name of one that is here or came with Plimsoll."""

    name = "CAMPAIGN"

    def convert(
        self,
        value: Any,
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> Any:
        """The path of the file, or an `InputError`; while words are completed, what was typed."""
        from plimsoll.campaign import places  # noqa: PLC0415 - help does without it

        is_completing = ctx is not None and ctx.resilient_parsing
        return Path(value) if is_completing else places.campaign_file(Path(value))


def completed(kind: str) -> Callable[..., Any]:
    """Shell completion of a parameter, imported only when a shell asks for it.

    Args:
        kind: Name of a function in `completing`.
    """

    def offer(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> Any:
        return getattr(cli.completing, kind)(ctx, parameter, incomplete)

    return offer


DURATION = QuantityType("DURATION", quantities.duration_s)
COUNT = QuantityType("COUNT", quantities.count)
RATE = QuantityType("RATE", quantities.number)
CORES = QuantityType("CORES", quantities.cores)
FOLDER = Folder()
FILE = click.Path(path_type=Path, dir_okay=False)
PEM = click.Path(path_type=Path)


def address(_ctx: click.Context, _parameter: click.Parameter, value: str) -> str:
    """An address as it was typed; one that may contain a password is redacted in `ps`."""
    if "@" in value or "=" in value:
        cli.redaction.conceal(value)
    return value


_POSTGRESQL = (
    "results in PostgreSQL: postgresql://USER@HOST/DATABASE. The last part of the results folder "
    "names the campaign"
)
storage = click.option(
    "--storage",
    default="",
    callback=address,
    metavar="URL",
    help=f"Store {_POSTGRESQL}; the report is still written to the folder.",
)
stored = click.option(
    "--storage", default="", callback=address, metavar="URL", help=f"Read {_POSTGRESQL}."
)
power = click.option(
    "--power",
    default="",
    metavar="ADDRESS",
    help="Power meter at the wall: shelly://HOST, tasmota://HOST, kasa://HOST, fritz://HOST/AIN or "
    "exec:COMMAND, a command that prints watts.",
)
hosts = click.option(
    "--hosts",
    type=FILE,
    metavar="FILE",
    help="Hosts that run the servers and generate the loads: docs/hosts.md.  [default: this one]",
)
keep_rows = click.option(
    "--keep-rows",
    type=click.Choice(["lab", "remote"]),
    default="lab",
    show_default=True,
    help="With --hosts: copy every row to the lab, or leave rows on their hosts, which count them.",
)
frameworks_root = click.option(
    "--frameworks",
    "root",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Frameworks folder. Default: `frameworks/` here, in a parent, or Plimsoll's own.",
)
settings = click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    shell_complete=completed("settings"),
    help="Override a value of the campaign file: `repetitions=1`, `frameworks=go,node`, "
    "`load.climb.timeout=5s`, `scale_time=0.1`. Repeatable.",
)
available = click.option(
    "--available",
    is_flag=True,
    help="Skip what is not available on this host, and list it.",
)


def _checks(
    _ctx: click.Context, _parameter: click.Parameter, value: tuple[str, ...]
) -> tuple[str, ...]:
    """Names of checks that there are."""
    return cli.judging.checks(value) if value else ()


accept = click.option(
    "--accept",
    "accepted",
    multiple=True,
    metavar="CHECK",
    callback=_checks,
    help="Verdicts of this check, by name or title, do not change the exit code; they are still "
    "shown. Repeatable.",
)
strict = click.option(
    "--strict", is_flag=True, help="Exit code 1 for doubtful verdicts as well as for void ones."
)
fail_if = click.option(
    "--fail-if",
    multiple=True,
    metavar="THRESHOLD",
    help="Threshold on entries; exit code 7 when crossed: 'p99>20ms' for all, 'json.p99>20ms' for "
    "an endpoint, 'go/json.steady.goodput<10k'; `*` stands for any name. A recorded load is judged "
    "as `load` judges it. Repeatable.",
)
junit = click.option("--junit", type=FILE, metavar="FILE", help="Write JUnit XML.")
thresholds_junit = click.option(
    "--junit", type=FILE, metavar="FILE", help="Write the thresholds of --fail-if as JUnit XML."
)
as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON on stdout.")


def output(*forms: str) -> Callable[[F], F]:
    """The options for the format on stdout, which every verb with several has: `-o`, `--json`.

    Args:
        forms: Its formats, the first by default.
    """
    return together(
        click.option(
            *messages.FORMAT_OPTIONS,
            "output",
            type=Format(forms),
            default=forms[0],
            show_default=True,
            help="Format of the result on stdout.",
        ),
        click.option("--json", "as_json", is_flag=True, help="The same as `-o json`."),
    )


campaign_file = click.argument(
    "campaign", type=CampaignFile(), shell_complete=completed("campaigns")
)
framework_names = click.argument(
    "names", nargs=-1, metavar="[FRAMEWORK]...", shell_complete=completed("frameworks")
)


def together(*declared: Callable[[F], F]) -> Callable[[F], F]:
    """One decorator of several options.

    Args:
        declared: Their decorators, in the order of help.
    """

    def declare(command: F) -> F:
        for option in reversed(declared):
            command = option(command)
        return command

    return declare


request = together(
    click.option("-m", "--method", help="HTTP method.  [default: GET, or POST with a body]"),
    click.option(
        "-H",
        "--header",
        "headers",
        multiple=True,
        metavar="'NAME: VALUE'",
        help="Request header. Repeatable.",
    ),
    click.option("-b", "--body", metavar="TEXT|@FILE|@-", help="Request body; @- reads stdin."),
)
"""What a load sends."""

expected_response = together(
    click.option(
        "--expect-status", "status", type=int, help="Expected status.  [default: 200 to 399]"
    ),
    click.option(
        "--expect-length", "length_bytes", type=COUNT, help="Expected body length in bytes."
    ),
    click.option("--expect-body", "expected_body", metavar="TEXT|@FILE|@-", help="Expected body."),
)
"""What it expects."""

generator = together(
    click.option(
        "-t",
        "--threads",
        type=COUNT,
        default=1,
        show_default=True,
        help="Load generator threads.",
    ),
    click.option(
        "--driver-cores",
        type=CORES,
        default=(),
        help="Cores of the load generator, one thread on each: `2,3`.",
    ),
)
"""What generates it."""

protocol = together(
    click.option(
        "--no-keepalive",
        "keep_alive",
        flag_value=False,
        default=True,
        help="Open a new connection for each request.",
    ),
    click.option("--http2", is_flag=True, help="Speak HTTP/2, over TLS by ALPN."),
    click.option(
        "--streams",
        type=COUNT,
        default=1,
        show_default=True,
        help="HTTP/2: streams per connection, each with one request in flight.",
    ),
)
"""How requests share connections."""

tls = together(
    click.option("--insecure", is_flag=True, help="Accept any certificate of the server."),
    click.option(
        "--cacert",
        type=PEM,
        metavar="FILE",
        help="PEM file with the trusted authorities.  [default: those of this host]",
    ),
    click.option("--cert", type=PEM, metavar="FILE", help="PEM file: client certificate."),
    click.option(
        "--key",
        type=PEM,
        metavar="FILE",
        help="PEM file: its private key.  [default: in the file of --cert]",
    ),
    click.option(
        "--tls-version",
        type=click.Choice(VERSIONS),
        help="Offer only this version.  [default: both]",
    ),
    click.option(
        "--ciphers",
        metavar="NAME,…",
        help="Cipher suites that are offered, by their IANA names.  [default: all]",
    ),
    click.option(
        "--tls-resume",
        type=click.Choice(("never", "always")),
        help="Resume the TLS session of an earlier connection.  [default: never]",
    ),
)
"""How the server of an `https` URL is trusted."""

TLS = ("insecure", "cacert", "cert", "key", "tls_version", "ciphers", "tls_resume")
"""Names of these."""
