"""`plimsoll completion`: what a shell needs to complete what is typed."""

from __future__ import annotations

import click

from plimsoll.cli import messages

VARIABLE = "_PLIMSOLL_COMPLETE"
"""Variable by which a shell asks for words; click looks at it before anything else."""

SHELLS = ("bash", "zsh", "fish")


@click.command(name="completion")
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def command(ctx: click.Context, shell: str) -> int:
    """Prints what makes a shell complete verbs, options, frameworks, campaigns and endpoints.

    \b
    eval "$(plimsoll completion bash)"                  in ~/.bashrc
    eval "$(plimsoll completion zsh)"                   in ~/.zshrc
    plimsoll completion fish | source                   in ~/.config/fish/config.fish
    """  # noqa: D301 - click reads the backspace as "do not wrap what follows"
    from click.shell_completion import get_completion_class  # noqa: PLC0415

    found = get_completion_class(shell)
    if found is None:
        return messages.error(f"click knows no shell `{shell}`", "")
    click.echo(found(ctx.find_root().command, {}, "plimsoll", VARIABLE).source())
    return 0
