"""`plimsoll completion`: print the completion script of a shell."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from plimsoll.cli import messages

VARIABLE = "_PLIMSOLL_COMPLETE"
"""Environment variable with which a shell requests completions from click."""

SHELLS = ("bash", "zsh", "fish")


@click.command(name="completion")
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def command(ctx: click.Context, shell: str) -> int:
    """Print the script that completes verbs, options, frameworks, campaigns and endpoints.

    \b
    eval "$(plimsoll completion bash)"                  in ~/.bashrc
    eval "$(plimsoll completion zsh)"                   in ~/.zshrc
    plimsoll completion fish | source                   in ~/.config/fish/config.fish
    """  # noqa: D301 - click reads the backspace as "do not wrap what follows"
    found = get_completion_class(shell)
    if found is None:
        return messages.error(f"no completion for shell `{shell}`", "")
    click.echo(found(ctx.find_root().command, {}, "plimsoll", VARIABLE).source())
    return 0
