"""Mirrors from hosts files, and the user's own Docker credentials."""

from __future__ import annotations

import json
import os
import signal
from typing import TYPE_CHECKING

import pytest
import trio
from attrs import define, field

from kubelet_emu.images import credential_helper, docker_config
from kubelet_emu.images.credentials import PullSecretError
from kubelet_emu.images.docker_config import DockerCredentials, docker_config_path, parse_docker_config
from kubelet_emu.images.hosts_files import parse_hosts_file, read_registry_hosts
from kubelet_emu.images.mirrors import Mirror, MirrorError, image_sources
from runtime.api import AuthConfig

if TYPE_CHECKING:
    from pathlib import Path

CANARY = "canary-password"
DIGEST = "@sha256:" + "a" * 64


def references(image: str, mirrors: tuple[Mirror, ...]) -> list[str]:
    return [source.reference for source in image_sources(image, mirrors)]


def test_a_hosts_file_is_read_in_its_order() -> None:
    text = """
        server = "https://cgr.dev"
        [host."https://m.io"]
          capabilities = ["pull", "resolve"]
        [host."http://127.0.0.1:5000/v2/kemu"]
          override_path = true
        [host."https://push.io"]
          capabilities = ["push"]
        [host."plain.io/v2/"]
    """
    mirrors = parse_hosts_file("f", text, "cgr.dev").mirrors
    assert references("cgr.dev/a:1", mirrors) == ["m.io/a:1", "127.0.0.1:5000/kemu/a:1", "plain.io/a:1", "cgr.dev/a:1"]


def test_a_host_that_does_not_resolve_is_asked_for_digests_alone() -> None:
    mirrors = parse_hosts_file("f", '[host."https://m.io"]\ncapabilities = ["pull"]', "cgr.dev").mirrors
    assert references("cgr.dev/a:1", mirrors) == ["cgr.dev/a:1"]
    assert references(f"cgr.dev/a:1{DIGEST}", mirrors) == [f"m.io/a:1{DIGEST}", f"cgr.dev/a:1{DIGEST}"]


def test_a_server_takes_the_registrys_place() -> None:
    text = 'server = "https://own.io/v2/hub"\noverride_path = true\n[host."https://m.io"]'
    mirrors = parse_hosts_file("f", text, "docker.io").mirrors
    assert references("busybox:1", mirrors) == ["m.io/library/busybox:1", "own.io/hub/library/busybox:1"]


@pytest.mark.parametrize("server", ["https://registry-1.docker.io", "https://index.docker.io", "docker.io"])
def test_docker_hub_has_several_names(server: str) -> None:
    mirrors = parse_hosts_file("f", f'server = "{server}"\n[host."https://m.io"]', None).mirrors
    assert references("busybox:1", mirrors) == ["m.io/library/busybox:1", "busybox:1"]


def test_the_default_is_for_registries_without_their_own(tmp_path: Path) -> None:
    write_hosts(tmp_path, "_default", '[host."https://any.io"]')
    write_hosts(tmp_path, "cgr.dev", '[host."https://m.io"]')
    write_hosts(tmp_path, "bare.io", 'server = "https://bare.io"')
    write_hosts(tmp_path, "reg.io_5000_", '[host."https://p.io"]')
    mirrors = read_registry_hosts(tmp_path).mirrors
    assert references("cgr.dev/a:1", mirrors) == ["m.io/a:1", "cgr.dev/a:1"]
    assert references("q.io/a:1", mirrors) == ["any.io/a:1", "q.io/a:1"]
    assert references("bare.io/a:1", mirrors) == ["bare.io/a:1"]
    assert references("reg.io:5000/a:1", mirrors) == ["p.io/a:1", "reg.io:5000/a:1"]


def test_a_default_server_serves_every_registry() -> None:
    mirrors = parse_hosts_file("f", 'server = "https://any.io"', "*").mirrors
    assert references("q.io/a:1", mirrors) == ["any.io/a:1"]
    assert references("any.io/a:1", mirrors) == ["any.io/a:1"]


