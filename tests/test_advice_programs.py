"""What is known of a container's first process: whether it ends, and whether it hears SIGTERM."""

from __future__ import annotations

import math

import pytest
from pod_makers import a_container

from kubelet_emu.advice.entry_points import program_of
from kubelet_emu.advice.programs import Deafness
from kubelet_emu.advice.scripts import read_script
from kubelet_emu.api.v1 import Container
from kubelet_emu.api.v1_environment import EnvVar

# why, the words of the command, whether it never ends for sure, how long it is deaf to SIGTERM at least
COMMANDS = [
    ("sleep", ["sleep", "600"], False, 600),
    ("sleep with a unit and several numbers", ["/bin/sleep", "1m", "30"], False, 90),
    ("an endless sleep", ["sleep", "infinity"], True, math.inf),
    ("a sleep of unknown length", ["sleep", "$TIME"], False, 0),
    ("a sleep of nothing", ["sleep"], False, 0),
    ("tail of a file that is there for sure", ["tail", "-f", "/dev/null"], True, math.inf),
    ("tail of a file that may be missing", ["tail", "-f", "/log"], False, math.inf),
    ("tail that waits for its file", ["tail", "-n0", "-F", "/log"], True, math.inf),
    ("tail that ends with a process", ["tail", "-f", "--pid=1", "/log"], False, 0),
    ("tail of what is there", ["tail", "-n", "5", "/log"], False, 0),
    ("a program that isn't known", ["/app", "--serve"], False, 0),
    ("busybox names its applet", ["busybox", "sleep", "60"], False, 60),
    ("busybox alone", ["busybox"], False, 0),
    ("an init passes the signal on", ["tini", "--", "sleep", "600"], False, 0),
    ("an init with options of its own", ["/sbin/dumb-init", "-v", "sleep", "infinity"], True, 0),
    ("an init of nothing", ["tini"], False, 0),
    ("a script that is a file", ["sh", "/start.sh"], False, 0),
    ("a shell without a script", ["sh", "-c"], False, 0),
    ("one command in a shell", ["sh", "-c", "sleep 600"], False, 600),
    ("a server in a shell: it may be what the shell becomes", ["sh", "-c", "node server.js"], False, 0),
    ("options before the script", ["bash", "-euo", "pipefail", "-c", "sleep 600"], False, 600),
    ("a loop without an end", ["sh", "-c", "while true; do sleep 1; done"], True, math.inf),
    ("a loop of a colon", ["ash", "-c", "while :; do x; sleep 1; done"], True, math.inf),
    ("a loop of a test that holds", ["sh", "-c", "while [ 1 ]; do sleep 1; done"], True, math.inf),
    ("a loop of test that holds", ["sh", "-c", "while test 1; do sleep 1; done"], True, math.inf),
    ("a loop of a sleep", ["sh", "-c", "while sleep 60; do sync; done"], True, math.inf),
    ("until false", ["sh", "-c", "until false; do sleep 1; done"], True, math.inf),
    ("a loop with two conditions", ["sh", "-c", "while true; false; do sleep 1; done"], False, 0),
    ("a loop that is left", ["sh", "-c", "while true; do work && break; sleep 1; done"], False, 0),
    ("a loop that ends the script", ["sh", "-c", "while true; do work || exit 1; done"], False, 0),
    ("a loop with a condition", ["sh", "-c", "while [ ! -f /done ]; do sleep 1; done"], False, 0),
    ("a loop behind a condition", ["sh", "-c", "until nc -z db 1; do sleep 1; done; sleep 90"], False, 90),
    ("a strict shell may leave a loop", ["sh", "-ec", "while true; do sync-it; sleep 1; done"], False, math.inf),
    ("a strict shell that does nothing that fails", ["sh", "-ec", "while true; do sleep 1; done"], True, math.inf),
    ("set -e is as good", ["sh", "-c", "set -eu; while true; do sync-it; sleep 1; done"], False, math.inf),
    ("work before it in a strict shell", ["sh", "-ec", "work; sleep infinity"], False, math.inf),
    ("a test in a strict shell", ["sh", "-ec", "[ -f /x ]; sleep infinity"], False, math.inf),
    ("a pipe in a strict shell", ["sh", "-ec", "a | b; sleep infinity"], False, math.inf),
    ("a condition in a strict shell", ["sh", "-ec", "while [ -f /x ]; do a; done; sleep infinity"], False, math.inf),
    ("work before it", ["sh", "-c", "work; sleep infinity"], True, math.inf),
    ("a script may have ended before", ["sh", "-c", "[ -f /skip ] && exit 0; sleep infinity"], False, math.inf),
    ("a branch may have ended it", ["sh", "-c", "if [ -f /x ]; then exit 0; fi; sleep infinity"], False, math.inf),
    ("a branch that doesn't", ["sh", "-c", "if [ -f /x ]; then echo x; fi; sleep infinity"], True, math.inf),
    ("what follows echo is reached", ["sh", "-c", "echo x && sleep 90"], False, 90),
    ("what follows other words may not be", ["sh", "-c", "work && sleep 90"], False, 0),
    ("a group", ["sh", "-c", "{ echo x; sleep 90; }"], False, 90),
    ("the background doesn't count", ["sh", "-c", "sleep 600 & echo done"], False, 0),
    ("waiting for the background", ["sh", "-c", "sleep 600 & wait"], False, 0),
    ("the background may kill", ["sh", "-c", "(sleep 5; kill 1) & sleep infinity"], False, math.inf),
    ("a sleep that isn't known", ["sh", "-c", "sleep $N; sleep infinity"], False, math.inf),
    ("after the end nothing counts", ["sh", "-c", "exit 0; sleep infinity"], False, 0),
    ("kill may hit itself", ["sh", "-c", "kill 1; sleep infinity"], False, math.inf),
    ("exec of a sleep", ["sh", "-c", "echo x; exec sleep 600"], False, 600),
    ("exec of another program", ["sh", "-c", "exec /app"], False, 0),
    ("exec somewhere", ["sh", "-c", "if x; then exec /app; fi; sleep 600"], False, 0),
    ("what is sourced may do anything", ["sh", "-c", ". /env; sleep 600"], False, 0),
    ("a trap that waits in the background", ["sh", "-c", "trap 'exit 0' TERM; sleep 600 & wait $!"], False, 0),
    ("a trap that is late", ["sh", "-c", "trap 'exit 0' TERM; sleep 600"], False, 600),
    ("a trap that is late in a loop", ["sh", "-c", "trap 'exit 0' TERM; while true; do sleep 60; done"], True, 60),
    ("a trap with short waits", ["sh", "-c", "trap 'exit 0' TERM; while true; do sleep 1; done"], True, 1),
    (
        "a trap and a wait in a loop",
        ["sh", "-c", "trap 'exit 0' TERM; while true; do sleep 60 & wait $!; done"],
        True,
        0,
    ),
    ("a trap of another signal: nobody knows", ["sh", "-c", "trap 'echo x' EXIT; sleep 600"], False, 0),
    ("deaf on purpose", ["sh", "-c", "trap '' TERM; sleep 600"], False, 600),
    ("the trap of the last word", ["sh", "-c", "trap '' TERM; trap - TERM; sleep 600"], False, 0),
    ("a trap that goes on", ["sh", "-c", "trap 'echo x' TERM; while :; do sleep 9 & wait; done"], True, math.inf),
    ("a trap that does what isn't known", ["sh", "-c", "trap 'stop' TERM; while :; do sleep 9; done"], True, 9),
    ("a trap that isn't understood", ["sh", "-c", "trap 'if (' TERM; while :; do sleep 9; done"], True, 9),
    ("a script that isn't understood", ["sh", "-c", "while true; do"], False, 0),
]


