"""Pull secrets: formats, matching, and who may use a present image (kubelet v1.36 credentialprovider, KEP-2535)."""

from __future__ import annotations

import base64
import json

import pytest

from kubelet_emu.api.meta import ObjectMeta
from kubelet_emu.api.v1 import Secret
from kubelet_emu.images.credentials import (
    Credential,
    Keyring,
    PullSecretError,
    SecretCoordinates,
    keyring_of_secrets,
)
from kubelet_emu.images.registry_keys import matches, registry_key
from kubelet_emu.images.verification import PullRecords, VerificationPolicy
from runtime.api import AuthConfig

CANARY = "canary-password"


@pytest.mark.parametrize(
    ("key", "repository", "expected"),
    [
        ("*.example.com", "a.example.com/x", True),
        ("*.example.com", "example.com/x", False),
        ("*.example.com", "a.b.example.com/x", False),
        ("*.example.com", "a.example.com:5000/x", False),
        ("a[0-9].io", "a1.io/x", True),
        ("a[^0-9].io", "a1.io/x", False),
        ("reg.io/team", "reg.io/team/app", True),
        ("reg.io/team", "reg.io/teamwork/app", True),
        ("reg.io/team", "reg.io/other", False),
        ("127.0.0.1:5000", "127.0.0.1:5000/kemu/busybox", True),
        ("127.0.0.1:5000", "127.0.0.1/kemu/busybox", False),
        ("reg.io:443", "reg.io/x", False),
        ("a?.io", "ab.io/x", True),
        ("a?.io", "a.io/x", False),
        (r"a\*.io", "ab.io/x", False),
        ("a[!b].io", "a!.io/x", True),
        ("a[].io", "a].io/x", False),
        ("a[z-a].io", "ab.io/x", False),
        ("a[b", "ab/x", False),
        ("[::1]:5000", "[::1]:5000/x", True),
        ("[::1]:5000", "[::1]:5001/x", False),
        ("*", "reg.io/x", False),
        ("*.*", "reg.io/x", True),
        ("*.*:5000", "reg.io:5000/x", True),
        ("docker.io/me", "docker.io/me/app", True),
    ],
)
def test_a_key_matches_by_host_parts_port_and_path_prefix(key: str, repository: str, expected: bool) -> None:  # noqa: FBT001
    assert matches(key, repository) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://index.docker.io/v1/", "index.docker.io"),
        ("https://reg.io/v2/team", "reg.io/team"),
        ("http://reg.io/", "reg.io"),
        ("reg.io:5000/a", "reg.io:5000/a"),
        ("https://user:word@reg.io/a?b#c", "reg.io/a"),
        ("a[0-9].io", "a[0-9].io"),
        ("[::1]:5000", "[::1]:5000"),
        ("https://reg.io/v2", "reg.io/v2"),
    ],
)
def test_the_key_loses_scheme_and_api_version(text: str, expected: str) -> None:
    assert registry_key(text) == expected


@pytest.mark.parametrize("text", ["reg.io:port", "reg.io:٣", "http://[::1", "a b.io", "reg.io\n", "[a]b]"])
def test_a_key_that_is_no_address_is_left_out(text: str) -> None:
    assert registry_key(text) is None
    keyring = keyring_of_secrets((_secret({"auths": {text: {"username": "x"}, "reg.io": {"username": "u"}}}),))
    assert _names(keyring, "reg.io/x") == ["u"]


def _secret(content: object, *, kind: str = "dockerconfigjson", key: str = ".dockerconfigjson") -> Secret:
    data = content if isinstance(content, bytes) else json.dumps(content).encode()
    meta = ObjectMeta(name="s", namespace="ns", uid="u")
    return Secret(metadata=meta, type=f"kubernetes.io/{kind}", data={key: data})


