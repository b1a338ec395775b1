"""Formats of names, labels, ports and paths; each check returns what is wrong, in the server's words.

Source: k8s.io/apimachinery v1.36 util/validation and api/validate/content.
"""

from __future__ import annotations

import re

_LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_RELAXED_LABEL = r"_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_RELAXED_SUBDOMAIN = rf"{_RELAXED_LABEL}(\.{_RELAXED_LABEL})*"
_QUALIFIED = r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_LABEL_VALUE = rf"({_QUALIFIED})?"
_CONFIG_KEY = r"[-._a-zA-Z0-9]+"
_HEADER = r"[-A-Za-z0-9]+"
_HTTP_PATH = r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+"
_STRICT_ENV_NAME = "[-._a-zA-Z][-._a-zA-Z0-9]*"

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
STRICT_ENV_NAME_RULE = (
    "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or '.', "
    "and must not start with a digit (e.g. 'my.env-name',  or 'MY_ENV.NAME',  or 'MyEnvName1', "
    f"regex used for validation is '{_STRICT_ENV_NAME}')"
)
PORT_RULE = "must be between 1 and 65535, inclusive"
IP_RULE = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"

_LONGEST_LABEL = 63
_LONGEST_SUBDOMAIN = 253
_LONGEST_PORT_NAME = 15


def _longer_than(text: str, most: int, unit: str = "characters") -> list[str]:
    return [f"must be no more than {most} {unit}"] if len(text.encode()) > most else []


def label_errors(text: str) -> list[str]:
    """Check a DNS-1123 label: names of containers and volumes; one whose only fault is its dots is told so."""
    errors = _longer_than(text, _LONGEST_LABEL)
    if not re.fullmatch(_LABEL, text):
        errors.append("must not contain dots" if re.fullmatch(_SUBDOMAIN, text) else LABEL_RULE)
    return errors


def subdomain_errors(text: str) -> list[str]:
    """Check a DNS-1123 subdomain: names of most objects."""
    wrong = [] if re.fullmatch(_SUBDOMAIN, text) else [SUBDOMAIN_RULE]
    return [*_longer_than(text, _LONGEST_SUBDOMAIN), *wrong]


def prefix_errors(text: str) -> list[str]:
    """Check a text that a name may begin with: generateName, and some references; it may end with a dash."""
    return subdomain_errors(f"{text[:-2]}a" if len(text) > 1 and text.endswith("-") else text)


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
    if not text:
        return ["environment variable name must be non-empty"]
    return [] if all(" " <= each <= "~" and each != "=" for each in text) else [ENV_NAME_RULE]


def strict_env_name_errors(text: str) -> list[str]:
    """Check the name of an environment variable as servers before v1.32 do."""
    errors = [] if re.fullmatch(_STRICT_ENV_NAME, text) else [STRICT_ENV_NAME_RULE]
    if text in (".", ".."):
        return [*errors, f"must not be '{text}'"]
    return [*errors, *(["must not start with '..'"] if text.startswith("..") else [])]


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


def ip_errors(text: str, *, strict: bool = True) -> list[str]:
    """Check an IP address; `strict` refuses leading zeros and IPv4 addresses in IPv6 form (KEP-4858)."""
    import ipaddress  # noqa: PLC0415 - start-up is felt first

    plain = re.sub(r"(^|[.:])0+(?=[0-9])", r"\1", text) if "." in text else text
    try:
        address = ipaddress.ip_address(plain)
    except ValueError:
        return [IP_RULE]
    if "%" in text:
        return [IP_RULE]
    if not strict:
        return []
    if plain != text:
        return ["must not have leading 0s"]
    is_mapped = address.version == 6 and address.ipv4_mapped is not None
    return ["must not be an IPv4-mapped IPv6 address"] if is_mapped else []


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


def domain_prefixed_errors(text: str) -> list[tuple[str, str]]:
    """Check a `domain/path`; each error comes with the part that it is about."""
    prefix, slash, path = text.partition("/")
    if not (slash and path and prefix):
        return [(text, 'must be a domain-prefixed path (such as "acme.io/foo")')]
    errors = [(prefix, each) for each in subdomain_errors(prefix)]
    if not re.fullmatch(_HTTP_PATH, path):
        errors.append((path, f"Invalid path (regex used for validation is '{_HTTP_PATH}')"))
    return errors
