"""Which pod `attach` and `exec` are about: a pod itself, or the most active one of a workload or a Service.

Source: kubectl v1.36 pkg/polymorphichelpers attachablePodForObject, pkg/cmd/util/podcmd FindOrDefaultContainerByName.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import click
from attrs import frozen

from kubelet_emu.api.codec import decode_mapping
from kubelet_emu.api.v1 import Pod
from kubelet_emu.cli.forwarding.finding import activity_rank
from kubelet_emu.cli.remote.containers import container_named, default_container
from kubelet_emu.cli.remote.kinds import POD, kind_of
from kubelet_emu.cli.remote.log_targets import WITH_PODS, LogsError, pods_of
from kubelet_emu.cli.remote.views import get_pod
from kubelet_emu.cli.remote.words import Refusal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubelet_emu.cli.remote.views import Object, View


@frozen(kw_only=True)
class Wanted:
    """What was asked for: `POD` or `TYPE/NAME`, a container, and how long to wait for the first pod of a workload."""

    resource: str
    container: str | None = None
    timeout: float = 60.0
    is_quiet: bool = False

    @classmethod
    def of(cls, resource: str, container: str | None, given: Mapping[str, object]) -> Wanted:
        """Return what click parsed as one value."""
        timeout = cast("float", given["pod_running_timeout"])
        return cls(resource=resource, container=container, timeout=timeout, is_quiet=bool(given["quiet"]))


async def attachable_pod(view: View, namespace: str, wanted: Wanted) -> Object:
    """Return the pod that is meant; Refusal for what has none, ControlError (NotFound)."""
    word, slash, name = wanted.resource.partition("/")
    if not slash:
        return await get_pod(view, namespace, word)
    kind = kind_of(word.partition(".")[0])
    if kind is None:
        raise Refusal(f'the server doesn\'t have a resource type "{word}"')
    if not name or "/" in name:
        raise Refusal(f"arguments in resource/name form must have a single resource and name: {wanted.resource!r}")
    if kind is POD:
        return await get_pod(view, namespace, name)
    if kind.name not in WITH_PODS:
        raise Refusal(f"cannot attach to *.{kind.name}: it has no pods")
    found = await view.list(kind.name, namespace, name)
    if not found:
        raise Refusal(f'from server (NotFound): {kind.resource} "{name}" not found')
    try:
        pods = await pods_of(view, namespace, found[-1], wanted.timeout)
    except LogsError as error:
        raise Refusal(str(error)) from error
    return min(pods, key=lambda pod: activity_rank(decode_mapping(Pod, pod, ignore_unknown=True)))


def container_of(pod: Object, wanted: Wanted) -> Object:
    """Return the container that is meant, and say which where none was named; Refusal."""
    if wanted.container is None:
        name, said = default_container(pod)
        if said and not wanted.is_quiet:
            click.echo(said, err=True)
    else:
        name = wanted.container
    found = container_named(pod, name)
    if found is None:
        metadata = cast("Object", pod["metadata"])
        raise Refusal(f"container {name} not found in pod {metadata['name']}")
    return found


def name_of(pod: Object) -> str:
    """Return a pod's name."""
    return str(cast("Object", pod["metadata"])["name"])


def phase_of(pod: Object) -> str:
    """Return a pod's phase."""
    return str(cast("Object", pod.get("status") or {}).get("phase"))
