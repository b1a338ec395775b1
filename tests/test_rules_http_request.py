"""Requests of httpGet probes and hooks."""

from __future__ import annotations

import pytest
from attrs import evolve

from kubelet_emu.api.v1 import Container, ContainerPort
from kubelet_emu.api.v1_handlers import HTTPGetAction, HTTPHeader
from kubelet_emu.rules.http_request import (
    InvalidPortError,
    join_host_port,
    lifecycle_request,
    probe_request,
    redirected,
    resolve_container_port,
    without_tls,
)

CONTAINER = Container(name="c", ports=(ContainerPort(name="web", container_port=93),))
IP = "10.1.0.5"


@pytest.mark.parametrize(("port", "expected"), [(80, 80), ("web", 93), ("8080", 8080), ("+81", 81)])
def test_ports(port: int | str, expected: int) -> None:
    assert resolve_container_port(port, CONTAINER) == expected


@pytest.mark.parametrize(
    ("port", "message"),
    [
        (0, "invalid port number: 0"),
        (65536, "invalid port number: 65536"),
        (-1, "invalid port number: -1"),
        (None, "invalid port number: 0"),
        ("nosuch", 'strconv.Atoi: parsing "nosuch": invalid syntax'),
    ],
)
def test_ports_that_are_none(port: int | str | None, message: str) -> None:
    with pytest.raises(InvalidPortError) as caught:
        resolve_container_port(port, CONTAINER)
    assert str(caught.value) == message


def test_ipv6_hosts_are_bracketed() -> None:
    assert join_host_port("fd00::1", 80) == "[fd00::1]:80"


PATHS = [
    ("no path", "", "http://10.1.0.5:80", "/"),
    ("a path", "/healthz", "http://10.1.0.5:80/healthz", "/healthz"),
    ("a missing slash is added", "healthz", "http://10.1.0.5:80/healthz", "/healthz"),
    ("a query goes along", "/a?k=v&l", "http://10.1.0.5:80/a?k=v&l", "/a?k=v&l"),
    ("a query alone", "?k=v", "http://10.1.0.5:80?k=v", "/?k=v"),
    ("a fragment is shown, not sent", "/a#top", "http://10.1.0.5:80/a#top", "/a"),
    ("blanks are escaped", "/a b?c d", "http://10.1.0.5:80/a%20b?c%20d", "/a%20b?c%20d"),
    ("escapes stay as written", "/a%2Fb", "http://10.1.0.5:80/a%2Fb", "/a%2Fb"),
    ("a broken escape makes all of it a path", "/a%zz?k", "http://10.1.0.5:80/a%25zz%3Fk", "/a%25zz%3Fk"),
    ("a broken escape in the fragment too", "/a#%z", "http://10.1.0.5:80/a%23%25z", "/a%23%25z"),
    ("a control character too", "/a\n", "http://10.1.0.5:80/a%0A", "/a%0A"),
    ("a colon at the start too", ":a", "http://10.1.0.5:80/:a", "/:a"),
    ("an authority in the path is dropped", "//other:9/x", "http://10.1.0.5:80/x", "/x"),
    ("a whole URL in the path too", "https://other/x?y", "http://10.1.0.5:80/x?y", "/x?y"),
]


@pytest.mark.parametrize(("path", "url", "target"), [row[1:] for row in PATHS], ids=[row[0] for row in PATHS])
def test_paths(path: str, url: str, target: str) -> None:
    request = probe_request(HTTPGetAction(path=path, port=80), CONTAINER, IP)
    assert (request.url, request.target) == (url, target)


def test_a_probe_keeps_no_connection_and_says_who_it_is() -> None:
    request = probe_request(HTTPGetAction(path="/", port="web"), CONTAINER, IP)
    assert request.headers == (("User-Agent", "kube-probe/1.36"), ("Accept", "*/*"), ("Connection", "close"))
    assert (request.scheme, request.host, request.port, request.http_host) == ("http", IP, 93, "10.1.0.5:93")


def test_a_hook_says_who_it_is() -> None:
    request = lifecycle_request(HTTPGetAction(port=80, scheme="HTTPS", host="example.test"), CONTAINER, IP)
    assert ("User-Agent", "kube-lifecycle/1.36") in request.headers
    assert request.url == "https://example.test:80"


def test_headers_of_ones_own() -> None:
    given = (
        HTTPHeader(name="user-agent", value="foo/1.0"),
        HTTPHeader(name="accept", value="text/html"),
        HTTPHeader(name="x-a", value="1"),
        HTTPHeader(name="X-A", value="2"),
        HTTPHeader(name="odd name", value="3"),
    )
    headers = probe_request(HTTPGetAction(port=80, http_headers=given), CONTAINER, IP).headers
    assert headers[:-1] == (
        ("User-Agent", "foo/1.0"),
        ("Accept", "text/html"),
        ("X-A", "1"),
        ("X-A", "2"),
        ("odd name", "3"),
    )


def test_empty_headers_take_the_defaults_away() -> None:
    given = (HTTPHeader(name="User-Agent", value=""), HTTPHeader(name="Accept", value=""))
    assert probe_request(HTTPGetAction(port=80, http_headers=given), CONTAINER, IP).headers == (
        ("Connection", "close"),
    )


def test_a_host_header_names_the_virtual_host_only() -> None:
    given = (HTTPHeader(name="Host", value="muffins.example"),)
    request = probe_request(HTTPGetAction(port=80, http_headers=given), CONTAINER, IP)
    assert (request.host, request.http_host) == (IP, "muffins.example")
    assert "Host" not in dict(request.headers)


def test_without_tls_there_is_no_authorization() -> None:
    given = (HTTPHeader(name="authorization", value="secret"), HTTPHeader(name="X-A", value="1"))
    request = without_tls(lifecycle_request(HTTPGetAction(port=80, scheme="HTTPS", http_headers=given), CONTAINER, IP))
    assert (request.scheme, request.url) == ("http", "http://10.1.0.5:80")
    assert ("X-A", "1") in request.headers
    assert "Authorization" not in dict(request.headers)


FIRST = evolve(probe_request(HTTPGetAction(path="/a/b", port=8080), CONTAINER, IP), http_host="muffins.example")
REDIRECTS = [
    ("relative: keeps a Host header", "c?d=1", "http://10.1.0.5:8080/a/c?d=1", "/a/c?d=1", 8080, "muffins.example"),
    (
        "absolute: the Host is the new one",
        "http://10.1.0.5:9090/x",
        "http://10.1.0.5:9090/x",
        "/x",
        9090,
        "10.1.0.5:9090",
    ),
    ("https without a port", "https://10.1.0.5", "https://10.1.0.5", "/", 443, "10.1.0.5"),
    ("credentials are no host", "http://u:p@h/", "http://u:p@h/", "/", 80, "h"),
]


@pytest.mark.parametrize(
    ("location", "url", "target", "port", "http_host"),
    [row[1:] for row in REDIRECTS],
    ids=[row[0] for row in REDIRECTS],
)
def test_redirects(location: str, url: str, target: str, port: int, http_host: str) -> None:
    request = redirected(FIRST, location)
    assert (request.url, request.target, request.port, request.http_host) == (url, target, port, http_host)


@pytest.mark.parametrize("location", ["http://[", "http://h:99999/", "mailto:x", "ftp://h/x"])
def test_redirects_that_lead_nowhere(location: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        redirected(FIRST, location)
