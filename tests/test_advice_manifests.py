"""The manifests that people write get the advice that their `expect.yaml` names, and no other."""

from __future__ import annotations

from pathlib import Path

import pytest
from advice_makers import GATES

from kubelet_emu.advice.advising import advise
from kubelet_emu.advice.subjects import subjects_of
from kubelet_emu.manifests import load

FIXTURES = Path(__file__).parent.parent / "fixtures"
FOLDERS = sorted(path.name for path in (FIXTURES / "manifests").iterdir())

# Of each folder with advice: the code, and what of `tell_user` it is.
NAMED = {
    "01-istio-native-sidecar": [
        ("KE703", "its preStop drain runs as soon as the pod is deleted, before orders has ended"),
        ("KE901", "ConfigMap istio-ca-root-cert is not in the file"),
    ],
    "03-cloud-sql-proxy-job": [("KE901", "Secret ledger-db (key url) is not in the file")],
    "04-cloud-sql-proxy-job-plain": [
        ("KE601", "the Job ends only if it ends, and with code 0"),
        ("KE603", "OnFailure: if the proxy ends with an error it is restarted"),
    ],
    "07-otel-collector-sidecar": [
        ("KE504", "otel-collector is a plain init container"),
        ("KE901", "ConfigMap otel-conf is not in the file"),
        ("KE902", "$(POD_NAME) is used before POD_NAME is defined, so it stays as text"),
    ],
    "10-git-sync": [("KE901", "Secret git-ssh is not in the file")],
    "14-statefulset-all-volumes": [("KE902", "HOSTNAME_FQDN keeps the text $(POD_NAME)")],
    "17-cronjob-backup": [
        ("KE601", "gcs-upload never ends: the Job never completes"),
        ("KE603", "backoffLimit 2 with OnFailure: restarts of both containers count"),
    ],
    "24-json": [("KE701", "log has no trap and ignores SIGTERM as PID 1")],
    "31-probe-on-plain-init": [("KE504", "did you want a sidecar?")],
    "33-restart-policy-on-container": [
        ("KE602", "restartPolicy Always on an ordinary container restarts it for ever"),
        ("KE701", "sidecar: sleep as PID 1 ignores SIGTERM"),
    ],
    "34-prestop-sleep-too-long": [
        ("KE702", "preStop sleeps 60 s but terminationGracePeriodSeconds is 30"),
        ("KE704", "tcpSocket is accepted for hooks but always fails at run time"),
    ],
    "43-ci-agent-dind": [("KE601", "dind never ends by itself: when jnlp ends the pod stays Running")],
    "50-custom-resources": [("KE901", "Secret db would be made by the ExternalSecret")],
    "51-variable-expansion": [("KE902", "LATER keeps the text $(LAST)")],
}


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_manifest_gets_the_advice_that_is_expected_and_no_other(folder: str) -> None:
    path = FIXTURES / "manifests" / folder
    expected = (path / "expect.yaml").read_text()
    result = load([str(each) for each in path.glob("manifest.*")])

    given = [advice.code for subject in subjects_of(result.objects, GATES) for advice in advise(subject)]

    assert given == [code for code, _ in NAMED.get(folder, [])]
    assert [said for _, said in NAMED.get(folder, []) if said not in expected] == []


@pytest.mark.parametrize("path", sorted((FIXTURES / "slides").glob("slide-1*.yaml")), ids=lambda path: path.stem)
def test_the_slides_manifests_need_no_advice(path: Path) -> None:
    result = load([str(path)])
    given = [advice for subject in subjects_of(result.objects, GATES) for advice in advise(subject)]
    assert [(each.code, each.path, each.text) for each in given] == []
