"""Formats of names, labels, ports and paths; each check returns what is wrong, in the server's words.

Source: k8s.io/apimachinery v1.36 util/validation and api/validate/content.
"""

from __future__ import annotations

import re

_LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_RELAXED_LABEL = r"_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_RELAXED_SUBDOMAIN = rf"{_RELAXED_LABEL}(\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*"
_QUALIFIED = r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_LABEL_VALUE = rf"({_QUALIFIED})?"
_CONFIG_KEY = r"[-._a-zA-Z0-9]+"
_HEADER = r"[-A-Za-z0-9]+"

_ALPHANUMERIC_ENDS = "and must start and end with an alphanumeric character"
LABEL_RULE = (
    f"a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', {_ALPHANUMERIC_ENDS} "
    f"(e.g. 'my-name',  or '123-abc', regex used for validation is '{_LABEL}')"
)
SUBDOMAIN_RULE = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "
    f"{_ALPHANUMERIC_ENDS} (e.g. 'example.com', regex used for validation is '{_SUBDOMAIN}')"
)
RELAXED_SUBDOMAIN_RULE = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', "
    f"{_ALPHANUMERIC_ENDS} (e.g. 'example.com', regex used for validation is '{_RELAXED_SUBDOMAIN}')"
)
QUALIFIED_NAME_RULE = (
    f"name part must consist of alphanumeric characters, '-', '_' or '.', {_ALPHANUMERIC_ENDS} "
    f"(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '{_QUALIFIED}')"
)
QUALIFIED_RULE = (
    f"a qualified name must consist of alphanumeric characters, '-', '_' or '.', {_ALPHANUMERIC_ENDS} "
    f"(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '{_QUALIFIED}') "
    "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
)
LABEL_VALUE_RULE = (
    f"a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
    f"{_ALPHANUMERIC_ENDS} (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '{_LABEL_VALUE}')"
)
CONFIG_KEY_RULE = (
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' "
    f"(e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '{_CONFIG_KEY}')"
)
HEADER_RULE = (
    "a valid HTTP header must consist of alphanumeric characters or '-' "
    f"(e.g. 'X-Header-Name', regex used for validation is '{_HEADER}')"
)
ENV_NAME_RULE = "a valid environment variable name must consist only of printable ASCII characters other than '='"
PORT_RULE = "must be between 1 and 65535, inclusive"
IP_RULE = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"

_LONGEST_LABEL = 63
_LONGEST_SUBDOMAIN = 253
_LONGEST_PORT_NAME = 15


def _longer_than(text: str, most: int, unit: str = "characters") -> list[str]:
    return [f"must be no more than {most} {unit}"] if len(text.encode()) > most else []


def label_errors(text: str) -> list[str]:
    """Check a DNS-1123 label: names of containers and volumes."""
    wrong = [] if re.fullmatch(_LABEL, text) else [LABEL_RULE]
    return [*_longer_than(text, _LONGEST_LABEL), *wrong]


def subdomain_errors(text: str) -> list[str]:
    """Check a DNS-1123 subdomain: names of most objects."""
    wrong = [] if re.fullmatch(_SUBDOMAIN, text) else [SUBDOMAIN_RULE]
    return [*_longer_than(text, _LONGEST_SUBDOMAIN), *wrong]


def relaxed_subdomain_errors(text: str) -> list[str]:
    """Check a DNS search domain: underscores are allowed, too."""
    wrong = [] if re.fullmatch(_RELAXED_SUBDOMAIN, text) else [RELAXED_SUBDOMAIN_RULE]
    return [*_longer_than(text, _LONGEST_SUBDOMAIN), *wrong]


def qualified_name_errors(text: str) -> list[str]:
    """Check `[prefix/]name`: label keys, condition types, resources."""
    parts = text.split("/")
    if len(parts) > 2:
        return [QUALIFIED_RULE]
    errors: list[str] = []
    if len(parts) == 2:
        prefix = parts[0]
        errors += (
            ["prefix part must be non-empty"]
            if not prefix
            else [f"prefix part {each}" for each in subdomain_errors(prefix)]
        )
    name = parts[-1]
    if not name:
        errors.append("name part must be non-empty")
    errors += [f"name part {each}" for each in _longer_than(name, _LONGEST_LABEL, "bytes")]
    if not re.fullmatch(_QUALIFIED, name):
        errors.append(QUALIFIED_NAME_RULE)
    return errors


def label_value_errors(text: str) -> list[str]:
    """Check the value of a label."""
    wrong = [] if re.fullmatch(_LABEL_VALUE, text) else [LABEL_VALUE_RULE]
    return [*_longer_than(text, _LONGEST_LABEL, "bytes"), *wrong]


def config_key_errors(text: str) -> list[str]:
    """Check a key of a ConfigMap or Secret."""
    if text in (".", ".."):
        return [f"must not be '{text}'"]
    errors = _longer_than(text, _LONGEST_SUBDOMAIN)
    if not re.fullmatch(_CONFIG_KEY, text):
        errors.append(CONFIG_KEY_RULE)
    return [*errors, *(["must not start with '..'"] if text.startswith("..") else [])]


def env_name_errors(text: str) -> list[str]:
    """Check the name of an environment variable (relaxed rules, KEP-4369)."""
    is_fine = text and all(" " <= each <= "~" and each != "=" for each in text)
    return [] if is_fine else [ENV_NAME_RULE]


def header_errors(text: str) -> list[str]:
    """Check the name of an HTTP header."""
    return [] if re.fullmatch(_HEADER, text) else [HEADER_RULE]


def port_number_errors(number: int) -> list[str]:
    """Check a port number."""
    return [] if 0 < number < 65536 else [PORT_RULE]


def port_name_errors(text: str) -> list[str]:
    """Check the name of a port (IANA service names)."""
    errors = _longer_than(text, _LONGEST_PORT_NAME)
    if not re.fullmatch(r"[-a-z0-9]+", text):
        errors.append("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)")
    if not re.search(r"[a-z]", text):
        errors.append("must contain at least one letter (a-z)")
    if "--" in text:
        errors.append("must not contain consecutive hyphens")
    if text.startswith("-") or text.endswith("-"):
        errors.append("must not begin or end with a hyphen")
    return errors


def ip_errors(text: str) -> list[str]:
    """Check an IP address."""
    import ipaddress  # noqa: PLC0415 - start-up is felt first

    try:
        ipaddress.ip_address(text)
    except ValueError:
        return [IP_RULE]
    return [IP_RULE] if "%" in text else []


def path_errors(text: str) -> list[str]:
    """Check a path that must stay below where it starts: relative, without `..`."""
    errors = ["must be a relative path"] if text.startswith("/") else []
    return [*errors, *backstep_errors(text)]


def backstep_errors(text: str) -> list[str]:
    """Check that a path has no `..`."""
    return ["must not contain '..'"] if ".." in text.split("/") else []


def file_path_errors(text: str) -> list[str]:
    """Check the path of a file in a volume: relative, without `..`, and not starting with two dots."""
    errors = path_errors(text)
    if text.startswith("..") and not text.startswith("../"):
        errors.append("must not start with '..'")
    return errors


def is_domain_prefixed(text: str) -> bool:
    """Tell whether a text is `domain/path`."""
    prefix, slash, path = text.partition("/")
    return bool(slash and path and prefix and not subdomain_errors(prefix))
