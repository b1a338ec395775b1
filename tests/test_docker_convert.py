"""What a Docker engine says and is told, as values: no engine is needed."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from runtime.api import (
    ContainerConfig,
    ContainerMetadata,
    ContainerState,
    CRIError,
    ImageID,
    ImageNotFoundError,
    ImagePullError,
    LinuxContainerResources,
    LinuxSecurityContext,
    NamespaceMode,
    NamespaceOptions,
    NotFoundError,
    PodSandboxConfig,
    PodSandboxMetadata,
    PodSandboxState,
    PortMapping,
    RegistryUnavailableError,
    RuntimeEventType,
    SandboxID,
    SeccompProfile,
)
from runtime.docker import bodies, convert, dialing, errors, helper, naming, pull_errors
from runtime.docker.events import signal_name, to_runtime_event
from runtime.docker.frames import LONGEST_LINE_BYTES, Demultiplexer, LineAssembler
from runtime.docker.images import PullState, split_reference

ZERO = "0001-01-01T00:00:00Z"
STARTED, FINISHED = "2026-12-02T04:00:01.123456789Z", "2026-12-02T04:00:02.5Z"


def inspected(name: str = "/k8s_a_pod_ns_uid_3", **state: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    """Return a container's inspect."""
    base = {"Status": "exited", "Running": False, "StartedAt": STARTED, "FinishedAt": FINISHED, "ExitCode": 0}
    return {
        "Id": "c1",
        "Name": name,
        "Created": "2026-12-02T04:00:00Z",
        "Image": "sha256:i",
        "Config": {
            "Image": "sha256:i",
            "Labels": {naming.SANDBOX_ID_LABEL: "s1", naming.IMAGE_NAME_LABEL: "busybox:1", "annotation.k": "v"},
        },
        "HostConfig": {"NetworkMode": "default"},
        "State": base | state,
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (STARTED, datetime(2026, 12, 2, 4, 0, 1, 123456, UTC)),
        (FINISHED, datetime(2026, 12, 2, 4, 0, 2, 500000, UTC)),
        ("2026-12-02T06:00:00+02:00", datetime(2026, 12, 2, 4, 0, 0, 0, UTC)),
        (ZERO, None),
        ("", None),
        (None, None),
    ],
    ids=["nanoseconds", "tenths", "an offset", "Go's zero", "empty", "nothing"],
)
def test_times(text: str | None, expected: datetime | None) -> None:
    assert convert.parse_time(text) == expected


@pytest.mark.parametrize(
    ("state", "kind", "code", "reason"),
    [
        ({}, ContainerState.EXITED, 0, "Completed"),
        ({"ExitCode": 7}, ContainerState.EXITED, 7, "Error"),
        ({"ExitCode": 137, "OOMKilled": True}, ContainerState.EXITED, 137, "OOMKilled"),
        ({"ExitCode": 9, "OOMKilled": True}, ContainerState.EXITED, 9, "OOMKilled"),
        ({"Status": "running", "Running": True, "Pid": 5}, ContainerState.RUNNING, None, ""),
        ({"Status": "paused", "Running": True, "Pid": 5}, ContainerState.RUNNING, None, ""),
        ({"Status": "created", "StartedAt": ZERO, "FinishedAt": ZERO}, ContainerState.CREATED, None, ""),
        ({"Status": "strange"}, ContainerState.UNKNOWN, None, ""),
    ],
    ids=["exit 0", "exit 7", "out of memory", "a child out of memory", "running", "paused", "created", "unknown"],
)
def test_states(state: dict[str, Any], kind: ContainerState, code: int | None, reason: str) -> None:
    status = convert.container_status(inspected(**state))
    assert (status.state, status.exit_code, status.reason) == (kind, code, reason)
    assert (status.sandbox_id, status.image_name, status.annotations) == ("s1", "busybox:1", {"k": "v"})
    assert status.metadata == ContainerMetadata(name="a", attempt=3)


