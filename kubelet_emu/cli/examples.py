"""How each command is used: what `COMMAND --help` ends with."""

from __future__ import annotations

EXAMPLES: dict[str, tuple[str, ...]] = {
    "run": (
        "kubelet-emu run job.yaml",
        "kubelet-emu run --watch manifests/",
        "kubelet-emu run --runtime simulated --delete-when ready+5 pod.yaml",
    ),
    "demo": ("kubelet-emu demo", "kubelet-emu demo --runtime simulated"),
    "record": ("kubelet-emu record job.yaml",),
    "prune": ("kubelet-emu prune",),
    "ps": ("kubelet-emu ps -w", "kubelet-emu ps -o wide"),
    "get": (
        "kubelet-emu get pods -l 'app in (web,db)' --sort-by .status.startTime",
        "kubelet-emu get pods,jobs -A",
        "kubelet-emu get pod web -o jsonpath='{.status.phase}'",
    ),
    "events": ("kubelet-emu events --for web --types Warning",),
    "describe": ("kubelet-emu describe web", "kubelet-emu describe job/demo"),
    "why": ("kubelet-emu why web", "kubelet-emu why -f pod.yaml events.json"),
    "logs": ("kubelet-emu logs web -c app -f", "kubelet-emu logs -l app=web --prefix --since 5m"),
    "exec": ("kubelet-emu exec -it web -c app -- sh",),
    "attach": ("kubelet-emu attach -it web -c app",),
    "debug": ("kubelet-emu debug -it web --image busybox --target app -- sh",),
    "port-forward": ("kubelet-emu port-forward svc/web 8080:80",),
    "delete": ("kubelet-emu delete web --grace-period 5", "kubelet-emu delete -l app=web"),
    "kill": ("kubelet-emu kill web -c app -s TERM",),
    "validate": ("kubelet-emu validate manifests/", "kubelet-emu validate -o sarif pod.yaml"),
    "plan": ("kubelet-emu plan pod.yaml", "kubelet-emu plan --solve grace pod.yaml"),
    "test": ("kubelet-emu test scenarios/", "kubelet-emu test -k shutdown --runtime docker scenarios/"),
    "drill": ("kubelet-emu drill pod.yaml",),
    "verify": ("kubelet-emu verify events.json -f pod.yaml",),
    "timeline": ("kubelet-emu timeline run.log --width 90", "kubelet-emu timeline run.log -o svg > run.svg"),
    "trace": ("kubelet-emu trace run.log",),
    "replay": ("kubelet-emu replay run.log", "kubelet-emu replay --rerun run.log"),
    "completion": ('eval "$(kubelet-emu completion bash)"',),
}


def epilog_of(name: str) -> str | None:
    """Return the examples of a command as click shows a text that isn't to be wrapped."""
    found = EXAMPLES.get(name)
    return None if found is None else "\b\nExamples:\n" + "\n".join(f"  {line}" for line in found)
