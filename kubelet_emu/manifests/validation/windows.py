"""Windows options of containers and pods: read and checked, not acted on.

Source: kubernetes v1.36 validateWindowsSecurityContextOptions, validateWindowsHostProcessPod.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kubelet_emu.manifests.validation.context import containers_of
from kubelet_emu.manifests.validation.faults import Fault, go_value, invalid
from kubelet_emu.manifests.validation.names import subdomain_errors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubelet_emu.api.v1 import PodSpec
    from kubelet_emu.api.v1_security import PodSecurityContext, SecurityContext, WindowsSecurityContextOptions

_LONGEST_SPEC = 64 * 1024
_LONGEST_DOMAIN = 255
_LONGEST_USER = 104
_NETBIOS = r'[^\\/:\*\?"<>|\.][^\\/:\*\?"<>|]{0,14}'
_DNS_LABEL = "[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
_DNS = rf"{_DNS_LABEL}(?:\.{_DNS_LABEL})*"
_BAD_CHARACTERS = '"/\\:;|=,+*?<>@[]'


def validate_windows_options(options: WindowsSecurityContextOptions, path: str) -> Iterator[Fault]:
    """Check group managed service accounts and the user's name."""
    name = options.gmsa_credential_spec_name
    for text in subdomain_errors(name) if name is not None else ():
        yield invalid(f"{path}.gmsaCredentialSpecName", name, text)
    spec = options.gmsa_credential_spec
    if spec is not None and not spec:
        yield invalid(f"{path}.gmsaCredentialSpec", spec, "gmsaCredentialSpec cannot be an empty string")
    elif spec is not None and len(spec.encode()) > _LONGEST_SPEC:
        yield invalid(f"{path}.gmsaCredentialSpec", spec, "gmsaCredentialSpec size must be under 64 KiB")
    user = options.run_as_user_name
    for text in _user_errors(user) if user is not None else ():
        yield invalid(f"{path}.runAsUserName", user, f"runAsUserName{text}")


def _user_errors(name: str) -> Iterator[str]:
    """Yield what is wrong with a user and the domain that may stand before it."""
    if not name:
        yield " cannot be an empty string"
        return
    if re.search(r"[\x00-\x1f\x7f]", name):
        yield " cannot contain control characters"
        return
    if name.count("\\") > 1:
        yield " cannot contain more than one backslash"
        return
    domain, backslash, rest = name.partition("\\")
    user = rest if backslash else name
    if backslash and len(domain.encode()) > _LONGEST_DOMAIN:
        yield f"'s Domain length must be under {_LONGEST_DOMAIN + 1} characters"
    if backslash and not re.fullmatch(_NETBIOS, domain) and not re.fullmatch(_DNS, domain):
        yield "'s Domain doesn't match the NetBios nor the DNS format"
    if not user:
        yield "'s User cannot be empty"
    elif len(user.encode()) > _LONGEST_USER:
        yield f"'s User length must not be longer than {_LONGEST_USER} characters"
    if re.fullmatch("[. ]+", user):
        yield "'s User cannot contain only periods or spaces"
    if any(character in _BAD_CHARACTERS for character in user):
        yield f"'s User cannot contain the following characters: {_BAD_CHARACTERS}"


def validate_host_process(spec: PodSpec, path: str) -> Iterator[Fault]:
    """Check that either all containers of a pod are processes of the host, or none."""
    of_pod = _host_process(spec.security_context)
    total = hosted = 0
    for at, container in containers_of(spec, path):
        total += 1
        own = _host_process(container.security_context)
        if of_pod is not None and own is not None and of_pod != own:
            text = f"pod hostProcess value must be identical if both are specified, was {go_value(of_pod)}"
            yield invalid(f"{at}.securityContext.windowsOptions.hostProcess", own, text)
        hosted += bool(of_pod if own is None else own)
    if not hosted:
        return
    if hosted != total:
        text = "If pod contains any hostProcess containers then all containers must be HostProcess containers"
        yield invalid(path, "", text)
    if not spec.host_network:
        text = "hostNetwork must be true if pod contains any hostProcess containers"
        yield invalid(f"{path}.hostNetwork", value=False, detail=text)


def _host_process(context: PodSecurityContext | SecurityContext | None) -> bool | None:
    options = context.windows_options if context is not None else None
    return options.host_process if options is not None else None