@pytest.mark.parametrize("code", [126, 127, 128])
def test_a_failed_start_is_what_containerd_says(code: int) -> None:
    text = 'failed to create shim task: OCI runtime create failed: runc create failed: exec: "x": not found: unknown'
    state = {"Status": "created", "StartedAt": ZERO, "FinishedAt": ZERO, "ExitCode": code, "Error": text}
    failed_at = datetime(2026, 12, 2, 5, tzinfo=UTC)
    status = convert.container_status(inspected(**state), failed_at=failed_at)
    assert (status.state, status.exit_code, status.reason) == (ContainerState.EXITED, 128, "StartError")
    assert (status.started_at, status.finished_at) == (None, failed_at)
    assert status.message == (
        "failed to create containerd task: failed to create shim task: OCI runtime create failed: "
        'runc create failed: exec: "x": not found'
    )


def test_a_failed_start_without_the_oci_runtimes_words_keeps_its_text() -> None:
    assert errors.start_failure("no space: unknown") == "failed to create containerd task: no space"


def test_a_start_noted_after_the_end_is_put_before_it() -> None:
    status = convert.container_status(inspected(StartedAt=FINISHED, FinishedAt=STARTED))
    assert status.started_at == status.finished_at == convert.parse_time(STARTED)


def test_gateways_are_those_of_every_network() -> None:
    networks = {"n": {"Gateway": "10.0.0.1", "IPv6Gateway": "f::1"}, "m": {"Gateway": ""}}
    item = {"NetworkSettings": {"Gateway": "172.17.0.1", "Networks": networks}}
    assert convert.gateways_of(item) == {"172.17.0.1", "10.0.0.1", "f::1"}
    assert convert.gateways_of({}) == frozenset()


def test_the_way_to_this_machine_begins_at_its_own_address() -> None:
    assert dialing.source_address("127.0.0.1") == "127.0.0.1"
    assert dialing.source_address("255.255.255.255") == "", "the kernel lets nobody go there"


def test_a_sandbox_is_ready_while_it_runs_and_has_its_addresses() -> None:
    item = inspected("/k8s_POD_pod_ns_uid_1", Status="running", Running=True)
    item["NetworkSettings"] = {
        "IPAddress": "",
        "Networks": {"n": {"IPAddress": "10.0.0.2", "GlobalIPv6Address": "f::2"}},
    }
    status = convert.sandbox_status(item)
    assert (status.state, status.ip, status.additional_ips) == (PodSandboxState.READY, "10.0.0.2", ("f::2",))
    assert status.metadata == PodSandboxMetadata(name="pod", namespace="ns", uid="uid", attempt=1)


def test_names_that_are_not_ours_are_shown_as_they_are() -> None:
    assert convert.container_status(inspected("/mine")).metadata == ContainerMetadata(name="mine")
    item = inspected("/mine", Status="running")
    assert convert.sandbox_status(item).metadata == PodSandboxMetadata(name="mine", namespace="", uid="")


@pytest.mark.parametrize(
    ("user", "uid", "username"),
    [
        ("", None, ""),
        ("1000:1000", 1000, ""),
        ("0", 0, ""),
        ("app:app", None, "app"),
        (":1000", None, ""),
        ("-1", -1, ""),
        ("9223372036854775807", 2**63 - 1, ""),
        ("9223372036854775808", None, "9223372036854775808"),
        ("\u0661", None, "\u0661"),
    ],
)
def test_the_images_user(user: str, uid: int | None, username: str) -> None:
    image = convert.image({"Id": "i", "Config": {"User": user, "Env": ["A=b=c"]}, "RepoTags": ["<none>:<none>", "a:1"]})
    assert (image.uid, image.username, image.env, image.repo_tags) == (uid, username, {"A": "b=c"}, ("a:1",))


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ([{"Gateway": "172.17.0.1", "Subnet": "172.17.0.0/16"}], "172.17.0.1"),
        ([{"Subnet": "172.18.0.0/16"}], "172.18.0.1"),
        ([{"Subnet": "fd00::/64"}], ""),
        (None, ""),
    ],
    ids=["named", "first of the subnet", "no IPv4", "no configuration"],
)
def test_the_gateway(config: list[dict[str, str]] | None, expected: str) -> None:
    assert convert.gateway({"IPAM": {"Config": config}}) == expected


def a_container(**changes: Any) -> ContainerConfig:  # noqa: ANN401 - a maker
    """Return a container's configuration."""
    base = {"metadata": ContainerMetadata(name="a"), "image": ImageID("sha256:i"), "image_name": "busybox:1"}
    return ContainerConfig(**(base | changes))


