"""thresher completion: the script that lets a shell complete commands, options and folders."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from thresher.cli.output import echo

SHELLS = ("bash", "zsh", "fish")


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the completion script of a shell.

    Load it in the file that the shell reads at its start: ~/.bashrc, ~/.zshrc, or ~/.config/fish/config.fish.

    \b
    Examples:
      eval "$(thresher completion bash)"
      eval "$(thresher completion zsh)"
      thresher completion fish | source
    """
    script = get_completion_class(shell)
    assert script  # click has all of `SHELLS`
    for line in script(context.find_root().command, {}, "thresher", "_THRESHER_COMPLETE").source().splitlines():
        echo(line)