@pytest.mark.parametrize(("why", "words", "endless", "deaf"), COMMANDS, ids=[row[0] for row in COMMANDS])
def test_what_a_command_is_known_to_do(why: str, words: list[str], endless: bool, deaf: float) -> None:  # noqa: FBT001 - a row
    program = program_of(a_container("c", command=tuple(words)))
    assert (program.is_endless, program.deaf_seconds) == (endless, deaf)


DEAF = [
    (["sleep", "9"], Deafness.NO_HANDLER, "sleep 9"),
    (["sh", "-c", "echo x; sleep 9"], Deafness.NO_TRAP, "sleep 9"),
    (["sh", "-c", "trap x TERM; sleep 5; sleep 9"], Deafness.TRAP_WAITS, "sleep 9"),
    (["sh", "-c", "trap : TERM; sleep 5; sleep 9"], Deafness.TRAP_GOES_ON, "sleep 9"),
    (["sh", "-c", "trap '' TERM; sleep 5; sleep 9"], Deafness.ASKED_FOR, "sleep 9"),
]


@pytest.mark.parametrize(("words", "why", "blocker"), DEAF, ids=[row[1].name for row in DEAF])
def test_why_a_command_is_deaf(words: list[str], why: Deafness, blocker: str) -> None:
    program = program_of(a_container("c", command=tuple(words)))
    assert (program.deafness, program.blocker) == (why, blocker)