def test_one_file_says_whose_it_is(tmp_path: Path) -> None:
    file = tmp_path / "hosts.toml"
    file.write_text('server = "https://cgr.dev"\n[host."https://m.io"]')
    assert references("cgr.dev/a:1", read_registry_hosts(file).mirrors) == ["m.io/a:1", "cgr.dev/a:1"]
    file.write_text('[host."https://m.io"]')
    with pytest.raises(MirrorError, match=r'hosts\.toml: add server = "https://HOST"'):
        read_registry_hosts(file)


def write_hosts(folder: Path, host: str, text: str) -> None:
    (folder / host).mkdir()
    (folder / host / "hosts.toml").write_text(text)


@pytest.mark.parametrize(
    "text",
    [
        "[host",
        "host = 1",
        'server = "https://own.io/v2/hub"',
        'host = {"https://m.io" = 1}',
        "server = 1",
        '[host."https://m.io/v2/a"]',
        '[host."https://m.io/v1/a"]\noverride_path = true',
        '[host."https://m.io/v2/UPPER"]\noverride_path = true',
        '[host."https://mirror"]',
        '[host."ftp://m.io"]',
        '[host."https://m.io?x=1"]',
        '[host."https://[m.io"]',
        '[host."https://m.io"]\ncapabilities = "pull"',
        '[host."https://m.io"]\ncapabilities = ["fly"]',
        '[host."https://m.io"]\ncapabilities = [["pull"]]',
        '[host."https://m.io/"]\ncapabilities = 5',
        f'[host."https://user:{CANARY}@m.io"]',
        f'server = "https://user:{CANARY}@m.io"',
        "a = " + "[" * 5000,
    ],
)
def test_a_hosts_file_that_cannot_be_followed_is_refused(text: str) -> None:
    with pytest.raises(MirrorError, match=r"^the-file: ") as raised:
        parse_hosts_file("the-file", text, "cgr.dev")
    assert CANARY not in str(raised.value)


def test_what_only_the_engine_can_do_is_named(tmp_path: Path) -> None:
    text = f"""
        extra = 1
        skip_verify = true
        [host."https://m.io"]
          skip_verify = true
          ca = "ca.crt"
          colour = "red"
        [host."https://m.io".header]
          authorization = "Basic {CANARY}"
    """
    write_hosts(tmp_path, "cgr.dev", text)
    warnings = read_registry_hosts(tmp_path).warnings
    assert [warning.removeprefix(f"{tmp_path}/cgr.dev/hosts.toml: ") for warning in warnings] == [
        "extra has no effect here",
        "skip_verify: how a registry is spoken to is the engine's own setting",
        "https://m.io: ca, header, skip_verify: how a registry is spoken to is the engine's own setting",
        "https://m.io: colour is not known",
    ]


def test_files_that_cannot_be_read_are_told_by_name(tmp_path: Path) -> None:
    with pytest.raises(MirrorError, match=r"no HOST/hosts\.toml below this folder"):
        read_registry_hosts(tmp_path)
    with pytest.raises(MirrorError, match="nothing: No such file"):
        read_registry_hosts(tmp_path / "nothing")
    (tmp_path / "hosts.toml").write_bytes(b"\xff")
    with pytest.raises(MirrorError, match="no UTF-8"):
        read_registry_hosts(tmp_path / "hosts.toml")


@pytest.mark.parametrize(
    "text",
    ["{", "[]", '{"credHelpers": ["x"]}', '{"credsStore": 5}', f'{{"auths": {{"reg.io": "{CANARY}"}}}}', "[" * 99999],
)
def test_a_broken_docker_config_is_an_error_that_shows_nothing(text: str) -> None:
    with pytest.raises(PullSecretError) as raised:
        parse_docker_config(text)
    assert CANARY not in str(raised.value)


def test_the_docker_config_is_where_the_docker_command_has_it(tmp_path: Path) -> None:
    assert docker_config_path({"DOCKER_CONFIG": str(tmp_path), "HOME": "/x"}) == tmp_path / "config.json"
    assert str(docker_config_path({"HOME": "/home/me"})) == "/home/me/.docker/config.json"


