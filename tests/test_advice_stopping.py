"""When SIGKILL comes at the latest to a sidecar that may have to wait for the whole grace."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from advice_makers import GATES

from kubelet_emu.advice.stopping import stops
from kubelet_emu.advice.subjects import subjects_of
from kubelet_emu.manifests import load

if TYPE_CHECKING:
    from pathlib import Path

DEAF = "trap '' TERM; while :; do sleep 1; done"
POLITE = "trap 'exit 0' TERM; while :; do sleep 1; done"
LATEST = [
    ("a deaf main may hold its sidecar back until the grace is over", DEAF, "echo bye", 32),
    ("whatever its hook does, which may have ended it", DEAF, "kill -9 1", 32),
    ("one without a hook does", DEAF, "", 32),
    ("a main that ends lets it go", POLITE, "echo bye", 30),
]


@pytest.mark.parametrize(("why", "main", "hook", "kill_at"), LATEST, ids=[row[0] for row in LATEST])
def test_the_latest_kill_of_a_sidecar(tmp_path: Path, why: str, main: str, hook: str, kill_at: int) -> None:
    lifecycle = f'lifecycle: {{preStop: {{exec: {{command: [sh, -c, "{hook}"]}}}}}}' if hook else ""
    path = tmp_path / "pod.yaml"
    path.write_text(f"""apiVersion: v1
kind: Pod
metadata: {{name: app}}
spec:
  initContainers:
    - {{name: proxy, image: busybox, restartPolicy: Always, command: [sh, -c, "{DEAF}"]}}
  containers:
    - name: main
      image: busybox
      command: [sh, -c, "{main}"]
      {lifecycle}
""")
    (subject,) = subjects_of(load([str(path)]).objects, GATES)
    assert {stop.part.name: stop.kill_at for stop in stops(subject)}["proxy"] == kill_at, why
