"""Which engine is meant, and who owns what: no engine is needed."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from attrs import evolve

from runtime.api import RuntimeUnavailableError
from runtime.docker.endpoint import Endpoint, TLSFiles, find_endpoint
from runtime.docker.owner import Owner, process_start

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give an empty Docker configuration, and an environment that names no engine."""
    for name in ("DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_TLS_VERIFY", "DOCKER_TLS", "DOCKER_CERT_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
    return tmp_path


def add_context(home: Path, name: str, host: str, *, skip_verify: bool = False, ca: bool = False) -> Path:
    """Write a context's files as the docker command does."""
    key = hashlib.sha256(name.encode()).hexdigest()
    meta = home / "contexts" / "meta" / key
    meta.mkdir(parents=True)
    docker = {"Host": host, "SkipTLSVerify": skip_verify}
    (meta / "meta.json").write_text(json.dumps({"Name": name, "Endpoints": {"docker": docker}}))
    tls = home / "contexts" / "tls" / key / "docker"
    if ca:
        tls.mkdir(parents=True)
        (tls / "ca.pem").write_text("")
    return tls


def test_nothing_said_means_the_local_socket(home: Path) -> None:
    endpoint = find_endpoint()
    assert (endpoint.scheme, endpoint.socket_path) == ("unix", "/var/run/docker.sock")


def test_the_current_context_is_taken(home: Path) -> None:
    (home / "config.json").write_text('{"currentContext": "vm"}')
    add_context(home, "vm", "unix:///home/me/vm.sock")
    assert find_endpoint().socket_path == "/home/me/vm.sock"


def test_an_unreadable_configuration_means_the_local_socket(home: Path) -> None:
    (home / "config.json").write_text("{")
    assert find_endpoint() == Endpoint(url="unix:///var/run/docker.sock")


def test_docker_host_wins_over_contexts(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "config.json").write_text('{"currentContext": "vm"}')
    monkeypatch.setenv("DOCKER_CONTEXT", "vm")
    monkeypatch.setenv("DOCKER_HOST", "ssh://me@box:2222")
    endpoint = find_endpoint()
    assert (endpoint.scheme, endpoint.user, endpoint.host, endpoint.port) == ("ssh", "me", "box", 2222)


def test_docker_context_wins_over_the_current_one(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "config.json").write_text('{"currentContext": "vm"}')
    tls = add_context(home, "far", "tcp://far", skip_verify=True, ca=True)
    monkeypatch.setenv("DOCKER_CONTEXT", "far")
    endpoint = find_endpoint()
    assert endpoint.tls == TLSFiles(ca=tls / "ca.pem", verify=False)
    assert (endpoint.scheme, endpoint.port) == ("tcp", 2376)


def test_a_context_that_is_not_there_is_an_error(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add_context(home, "vm", "unix:///home/me/vm.sock")
    monkeypatch.setenv("DOCKER_CONTEXT", "gone")
    with pytest.raises(
        RuntimeUnavailableError, match=r"docker context 'gone' \(of DOCKER_CONTEXT\) has no readable"
    ) as told:
        find_endpoint()
    assert told.value.__notes__ == ["contexts that there are: default, vm"]


def test_a_context_of_the_configuration_says_where_it_is_from(home: Path) -> None:
    (home / "config.json").write_text('{"currentContext": "vm"}')
    add_context(home, "vm", "vm.example:2375")
    with pytest.raises(RuntimeUnavailableError) as told:
        find_endpoint()
    said = f"docker context 'vm' (of {home / 'config.json'}) says 'vm.example:2375': it does not begin with"
    assert str(told.value).startswith(said)


ADDRESSES = {
    "foo": "it does not begin with unix://, tcp:// or ssh://",
    "localhost:2375": "it does not begin with unix://, tcp:// or ssh://",
    "/var/run/docker.sock": "it does not begin with unix://, tcp:// or ssh://",
    "npipe:////./pipe/docker_engine": "it does not begin with unix://, tcp:// or ssh://",
    "unix://": "it names no absolute path",
    "unix://docker.sock": "it names no absolute path",
    "tcp://:2375": "it names no host",
    "ssh://": "it names no host",
    "tcp://far:abc": "port could not be cast to integer value as 'abc'",
    "tcp://far:99999": "port out of range 0-65535",
    "tcp://far:0": "port 0 is no port",
    "tcp://[::1": "invalid ipv6 url",
}


@pytest.mark.parametrize(("address", "reason"), ADDRESSES.items(), ids=ADDRESSES.keys())
def test_an_address_that_is_none_is_explained(
    address: str, reason: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_HOST", address)
    with pytest.raises(RuntimeUnavailableError) as told:
        find_endpoint()
    assert str(told.value) == f"DOCKER_HOST says {address!r}: {reason}"
    assert told.value.__notes__ == ["valid are unix:///var/run/docker.sock, tcp://HOST:PORT and ssh://USER@HOST"]


def test_certificates_that_are_not_there_are_explained(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_TLS_VERIFY", "1")
    monkeypatch.setenv("DOCKER_CERT_PATH", "/nowhere")
    with pytest.raises(RuntimeUnavailableError, match="DOCKER_CERT_PATH says '/nowhere', which is no folder"):
        find_endpoint("tcp://far:1234")


def test_tls_of_the_environment(home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DOCKER_TLS_VERIFY", "1")
    monkeypatch.setenv("DOCKER_CERT_PATH", str(tmp_path))
    (tmp_path / "key.pem").write_text("")
    assert find_endpoint("tcp://far:1234").tls == TLSFiles(key=tmp_path / "key.pem")


def test_a_plain_tcp_engine_has_dockers_port(home: Path) -> None:
    assert find_endpoint("tcp://far").port == 2375


def test_this_process_is_its_own_living_owner() -> None:
    here = Owner.current()
    assert Owner.of_labels(here.labels()) == here
    assert not here.is_proven_dead(here)


def test_labels_that_name_no_owner() -> None:
    assert Owner.of_labels({}) is None


@pytest.mark.parametrize(
    ("changes", "is_dead"),
    [
        ({"boot": "before"}, True),
        ({"pid_start": "1"}, True),
        ({"host": "elsewhere", "boot": "before", "pid_start": "1"}, False),
    ],
    ids=["the machine was started anew", "the process id is another's now", "another host is never judged"],
)
def test_who_is_proven_dead(changes: dict[str, str], is_dead: bool) -> None:  # noqa: FBT001 - a table's column
    here = Owner.current()
    assert evolve(here, **changes).is_proven_dead(here) is is_dead


def test_an_ended_process_is_dead_also_while_its_parent_has_not_looked() -> None:
    here = Owner.current()
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    owner = evolve(here, pid=process.pid, pid_start=process_start(process.pid))
    assert not owner.is_proven_dead(here)
    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert owner.is_proven_dead(here), "a zombie"
    process.communicate()
    assert owner.is_proven_dead(here), "gone"
