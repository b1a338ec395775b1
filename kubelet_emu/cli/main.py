"""The command line: one group whose commands are imported when they are used.

`--help` and `--version` import click and nothing else, for start-up is what a user feels first.
"""

from __future__ import annotations

from importlib import import_module

import click

from kubelet_emu.cli.examples import epilog_of
from kubelet_emu.cli.standard_streams import OutputError

GROUPS: dict[str, dict[str, str]] = {
    "Run manifests": {
        "run": "Run manifests until their pods end, or until Ctrl-C.",
        "demo": "Run a Job with a sidecar that comes with this program.",
        "record": "Run manifests once on Docker; write their simulate.yaml.",
        "prune": "Remove what dead runs have left behind.",
    },
    "Look at a run from a second terminal": {
        "ps": "Show the pods of a run.",
        "get": "Show objects of a run: pods, events, jobs, ...",
        "events": "Show the events of a run in order of time.",
        "describe": "Show all of pods or Jobs of a run.",
        "why": "Say what pods of a run, or of a log, wait for.",
        "logs": "Show what a container of a run wrote.",
    },
    "Act on a run from a second terminal": {
        "exec": "Run a command in a container of a run.",
        "attach": "Join the streams of a container of a run.",
        "debug": "Add an ephemeral container to a pod of a run.",
        "port-forward": "Forward ports of this machine to a pod of a run.",
        "delete": "Delete pods of a run.",
        "kill": "Send a signal to a container of a run.",
    },
    "Check and test manifests": {
        "validate": "Check manifests and run nothing.",
        "plan": "Say how pods start, stop and end, and what to mend.",
        "test": "Run scenarios and check what they expect.",
        "drill": "Delete a pod in each phase of its life; show each shutdown.",
    },
    "Read logs": {
        "verify": "Judge a log by the kubelet's rules.",
        "timeline": "Draw the pods of a log.",
        "trace": "Convert a lifecycle log into a trace.",
        "replay": "Take the decisions of a lifecycle log again, by today's rules.",
    },
    "Other": {
        "completion": "Print the script that completes words in a shell.",
    },
}
COMMANDS = {name: text for group in GROUPS.values() for name, text in group.items()}
_WIDEST = max(map(len, COMMANDS))


class LazyGroup(click.Group):
    """A group whose commands live in `kubelet_emu.cli.NAME`, as `command`."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the names in the order of the help."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        """Import a command; None for a name that there isn't."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"kubelet_emu.cli.{cmd_name.replace('-', '_')}").command
        command.epilog = epilog_of(cmd_name)
        return command

    def invoke(self, ctx: click.Context) -> object:
        """Do a command. The error that one ends with is told here, in the same way for all of them."""
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort, OutputError):
            raise
        except (Exception, BaseExceptionGroup, KeyboardInterrupt) as error:  # noqa: BLE001 - the edge of the program
            from kubelet_emu.cli.failures import explain

            failure = explain(error)
            click.echo(failure.text, err=True)
            ctx.exit(failure.status)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's signature
        """Write the list of commands without importing them."""
        for title, commands in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(_WIDEST), text) for name, text in commands.items()])


def _print_version(ctx: click.Context, _parameter: click.Parameter, value: bool) -> None:  # noqa: FBT001 - click's signature
    if value:
        import kubelet_emu

        click.echo(f"kubelet-emu {kubelet_emu.__version__} (Kubernetes v1.36)")
        ctx.exit()


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Say which version this is.",
)
def main() -> None:
    """Run Kubernetes Pod and Job manifests on one machine, with the kubelet's lifecycle rules."""
