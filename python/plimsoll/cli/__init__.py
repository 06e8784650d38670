"""The command line: one module per verb, which parses, calls, prints and returns an exit code.

A verb's module is imported only when the verb is used, which keeps `--help` fast.
"""

from __future__ import annotations

from plimsoll.cli import early_interrupt

_BEGUN = early_interrupt.begin()  # before all that takes long to import

# ruff: noqa: E402
import gc
import importlib
import keyword
import os
import signal
import sys
from typing import TYPE_CHECKING, NoReturn

import click

from plimsoll import __version__, doors
from plimsoll.cli import as_options, memory, messages, outputs
from plimsoll.errors import INTERRUPTED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from click.shell_completion import CompletionItem

    from plimsoll.cli import checking as checking
    from plimsoll.cli import completing as completing
    from plimsoll.cli import figures_first as figures_first
    from plimsoll.cli import importing as importing
    from plimsoll.cli import incoming as incoming
    from plimsoll.cli import judging as judging
    from plimsoll.cli import listing as listing
    from plimsoll.cli import load_screen as load_screen
    from plimsoll.cli import outgoing as outgoing
    from plimsoll.cli import panel as panel
    from plimsoll.cli import redaction as redaction
    from plimsoll.cli import status as status

_WORKERS = (
    "checking",
    "completing",
    "figures_first",
    "importing",
    "incoming",
    "judging",
    "listing",
    "load_screen",
    "outgoing",
    "panel",
    "redaction",
    "status",
)
"""Modules that verbs work with, and that their help does without."""

GARBAGE_OBJECTS = 50_000
"""New objects until Python looks for garbage; else it looks hundreds of times in its imports."""

_find = doors.of_modules(__name__, _WORKERS)


def __getattr__(name: str) -> object:
    """A module that a verb works with; imported when it is used, so that help does without it."""
    begun = early_interrupt.begin()
    try:
        return _find(name)
    finally:
        early_interrupt.end(begun=begun)


VERBS = {
    "machine": "show this host's configuration and limits, and what to change",
    "list": "list frameworks, drivers, endpoints and checks, and what is missing here",
    "new": "make the folder of a new framework, as a copy of another one",
    "install": "install dependencies and build frameworks and tools",
    "outdated": "list packages of frameworks that have newer versions in their registries",
    "check": "start each framework and verify its endpoints, without load",
    "plan": "list the trials of a campaign, with the time and disk space they need",
    "run": "run the trials of a campaign; resumes where it stopped",
    "watch": "show a run in a browser while it goes on, when it has stopped, or afterwards",
    "compare": "decide whether server B is faster than A; two variants, revisions or commands",
    "calibrate": "check the engine against a server with known service times; measure its capacity",
    "line": "find the greatest rate that a running server carries inside limits of latency",
    "load": "put load on a server that is already running",
    "host": "let other machines generate load and run servers: certificates, agents, checks",
    "import": "import the per-request log of another load generator",
    "audit": "check results that another tool printed or somebody published",
    "history": "keep the estimates of campaigns, and find where they changed",
    "judge": "recompute statistics and verdicts from recordings",
    "report": "write charts and the report",
    "export": "export recordings as CSV, JTL, HdrHistogram logs or Parquet",
    "completion": "print shell completion for bash, zsh or fish",
}
"""Every verb and what it does, in the order in which they are used."""

EPILOGUE = """\b
Exit codes:
  0  success                                   6  results cannot be read or written
  1  a verdict is void (--strict: doubtful)    7  a threshold or limit was missed
  2  invalid arguments or campaign file        8  a threshold or limit is undecided
  3  a host, a meter or a database is unfit   70  internal error in Plimsoll
  4  a framework or the server failed        130  interrupted
  5  a load generator failed"""


MOST_COLUMNS = 10_000
"""Signs in a line that a terminal may have; lines are filled up to its width."""

_COLUMNS_DIGITS = 9


def module_of(verb: str) -> str:
    """The module of a verb; one that is a word of Python has an underscore more."""
    return f"{verb}_" if keyword.iskeyword(verb) else verb


