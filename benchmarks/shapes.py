"""What is measured: pods of some shape, as a manifest and as a list of containers. Pure."""

from __future__ import annotations

from attrs import frozen

IMAGE = "kubelet-emu.local/benchmark:1"
INIT_SCRIPT = "exit 0"
MAIN_SCRIPT = "trap 'exit 0' TERM; sleep 3600 & wait"


@frozen
class Container:
    """One container to make: its name, its script, and whether the next one waits for its exit."""

    name: str
    script: str
    is_init: bool


@frozen(kw_only=True)
class Shape:
    """A number of equal pods, and how often they are measured."""

    name: str
    pods: int
    inits: int = 0
    mains: int = 1
    repeats: int = 1

    @property
    def containers(self) -> tuple[Container, ...]:
        """Return the containers of one pod in the order of their starts."""
        inits = tuple(Container(f"init-{n}", INIT_SCRIPT, is_init=True) for n in range(1, self.inits + 1))
        return inits + tuple(Container(f"main-{n}", MAIN_SCRIPT, is_init=False) for n in range(1, self.mains + 1))

    @property
    def starts(self) -> int:
        """Return how many containers are started in all, sandboxes left out."""
        return self.pods * (self.inits + self.mains)

    def manifest(self) -> str:
        """Return the pods as YAML documents."""
        return "---\n".join(_pod(f"bench-{n}", self.containers) for n in range(1, self.pods + 1))


FULL = (
    Shape(name="1 pod", pods=1, repeats=5),
    Shape(name="1 pod, 2 init + 2 mains", pods=1, inits=2, mains=2, repeats=5),
    Shape(name="10 pods", pods=10, repeats=3),
    Shape(name="50 pods", pods=50),
)
QUICK = (
    Shape(name="1 pod", pods=1),
    Shape(name="1 pod, 2 init + 2 mains", pods=1, inits=2, mains=2),
    Shape(name="3 pods", pods=3),
)


def _pod(name: str, containers: tuple[Container, ...]) -> str:
    inits = [_container(each) for each in containers if each.is_init]
    mains = [_container(each) for each in containers if not each.is_init]
    lines = ["apiVersion: v1", "kind: Pod", f"metadata: {{name: {name}}}", "spec:", "  restartPolicy: Never"]
    if inits:
        lines += ["  initContainers:", *inits]
    return "\n".join([*lines, "  containers:", *mains, ""])


def _container(container: Container) -> str:
    command = f'["sh", "-c", "{container.script}"]'
    return f"  - {{name: {container.name}, image: '{IMAGE}', imagePullPolicy: Never, command: {command}}}"
