"""`kubelet-emu verify`: a log judged by the kubelet's rules."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NoReturn

import click

from kubelet_emu.cli.log_options import log_parameters, read_given, tell_faults

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubelet_emu.config.kubelet_configuration import KubeletConfiguration
    from kubelet_emu.lifecycle.log import LifecycleLog
    from kubelet_emu.lifecycle.verification import Report, Rule, Terms

BAD_INPUT = 2


def _list_rules(ctx: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
    """Print the table of rules and end, before click asks for a log."""
    if value == "list":
        from kubelet_emu.lifecycle.verification import RULES
        from kubelet_emu.lifecycle.verification.text import rule_lines

        click.echo("\n".join(rule_lines(RULES)))
        ctx.exit()
    return value


@click.command("verify")
@log_parameters
@click.option(
    "--rules",
    metavar="CODE,...|list",
    is_eager=True,
    callback=_list_rules,
    help="Only these rules; `list` shows all, with their sources.",
)
@click.option(
    "--kubernetes", metavar="VERSION", help="By which kubelet to judge, 1.28 to 1.36; default: the log's own."
)
@click.option(
    "--config", type=click.Path(dir_okay=False), help="The kubelet's configuration: pulls at a time, back-off."
)
@click.option("-v", "--verbose", is_flag=True, help="Also what was found right, with its moments.")
@click.option(
    "-o", "--output", type=click.Choice(["text", "json", "junit", "sarif"]), default="text", help="How to report."
)
def command(
    *, rules: str | None, kubernetes: str | None, config: str | None, verbose: bool, output: str, **given: object
) -> None:
    """Judge logs of one run by the kubelet's rules: order, hooks, signals, grace, restarts, verdicts.

    LOG is a lifecycle log, a trace, `kubectl get events` or `kubectl get pod -w` as JSON, or container logs with times;
    several are put on one time line. Nothing that the log doesn't tell is held against it: such a rule is unknown.

    Exit status: 0 when no rule was broken, 1 when one was, 2 when something can't be read.
    """
    from kubelet_emu.lifecycle.verification import verify

    chosen = _chosen(rules)
    log = read_given(given)
    tell_faults(log)
    report = verify(log, _terms(log, kubernetes, config), chosen)
    click.echo(_shown(report, log, output, verbose=verbose))
    sys.exit(0 if report.is_clean else 1)


def _chosen(text: str | None) -> Sequence[Rule]:
    from kubelet_emu.lifecycle.verification import RULES

    if text is None:
        return RULES
    codes = [code.strip().upper() for code in text.split(",") if code.strip()]
    known = {rule.code for rule in RULES}
    strange = [code for code in codes if code not in known]
    if strange or not codes:
        _refuse(f"--rules: {', '.join(strange) or text!r} is no rule; `--rules list` shows them")
    return tuple(rule for rule in RULES if rule.code in codes)


def _terms(log: LifecycleLog, kubernetes: str | None, config: str | None) -> Terms:
    """Return by which kubelet to judge: what was asked for, else what the log tells of itself."""
    from kubelet_emu.config.features import FeatureGates, gates_for
    from kubelet_emu.config.told import hear
    from kubelet_emu.journal.records import HeaderRecord
    from kubelet_emu.lifecycle.verification import Terms

    header = next((entry.record for entry in log.entries[:1] if isinstance(entry.record, HeaderRecord)), HeaderRecord())
    configuration = hear(header.config) if config is None else _configuration(config)
    told = header.features
    mine = configuration.feature_gates.overrides if configuration is not None else {}
    version = kubernetes or log.kubernetes or "1.36"
    try:
        gates = gates_for(version, {**told, **mine})
    except ValueError as error:
        if kubernetes is not None:
            _refuse(f"--kubernetes: {error}")
        gates, version = FeatureGates({**told, **mine}), "1.36"
    return Terms(minor=int(version.split(".")[1]), gates=gates, configuration=configuration)


def _configuration(file: str) -> KubeletConfiguration:
    from kubelet_emu.config.kubelet_configuration import ConfigurationError, load

    try:
        return load(file)
    except ConfigurationError as error:
        _refuse(f"--config: {error}")


def _refuse(text: str) -> NoReturn:
    click.echo(f"error: {text}", err=True)
    raise click.exceptions.Exit(BAD_INPUT)


def _shown(report: Report, log: LifecycleLog, output: str, *, verbose: bool) -> str:
    import kubelet_emu
    from kubelet_emu.lifecycle.verification import machine_formats
    from kubelet_emu.lifecycle.verification.text import report_lines

    files = [source.file for source in log.sources]
    match output:
        case "json":
            return machine_formats.as_json(report, files)
        case "junit":
            return machine_formats.as_junit(report, files)
        case "sarif":
            return machine_formats.as_sarif(report, log, kubelet_emu.__version__)
        case _:
            return "\n".join(report_lines(report, lambda text, colour: click.style(text, fg=colour), verbose=verbose))
