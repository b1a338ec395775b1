"""Image names and the default pull policy (kubelet v1.36 pkg/util/parsers, SetDefaults_Container)."""

from __future__ import annotations

import pytest

from kubelet_emu.api.image_names import (
    ImageName,
    InvalidImageNameError,
    apply_default_image_tag,
    default_pull_policy,
    parse_image_name,
)
from kubelet_emu.images.mirrors import Mirror, MirrorError, image_sources

DIGEST = "sha256:" + "a" * 64


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("busybox", ImageName(domain="docker.io", path="library/busybox")),
        ("me/app:1", ImageName(domain="docker.io", path="me/app", tag="1")),
        ("docker.io/busybox", ImageName(domain="docker.io", path="library/busybox")),
        ("index.docker.io/busybox:1", ImageName(domain="docker.io", path="library/busybox", tag="1")),
        ("localhost/x", ImageName(domain="localhost", path="x")),
        ("localhost:5000/x", ImageName(domain="localhost:5000", path="x")),
        ("UPPER/x", ImageName(domain="UPPER", path="x")),
        ("127.0.0.1:5000/kemu/busybox:1", ImageName(domain="127.0.0.1:5000", path="kemu/busybox", tag="1")),
        ("[::1]:5000/a/b", ImageName(domain="[::1]:5000", path="a/b")),
        (f"busybox:1@{DIGEST}", ImageName(domain="docker.io", path="library/busybox", tag="1", digest=DIGEST)),
        ("a/b__c.d-e--f:T_g.1", ImageName(domain="docker.io", path="a/b__c.d-e--f", tag="T_g.1")),
    ],
)
def test_a_name_is_completed_for_parsing(text: str, expected: ImageName) -> None:
    assert parse_image_name(text) == expected


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("Foo", "invalid reference format: repository name (library/Foo) must be lowercase"),
        ("127.0.0.1:5000/KEMU/Bad:Name:x", "invalid reference format: repository name (KEMU/Bad) must be lowercase"),
        ("127.0.0.1:5000/KEMU/Up Case:1", "invalid reference format: repository name (KEMU/Up Case) must be lowercase"),
        ("a b", "invalid reference format"),
        ("", "invalid reference format"),
        ("busybox:", "invalid reference format"),
        ("busybox:1:2", "invalid reference format"),
        ("busybox\n", "invalid reference format"),
        ("-a", "invalid reference format"),
        ("a" * 64, "invalid repository name ({}), cannot specify 64-byte hexadecimal strings".format("a" * 64)),
        ("x/" + "b" * 255, "repository name must not be more than 255 characters"),
        ("busybox@md5:" + "a" * 32, "unsupported digest algorithm"),
        ("busybox@sha256:" + "a" * 63, "invalid checksum digest length"),
        ("busybox@sha256:" + "A" * 64, "invalid checksum digest format"),
    ],
)
def test_a_name_that_is_none_is_refused_in_the_parsers_words(text: str, error: str) -> None:
    with pytest.raises(InvalidImageNameError) as raised:
        parse_image_name(text)
    assert str(raised.value) == error


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("busybox", "busybox:latest"),
        ("busybox:1", "busybox:1"),
        (f"busybox@{DIGEST}", f"busybox@{DIGEST}"),
        ("localhost:5000/x", "localhost:5000/x:latest"),
    ],
)
def test_latest_is_appended_to_the_users_own_text(text: str, expected: str) -> None:
    assert apply_default_image_tag(text) == expected


def test_the_error_of_a_bad_name_quotes_it() -> None:
    with pytest.raises(InvalidImageNameError) as raised:
        apply_default_image_tag("a b")
    assert str(raised.value) == 'couldn\'t parse image name "a b": invalid reference format'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("busybox", "Always"),
        ("localhost:5000/x", "Always"),
        ("UPPER/x", "Always"),
        ("busybox:latest", "Always"),
        (f"busybox:latest@{DIGEST}", "Always"),
        ("busybox:1", "IfNotPresent"),
        ("127.0.0.1:5000/kemu/busybox:1", "IfNotPresent"),
        ("x:Latest", "IfNotPresent"),
        (f"busybox@{DIGEST}", "IfNotPresent"),
        (f"busybox:1@{DIGEST}", "IfNotPresent"),
        ("a b", "IfNotPresent"),
        ("Foo", "IfNotPresent"),
        ("", "IfNotPresent"),
    ],
)
def test_the_pull_policy_follows_the_tag(text: str, expected: str) -> None:
    assert default_pull_policy(text) == expected


def test_mirrors_come_first_and_the_registry_itself_last() -> None:
    mirrors = (
        Mirror.parse("cgr.dev=127.0.0.1:5000/kemu"),
        Mirror.parse("other.io=x.io"),
        Mirror.parse("cgr.dev=m.io"),
    )
    sources = image_sources("cgr.dev/a/b:t", mirrors)
    assert [source.reference for source in sources] == ["127.0.0.1:5000/kemu/a/b:t", "m.io/a/b:t", "cgr.dev/a/b:t"]
    assert [source.repository for source in sources] == ["127.0.0.1:5000/kemu/a/b", "m.io/a/b", "cgr.dev/a/b"]
    assert [source.is_mirror for source in sources] == [True, True, False]


def test_a_mirror_of_the_hub_has_the_implied_path() -> None:
    sources = image_sources(f"busybox:1@{DIGEST}", (Mirror.parse("docker.io=m.io"),))
    assert sources[0].reference == f"m.io/library/busybox:1@{DIGEST}"
    assert sources[1].reference == f"busybox:1@{DIGEST}"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "cgr.dev",
        "=m.io",
        "cgr.dev=",
        "cgr.dev/a=m.io",
        "cgr.dev=/a",
        "cgr.dev=mirror",
        "hub=m.io",
        "cgr.dev=https://m.io",
        "cgr.dev=m.io:port",
        "cgr.dev=m.io/UP",
        "cgr.dev=m io",
    ],
)
def test_a_mirror_needs_two_hosts_that_names_can_begin_with(text: str) -> None:
    with pytest.raises(MirrorError):
        Mirror.parse(text)


def test_a_mirror_with_a_password_is_refused_without_showing_it() -> None:
    with pytest.raises(MirrorError) as raised:
        Mirror.parse("cgr.dev=user:canary@m.io")
    assert "canary" not in str(raised.value)