@define(eq=False)
class Helpers:
    """Credential helpers that are shell scripts, a config.json that names them, and what was warned of."""

    folder: Path
    warnings: list[str] = field(factory=list)

    def add(self, name: str, script: str) -> None:
        helper = self.folder / f"docker-credential-{name}"
        helper.write_text(f"#!/bin/sh\necho {name} >> {self.folder}/asked\n{script}\n")
        helper.chmod(0o755)

    def credentials(self, config: object) -> DockerCredentials:
        path = self.folder / "config.json"
        path.write_text(config if isinstance(config, str) else json.dumps(config))
        return DockerCredentials(path=path, warn=self.warnings.append)

    def asked(self) -> list[str]:
        file = self.folder / "asked"
        return file.read_text().split() if file.exists() else []


@pytest.fixture
def helpers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Helpers:
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return Helpers(tmp_path)


async def test_helpers_are_asked_for_the_registry_of_a_pull(helpers: Helpers) -> None:
    helpers.add("store", f"""read s; echo '{{"Username": "'$s'", "Secret": "{CANARY}"}}'""")
    helpers.add("token", f"""echo '{{"Username": "<token>", "Secret": "{CANARY}"}}'""")
    helpers.add("nobody", """echo '{"ServerURL": "nobody.io", "Username": "", "Secret": ""}'""")
    helpers.add("empty", "echo credentials not found in native keychain; exit 1")
    config = {
        "auths": {"plain.io": {"username": "plain", "password": CANARY}, "reg.io": {}},
        "credHelpers": {"t.io": "token", "e.io": "empty", "nobody.io": "nobody"},
        "credsStore": "store",
    }
    credentials = helpers.credentials(config)
    assert [c.auth.username for c in await credentials.lookup("plain.io/x")] == ["plain.io", "plain"]
    assert [c.auth for c in await credentials.lookup("t.io/x")] == [AuthConfig(identity_token=CANARY)]
    assert [c.auth.username for c in await credentials.lookup("docker.io/library/busybox")] == [
        "https://index.docker.io/v1/"
    ]
    assert await credentials.lookup("e.io/x") == ()
    assert await credentials.lookup("nobody.io/x") == ()
    assert helpers.warnings == []
    assert helpers.asked() == ["store", "token", "store", "empty", "nobody"]
    assert CANARY not in repr(credentials)


@pytest.mark.parametrize(
    ("name", "script", "warning"),
    [
        ("broken", f"echo {CANARY} >&2; exit 2", "exit status 2"),
        ("odd", f"echo {CANARY}", "invalid character in its answer: not JSON"),
        ("list", f"""echo '["{CANARY}"]'""", "its answer is no object"),
        ("number", """echo '{"Username": 5}'""", "json: cannot unmarshal number into Go struct field"),
        ("none", "", "there is no such program"),
        ("a\0b", "", "embedded null byte"),
        ("endless", "cat /dev/zero", "it says more than 1 MiB"),
        ("loud", "cat /dev/zero >&2", "it says more than 1 MiB"),
        ("killed", "kill -9 $$", "ended by signal 9"),
        ("deaf", "exec <&-; exit 3", "exit status 3"),
        ("bytes", r"printf '\377\376'", "invalid character in its answer: not JSON"),
    ],
)
async def test_a_helper_that_does_not_work_is_told_of_once(
    helpers: Helpers, name: str, script: str, warning: str
) -> None:
    if script:
        helpers.add(name, script)
    credentials = helpers.credentials({"credHelpers": {"b.io": name}})
    assert await credentials.lookup("b.io/x") == ()
    assert await credentials.lookup("b.io/y") == ()
    assert len(helpers.warnings) == 1
    assert helpers.warnings[0].startswith(f"credential helper docker-credential-{name} for b.io: {warning}")
    assert CANARY not in helpers.warnings[0]


async def test_several_pulls_at_once_ask_a_helper_once(helpers: Helpers) -> None:
    helpers.add("slow", """sleep 0.1; echo '{"Username": "u", "Secret": "p"}'""")
    credentials = helpers.credentials({"credsStore": "slow"})
    found: list[int] = []

    async def look() -> None:
        found.append(len(await credentials.lookup("reg.io/x")))

    async with trio.open_nursery() as nursery:
        for _ in range(5):
            nursery.start_soon(look)
    assert (found, helpers.asked()) == ([1] * 5, ["slow"])


