"""`kubelet-emu completion`: the script with which a shell completes words of this program."""

from __future__ import annotations

import click

NAMES = ("kubelet-emu", "kemu")
VARIABLE = "_KUBELET_EMU_COMPLETE"
# how a second name of the program is given the function of the first
_ALSO = {
    "bash": "complete -o nosort -F {function} {name}\n",
    "zsh": "compdef {function} {name}\n",
    "fish": 'complete --no-files --command {name} --arguments "({function})"\n',
}


@click.command("completion")
@click.argument("shell", type=click.Choice(list(_ALSO)))
def command(shell: str) -> None:
    """Print the script that completes commands, options, files, and the pods and containers of runs.

    In ~/.bashrc: source <(kubelet-emu completion bash). In ~/.zshrc, after compinit: source <(kubelet-emu completion
    zsh). In ~/.config/fish/config.fish: kubelet-emu completion fish | source. Exit status: 0.
    """
    from click.shell_completion import ShellComplete, get_completion_class

    from kubelet_emu.cli.main import main

    found = get_completion_class(shell)
    if found is None:
        raise click.UsageError(f"{shell!r} is not known")
    first, *others = NAMES
    made = found(main, {}, first, VARIABLE)
    click.echo(ShellComplete.source(made))  # not its own, which asks an installed bash for its version
    for name in others:
        click.echo(_ALSO[shell].format(function=made.func_name, name=name), nl=False)
