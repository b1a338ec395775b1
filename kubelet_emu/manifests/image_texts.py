"""Names of images that a server takes and a kubelet refuses; most are templates that nobody has filled in."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from kubelet_emu.api.image_names import InvalidImageNameError, parse_image_name
from kubelet_emu.manifests.advice import is_unfilled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubelet_emu.api.batch_v1 import Job
    from kubelet_emu.api.v1 import Pod
    from kubelet_emu.manifests.loading import Loaded
    from kubelet_emu.manifests.problems import Problem

_TEMPLATED = ("Job", "Deployment", "ReplicaSet", "StatefulSet", "DaemonSet")
_FILL_IN = "is this a template that isn't filled in? Render it first (helm template, kustomize, envsubst)"


def image_texts(loaded: Loaded) -> Iterator[Problem]:
    """Yield a warning for each image whose name can't be read. Source: kubelet v1.36 EnsureImageExists."""
    obj = loaded.object
    if obj.kind != "Pod" and obj.kind not in _TEMPLATED:
        return
    path = "spec" if obj.kind == "Pod" else "spec.template.spec"
    spec = cast("Pod", obj).spec if obj.kind == "Pod" else cast("Job", obj).spec.template.spec
    for field, containers in (("initContainers", spec.init_containers), ("containers", spec.containers)):
        for index, container in enumerate(containers):
            image = container.image or ""
            try:
                parse_image_name(image or "none")
            except InvalidImageNameError as error:
                text = f"a kubelet says InvalidImageName to {image!r}: {error}"
                hint = _FILL_IN if is_unfilled(image) else ""
                where = f"{path}.{field}[{index}].image"
                yield loaded.problem(where, "Invalid image name", text, hint=hint, severity="warning")
