"""`plimsoll completion`: print the completion script of a shell."""

from __future__ import annotations

import click
from click.shell_completion import BashComplete, get_completion_class

from plimsoll.cli import messages

VARIABLE = "_PLIMSOLL_COMPLETE"
"""Environment variable with which a shell requests completions from click."""

SHELLS = ("bash", "zsh", "fish")


class _Bash(BashComplete):
    """Completion for bash, which splits words at `=` and `:` and replaces what follows these.

    What was typed is passed on as one line, whose last word is the one to complete.
    """

    source_template = """\
%(complete_func)s() {
    local line=${COMP_LINE:0:COMP_POINT} type value
    local word=${line##*[[:space:]]} breaks=${COMP_WORDBREAKS//[^=:]/}
    [[ $word ]] || line+="''"
    local last=${word##*[${breaks:-=}]}
    [[ $breaks ]] || last=$word
    COMPREPLY=()
    while IFS=',' read -r type value; do
        case $type in
            dir) compopt -o dirnames ;;
            file) compopt -o default ;;
            plain) COMPREPLY+=("${value#"${word%%"$last"}"}") ;;
        esac
    done < <(env COMP_WORDS="$line" COMP_CWORD=-1 %(complete_var)s=bash_complete "$1")
}

complete -o nosort -F %(complete_func)s %(prog_name)s
"""


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
    found = _Bash if shell == "bash" else get_completion_class(shell)
    if found is None:
        return messages.error(f"no completion for shell `{shell}`", "")
    click.echo(found(ctx.find_root().command, {}, "plimsoll", VARIABLE).source())
    return 0