class Verbs(click.Group):
    """The verbs, imported one at a time."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Their names in order."""
        return [*VERBS]  # `list` is a verb here, once it is imported

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """One of them; None when there is none of this name."""
        if cmd_name not in VERBS:
            return None
        if not ctx.resilient_parsing and not {"-h", "--help"} & {*ctx.args, *sys.argv}:
            memory.require(cmd_name)
        begun = early_interrupt.begin()
        try:
            command = importlib.import_module(f"plimsoll.cli.{module_of(cmd_name)}").command
            as_options.of_verb(command)
            return command
        finally:
            early_interrupt.end(begun=begun)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Verbs that begin with a word, without importing them, or options of the program."""
        from click.shell_completion import CompletionItem  # noqa: PLC0415 - needed by shells only

        verbs = [
            CompletionItem(verb, help=purpose)
            for verb, purpose in VERBS.items()
            if verb.startswith(incomplete)
        ]
        return verbs or click.Command.shell_complete(self, ctx, incomplete)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Takes what was typed, as long as it is text: what is kept and shown must be UTF-8."""
        for place, typed in enumerate(args, 1):
            if not _is_text(typed):
                shown = typed.encode("utf-8", "backslashreplace").decode()
                raise click.UsageError(f"argument {place} is not UTF-8: `{shown}`", ctx)
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The verb that was typed.

        Raises:
            UsageError: There is no such verb; the message suggests the nearest one.
        """
        if args and args[0] not in VERBS and not args[0].startswith("-"):
            raise click.UsageError(f"unknown verb `{args[0]}`{messages.meant(args[0], VERBS)}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> object:
        """Runs the verb; tells of a pipe that broke within it, which click would not."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            return messages.failure(error)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of verbs, without importing them."""
        with formatter.section("Verbs"):
            formatter.write_dl([*VERBS.items()])


def _is_text(typed: str) -> bool:
    """Whether there is nothing in it but text: no byte that is not UTF-8, and no NUL."""
    return "\0" not in typed and not any("\ud800" <= sign <= "\udfff" for sign in typed)


@click.group(
    cls=Verbs,
    epilog=EPILOGUE,
    subcommand_metavar="VERB [ARGS]...",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, "-V", "--version", message="plimsoll %(version)s")
def plimsoll() -> None:
    """A laboratory for HTTP servers and web frameworks.

    Plimsoll starts real applications, generates a defined load, records every request, reports
    throughput and latency, and checks whether the numbers can be trusted.

    \b
    plimsoll load http://127.0.0.1:8080/ -c 100 -d 30s      test a server that is running
    plimsoll run quick                                      compare frameworks in a campaign
    """  # noqa: D301 - click reads the backspace as "do not wrap what follows"


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Runs one verb and ends the process with its exit code.

    Args:
        arguments: What was typed after the program's name; None for the process's own.
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    gc.set_threshold(GARBAGE_OBJECTS)
    _ignore_absurd_width()
    outputs.make_fit()
    sys.meta_path[:0] = [_WithoutPandas(), _BeforeDuckDB()]
    code = ended(arguments, is_program=True)
    _let_go()
    sys.exit(code)


def ended(arguments: Sequence[str] | None = None, *, is_program: bool = False) -> int:
    """Runs one verb; gives its exit code, whatever ended it.

    Args:
        arguments: What was typed after the program's name; None for the process's own.
        is_program: Whether the process was started for it: its age then tells what a start takes.
    """
    try:
        code = plimsoll.main(arguments, prog_name="plimsoll", standalone_mode=False, obj=is_program)
        sys.stdout.flush()
    except (KeyboardInterrupt, click.Abort):
        return messages.error("interrupted", "", INTERRUPTED)
    except Exception as error:
        return messages.failure(error)
    return code if isinstance(code, int) else 0


class _WithoutPandas:
    """Has Arrow do without pandas, which no verb uses.

    Arrow loads it wherever it is installed, which takes longer than judging a load.
    """

    @staticmethod
    def find_spec(name: str, *_: object) -> None:
        """Finds nothing, and has nobody else look for pandas.

        Raises:
            ModuleNotFoundError: Pandas is looked for.
        """
        if name == "pandas":
            raise ModuleNotFoundError("pandas is left out", name=name)


class _BeforeDuckDB:
    """Has no search for garbage look at what is in memory before DuckDB is loaded.

    Its bindings print what is left of them at the end, so that what follows must be searched.
    """

    @staticmethod
    def find_spec(name: str, *_: object) -> None:
        """Finds nothing itself."""
        if name == "duckdb":
            gc.freeze()


def _ignore_absurd_width() -> None:
    """Ignores a `COLUMNS` that no terminal has."""
    if _is_too_wide(os.environ.get("COLUMNS", "")):
        del os.environ["COLUMNS"]


def _is_too_wide(columns: str) -> bool:
    return columns.isdecimal() and (len(columns) > _COLUMNS_DIGITS or int(columns) > MOST_COLUMNS)


def _let_go() -> None:
    """Flushes stdout for the last time; neither Ctrl-C nor a write error prints a traceback.

    What is left in memory goes with the process: to look for garbage in it takes a tenth of all
    that a short verb takes. Where DuckDB is loaded, that was done before (`_BeforeDuckDB`).
    """
    if "duckdb" not in sys.modules:
        gc.freeze()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


early_interrupt.end(begun=_BEGUN)
