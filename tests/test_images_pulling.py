"""One pull request: what its errors show, and what a status calls the image."""

from __future__ import annotations

import base64

import pytest

from kubelet_emu.api.image_names import parse_image_name, repository_of, shown_image_name
from kubelet_emu.images.manager import image_ref
from kubelet_emu.images.mirrors import ImageSource
from kubelet_emu.images.pulling import without_secrets
from runtime.api import AuthConfig, Image, ImageID, ImagePullError, RegistryUnavailableError

AUTH = AuthConfig(username="u", password="canary", registry_token="canary-token")  # noqa: S106
PAIR = base64.b64encode(b"u:canary").decode()


ODD = 'p@ss "wörd"/x'


@pytest.mark.parametrize(
    "text",
    [
        f"denied {ODD}",
        'denied p@ss \\"wörd\\"/x',
        'denied "p@ss \\"w\\u00f6rd\\"/x"',
        'Get "https://r.io/token?password=p%40ss%20%22w%C3%B6rd%22%2Fx"',
        "password=p%40ss+%22w%C3%B6rd%22%2Fx&scope=y",
        "you sent Bearer eyJhbGciOi.JIUzI1NiJ9",
        "a long text that was cut in p@ss...",
        "and cut within its code in p%40ss%20%22w%C...",
    ],
)
def test_secrets_are_hidden_however_they_are_written(text: str) -> None:
    error = without_secrets(ImagePullError(text), AuthConfig(username="u", password=ODD))
    assert "[hidden]" in str(error)
    assert not any(part in str(error) for part in ("p@ss", "p%40ss", "eyJ"))


def test_a_challenge_is_no_token() -> None:
    error = ImagePullError('no scheme in Basic realm="kemu" for Bearer realm="https://r.io/token"...')
    assert without_secrets(error, AuthConfig(username="u", password=ODD)) is error


@pytest.mark.parametrize("text", ["you sent canary", f"Basic {PAIR}", "Bearer canary-token"])
def test_what_a_registry_sends_back_of_credentials_is_hidden(text: str) -> None:
    error = without_secrets(RegistryUnavailableError(text), AUTH)
    assert type(error) is RegistryUnavailableError
    assert "canary" not in str(error)
    assert PAIR not in str(error)
    assert "[hidden]" in str(error)


def test_an_error_without_credentials_stays_as_it_is() -> None:
    error = ImagePullError("denied: u may not")
    assert without_secrets(error, AUTH) is error
    assert without_secrets(error, AuthConfig(username="u", password="u")) is error  # noqa: S106


OWN = ImageSource(reference="r.io/a:1", repository="r.io/a")
MIRROR = ImageSource(reference="m.io/p/a:1", repository="m.io/p/a", is_mirror=True)
REFS = [
    ("the name's own digest", "r.io/a:1", ("other.io/a@sha256:1", "r.io/a@sha256:2"), OWN, "r.io/a@sha256:2"),
    ("the full name", "busybox:1", ("busybox@sha256:1",), OWN, "docker.io/library/busybox@sha256:1"),
    ("a mirror's digest under the name", "r.io/a:1", ("m.io/p/a@sha256:3",), MIRROR, "r.io/a@sha256:3"),
    ("only another name's digest", "r.io/a:1", ("other.io/a@sha256:1",), OWN, "other.io/a@sha256:1"),
    ("an image of this machine alone", "r.io/a:1", (), OWN, "sha256:id"),
]


@pytest.mark.parametrize(("why", "name", "digests", "source", "expected"), REFS, ids=[row[0] for row in REFS])
def test_a_status_shows_the_digest_in_the_names_own_repository(
    why: str, name: str, digests: tuple[str, ...], source: ImageSource, expected: str
) -> None:
    image = Image(id=ImageID("sha256:id"), repo_digests=digests)
    assert image_ref(parse_image_name(name), image, source) == expected, why


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("busybox", "docker.io/library/busybox:latest"),
        ("r.io/a:1", "r.io/a:1"),
        (f"r.io/a:1@sha256:{'a' * 64}", f"r.io/a@sha256:{'a' * 64}"),
        ("No Name", "No Name"),
    ],
)
def test_a_status_shows_the_full_name(text: str, expected: str) -> None:
    assert shown_image_name(text) == expected


def test_what_is_no_name_is_its_own_repository() -> None:
    assert repository_of("a b") == "a b"