@pytest.mark.parametrize(("machine", "name"), [("x86_64", "amd64"), ("aarch64", "arm64"), ("riscv64", "riscv64")])
def test_a_machines_kind(machine: str, name: str) -> None:
    assert convert.architecture(machine) == name


def test_command_and_args_replace_only_what_they_name() -> None:
    neither = bodies.container_body(a_container(), SandboxID("s"), [], {})
    both = bodies.container_body(a_container(command=("sh",), args=("-c",)), SandboxID("s"), [], {})
    assert {"Entrypoint", "Cmd", "WorkingDir", "StopSignal"} & neither.keys() == set()
    assert (both["Entrypoint"], both["Cmd"]) == (["sh"], ["-c"])


def test_a_container_joins_its_sandbox_and_docker_never_restarts_it() -> None:
    body = bodies.container_body(a_container(), SandboxID("s"), [], {"own": "label"})
    host = body["HostConfig"]
    assert (host["NetworkMode"], host["IpcMode"], host["PidMode"]) == ("container:s", "container:s", "")
    assert (host["RestartPolicy"], body["Healthcheck"]) == ({"Name": "no"}, {"Test": ["NONE"]})
    assert body["Labels"]["own"] == "label"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (NamespaceOptions(), ""),
        (NamespaceOptions(pid=NamespaceMode.POD), "container:s"),
        (NamespaceOptions(pid=NamespaceMode.NODE), "host"),
        (NamespaceOptions(pid=NamespaceMode.TARGET, target_id="t"), "container:t"),  # type: ignore[arg-type]
    ],
    ids=["its own", "the pod's", "the node's", "another container's"],
)
def test_whose_processes_are_seen(options: NamespaceOptions, expected: str) -> None:
    assert bodies.pid_mode(options, SandboxID("s")) == expected


@pytest.mark.parametrize(
    ("security", "expected"),
    [
        (LinuxSecurityContext(), ""),
        (LinuxSecurityContext(run_as_user=0), "0"),
        (LinuxSecurityContext(run_as_user=5, run_as_group=6), "5:6"),
        (LinuxSecurityContext(run_as_username="app"), "app"),
        (LinuxSecurityContext(run_as_group=6), ""),
    ],
    ids=["the image's", "root", "with a group", "a name", "a group alone"],
)
def test_who_it_runs_as(security: LinuxSecurityContext, expected: str) -> None:
    assert bodies.user(security) == expected


@pytest.mark.parametrize(
    ("security", "expected"),
    [
        (LinuxSecurityContext(), ["seccomp=unconfined"]),
        (LinuxSecurityContext(seccomp=SeccompProfile()), []),
        (LinuxSecurityContext(seccomp=SeccompProfile(), privileged=True), ["seccomp=unconfined"]),
        (LinuxSecurityContext(seccomp=SeccompProfile(type="Localhost", localhost_json="{}")), ["seccomp={}"]),
        (LinuxSecurityContext(no_new_privs=True), ["no-new-privileges", "seccomp=unconfined"]),
        (LinuxSecurityContext(app_armor="unconfined"), ["apparmor=unconfined", "seccomp=unconfined"]),
        (LinuxSecurityContext(app_armor="runtime/default"), ["seccomp=unconfined"]),
        (
            LinuxSecurityContext(app_armor="localhost/k8s-own", privileged=True),
            ["apparmor=k8s-own", "seccomp=unconfined"],
        ),
    ],
    ids=[
        "no profile",
        "the runtime's",
        "privileged",
        "a file's",
        "no new privileges",
        "AppArmor off",
        "the engine's own AppArmor profile",
        "an AppArmor profile of the node, privileged or not",
    ],
)
def test_security_options(security: LinuxSecurityContext, expected: list[str]) -> None:
    assert bodies.security_options(security) == expected


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["name=apparmor", "name=seccomp,profile=default"], True),
        (["name=seccomp,profile=apparmor"], False),
        (None, False),
    ],
    ids=["named among others", "not named", "nothing is said"],
)
def test_the_engine_says_whether_its_machine_has_app_armor(options: list[str] | None, *, expected: bool) -> None:
    assert convert.has_app_armor({"SecurityOptions": options}) is expected


