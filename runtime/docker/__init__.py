"""The runtime on a Docker engine. Public: `DockerRuntime`."""

from runtime.docker.service import DockerRuntime

__all__ = ["DockerRuntime"]
