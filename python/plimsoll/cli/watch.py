"""`plimsoll watch`: a live page of a run, in a browser."""

from __future__ import annotations

import os
import webbrowser
from contextlib import suppress
from pathlib import Path

import click

from plimsoll import storage as storages
from plimsoll import watch
from plimsoll.cli import messages, options, outputs, step_progress

PORT = 7890
"""The port where none is given."""


@click.command(name="watch")
@click.argument("results", type=options.FOLDER)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=PORT,
    show_default=True,
    help="Port of the page; 0 for a free one.",
)
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    metavar="ADDRESS",
    help="Address of this host that the page is served on. On any but the loopback address, "
    "everybody who reaches it can read the results.",
)
@click.option("--open", "opens", is_flag=True, help="Open the page in a browser.")
@options.stored
def command(*, results: Path, port: int, host: str, opens: bool, storage: str) -> int:
    """Show a run in a browser while it goes on, when it has stopped, or afterwards.

    The page has the ranking as it forms with its intervals, throughput, latency and CPU of the load
    that runs, verdicts, what comes next and how long it takes. It reads only, at a low
    priority, on cores not used by server or load generator if there are any. Ctrl-C ends it.
    """
    watch.priority.lower_priority()
    with storages.opened(results, storage) as stored:
        watch.looking.require_campaign(stored)
        with step_progress.shown() as tell:
            looker = watch.looking.CampaignObserver(stored, on_event=tell)
            looker.look()
        with watch.server.listening(host, port) as listener:
            address = f"http://{host}:{listener.getsockname()[1]}/"
            click.echo(address)
            if not outputs.is_read():
                return 0  # nobody has the address
            messages.step(f"shows {stored.place}; Ctrl-C ends it")
            if opens:
                _open(address)
            with suppress(KeyboardInterrupt):
                watch.server.serve(looker, listener)
    return 0


def _open(address: str) -> None:
    """Opens a page in a browser with windows; a browser in this terminal would take it."""
    has_windows = bool({"DISPLAY", "WAYLAND_DISPLAY"} & os.environ.keys())
    if not (has_windows and webbrowser.open_new_tab(address)):
        messages.note(f"no browser could be opened here; open {address} in one")
