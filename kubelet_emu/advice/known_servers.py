"""Programs that are servers: they don't end by themselves.

Only what is known for sure: an image counts when it runs its own entry point, with options at most. A helper that is
told to do its work once, or to print something, is none.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_IMAGES = frozenset(
    """cloud-sql-proxy cloudsql-proxy gce-proxy alloydb-auth-proxy envoy envoy-alpine proxyv2 proxyv2-distroless
    fluent-bit fluentd fluentd-kubernetes-daemonset vector filebeat promtail loki telegraf
    opentelemetry-collector opentelemetry-collector-contrib opentelemetry-collector-k8s aws-otel-collector
    jaeger-agent jaeger-collector aws-xray-daemon cloudwatch-agent
    oauth2-proxy kube-rbac-proxy statsd-exporter node-exporter postgres-exporter mysqld-exporter redis_exporter
    nginx-prometheus-exporter prometheus pushgateway blackbox-exporter
    nginx nginx-unprivileged haproxy traefik caddy httpd
    redis memcached postgres postgresql mysql mariadb mongo rabbitmq pgbouncer zookeeper
    daprd consul-dataplane docker-registry minio""".split()  # noqa: SIM905 - read best so
)
_PROGRAMS = frozenset(
    """cloud_sql_proxy cloud-sql-proxy envoy fluent-bit fluentd vector filebeat promtail telegraf otelcol
    otelcol-contrib oauth2-proxy kube-rbac-proxy statsd_exporter node_exporter postgres_exporter redis_exporter
    haproxy redis-server memcached postgres mysqld mariadbd mongod rabbitmq-server pgbouncer dockerd daprd
    php-fpm httpd-foreground nginx-debug""".split()  # noqa: SIM905 - as above
)
_BARE = frozenset({"busybox", "alpine", "debian", "ubuntu", "fedora", "rockylinux", "almalinux"})
_NEEDS_WORD = {"proxyv2": "proxy", "proxyv2-distroless": "proxy"}
"""Images whose entry point is a server only with this first argument."""
_PORTS = {
    "nginx": 80,
    "nginx-unprivileged": 8080,
    "httpd": 80,
    "caddy": 80,
    "traefik": 80,
    "redis": 6379,
    "memcached": 11211,
    "postgres": 5432,
    "postgresql": 5432,
    "mysql": 3306,
    "mariadb": 3306,
    "mongo": 27017,
    "rabbitmq": 5672,
    "zookeeper": 2181,
    "prometheus": 9090,
    "docker-registry": 5000,
    "minio": 9000,
}
"""The ports at which images listen when nobody tells them another."""
_ONCE = (
    r"-{1,2}(version|help|h|V|v|one-time|one[_-]?shot|onetime|once|exit[-_].*|check|test|dry-run|validate.*|configtest|t)"
    r"(=(?!false).*)?"
)
_NOT_ONCE = frozenset({"--exit-zero-on-sigterm"})
_DIND = r"(?:^|-)dind(?:-|$)"


def is_server_image(image: str, args: Sequence[str]) -> bool:
    """Tell whether an image with these arguments, and without a command, is known to run a server."""
    repository, tag = _split(image)
    name = repository.rpartition("/")[2]
    if _ends_at_once(args):
        return False
    if (word := _NEEDS_WORD.get(name)) is not None:
        return bool(args) and args[0] == word
    if not (name in _IMAGES or (name == "docker" and re.search(_DIND, tag)) or name == "docker-dind"):
        return False
    return not args or args[0].startswith("-")


def known_port(image: str, args: Sequence[str]) -> int | None:
    """Return the port at which an image listens by itself, None where that isn't known for sure."""
    return _PORTS.get(_split(image)[0].rpartition("/")[2]) if is_server_image(image, args) else None


def is_server_program(words: Sequence[str]) -> bool:
    """Tell whether a command line is known to run a server."""
    if not words:
        return False
    name, args = words[0].rpartition("/")[2], words[1:]
    if name == "nginx":
        return any("daemon off" in each for each in args) and not _ends_at_once(args)
    return name in _PROGRAMS and not _ends_at_once(args)


def _ends_at_once(args: Sequence[str]) -> bool:
    return any(re.fullmatch(_ONCE, each) and each not in _NOT_ONCE for each in args)


def _split(image: str) -> tuple[str, str]:
    """Return repository and tag of an image's name."""
    name = image.partition("@")[0]
    head, colon, tag = name.rpartition(":")
    return (head, tag) if colon and "/" not in tag else (name, "")


def has_no_entry_point(image: str) -> bool:
    """Tell whether an image is known to have no entry point, so that arguments alone are its command."""
    return _split(image)[0].rpartition("/")[2] in _BARE