def _auth(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _names(keyring: Keyring, repository: str) -> list[str]:
    return [credential.auth.username for credential in keyring.lookup(repository)]


def _keyring(auths: object) -> Keyring:
    return keyring_of_secrets((_secret({"auths": auths}),))


def test_both_formats_of_a_pull_secret_are_read() -> None:
    new = _secret({"auths": {"reg.io": {"username": "new", "password": CANARY}}})
    old = _secret({"reg.io": {"username": "old", "password": CANARY}}, kind="dockercfg", key=".dockercfg")
    assert _names(keyring_of_secrets((new, old)), "reg.io/x") == ["new", "old"]


def test_auth_wins_over_username_and_password() -> None:
    secret = _secret({"auths": {"reg.io": {"username": "loser", "password": "x", "auth": _auth("winner:a:b")}}})
    credential = keyring_of_secrets((secret,)).lookup("reg.io/x")[0]
    assert credential.auth == AuthConfig(username="winner", password="a:b")  # noqa: S106
    assert credential.secret == SecretCoordinates(uid="u", namespace="ns", name="s")


@pytest.mark.parametrize(
    "secret",
    [
        pytest.param(_secret({"auths": {}}, kind="dockercfg"), id="type and key differ"),
        pytest.param(Secret(type="Opaque", data={".dockerconfigjson": b"{}"}), id="another type"),
        pytest.param(_secret(b""), id="empty"),
    ],
)
def test_a_secret_that_is_no_pull_secret_is_ignored(secret: Secret) -> None:
    assert keyring_of_secrets((secret,)) == Keyring()


@pytest.mark.parametrize(
    "secret",
    [
        pytest.param(_secret(f'{{"auths": {{"reg.io": "{CANARY}'.encode()), id="torn JSON"),
        pytest.param(_secret(["x"]), id="a list"),
        pytest.param(_secret({"auths": {"reg.io": CANARY}}), id="an entry that is no mapping"),
        pytest.param(_secret({"auths": {"reg.io": {"auth": "%%%" + CANARY}}}), id="auth that is no base64"),
        pytest.param(_secret({"auths": {"reg.io": {"auth": _auth(CANARY)}}}), id="auth without a colon"),
    ],
)
def test_a_malformed_pull_secret_is_an_error_that_shows_nothing_of_it(secret: Secret) -> None:
    with pytest.raises(PullSecretError) as raised:
        keyring_of_secrets((secret,))
    assert CANARY not in str(raised.value)


def test_longer_keys_are_tried_first_over_all_secrets() -> None:
    host = _secret({"auths": {"reg.io": {"username": "host"}}})
    team = _secret({"auths": {"reg.io": {"username": "later"}, "reg.io/team": {"username": "team"}}})
    assert _names(keyring_of_secrets((host, team)), "reg.io/team/app") == ["team", "host", "later"]


def test_the_hub_has_a_key_of_its_own() -> None:
    keyring = _keyring({"https://index.docker.io/v1/": {"username": "hub"}})
    assert _names(keyring, "docker.io/library/busybox") == ["hub"]
    assert _names(keyring, "quay.io/x") == []


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        pytest.param(None, AuthConfig(), id="null"),
        pytest.param({}, AuthConfig(), id="empty"),
        pytest.param({"auth": "dTpw"}, AuthConfig(username="u", password="p"), id="no padding needed"),  # noqa: S106
        pytest.param({"auth": "dTpwYQ"}, AuthConfig(username="u", password="pa"), id="padding left out"),  # noqa: S106
        pytest.param({"auth": "dTpw\nYQ==\n"}, AuthConfig(username="u", password="pa"), id="two lines"),  # noqa: S106
        pytest.param({"Username": "u", "PASSWORD": "p"}, AuthConfig(username="u", password="p"), id="case"),  # noqa: S106
        pytest.param({"username": "u", "identitytoken": CANARY}, AuthConfig(username="u"), id="tokens are not read"),
    ],
)
def test_an_entry_is_read_as_go_reads_it(entry: object, expected: AuthConfig) -> None:
    assert [credential.auth for credential in _keyring({"reg.io": entry}).lookup("reg.io/x")] == [expected]


@pytest.mark.parametrize(
    ("auths", "error"),
    [
        (["x"], "json: cannot unmarshal array into Go struct field DockerConfigJSON.auths of type"),
        ({"r.io": 5}, "json: cannot unmarshal number into Go value of type"),
        ({"r.io": {"username": 5}}, "json: cannot unmarshal number into Go struct field"),
        ({"r.io": {"auth": "dTpw*"}}, "illegal base64 data at input byte 4"),
        ({"r.io": {"auth": "dTpwY"}}, "illegal base64 data at input byte 4"),
        ({"r.io": {"auth": "dTpwYQ="}}, "illegal base64 data at input byte 4"),
        ({"r.io": {"auth": "\u00e9"}}, "illegal base64 data at input byte 0"),
    ],
)
def test_a_fault_is_told_in_gos_words(auths: object, error: str) -> None:
    with pytest.raises(PullSecretError) as raised:
        _keyring(auths)
    assert str(raised.value).startswith(error)


@pytest.mark.parametrize("content", [b"[" * 100_000, b"1" * 5000, b'{"auths": NaN}', b"\xff"])
def test_strange_json_is_an_error_like_any_other(content: bytes) -> None:
    with pytest.raises(PullSecretError):
        keyring_of_secrets((_secret(content),))