async def test_who_waits_for_an_answer_asks_himself_when_the_first_one_gives_up(helpers: Helpers) -> None:
    helpers.add("once", """[ $(wc -l < "${0%/*}/asked") = 1 ] && sleep 60; echo '{"Username": "u", "Secret": "p"}'""")
    credentials = helpers.credentials({"credsStore": "once"})
    async with trio.open_nursery() as nursery:
        with trio.move_on_after(0.5):
            nursery.start_soon(_cancelled_lookup, credentials)
            await trio.sleep_forever()
        assert len(await credentials.lookup("reg.io/x")) == 1


async def _cancelled_lookup(credentials: DockerCredentials) -> None:
    with trio.move_on_after(1):
        await credentials.lookup("reg.io/x")


async def test_what_a_helper_said_holds_for_a_while(helpers: Helpers, monkeypatch: pytest.MonkeyPatch) -> None:
    helpers.add("again", """echo '{"Username": "u", "Secret": "p"}'""")
    credentials = helpers.credentials({"credsStore": "again"})
    await credentials.lookup("reg.io/x")
    await credentials.lookup("reg.io/y")
    assert helpers.asked() == ["again"]
    monkeypatch.setattr(docker_config, "CACHE_SECONDS", 0.0)
    expiring = helpers.credentials({"credsStore": "again"})
    await expiring.lookup("reg.io/x")
    await expiring.lookup("reg.io/x")
    assert helpers.asked() == ["again"] * 3


async def test_a_helper_that_says_nothing_is_left(helpers: Helpers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(credential_helper, "HELPER_SECONDS", 0.2)
    helpers.add("hangs", "trap '' TERM; exec sleep 60")
    assert await helpers.credentials({"credsStore": "hangs"}).lookup("reg.io/x") == ()
    assert helpers.warnings == ["credential helper docker-credential-hangs for reg.io: no answer within 0.2 s"]


async def test_a_helper_that_ended_has_answered_though_its_child_lives_on(
    helpers: Helpers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(credential_helper, "DRAIN_SECONDS", 0.05)
    helpers.add("forks", f"""sleep 30 & echo $! > {helpers.folder}/pid; echo '{{"Username": "u", "Secret": "p"}}'""")
    try:
        assert len(await helpers.credentials({"credsStore": "forks"}).lookup("reg.io/x")) == 1
    finally:
        os.kill(int((helpers.folder / "pid").read_text()), signal.SIGKILL)


async def test_a_config_with_tokens_is_docker_logins_own(helpers: Helpers) -> None:
    config = {"auths": {"reg.io": {"auth": "dTo=", "identitytoken": CANARY}, "r.io": {"registrytoken": "r"}}}
    credentials = helpers.credentials(config)
    assert [c.auth for c in await credentials.lookup("reg.io/x")] == [AuthConfig(username="u", identity_token=CANARY)]
    assert [c.auth for c in await credentials.lookup("r.io/x")] == [AuthConfig(registry_token="r")]  # noqa: S106


async def test_without_a_config_nothing_is_known(tmp_path: Path) -> None:
    warnings: list[str] = []
    assert await DockerCredentials(path=tmp_path / "no", warn=warnings.append).lookup("reg.io/x") == ()
    assert warnings == []


async def test_a_config_that_cannot_be_read_is_told_of_once(helpers: Helpers) -> None:
    credentials = helpers.credentials("{")
    assert await credentials.lookup("reg.io/x") == await credentials.lookup("r.io/x") == ()
    folder = DockerCredentials(path=helpers.folder, warn=helpers.warnings.append)
    assert await folder.lookup("reg.io/x") == ()
    assert helpers.warnings == [
        f"{helpers.folder}{what}: pulling without the credentials of this file"
        for what in ("/config.json: invalid character in Docker config: not JSON", ": Is a directory")
    ]
