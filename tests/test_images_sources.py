"""Mirrors from hosts.toml, and the user's own Docker credentials."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from kubelet_emu.images.credentials import PullSecretError
from kubelet_emu.images.docker_config import load_keyring, parse_docker_config
from kubelet_emu.images.mirrors import Mirror, MirrorError, image_sources, parse_hosts_toml
from runtime.api import AuthConfig

if TYPE_CHECKING:
    from pathlib import Path

CANARY = "canary-password"


def test_a_hosts_toml_is_read_in_its_order() -> None:
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
    assert parse_hosts_toml("cgr.dev", text) == (
        Mirror(host="cgr.dev", target="m.io"),
        Mirror(host="cgr.dev", target="127.0.0.1:5000", prefix="kemu"),
        Mirror(host="cgr.dev", target="plain.io"),
    )


def test_the_default_is_for_registries_without_their_own() -> None:
    mirrors = (*parse_hosts_toml("_default", '[host."https://any.io"]'), Mirror(host="cgr.dev", target="m.io"))
    assert [source.reference for source in image_sources("cgr.dev/a:1", mirrors)] == ["m.io/a:1", "cgr.dev/a:1"]
    assert [source.reference for source in image_sources("q.io/a:1", mirrors)] == ["any.io/a:1", "q.io/a:1"]


@pytest.mark.parametrize("text", ["[host", "host = 1", 'host = {"https://m.io" = 1}', '[host."https://m.io/v2/a"]'])
def test_a_hosts_toml_that_cannot_be_followed_is_refused(text: str) -> None:
    with pytest.raises(MirrorError, match=r"hosts\.toml of cgr\.dev"):
        parse_hosts_toml("cgr.dev", text)


@pytest.mark.parametrize("text", ["{", "[]", '{"credHelpers": ["x"]}', f'{{"auths": {{"reg.io": "{CANARY}"}}}}'])
def test_a_broken_docker_config_is_an_error_that_shows_nothing(text: str) -> None:
    with pytest.raises(PullSecretError) as raised:
        parse_docker_config(text)
    assert CANARY not in str(raised.value)


def a_helper(folder: Path, name: str, script: str) -> None:
    helper = folder / f"docker-credential-{name}"
    helper.write_text(f"#!/bin/sh\n{script}\n")
    helper.chmod(0o755)


async def test_helpers_are_asked_for_the_registries_of_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    a_helper(tmp_path, "store", f"""read s; echo '{{"Username": "'$s'", "Secret": "{CANARY}"}}'""")
    a_helper(tmp_path, "token", f"""echo '{{"Username": "<token>", "Secret": "{CANARY}"}}'""")
    a_helper(tmp_path, "empty", "echo credentials not found in native keychain; exit 1")
    a_helper(tmp_path, "broken", f"echo {CANARY} >&2; exit 2")
    a_helper(tmp_path, "odd", "echo hello")
    config = parse_docker_config(
        json.dumps(
            {
                "auths": {"plain.io": {"username": "plain", "password": CANARY}, "reg.io": {}},
                "credHelpers": {"t.io": "token", "e.io": "empty", "b.io": "broken", "o.io": "odd", "n.io": "none"},
                "credsStore": "store",
            }
        )
    )
    hosts = frozenset({"t.io", "e.io", "b.io", "o.io", "n.io", "docker.io"})
    keyring, warnings = await load_keyring(config, hosts)
    assert [c.auth.username for c in keyring.lookup("plain.io/x")] == ["plain"]
    assert [c.auth for c in keyring.lookup("t.io/x")] == [AuthConfig(identity_token=CANARY)]
    assert [c.auth.username for c in keyring.lookup("docker.io/library/busybox")] == ["https://index.docker.io/v1/"]
    assert keyring.lookup("e.io/x") == ()
    assert warnings == (
        "credential helper 'broken' for b.io: CalledProcessError",
        "credential helper 'none' for n.io: FileNotFoundError",
        "credential helper 'odd' for o.io: JSONDecodeError",
    )
    assert CANARY not in repr(keyring) + repr(warnings) + repr(config)


async def test_without_helpers_nothing_is_asked() -> None:
    keyring, warnings = await load_keyring(parse_docker_config("{}"), frozenset({"reg.io"}))
    assert (keyring.entries, warnings) == ((), ())
