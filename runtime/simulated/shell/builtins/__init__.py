"""The words that a shell runs in itself."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from runtime.simulated.shell.applets import output, testing
from runtime.simulated.shell.applets.base import AppletError
from runtime.simulated.shell.builtins import flow, names, state

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runtime.simulated.shell.applets.base import Applet
    from runtime.simulated.shell.interpreter import Builtin, Shell


def _inside(applet: Applet) -> Builtin:
    """Return an applet as a built-in: it runs in the shell's own process."""

    async def builtin(shell: Shell, arguments: list[str]) -> int:
        try:
            return await applet(shell.process, shell.name, arguments[1:])
        except AppletError as error:
            await shell.say(str(error))
            return error.status

    return builtin


async def _nothing(shell: Shell, arguments: list[str]) -> int:
    return 0


BUILTINS: Mapping[str, Builtin] = MappingProxyType(
    {
        ":": _nothing,
        "true": _nothing,
        "false": flow.false,
        "break": flow.break_,
        "continue": flow.continue_,
        "return": flow.return_,
        "exit": flow.exit_,
        "exec": flow.exec_,
        "eval": flow.eval_,
        ".": flow.source,
        "source": flow.source,
        "trap": flow.trap,
        "wait": flow.wait,
        "export": names.export,
        "readonly": names.readonly,
        "local": names.local,
        "unset": names.unset,
        "read": names.read,
        "getopts": names.getopts,
        "set": state.set_,
        "shift": state.shift,
        "cd": state.cd,
        "chdir": state.cd,
        "pwd": state.pwd,
        "type": state.type_,
        "command": state.command,
        "umask": state.umask,
        "alias": state.alias,
        "unalias": state.unalias,
        "jobs": state.jobs,
        "kill": state.kill,
        "times": state.times,
        "ulimit": state.ulimit,
        "hash": state.hash_,
        "let": state.let,
        "echo": _inside(output.echo),
        "printf": _inside(output.printf),
        "test": _inside(testing.test),
        "[": _inside(testing.bracket),
        "[[": _inside(testing.double_bracket),
    }
)