IMAGES = [
    ("a server's image", "nginx:1.27", (), True),
    ("with its registry, a port and a digest", "localhost:5000/x/envoy@sha256:00", (), True),
    ("with options", "otel/opentelemetry-collector-contrib", ("--config=/c",), True),
    ("with what it connects, after options", "gcr.io/x/cloud-sql-proxy:2", ("--port=1", "a:b:c"), True),
    ("with a word: it may be another program", "postgres:17", ("pg_dump",), False),
    ("told to print its version", "envoyproxy/envoy:v1", ("--version",), False),
    ("told to do it once", "fluent/fluent-bit", ("--once",), False),
    ("which ends with 0 when told", "gcr.io/x/cloud-sql-proxy:2", ("--exit-zero-on-sigterm", "a:b:c"), True),
    ("Istio's proxy as a proxy", "docker.io/istio/proxyv2:1.27.1", ("proxy", "sidecar"), True),
    ("Istio's proxy as something else", "docker.io/istio/proxyv2:1.27.1", ("istio-iptables",), False),
    ("Istio's proxy alone", "docker.io/istio/proxyv2:1.27.1", (), False),
    ("Docker in Docker", "docker:28-dind", (), True),
    ("Docker's client", "docker:28", (), False),
    ("nobody's image", "registry.example.com/app:1", (), False),
]


@pytest.mark.parametrize(("why", "image", "args", "is_server"), IMAGES, ids=[row[0] for row in IMAGES])
def test_which_images_are_known_as_servers(why: str, image: str, args: tuple[str, ...], is_server: bool) -> None:  # noqa: FBT001 - a row
    assert program_of(Container(name="c", image=image, args=args)).is_server is is_server


PROGRAMS = [
    ("a server by its name", ["/usr/local/bin/cloud_sql_proxy", "-instances=a:b:c"], True),
    ("nginx in the foreground", ["nginx", "-g", "daemon off;"], True),
    ("nginx in the background", ["nginx"], False),
    ("a shell that does nothing else", ["sh", "-c", "envoy -c /e.yaml"], True),
    ("a check of a configuration", ["haproxy", "--check"], False),
]


@pytest.mark.parametrize(("why", "words", "is_server"), PROGRAMS, ids=[row[0] for row in PROGRAMS])
def test_which_programs_are_known_as_servers(why: str, words: list[str], is_server: bool) -> None:  # noqa: FBT001 - a row
    program = program_of(a_container("c", command=tuple(words)))
    assert (program.is_server, program.never_ends) == (is_server, is_server)


def test_arguments_alone_are_a_command_only_where_an_image_has_no_entry_point() -> None:
    bare, other = (Container(name="c", image=image, args=("sleep", "60")) for image in ("busybox:1", "app:1"))
    assert (program_of(bare).deaf_seconds, program_of(other).deaf_seconds) == (60, 0)


def test_variables_of_the_manifest_are_put_in() -> None:
    command, env = ("sleep", "$(N)"), (EnvVar(name="N", value="60"),)
    known, unknown = a_container("c", command=command, env=env), a_container("c", command=command)
    assert (program_of(known).deaf_seconds, program_of(unknown).deaf_seconds) == (60, 0)


def test_a_script_is_read_as_a_whole_or_not_at_all() -> None:
    script = read_script('A=1 work \'a b\' "c" d\\ e "$F" g"h" > /out; x=1; unset x')
    assert script is not None
    assert script[0].words == ("work", "a b", "c", "d e", '"$F"', "gh")
    assert [each.kind.name for each in script] == ["COMMAND", "ASSIGNMENT", "COMMAND"]
    assert [read_script(text) for text in ("", "if x", "a\0b", "x" * 30_000)] == [None] * 4
