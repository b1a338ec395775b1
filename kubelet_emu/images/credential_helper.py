"""One question to a credential helper of Docker: `docker-credential-HELPER get`.

A helper is a foreign program: it may hang, ignore signals, leave children behind and print for ever. It is given thirty
seconds and a bounded answer, and is killed when it is not wanted any more. What it printed may be a secret: no error
shows it.
"""

from __future__ import annotations

import subprocess
from contextlib import suppress
from typing import TYPE_CHECKING, cast

import trio
from attrs import define, field

from kubelet_emu.images.credentials import PullSecretError, read_json, text_field
from runtime.api import AuthConfig

if TYPE_CHECKING:
    from trio.abc import ReceiveStream, SendStream

HELPER_SECONDS = 30.0
MOST_BYTES = 1 << 20
DRAIN_SECONDS = 0.5
TOKEN_USER = "<token>"  # noqa: S105 - what helpers put in the place of a user name
FAILURES = (OSError, ValueError, subprocess.SubprocessError, trio.TooSlowError)
"""What a helper that doesn't work raises here."""


async def ask_helper(helper: str, server: str) -> AuthConfig | None:
    """Return what a helper knows of a server, None for nothing; one of FAILURES. Cancellation kills the helper."""
    with trio.fail_after(HELPER_SECONDS):
        status, out, err = await _call([f"docker-credential-{helper}", "get"], server.encode())
    if status:
        if b"not found" in out + err:
            return None
        raise subprocess.CalledProcessError(status, helper)
    answer = read_json(out, "its answer")
    if not isinstance(answer, dict):
        raise PullSecretError("its answer is no object")
    username, secret = text_field(answer, "Username"), text_field(answer, "Secret")
    if username == TOKEN_USER:
        return AuthConfig(identity_token=secret)
    return AuthConfig(username=username, password=secret) if username or secret else None


def why(error: BaseException) -> str:
    """Return why a helper doesn't work, of one of FAILURES."""
    match error:
        case FileNotFoundError():
            return "there is no such program"
        case OSError():
            return str(error.strerror)
        case trio.TooSlowError():
            return f"no answer within {HELPER_SECONDS:g} s"
        case subprocess.CalledProcessError(returncode=status) if status < 0:
            return f"ended by signal {-status}"
        case subprocess.CalledProcessError(returncode=status):
            return f"exit status {status}"
        case _:
            return str(error)


async def _call(command: list[str], question: bytes) -> tuple[int, bytes, bytes]:
    """Run a program and return its exit status and what it wrote; ValueError when that is too much.

    What it has said counts soon after it has ended, even if a child of it keeps the pipes open.
    """
    process = await trio.lowlevel.open_process(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    out, err = _Output(process), _Output(process)
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_send, cast("SendStream", process.stdin), question)
            nursery.start_soon(out.read, cast("ReceiveStream", process.stdout))
            nursery.start_soon(err.read, cast("ReceiveStream", process.stderr))
            await process.wait()
            with trio.move_on_after(DRAIN_SECONDS):
                await out.has_ended.wait()
                await err.has_ended.wait()
            nursery.cancel_scope.cancel()
    finally:
        process.kill()
        with trio.CancelScope(shield=True):
            await process.wait()
    if out.is_too_much or err.is_too_much:
        raise ValueError(f"it says more than {MOST_BYTES >> 20} MiB")
    return process.returncode or 0, bytes(out.data), bytes(err.data)


@define(eq=False)
class _Output:
    """What a program writes to one of its streams; one that writes too much is killed."""

    process: trio.Process
    data: bytearray = field(factory=bytearray, init=False)
    has_ended: trio.Event = field(factory=trio.Event, init=False)

    @property
    def is_too_much(self) -> bool:
        return len(self.data) > MOST_BYTES

    async def read(self, stream: ReceiveStream) -> None:
        """Read to the end."""
        async with stream:
            async for chunk in stream:
                self.data += chunk
                if self.is_too_much:
                    self.process.kill()
                    break
        self.has_ended.set()


async def _send(stream: SendStream, question: bytes) -> None:
    """Ask; a helper need not listen."""
    with suppress(trio.BrokenResourceError):
        async with stream:
            await stream.send_all(question)
