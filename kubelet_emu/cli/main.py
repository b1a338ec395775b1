"""The command line: one group whose commands are imported when they are used.

`--help` and `--version` import click and nothing else, for start-up is what a user feels first.
"""

from __future__ import annotations

from importlib import import_module

import click

from kubelet_emu.cli.standard_streams import OutputError

COMMANDS = {
    "run": "Run manifests until their pods end, or until Ctrl-C.",
    "record": "Run manifests once on Docker; write what a simulated run needs.",
    "demo": "Run a Job with a sidecar that comes with this program.",
    "test": "Run scenarios and check what they expect.",
    "validate": "Check manifests and run nothing.",
    "plan": "Say how pods start, stop and end, and what to mend.",
    "verify": "Judge a log by the kubelet's rules.",
    "trace": "Convert a lifecycle log into a trace.",
    "drill": "Delete a pod in each phase of its life; show each shutdown.",
    "timeline": "Draw the pods of a log.",
    "why": "Say what pods of a run, or of a log, wait for.",
    "ps": "Show the pods of a run.",
    "get": "Show objects of a run: pods, events, jobs, ...",
    "events": "Show the events of a run in order of time.",
    "describe": "Show all of a pod or a Job of a run.",
    "logs": "Show what a container of a run wrote.",
    "exec": "Run a command in a container of a run.",
    "attach": "Join the streams of a container of a run.",
    "delete": "Delete pods of a run.",
    "kill": "Send a signal to a container of a run.",
    "port-forward": "Forward ports of this machine to a pod of a run.",
    "completion": "Print the script that completes words in a shell.",
    "replay": "Take the decisions of a lifecycle log again, by today's rules.",
    "prune": "Remove what dead runs have left behind.",
}


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
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


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
