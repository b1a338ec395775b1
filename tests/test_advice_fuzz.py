"""What is said of any pod holds: advice has its place, plans come true in virtual time, probes act when they say.

The pods are valid, and put together from what advice looks at. A small part is tried here, many more by `make fuzz`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import trio
from advice_makers import GATES
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from trio.testing import MockClock

from kubelet_emu import manifests
from kubelet_emu.advice.advising import advise, problems_of
from kubelet_emu.advice.catalogue import RULES
from kubelet_emu.advice.machine import as_object
from kubelet_emu.advice.plan import plan_of
from kubelet_emu.advice.probing import restarts
from kubelet_emu.advice.subjects import subjects_of
from kubelet_emu.advice.text import plan_lines
from kubelet_emu.embedding.node import open_node
from kubelet_emu.embedding.options import NodeOptions
from kubelet_emu.lifecycle.recounting import recount
from kubelet_emu.manifests.validation import validate
from kubelet_emu.rehearsal.confirming import confirm

if TYPE_CHECKING:
    from kubelet_emu.advice.subjects import Subject
    from kubelet_emu.lifecycle.history import RunHistory

Raw = dict[str, Any]

CODES = {rule.code for rule in RULES}

# -- pods that advice has something to say about

IMAGES = [
    "busybox:1.37",
    "alpine",
    "nginx:1.27",
    "postgres:17",
    "redis",
    "envoyproxy/envoy:v1.33",
    "app:1",
    "a/b@sha256:0",
]
PIECES = [
    "sleep 5", "sleep 3600", "sleep infinity", "exec sleep 60", "tail -f /dev/null",
    "trap 'exit 0' TERM", "trap : TERM",
    "trap '' TERM", "wait", "sleep 30 & wait $!", "exit 0", "exit 1", "true", "nginx -g 'daemon off;'",
    "until nc -z localhost 5432; do sleep 1; done", "until [ -f /data/ready ]; do sleep 1; done", "touch /data/ready",
    "while true; do sleep 1; done", "while :; do date; sleep 5; done",
    "for i in 1 2 3; do echo $i; done",
    "wget -qO- http://localhost:8080/", "curl -sf http://127.0.0.1:15020/quitquitquit", 'exec "$@"', "kill -TERM 1",
    "cat <<E\nx\nE", "if [ a = b ]; then sleep 9", "echo 'unclosed", "$(sleep 3)", "(sleep 4)",
    "{ sleep 4; }", "é", "#",
    "redis-cli -p 6379 ping", "nc -l -p 8080", "{{ .Values.x }}", "&&", ";;", "|",
]  # fmt: skip
PORTS = [80, 5432, 6379, 8080, 15020]

scripts = st.lists(st.sampled_from(PIECES), min_size=1, max_size=4).map("; ".join)
commands = st.one_of(
    st.none(),
    scripts.map(lambda script: ["sh", "-c", script]),
    st.sampled_from(
        [["sleep", "10"], ["sleep", "x"], ["tail", "-f", "/f"], ["nginx"], ["/app", "--db=localhost:5432"]]
    ),
    st.lists(st.text(max_size=8), min_size=1, max_size=3),
)
seconds = st.integers(0, 12)
ports = st.sampled_from(PORTS)
handlers: st.SearchStrategy[Raw] = st.one_of(
    scripts.map(lambda script: {"exec": {"command": ["sh", "-c", script]}}),
    ports.map(lambda port: {"tcpSocket": {"port": port}}),
    st.sampled_from(["http", "web", 8080, 80]).map(lambda port: {"httpGet": {"port": port}}),
)


def fields(required: dict[str, st.SearchStrategy[Any]], **optional: st.SearchStrategy[Any]) -> st.SearchStrategy[Raw]:
    """Return mappings with some of the optional fields, none of them null."""
    drawn = st.fixed_dictionaries(required, optional=optional)
    return drawn.map(lambda raw: {key: value for key, value in raw.items() if value is not None})


numbers = {
    "initialDelaySeconds": seconds,
    "periodSeconds": seconds,
    "timeoutSeconds": seconds,
    "failureThreshold": st.integers(0, 4),
}
probes = st.builds(lambda handler, times: {**handler, **times}, handlers, fields({}, **numbers))
hooks = st.one_of(
    handlers.filter(lambda hook: "tcpSocket" not in hook), seconds.map(lambda n: {"sleep": {"seconds": n}})
)
CONTAINER: dict[str, st.SearchStrategy[Any]] = {
    "command": commands,
    "args": st.lists(st.sampled_from(["a", "--port=8080", "-c", "sleep 9", "$(X)"]), max_size=2),
    "env": st.just([{"name": "X", "value": "http://localhost:8080"}]),
    "ports": ports.map(lambda port: [{"name": "http", "containerPort": port}]),
}
WATCHED: dict[str, st.SearchStrategy[Any]] = {
    "livenessProbe": probes,
    "readinessProbe": probes,
    "startupProbe": probes,
    "lifecycle": fields({}, preStop=hooks, postStart=hooks),
}
images = {"image": st.sampled_from(IMAGES)}
mains = fields(images, **CONTAINER, **WATCHED)
inits = st.one_of(
    fields(images, **CONTAINER), fields({**images, "restartPolicy": st.just("Always")}, **CONTAINER, **WATCHED)
)


def named(containers: list[Raw], prefix: str) -> list[Raw]:
    mounts = [{"name": "work", "mountPath": "/data"}]
    return [{"name": f"{prefix}{n}", "volumeMounts": mounts, **each} for n, each in enumerate(containers)]


specs = st.builds(
    lambda init, main, more: {
        "initContainers": named(init, "i"),
        "containers": named(main, "c"),
        "volumes": [{"name": "work", "emptyDir": {}}],
        **more,
    },
    st.lists(inits, max_size=3),
    st.lists(mains, min_size=1, max_size=2),
    fields({"terminationGracePeriodSeconds": st.integers(13, 40)}),
)
policies = st.sampled_from(["Never", "OnFailure"])


def pod_of(spec: Raw) -> Raw:
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "o"}, "spec": spec}


def job_of(spec: Raw) -> Raw:
    return {
        "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "o"}, "spec": {"template": {"spec": spec}}
    }  # fmt: skip


objects = st.one_of(
    st.builds(lambda spec, policy: pod_of({**spec, "restartPolicy": policy}), specs, policies | st.just("Always")),
    st.builds(lambda spec, policy: job_of({**spec, "restartPolicy": policy}), specs, policies),
)


def subjects_in(obj: Raw) -> tuple[Subject, ...]:
    result = manifests.load_text(json.dumps(obj))
    errors = [each for each in validate(result.objects, GATES) if each.severity == "error"]
    assert (result.problems, errors) == ((), [])
    return subjects_of(result.objects, GATES)


@given(objects)
@examples(60)
def test_advice_on_any_pod_has_a_code_a_place_and_words(obj: Raw) -> None:
    (subject,) = subjects_in(obj)
    plan = plan_of(subject)

    assert all(line.isprintable() for line in plan_lines(plan))
    assert json.dumps(as_object(plan))
    for advice in plan.advice:
        assert advice.code in CODES
        assert advice.text
        assert "None" not in f"{advice.text}{advice.hint}"
        assert subject.loaded.positions.has(f"{subject.spec_path}.{advice.path}" if advice.path else subject.spec_path)
    assert not [*problems_of((subject,), frozenset(CODES))]


@given(objects)
@examples(60)
def test_rules_that_are_not_asked_have_nothing_to_say(obj: Raw) -> None:
    (subject,) = subjects_in(obj)

    assert advise(subject) == tuple(advice for rule in RULES for advice in rule.find(subject))


@given(objects)
@examples(25)
def test_no_plan_is_contradicted_by_its_play(obj: Raw) -> None:
    (subject,) = subjects_in(obj)

    assert [claim for claim in confirm(plan_of(subject)) if claim.is_contradicted] == []


# -- when probes act

FAILING = st.sampled_from(["exit 1", "sleep 100"])
probe_times = {
    "initialDelaySeconds": st.sampled_from([0, 1, 2, 3, 7, 20]),
    "periodSeconds": st.sampled_from([1, 2, 5, 10]),
    "timeoutSeconds": st.sampled_from([1, 2, 3, 7]),
    "failureThreshold": st.integers(1, 3),
}


def executes(script: str) -> Raw:
    return {"exec": {"command": ["sh", "-c", script]}}


failing = st.builds(lambda script, times: {**executes(script), **times}, FAILING, fields(probe_times))
succeeding = fields(
    {"initialDelaySeconds": st.sampled_from([0, 3]), "periodSeconds": st.sampled_from([1, 3, 10])},
).map(lambda times: {**executes("[ -e /tmp/up ]"), "failureThreshold": 100, **times})
probed = st.one_of(
    failing.map(lambda probe: {"livenessProbe": probe}),
    failing.map(lambda probe: {"startupProbe": probe}),
    st.builds(lambda probe, first: {"livenessProbe": probe, "startupProbe": first}, failing, succeeding),
)


async def first_run(pod: Any) -> RunHistory:  # noqa: ANN401 - of some kind of object
    async with open_node(NodeOptions()) as node:
        node.cluster.create(pod)
        await trio.sleep(150)
        history = recount(node.lifecycle_log())
    container = history.pods[0].container("c")
    assert container is not None
    return container.runs[0]


@given(probed, st.sampled_from([0, 0.3, 0.5, 0.9, 1.7, 3.1]), st.sampled_from([0, 0.4, 2.2, 9]), st.booleans())
@examples(20)
def test_a_failing_probe_acts_when_said(probe: Raw, before: float, up: float, is_sidecar: bool) -> None:  # noqa: FBT001
    script = f"sleep {up}; touch /tmp/up; sleep 1000"
    container = {"name": "c", "image": "busybox", "command": ["sh", "-c", script], **probe}
    init = {"name": "i", "image": "busybox", "command": ["sleep", str(before)]}
    spec: Raw = {"terminationGracePeriodSeconds": 1, "initContainers": [init], "containers": [container]}
    if is_sidecar:
        spec["initContainers"].append({**container, "restartPolicy": "Always"})
        spec["containers"] = [{"name": "m", "image": "busybox", "command": ["sleep", "1000"]}]
    (subject,) = subjects_in(pod_of(spec))
    said = [*restarts(subject)][-1]

    run = trio.run(first_run, subject.loaded.object, clock=MockClock(autojump_threshold=0))

    since = run.startup_ok if said.waits_for_startup else run.started
    assert run.stop is not None
    assert since is not None
    assert run.stop.cause.name.lower() == said.probe
    assert said.earliest <= run.stop.began.high - since.low
    assert run.stop.began.low - since.high <= said.latest
