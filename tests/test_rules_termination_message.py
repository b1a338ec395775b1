"""Termination messages (kubelet v1.36 getTerminationMessage, truncatePodStatus)."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from kubelet_emu.rules.termination_message import limit_message, log_tail, termination_message, wants_log
from runtime.api import ContainerID, ContainerMetadata, ContainerState, ContainerStatus, SandboxID


def exited(code: int, reason: str = "Error") -> ContainerStatus:
    return ContainerStatus(
        id=ContainerID("c"),
        sandbox_id=SandboxID("s"),
        metadata=ContainerMetadata(name="c"),
        state=ContainerState.EXITED,
        created_at=datetime(2026, 1, 1, tzinfo=UTC),
        exit_code=code,
        reason=reason,
    )


@pytest.mark.parametrize(
    ("policy", "file", "status", "expected"),
    [
        ("FallbackToLogsOnError", b"", exited(1), True),
        ("FallbackToLogsOnError", b"", exited(128, "StartError"), True),
        ("FallbackToLogsOnError", b"x", exited(1), False),
        ("FallbackToLogsOnError", b"", exited(0), False),
        ("FallbackToLogsOnError", b"", exited(127, "ContainerCannotRun"), False),
        ("File", b"", exited(1), False),
    ],
)
def test_the_log_stands_in_for_an_empty_file_of_a_failure(
    policy: str,
    file: bytes,
    status: ContainerStatus,
    expected: bool,  # noqa: FBT001
) -> None:
    assert wants_log(policy, file, status) is expected


def test_the_logs_last_80_lines_count() -> None:
    assert log_tail([b"%d" % n for n in range(100)]).splitlines()[0] == b"20"


def test_of_these_the_last_2048_bytes_count() -> None:
    assert log_tail([b"a" * 1500, b"b" * 1500]) == b"a" * 546 + b"\n" + b"b" * 1500 + b"\n"


def test_an_empty_log_gives_nothing() -> None:
    assert log_tail([]) == b""


@pytest.mark.parametrize(
    ("runtime_message", "content", "expected"),
    [
        ("", b"", ""),
        ("", b"bye\n", "bye\n"),
        ("no such file", b"", "no such file"),
        ("no such file", b"bye", "no such file: bye"),
        ("", b"x" + b"y" * 4096, "y" * 4096),
        ("", b"\xff", "\ufffd"),
    ],
)
def test_the_message_joins_the_runtimes_text_and_the_files_end(
    runtime_message: str, content: bytes, expected: str
) -> None:
    assert termination_message(runtime_message, content) == expected


@pytest.mark.parametrize(
    ("message", "containers", "expected"),
    [
        ("x" * 20000, 1, "x" * 12288),
        ("x" * 20000, 3, "x" * 4096),
        ("x" * 10, 0, "x" * 10),
        ("é" * 3000, 3, "é" * 2048),
        ("aé" * 2000, 3, ("aé" * 2000)[:2731]),
    ],
)
def test_all_messages_of_a_pod_share_12_kib(message: str, containers: int, expected: str) -> None:
    assert limit_message(message, containers) == expected