def test_a_profile_that_the_node_lacks_is_refused() -> None:
    profile = SeccompProfile(type="Localhost", localhost_path="/s/a.json", localhost_error="permission denied")
    text = 'cannot load seccomp profile "/s/a.json": open /s/a.json: permission denied'
    with pytest.raises(CRIError, match=f"^failed to create containerd container: {text}$"):
        bodies.security_options(LinuxSecurityContext(seccomp=profile))
    assert bodies.security_options(LinuxSecurityContext(seccomp=profile, privileged=True)) == ["seccomp=unconfined"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{]", "expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
        ("[]", "it is no JSON object"),
        ("[" * 10**6, "maximum recursion depth exceeded while decoding a JSON array from a unicode string"),
    ],
    ids=["no JSON", "another kind of JSON", "too deep"],
)
def test_a_profile_that_is_none_is_refused(text: str, why: str) -> None:
    security = LinuxSecurityContext(
        seccomp=SeccompProfile(type="Localhost", localhost_path="/s/a.json", localhost_json=text)
    )
    with pytest.raises(CRIError) as raised:
        bodies.security_options(security)
    told = 'failed to create containerd container: decoding seccomp profile failed "/s/a.json": '
    assert str(raised.value) == told + why


def test_memory_leaves_no_swap_and_what_is_unset_is_left_out() -> None:
    assert bodies.resources_body(LinuxContainerResources(memory_limit_bytes=64, cpu_quota=0)) == {
        "Memory": 64,
        "MemorySwap": 64,
    }


def test_a_sandbox_publishes_its_host_ports_and_has_no_rights() -> None:
    config = PodSandboxConfig(
        metadata=PodSandboxMetadata(name="p", namespace="n", uid="u"),
        hostname="p",
        port_mappings=(PortMapping(container_port=80, host_port=8080, host_ip="127.0.0.1"),),
    )
    body = bodies.sandbox_body(config, "pause", {}, oom_score_adj=-998)
    host = body["HostConfig"]
    assert host["PortBindings"] == {"80/tcp": [{"HostIp": "127.0.0.1", "HostPort": "8080"}]}
    assert (host["OomScoreAdj"], host["CapDrop"], host["IpcMode"]) == (-998, ["ALL"], "shareable")
    assert body["Labels"][naming.CONTAINER_NAME_LABEL] == "POD"


def test_a_sandbox_in_the_nodes_network_takes_the_nodes_name() -> None:
    config = PodSandboxConfig(
        metadata=PodSandboxMetadata(name="p", namespace="n", uid="u"),
        hostname="p",
        namespaces=NamespaceOptions(network=NamespaceMode.NODE, ipc=NamespaceMode.NODE, pid=NamespaceMode.NODE),
    )
    body = bodies.sandbox_body(config, "pause", {}, oom_score_adj=None)
    host = body["HostConfig"]
    assert (body["Hostname"], host["NetworkMode"], host["IpcMode"], host["PidMode"]) == ("", "host", "host", "host")
    assert host["OomScoreAdj"] == 0


@pytest.mark.parametrize(
    ("status", "text", "kind"),
    [
        (404, "No such container: x", NotFoundError),
        (409, 'The container name "/k" is already in use by container "' + "a" * 64 + '".', errors.NameTakenError),
        (409, "Container x is not running", errors.NotRunningError),
        (500, "Cannot kill container: x: Container x is not running", errors.NotRunningError),
        (500, "boom", CRIError),
    ],
)
def test_refused_calls_have_kinds(status: int, text: str, kind: type[CRIError]) -> None:
    error = errors.of_answer(status, text)
    assert (type(error), str(error)) == (kind, text)


