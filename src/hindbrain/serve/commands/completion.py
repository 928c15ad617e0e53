"""`hindbrain completion`: a shell's name -> the script that has it complete our commands."""

from __future__ import annotations

import click
from click.shell_completion import ShellComplete, get_completion_class

from hindbrain.serve.terminal import say


@click.command()
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the script for completion in SHELL.

    Put where the shell looks for it, it completes commands and options from the next shell on.

    \b
    hindbrain completion bash > ~/.local/share/bash-completion/completions/hindbrain
    hindbrain completion zsh > ~/.zfunc/_hindbrain       # with fpath+=~/.zfunc before compinit
    hindbrain completion fish > ~/.config/fish/completions/hindbrain.fish
    """
    from hindbrain.serve.cli import COMPLETE  # which loads this module

    kind = get_completion_class(shell)
    if kind is None:
        raise LookupError(f"click completes no {shell}")
    # Not kind.source(): for bash that runs bash to look at its version.
    say(ShellComplete.source(kind(context.find_root().command, {}, "hindbrain", COMPLETE)).rstrip("\n"))
