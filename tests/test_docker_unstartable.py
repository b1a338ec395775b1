"""Containers that a node makes and can't start, and an engine refuses to make."""

from __future__ import annotations

import re

import pytest

from runtime.api import ContainerConfig, ContainerMetadata, ImageID
from runtime.docker import bodies, naming, unstartable
from runtime.docker.convert import container_status
from runtime.docker.errors import of_answer, start_failure

INIT = "unable to start container process: error during container init: "
ROWS = [
    ("a relative folder", "data", ("true",), "", "Cwd must be an absolute path"),
    ("no name", None, ("", "a"), "", 'unable to start container process: exec: "": executable file not found in $PATH'),
    ("a file", "/f", None, "Cannot mkdir: /f is not a directory", f"{INIT}mkdir /f: not a directory"),
    (
        "below a file",
        "/f/x/y",
        None,
        "lstat /var/lib/docker/overlay2/b1f6/merged/f/x: not a directory",
        f"{INIT}mkdir /f: not a directory",
    ),
    ("a newer engine", "/f", None, "failed to mkdir /f: not a directory", f"{INIT}mkdir /f: not a directory"),
    ("what a node refuses, too", "/f", ("true",), "invalid mount config for type", ""),
    ("nothing", None, None, "", ""),
]


def config(working_dir: str | None, command: tuple[str, ...] | None) -> ContainerConfig:
    return ContainerConfig(
        metadata=ContainerMetadata(name="c"),
        image=ImageID("sha256:1"),
        image_name="i",
        command=command,
        working_dir=working_dir,
    )


@pytest.mark.parametrize(
    ("folder", "command", "refusal", "expected"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS]
)
def test_what_an_oci_runtime_would_say(
    folder: str | None, command: tuple[str, ...] | None, refusal: str, expected: str
) -> None:
    assert unstartable.failure_of(config(folder, command), refusal) == expected


def test_it_is_made_so_that_it_fails_with_these_words() -> None:
    body = bodies.container_body(config("data", ("true",)), "s", (), {})  # type: ignore[arg-type]
    made = unstartable.body_with(body, "Cwd must be an absolute path")
    assert (made["Entrypoint"], "Cmd" in made, "WorkingDir" in made) == (["/"], False, False)
    inspected = {
        "Id": "i",
        "Name": "/k8s_c_p_n_u_0",
        "State": {"Status": "created", "ExitCode": 126, "Error": "the engine's own words"},
        "Config": {"Labels": made["Labels"]},
    }
    status = container_status(inspected)
    assert status.message == (
        "failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: "
        "Cwd must be an absolute path"
    )
    assert naming.START_FAILURE_LABEL not in status.labels


def test_an_engine_adds_advice_that_a_node_has_not() -> None:
    advice = (
        "Are you trying to mount a directory onto a file (or vice-versa)? "
        "Check if the specified host path exists and is the expected type"
    )
    text = "OCI runtime create failed: runc create failed: stat /f/x: not a directory"
    told = start_failure(f"failed to create shim task: {text}: unknown: {advice}")
    assert told == f"failed to create containerd task: failed to create shim task: {text}"


def test_an_image_without_a_command_is_refused_in_containerds_words_with_a_new_id_each_time() -> None:
    texts = [str(of_answer(400, "No command specified")) for _ in range(2)]
    expected = r'failed to generate container "[0-9a-f]{64}" spec: failed to generate spec: no command specified'
    assert [bool(re.fullmatch(expected, text)) for text in texts] == [True, True]
    assert texts[0] != texts[1]