PULLING = 'failed to pull and unpack image "docker.io/library/x:1": '
RESOLVING = PULLING + "failed to resolve image: "
DENIED = (
    RESOLVING + "pull access denied, repository does not exist or may require authorization: authorization failed: "
)
URL = "https://registry-1.docker.io/v2/library/x/manifests/1"
REFUSED_PULLS = [
    (
        "no such tag",
        "manifest for x:1 not found: manifest unknown: manifest unknown",
        ImageNotFoundError,
        f"rpc error: code = NotFound desc = {RESOLVING}docker.io/library/x:1: not found",
    ),
    (
        "no such repository",
        "pull access denied for x, repository does not exist or may require 'docker login'",
        ImagePullError,
        f"{DENIED}no such repository",
    ),
    (
        "no such repository, with the registry's word",
        "pull access denied for x, repository does not exist or may require 'docker login': denied: not yours",
        ImagePullError,
        f"{DENIED}denied: not yours",
    ),
    (
        "nobody listens",
        'Get "http://r/v2/": dial tcp r:80: connect: connection refused',
        RegistryUnavailableError,
        f'{RESOLVING}failed to do request: Head "{URL}": dial tcp r:80: connect: connection refused',
    ),
    (
        "the registry hangs up",
        'Head "http://r/v2/x/manifests/1": EOF',
        RegistryUnavailableError,
        f'{RESOLVING}failed to do request: Head "{URL}": EOF',
    ),
    (
        "the registry is down",
        "received unexpected HTTP status: 503 Service Unavailable",
        RegistryUnavailableError,
        f"{RESOLVING}unexpected status from HEAD request to {URL}: 503 Service Unavailable",
    ),
    (
        "the registry is broken",
        "received unexpected HTTP status: 500 Internal Server Error",
        ImagePullError,
        f"{RESOLVING}unexpected status from HEAD request to {URL}: 500 Internal Server Error",
    ),
    (
        "a password is wanted",
        'Head "http://r/v2/x/manifests/1": no basic auth credentials',
        ImagePullError,
        f"{DENIED}no basic auth credentials",
    ),
    (
        "another password is wanted",
        "unauthorized: authentication required",
        ImagePullError,
        f"{DENIED}unauthorized: authentication required",
    ),
    (
        "garbage",
        "error parsing HTTP 404 response body",
        ImagePullError,
        f"{RESOLVING}error parsing HTTP 404 response body",
    ),
    ("a lot", "z" * 3000, ImagePullError, f"{RESOLVING}{'z' * 2000}..."),
]


@pytest.mark.parametrize(("why", "text", "kind", "expected"), REFUSED_PULLS, ids=[row[0] for row in REFUSED_PULLS])
def test_a_refused_pull_has_a_kind_and_containerds_words(
    why: str, text: str, kind: type[ImagePullError], expected: str
) -> None:
    error = pull_errors.of_resolving("x:1", text)
    assert (type(error), str(error)) == (kind, expected), why


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("EOF", RegistryUnavailableError),
        ("unexpected EOF", RegistryUnavailableError),
        ("received unexpected HTTP status: 503 Service Unavailable", RegistryUnavailableError),
        ("error pulling image configuration: download failed after attempts=1: unknown blob", ImagePullError),
        ("filesystem layer verification failed for digest sha256:1", ImagePullError),
    ],
)
def test_a_pull_that_breaks_off_has_a_kind(text: str, kind: type[ImagePullError]) -> None:
    error = pull_errors.of_copying("x:1", text)
    assert (type(error), str(error)) == (kind, f"{PULLING}failed to copy: {text}")


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.5, "500ms"), (1.0, "1s"), (1.5, "1.5s"), (90, "1m30s"), (3600, "1h0m0s")]
)
def test_lengths_of_time_are_printed_as_gos(seconds: float, text: str) -> None:
    assert errors.go_duration(seconds) == text


@pytest.mark.parametrize(
    ("image", "expected"),
    [
        ("busybox", ("busybox", "latest")),
        ("busybox:1", ("busybox", "1")),
        ("127.0.0.1:5000/a/b", ("127.0.0.1:5000/a/b", "latest")),
        ("127.0.0.1:5000/a/b:2", ("127.0.0.1:5000/a/b", "2")),
        ("r/a@sha256:ab", ("r/a", "sha256:ab")),
        ("r:5/a:1@sha256:ab", ("r:5/a", "sha256:ab")),
    ],
)
def test_references_are_split(image: str, expected: tuple[str, str]) -> None:
    assert split_reference(image) == expected


@pytest.mark.parametrize("detail", [None, [], "x", {"current": "x"}, {"current": None, "total": {}}])
def test_odd_progress_counts_for_nothing(detail: object) -> None:
    told = PullState().take({"status": "Downloading", "id": ["odd"], "progressDetail": detail})
    assert told is not None
    assert (told.done_bytes, told.total_bytes) == (0, 0)


