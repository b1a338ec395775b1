"""Names of images that a kubelet refuses."""

from __future__ import annotations

import random

import pytest

from kubelet_emu.config.features import FeatureGates
from kubelet_emu.manifests import load_text
from kubelet_emu.manifests.admission import admit
from kubelet_emu.manifests.safety import SafetyPolicy

SPEC = "{restartPolicy: Never, containers: [{name: c, image: '%s'}]}"
POD = f"{{apiVersion: v1, kind: Pod, metadata: {{name: p}}, spec: {SPEC}}}"
JOB = f"{{apiVersion: batch/v1, kind: Job, metadata: {{name: j}}, spec: {{template: {{spec: {SPEC}}}}}}}"
IMAGES = [
    ("busybox:1", None),
    ("${IMAGE}", "is this a template that isn't filled in"),
    ("{{ .Values.image }}", "is this a template that isn't filled in"),
    ("Busybox", ""),
]


@pytest.mark.parametrize(("text", "path"), [(POD, "spec"), (JOB, "spec.template.spec")])
@pytest.mark.parametrize(("image", "hint"), IMAGES)
def test_an_image_that_is_no_name_is_told(text: str, path: str, image: str, hint: str | None) -> None:
    read = admit(load_text(text % image), FeatureGates(), random.Random(0), SafetyPolicy())  # noqa: S311
    told = [each for each in read.problems if each.type == "Invalid image name"]

    if hint is None:
        assert told == []
        return
    (one,) = told
    assert (one.path, one.severity) == (f"{path}.containers[0].image", "warning")
    assert one.text.startswith(f"a kubelet says InvalidImageName to {image!r}: ")
    assert one.hint.startswith(hint)
    assert bool(one.hint) == bool(hint)
