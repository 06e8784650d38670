"""The command line: one module a verb; each parses, calls, prints, and gives an exit code.

A verb's module is imported only when the verb is used, so that help comes at once.
"""

from __future__ import annotations

from plimsoll.cli import leaving

_BEGUN = leaving.begin()  # before all that takes long to import

# ruff: noqa: E402
import importlib
import io
import keyword
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from plimsoll import __version__
from plimsoll.cli import messages
from plimsoll.errors import INTERRUPTED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from click.shell_completion import CompletionItem

VERBS = {
    "machine": "facts and limits of this host, and what to change",
    "list": "frameworks, endpoints and checks; what runs here and what is missing for the rest",
    "install": "what a framework needs on this machine, then its build",
    "check": "start each framework, verify its endpoints, stop; no load",
    "plan": "the trials of a campaign in order, the time and the disk it needs",
    "run": "conduct the trials of a campaign; goes on where it stopped",
    "calibrate": "the instrument against a server whose truth is known; the ceiling of this host",
    "load": "one trial against an address that already runs",
    "import": "what another tool wrote about each of its requests becomes a recording",
    "audit": "figures that another tool printed, or somebody published, are judged",
    "judge": "aggregate and judge recordings again",
    "report": "charts and report of recordings",
    "export": "recordings for other programs: CSV of each second, JTL, HdrHistogram, Parquet",
    "completion": "what makes bash, zsh or fish complete what is typed",
}
"""Every verb and what it does, in the order of the path from question to report."""

EPILOGUE = """\b
Exit codes:
  0  done and sound            5  a driver failed
  1  done, some verdict void   6  results could not be written or read
  2  the question is wrong     7  a limit given with --fail-if was missed
  3  this host is not fit     70  a fault of Plimsoll itself
  4  a framework failed      130  interrupted"""


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
        begun = leaving.begin()
        try:
            return importlib.import_module(f"plimsoll.cli.{module_of(cmd_name)}").command
        finally:
            leaving.end(begun=begun)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Verbs that begin with a word, without importing them, or options of the program."""
        from click.shell_completion import CompletionItem  # noqa: PLC0415 - needed by shells only

        verbs = [
            CompletionItem(verb, help=purpose)
            for verb, purpose in VERBS.items()
            if verb.startswith(incomplete)
        ]
        return verbs or click.Command.shell_complete(self, ctx, incomplete)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The verb that was typed, or a hint at the one that was meant."""
        if args and args[0] not in VERBS and not args[0].startswith("-"):
            raise click.UsageError(f"there is no verb `{args[0]}`{messages.meant(args[0], VERBS)}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> object:
        """Runs the verb; whoever reads its output may go away early, as `head` does."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            return 0
        except SystemExit as end:
            if isinstance(end.__context__, BrokenPipeError):  # this is how rich says it
                return 0
            raise

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of verbs, without importing them."""
        with formatter.section("Verbs"):
            formatter.write_dl([*VERBS.items()])


@click.group(
    cls=Verbs,
    epilog=EPILOGUE,
    subcommand_metavar="VERB [ARGS]...",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, "-V", "--version", message="plimsoll %(version)s")
def plimsoll() -> None:
    """A laboratory for HTTP servers and web frameworks.

    Plimsoll starts real applications, puts a known load on them, records every request, and says
    what was measured and whether the measurement deserves belief.

    \b
    plimsoll load http://127.0.0.1:8080/ -c 100 -d 30s      against what runs already
    plimsoll run campaigns/quick.toml                       a campaign of your own or ours
    """  # noqa: D301 - click reads the backspace as "do not wrap what follows"


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Runs one verb and ends the process with its exit code.

    Args:
        arguments: What was typed after the program's name; None for the process's own.
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    _make_outputs_fit()
    try:
        code = plimsoll.main(arguments, prog_name="plimsoll", standalone_mode=False)
        sys.stdout.flush()
    except (KeyboardInterrupt, click.Abort):
        code = messages.error("interrupted", "", INTERRUPTED)
    except Exception as error:
        code = messages.failure(error)
    _let_go()
    sys.exit(code if isinstance(code, int) else 0)


def _make_outputs_fit() -> None:
    """Signs that a terminal does not know become `?`; what is closed takes words and loses them."""
    for name in ("stdout", "stderr"):
        output = getattr(sys, name)
        if output is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))
        elif isinstance(output, io.TextIOWrapper):
            output.reconfigure(errors="replace")


def _let_go() -> None:
    """Nothing more is to come: neither Ctrl-C nor what could not be written makes a last noise."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


leaving.end(begun=_BEGUN)