def test_progress_of_a_pull_adds_up() -> None:
    state = PullState()
    assert state.take({"status": "Pulling from a", "id": "1"}) is None
    state.take({"status": "Downloading", "id": "a", "progressDetail": {"current": 10, "total": 100}})
    both = state.take({"status": "Downloading", "id": "b", "progressDetail": {"current": 5, "total": 50}})
    assert both is not None
    assert (both.done_bytes, both.total_bytes) == (15, 150)
    done = state.take({"status": "Download complete", "id": "a"})
    assert done is not None
    assert (done.done_bytes, done.total_bytes, done.text) == (105, 150, "a: Download complete")


def frame(kind: int, payload: bytes) -> bytes:
    """Return one multiplexed frame."""
    return bytes((kind, 0, 0, 0)) + len(payload).to_bytes(4, "big") + payload


@pytest.mark.parametrize("size", [1, 3, 7, 1000], ids=["a byte at a time", "three", "seven", "all at once"])
def test_lines_come_out_the_same_however_they_are_cut(size: int) -> None:
    stamp = STARTED.encode()
    data = (
        frame(1, stamp + b" one\n")
        + frame(2, stamp + b" err\n")
        + frame(1, stamp + b" lo")
        + frame(1, stamp + b" ng\n")
    )
    data += frame(1, stamp + b" rest")
    frames, lines = Demultiplexer(), LineAssembler()
    seen = []
    for at in range(0, len(data), size):
        for stream, payload in frames.feed(data[at : at + size]):
            seen += list(lines.feed(stream, payload))
    seen += list(lines.end())
    assert [(line.stream, line.line) for line in seen] == [
        ("stdout", b"one"),
        ("stderr", b"err"),
        ("stdout", b"long"),
        ("stdout", b"rest"),
    ]
    assert {line.at for line in seen} == {convert.parse_time(STARTED)}


def test_lines_of_a_terminal_lose_their_carriage_return() -> None:
    lines = LineAssembler(is_raw=True)
    stamp = STARTED.encode()
    seen = list(lines.feed("stdout", stamp + b" one\r\n" + stamp + b" tw")) + list(lines.feed("stdout", b"o\r\n"))
    assert [line.line for line in [*seen, *lines.end()]] == [b"one", b"two"]


TERMINAL = (STARTED + " one\r\n" + STARTED + " \r\n" + STARTED + "\n" + "odd two\n" + STARTED + " rest").encode()


@pytest.mark.parametrize("size", [1, 7, 31, 1000])
def test_a_terminals_log_may_be_cut_anywhere(size: int) -> None:
    lines = LineAssembler(is_raw=True)
    seen = [line for at in range(0, len(TERMINAL), size) for line in lines.feed("stdout", TERMINAL[at : at + size])]
    assert [line.line for line in [*seen, *lines.end()]] == [b"one", b"", b"", b"two", b"rest"]


def test_a_time_alone_is_a_line_without_text() -> None:
    lines = LineAssembler(is_raw=True)
    assert list(lines.feed("stdout", STARTED.encode())) == []
    assert [line.line for line in lines.end()] == [b""]


@pytest.mark.parametrize("is_raw", [False, True], ids=["frames", "a terminal"])
def test_an_endless_line_keeps_its_beginning(is_raw: bool) -> None:  # noqa: FBT001 - a table's column
    lines, part = LineAssembler(is_raw=is_raw), b"x" * 16384
    stamp = STARTED.encode() + b" "
    fed = [list(lines.feed("stdout", part if is_raw and number else stamp + part)) for number in range(100)]
    assert fed == [[]] * 100
    [line] = lines.feed("stdout", b"end\n" if is_raw else stamp + b"end\n")
    assert (line.line, line.cut_bytes) == (b"x" * LONGEST_LINE_BYTES, 100 * 16384 + 3 - LONGEST_LINE_BYTES)


def message(action: str, **attributes: str) -> dict[str, Any]:
    """Return one of the engine's events."""
    base = {"name": "k8s_a_pod_ns_uid_3", naming.TYPE_LABEL: naming.CONTAINER_TYPE, naming.SANDBOX_ID_LABEL: "s"}
    return {"Action": action, "timeNano": 1_500_000_000, "Actor": {"ID": "c", "Attributes": base | attributes}}


