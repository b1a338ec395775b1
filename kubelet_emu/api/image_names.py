"""Image names: parse, complete, default the pull policy.

The grammar is Docker's normalising one: `docker.io`, `library/` and `latest` are implied for parsing only. What goes
to the runtime is the user's own text, with `:latest` appended when it has neither tag nor digest. Pure.
"""

from __future__ import annotations

import re

from attrs import frozen

from kubelet_emu.api.gotext import quote
from kubelet_emu.api.reasons_images import COULD_NOT_PARSE_IMAGE_NAME

DEFAULT_DOMAIN = "docker.io"
LEGACY_DEFAULT_DOMAIN = "index.docker.io"
DEFAULT_TAG = "latest"
NAME_LIMIT = 255

_LABEL = r"[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?"
_DOMAIN = rf"(?:{_LABEL}(?:\.{_LABEL})*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?"
_PATH_PART = r"[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*"
_TAG = r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}"
_DIGEST = r"[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}"
_REFERENCE = re.compile(
    rf"(?P<domain>{_DOMAIN})/(?P<path>{_PATH_PART}(?:/{_PATH_PART})*)(?::(?P<tag>{_TAG}))?(?:@(?P<digest>{_DIGEST}))?"
)
_IDENTIFIER = re.compile(r"[a-f0-9]{64}")
_HEX_LENGTHS = {"sha256": 64, "sha384": 96, "sha512": 128}


class InvalidImageNameError(ValueError):
    """The text is no image reference; the message is the parser's own."""


@frozen(kw_only=True)
class ImageName:
    """A parsed reference: registry, path below it, and what was said of tag and digest ("" when nothing was)."""

    domain: str
    path: str
    tag: str = ""
    digest: str = ""

    @property
    def repository(self) -> str:
        """Return the fully qualified name without tag and digest."""
        return f"{self.domain}/{self.path}"


def parse_image_name(text: str) -> ImageName:
    """Parse a reference; InvalidImageNameError.

    Source: distribution reference ParseNormalizedNamed, as kubelet v1.36 pkg/util/parsers ParseImageName calls it.
    """
    if _IDENTIFIER.fullmatch(text):
        raise InvalidImageNameError(f"invalid repository name ({text}), cannot specify 64-byte hexadecimal strings")
    domain, remainder = _split_domain(text)
    remote = remainder.partition(":")[0]
    if remote.lower() != remote:
        raise InvalidImageNameError(f"invalid reference format: repository name ({remote}) must be lowercase")
    match = _REFERENCE.fullmatch(f"{domain}/{remainder}")
    if match is None:
        raise InvalidImageNameError("invalid reference format")
    if len(match["path"]) > NAME_LIMIT:
        raise InvalidImageNameError(f"repository name must not be more than {NAME_LIMIT} characters")
    digest = match["digest"] or ""
    _check_digest(digest)
    return ImageName(domain=match["domain"], path=match["path"], tag=match["tag"] or "", digest=digest)


def apply_default_image_tag(text: str) -> str:
    """Return the text with `:latest` appended when it has neither tag nor digest; InvalidImageNameError.

    Source: kubelet v1.36 pkg/kubelet/images applyDefaultImageTag (the name is not qualified).
    """
    try:
        name = parse_image_name(text)
    except InvalidImageNameError as error:
        raise InvalidImageNameError(COULD_NOT_PARSE_IMAGE_NAME.format(image=quote(text), error=error)) from error
    return text if name.tag or name.digest else f"{text}:{DEFAULT_TAG}"


def repository_of(text: str) -> str:
    """Return a reference's fully qualified repository, the text itself for one that is no reference."""
    try:
        return parse_image_name(text).repository
    except InvalidImageNameError:
        return text


def shown_image_name(text: str) -> str:
    """Return a name as a container's status shows it: fully qualified, with the digest if it has one, else the tag.

    Source: what containerd reports of a container's image; a name that is none stays as it is.
    """
    try:
        name = parse_image_name(text)
    except InvalidImageNameError:
        return text
    return f"{name.repository}@{name.digest}" if name.digest else f"{name.repository}:{name.tag or DEFAULT_TAG}"


def default_pull_policy(text: str) -> str:
    """Return the pull policy of a container that names none.

    Source: kubernetes v1.36 SetDefaults_Container: Always for the tag latest, also an implied one, else IfNotPresent;
    a name that can't be parsed gets IfNotPresent.
    """
    try:
        name = parse_image_name(text)
    except InvalidImageNameError:
        return "IfNotPresent"
    is_latest = name.tag == DEFAULT_TAG or not (name.tag or name.digest)
    return "Always" if is_latest else "IfNotPresent"


def _split_domain(text: str) -> tuple[str, str]:
    first, slash, rest = text.partition("/")
    is_domain = bool(slash) and ("." in first or ":" in first or first == "localhost" or first.lower() != first)
    domain, remainder = (first, rest) if is_domain else (DEFAULT_DOMAIN, text)
    if domain == LEGACY_DEFAULT_DOMAIN:
        domain = DEFAULT_DOMAIN
    if domain == DEFAULT_DOMAIN and "/" not in remainder:
        remainder = f"library/{remainder}"
    return domain, remainder


def _check_digest(digest: str) -> None:
    if not digest:
        return
    algorithm, _, encoded = digest.partition(":")
    expected = _HEX_LENGTHS.get(algorithm)
    if expected is None:
        raise InvalidImageNameError("unsupported digest algorithm")
    if len(encoded) != expected:
        raise InvalidImageNameError("invalid checksum digest length")
    if not re.fullmatch(r"[a-f0-9]+", encoded):
        raise InvalidImageNameError("invalid checksum digest format")