def test_a_keyring_does_not_show_its_passwords() -> None:
    assert CANARY not in repr(_keyring({"reg.io": {"username": "u", "password": CANARY}}))


def _credential(password: str, *, secret: str | None = "s") -> Credential:  # noqa: S107
    coordinates = None if secret is None else SecretCoordinates(uid=secret, namespace="ns", name=secret)
    return Credential(auth=AuthConfig(username="u", password=password), secret=coordinates)


def test_a_preloaded_image_is_free() -> None:
    assert not PullRecords().must_attempt_pull("reg.io/x:1", "id", "reg.io/x", lambda: ())


def test_an_image_whose_pull_has_begun_is_no_preloaded_one() -> None:
    records = PullRecords()
    with records.intent("reg.io/x:1"):
        assert records.must_attempt_pull("reg.io/x:1", "id", "reg.io/x", lambda: ())
        assert not records.must_attempt_pull("reg.io/x:2", "id", "reg.io/x", lambda: ())
    assert not records.must_attempt_pull("reg.io/x:1", "id", "reg.io/x", lambda: ())


@pytest.mark.parametrize("credential", [None, _credential("p", secret=None)])
def test_an_image_pulled_anonymously_or_by_the_node_is_free(credential: Credential | None) -> None:
    records = PullRecords()
    records.record_pulled("id", "reg.io/x", credential)
    records.record_pulled("id", "reg.io/x", _credential("p"))
    assert not records.must_attempt_pull("reg.io/x:1", "id", "reg.io/x", lambda: ())


def test_an_image_pulled_with_a_secret_is_for_pods_that_have_it() -> None:
    records = PullRecords()
    records.record_pulled("id", "reg.io/x", _credential("p"))
    assert records.must_attempt_pull("reg.io/x:1", "id", "reg.io/x", lambda: ())
    assert records.must_attempt_pull("reg.io/x:1", "id", "reg.io/x", lambda: (_credential("q", secret="other"),))  # noqa: S106
    assert records.must_attempt_pull("reg.io/x:1", "id", "reg.io/other", lambda: (_credential("p"),))
    assert not records.must_attempt_pull("reg.io/x:1", "id", "reg.io/x", lambda: (_credential("p", secret="other"),))  # noqa: S106
    assert not records.must_attempt_pull("reg.io/x:1", "id", "reg.io/x", lambda: (_credential("changed"),))
    third = _credential("changed", secret="third")  # noqa: S106
    assert not records.must_attempt_pull("reg.io/x:1", "id", "reg.io/x", lambda: (third,))


def test_only_a_pods_own_credentials_open_an_image() -> None:
    records = PullRecords()
    records.record_pulled("id", "reg.io/x", _credential("p"))
    assert records.must_attempt_pull("reg.io/x:1", "id", "reg.io/x", lambda: (_credential("p", secret=None),))


def test_what_a_secret_held_before_opens_nothing_any_more() -> None:
    records = PullRecords()
    records.record_pulled("id", "reg.io/x", _credential("old"))
    assert not records.must_attempt_pull("reg.io/x:1", "id", "reg.io/x", lambda: (_credential("new"),))
    assert records.must_attempt_pull("reg.io/x:1", "id", "reg.io/x", lambda: (_credential("old", secret="other"),))  # noqa: S106


@pytest.mark.parametrize(
    ("policy", "allowlist", "expected"),
    [
        (VerificationPolicy.NEVER_VERIFY, (), False),
        (VerificationPolicy.NEVER_VERIFY_PRELOADED_IMAGES, (), False),
        (VerificationPolicy.ALWAYS_VERIFY, (), True),
        (VerificationPolicy.NEVER_VERIFY_ALLOWLISTED_IMAGES, ("reg.io/x",), False),
        (VerificationPolicy.NEVER_VERIFY_ALLOWLISTED_IMAGES, ("reg.io/*",), False),
        (VerificationPolicy.NEVER_VERIFY_ALLOWLISTED_IMAGES, ("reg.io/xy", "other.io/*"), True),
    ],
)
def test_the_policy_says_which_present_images_are_verified(
    policy: VerificationPolicy,
    allowlist: tuple[str, ...],
    expected: bool,  # noqa: FBT001
) -> None:
    records = PullRecords(policy=policy, allowlist=allowlist)
    assert records.must_attempt_pull("reg.io/x:1", "id", "reg.io/x", lambda: ()) is expected