def test_a_death_carries_its_code() -> None:
    event = to_runtime_event(message("die", exitCode="7"))
    assert event is not None
    assert (event.type, event.exit_code, event.container_id) == (RuntimeEventType.CONTAINER_EXITED, 7, "c")
    assert (event.container_name, event.attempt, event.pod_uid, event.sandbox_id) == ("a", 3, "uid", "s")
    assert event.at == datetime.fromtimestamp(1.5, UTC)


def test_a_sandbox_has_events_of_its_own() -> None:
    sandbox = {"name": "k8s_POD_pod_ns_uid_0", naming.TYPE_LABEL: naming.SANDBOX_TYPE}
    event = to_runtime_event(message("die", exitCode="0", **sandbox))
    assert event is not None
    assert (event.type, event.sandbox_id, event.container_id) == (RuntimeEventType.SANDBOX_STOPPED, "c", "")
    assert to_runtime_event(message("oom", **sandbox)) is None


@pytest.mark.parametrize("what", [message("exec_die"), message("die", name="kemu_helper")])
def test_other_events_are_of_no_interest(what: dict[str, Any]) -> None:
    assert to_runtime_event(what) is None


@pytest.mark.parametrize(
    ("number", "name"), [("15", "SIGTERM"), ("9", "SIGKILL"), ("SIGUSR1", "SIGUSR1"), ("99", "99")]
)
def test_signals_have_their_linux_names(number: str, name: str) -> None:
    assert signal_name(number) == name


@pytest.mark.parametrize("architecture", ["x86_64", "aarch64"])
def test_the_helpers_image_is_the_same_each_time_and_small(architecture: str) -> None:
    first, second = (helper.image_archive(architecture, {"a": "b"}) for _ in range(2))
    assert first == second
    assert helper.program(architecture).startswith(b"\x7fELF")
    assert len(helper.program(architecture)) < 1024


def test_there_is_no_helper_for_other_machines() -> None:
    assert not helper.supports("riscv64")


_ENDPOINT = "driver failed programming external connectivity on endpoint k8s_POD_p_d_u_0 (0a1b): "
PORTS = [
    (
        "another program",
        "Error starting userland proxy: listen tcp4 127.0.0.1:8080: bind: address already in use",
        "host port 127.0.0.1:8080 can't be opened: another program of the engine's machine has it",
    ),
    (
        "another container",
        "Bind for 0.0.0.0:53 failed: port is already allocated",
        "host port 0.0.0.0:53 can't be opened: another container of this engine has it",
    ),
    (
        "in the words of later engines",
        "failed to bind host port for 127.0.0.1:8080:172.17.0.2:80/tcp: address already in use",
        "host port 127.0.0.1:8080 can't be opened: another program of the engine's machine has it",
    ),
    (
        "IPv6",
        "Error starting userland proxy: listen tcp6 [::1]:8080: bind: address already in use",
        "host port [::1]:8080 can't be opened: another program of the engine's machine has it",
    ),
    (
        "an address of another machine",
        "Error starting userland proxy: listen udp4 10.9.9.9:53: bind: cannot assign requested address",
        "host port 10.9.9.9:53 can't be opened: the engine's machine has no such address",
    ),
    (
        "a low port of a rootless engine",
        (
            "Error starting userland proxy: error while calling PortManager.AddPort(): can't expose port 80: "
            "listen tcp4 127.0.0.1:80: bind: permission denied"
        ),
        "host port 127.0.0.1:80 can't be opened: the engine may not open it",
    ),
    (
        "a protocol that the kernel has not",
        "Error starting userland proxy: protocol not supported",
        "a host port can't be opened: the engine's machine knows no SCTP",
    ),
    ("words that nobody knows", "no more chains", "a host port can't be opened: no more chains"),
]


@pytest.mark.parametrize(("why", "text", "expected"), PORTS, ids=[row[0] for row in PORTS])
def test_a_host_port_that_is_not_free_is_told_by_its_place(why: str, text: str, expected: str) -> None:
    assert str(errors.of_answer(500, _ENDPOINT + text)) == expected
