"""Rules of rarer fields beside the decision tables: what a v1.36 server says, by field; long answers are cut."""

# ruff: noqa: E501 - the rows of a table

from __future__ import annotations

import pytest
from test_manifests_validation import GATES, C, faults, pod, read

from kubelet_emu.config.features import FeatureGates
from kubelet_emu.manifests.validation import update_faults

CUT = 110
PROJECTED = FeatureGates(overrides={"ClusterTrustBundleProjection": True, "PodCertificateRequest": True})


def said(found: list[str], prefix: str = "") -> list[str]:
    return [each.removeprefix(prefix)[:CUT] for each in found]


VOLUMES: list[tuple[str, list[str]]] = [
    ("awsElasticBlockStore: {}", ["awsElasticBlockStore.volumeID: Required value"]),
    (
        "awsElasticBlockStore: {volumeID: a, partition: 256}",
        ["awsElasticBlockStore.partition: Invalid value: 256: must be between 1 and 255, inclusive"],
    ),
    (
        "gcePersistentDisk: {partition: -1}",
        [
            "persistentDisk.pdName: Required value",
            "persistentDisk.partition: Invalid value: -1: must be between 1 and 255, inclusive",
        ],
    ),
    (
        "azureDisk: {}",
        [
            "azureDisk.diskName: Required value",
            "azureDisk.diskURI: Required value",
            'azureDisk.diskURI: Unsupported value: "": supported values: "https://{account-name}.blob.core.windows.net/{con',
        ],
    ),
    (
        "azureDisk: {diskName: a, diskURI: b, cachingMode: X, kind: Z}",
        [
            'azureDisk.cachingMode: Unsupported value: "X": supported values: "None", "ReadOnly", "ReadWrite"',
            'azureDisk.kind: Unsupported value: "Z": supported values: "Dedicated", "Managed", "Shared"',
            'azureDisk.diskURI: Unsupported value: "b": supported values: "https://{account-name}.blob.core.windows.net/{co',
        ],
    ),
    (
        "azureDisk: {diskName: a, diskURI: b, kind: Managed}",
        [
            'azureDisk.diskURI: Unsupported value: "b": supported values: "/subscriptions/{sub-id}/resourcegroups/{group-na'
        ],
    ),
    (
        "azureDisk: {diskName: a, diskURI: /subscriptions/x, kind: Shared}",
        [
            'azureDisk.diskURI: Unsupported value: "/subscriptions/x": supported values: "https://{account-name}.blob.core.'
        ],
    ),
    ("azureFile: {}", ["azureFile.secretName: Required value", "azureFile.shareName: Required value"]),
    ("cephfs: {}", ["cephfs.monitors: Required value"]),
    ("cinder: {secretRef: {}}", ["cinder.volumeID: Required value", "cinder.secretRef.name: Required value"]),
    ("fc: {}", ["fc.targetWWNs: Required value: must specify either targetWWNs or wwids, but not both"]),
    (
        "fc: {targetWWNs: [a], wwids: [b]}",
        [
            'fc.targetWWNs: Invalid value: ["a"]: targetWWNs and wwids can not be specified simultaneously',
            "fc.lun: Required value: lun is required if targetWWNs is specified",
        ],
    ),
    ("fc: {targetWWNs: [a], lun: 256}", ["fc.lun: Invalid value: 256: must be between 0 and 255, inclusive"]),
    ("fc: {targetWWNs: [a]}", ["fc.lun: Required value: lun is required if targetWWNs is specified"]),
    ("flexVolume: {}", ["flexVolume.driver: Required value"]),
    (
        "flexVolume: {driver: a, options: {kubernetes.io/x: z, a.k8s.io/b: c}}",
        [
            'flexVolume.options[kubernetes.io/x]: Invalid value: "kubernetes.io/x": kubernetes.io and k8s.io namespaces are',
            'flexVolume.options[a.k8s.io/b]: Invalid value: "a.k8s.io/b": kubernetes.io and k8s.io namespaces are reserved',
        ],
    ),
    ("flocker: {}", ["flocker: Required value: one of datasetName and datasetUUID is required"]),
    (
        "flocker: {datasetName: a, datasetUUID: b}",
        ['flocker: Invalid value: "resource": datasetName and datasetUUID can not be specified simultaneously'],
    ),
    ("flocker: {datasetName: a/b}", ["flocker.datasetName: Invalid value: \"a/b\": must not contain '/'"]),
    ("gitRepo: {}", ["gitRepo.repository: Required value"]),
    (
        "gitRepo: {repository: a, directory: ../b}",
        ["gitRepo.directory: Invalid value: \"../b\": must not contain '..'"],
    ),
    ("glusterfs: {}", ["glusterfs.endpoints: Required value", "glusterfs.path: Required value"]),
    ("glusterfs: {endpoints: a/b, path: ../x}", []),
    ("iscsi: {}", ["iscsi.targetPortal: Required value", "iscsi.iqn: Required value"]),
    (
        "iscsi: {targetPortal: a, iqn: b, lun: 256}",
        [
            'iscsi.iqn: Invalid value: "b": must be valid format starting with iqn, eui, or naa',
            "iscsi.lun: Invalid value: 256: must be between 0 and 255, inclusive",
        ],
    ),
    (
        "iscsi: {targetPortal: a, iqn: 'iqn.2001-04.com.example:a', lun: 0, chapAuthSession: true}",
        ["iscsi.secretRef: Required value"],
    ),
    (
        "iscsi: {targetPortal: a, iqn: 'naa.123', lun: 0, initiatorName: 'x'}",
        [
            'iscsi.iqn: Invalid value: "naa.123": must be valid format',
            'iscsi.initiatorname: Invalid value: "x": must be valid format starting with iqn, eui, or naa',
        ],
    ),
    ("iscsi: {targetPortal: a, iqn: 'eui.0123456789ABCDEF', lun: 0, initiatorName: 'iqn.2001-04.com.example:a:b'}", []),
    (
        "nfs: {}",
        [
            "nfs.server: Required value",
            "nfs.path: Required value",
            'nfs.path: Invalid value: "": must be an absolute path',
        ],
    ),
    ("photonPersistentDisk: {}", ["photonPersistentDisk.pdID: Required value"]),
    ("portworxVolume: {}", ["portworxVolume.volumeID: Required value"]),
    (
        "quobyte: {}",
        [
            "quobyte.registry: Required value: must be a host:port pair or multiple pairs separated by commas",
            "quobyte.volume: Required value",
        ],
    ),
    (
        "quobyte: {registry: 'a', volume: b}",
        ['quobyte.registry: Invalid value: "a": must be a host:port pair or multiple pairs separated by commas'],
    ),
    (
        "quobyte: {registry: 'a:1,b', volume: b, tenant: 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'}",
        ["quobyte.tenant: Required value: must be a UUID and may not exceed a length of 64 characters"],
    ),
    ("rbd: {}", ["rbd.monitors: Required value", "rbd.image: Required value"]),
    ("rbd: {monitors: [a], image: b}", []),
    (
        "scaleIO: {}",
        ["scaleIO.gateway: Required value", "scaleIO.system: Required value", "scaleIO.volumeName: Required value"],
    ),
    ("scaleIO: {gateway: a, system: b, volumeName: c, storageMode: X}", []),
    ("storageos: {}", ["storageos.volumeName: Required value"]),
    (
        "storageos: {volumeName: A, volumeNamespace: B, secretRef: {}}",
        [
            'storageos.volumeName: Invalid value: "A": a lowercase RFC 1123 label must consist of lower case alphanumeric c',
            'storageos.volumeNamespace: Invalid value: "B": a lowercase RFC 1123 label must consist of lower case alphanume',
            "storageos.secretRef.name: Required value",
        ],
    ),
    ("vsphereVolume: {}", ["vsphereVolume.volumePath: Required value"]),
    (
        "csi: {driver: 'a b', nodePublishSecretRef: {}}",
        [
            'csi.driver: Invalid value: "a b": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric chara',
            "csi.nodePublishSecretRef.name: Required value",
        ],
    ),
    (
        "csi: {driver: 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'}",
        ["csi.driver: Too long: may not be more than 63 bytes"],
    ),
    ("ephemeral: {}", ["ephemeral.volumeClaimTemplate: Required value"]),
    (
        "ephemeral: {volumeClaimTemplate: {metadata: {name: a, labels: {a b: c}}, spec: {}}}",
        [
            'ephemeral.volumeClaimTemplate.metadata.labels: Invalid value: "a b": name part must consist of alphanumeric ch',
            "ephemeral.volumeClaimTemplate.metadata.name: Forbidden: cannot be set",
            "ephemeral.volumeClaimTemplate.spec.accessModes: Required value: at least 1 access mode is required",
            "ephemeral.volumeClaimTemplate.spec.resources[storage]: Required value",
        ],
    ),
    (
        "ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOncePod, ReadWriteOnce], resources: {requests: {storage: 1Gi}}, volumeMode: X, storageClassName: A B}}}",
        [
            "ephemeral.volumeClaimTemplate.spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access mode",
            'ephemeral.volumeClaimTemplate.spec.storageClassName: Invalid value: "A B": a lowercase RFC 1123 subdomain must',
            'ephemeral.volumeClaimTemplate.spec.volumeMode: Unsupported value: "X": supported values: "Block", "Filesystem"',
        ],
    ),
    (
        "ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 0}}, selector: {matchLabels: {a b: c}}}}}",
        [
            'ephemeral.volumeClaimTemplate.spec.selector.matchLabels: Invalid value: "a b": name part must consist of alpha',
            'ephemeral.volumeClaimTemplate.spec.resources[storage]: Invalid value: "0": must be greater than zero',
        ],
    ),
    (
        "ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1}}, dataSource: {}, dataSourceRef: {kind: PersistentVolumeClaim, name: ''}, volumeAttributesClassName: A}}}",
        [
            "ephemeral.volumeClaimTemplate.spec.dataSource.name: Required value",
            "ephemeral.volumeClaimTemplate.spec.dataSource.kind: Required value",
            "ephemeral.volumeClaimTemplate.spec.dataSource: Invalid value: \"\": must be 'PersistentVolumeClaim' when referen",
            "ephemeral.volumeClaimTemplate.spec.dataSourceRef.name: Required value",
            'ephemeral.volumeClaimTemplate.spec: Invalid value: "spec.volumes[0].ephemeral.volumeClaimTemplate.spec.dataSou',
            'ephemeral.volumeClaimTemplate.spec.volumeAttributesClassName: Invalid value: "A": a lowercase RFC 1123 subdoma',
        ],
    ),
    (
        "ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1}}, dataSourceRef: {kind: X, apiGroup: a.b, name: c, namespace: D}}}}",
        [
            'ephemeral.volumeClaimTemplate.spec.dataSourceRef.namespace: Invalid value: "D": a lowercase RFC 1123 label mus'
        ],
    ),
]


@pytest.mark.parametrize(("text", "expected"), VOLUMES, ids=[row[0][:50] for row in VOLUMES])
def test_of_a_volume(text: str, expected: list[str]) -> None:
    found = faults(pod(f"containers: [{C}], volumes: [{{name: v, {text}}}]"))
    assert said(found, "spec.volumes[0].") == expected


SOURCES: list[tuple[str, list[str]]] = [
    (
        "clusterTrustBundle: {path: ''}",
        [
            ".sources[0].clusterTrustBundle: Required value: either name or signerName must be specified",
            ".sources[0].clusterTrustBundle.path: Required value",
        ],
    ),
    (
        "clusterTrustBundle: {path: a, name: 'a:b:c', signerName: a.b/c}",
        [
            '.sources[0].clusterTrustBundle: Invalid value: {"Name":"a:b:c","LabelSelector":null,"Optional":null,"Path":"a"'
        ],
    ),
    (
        "clusterTrustBundle: {path: a, signerName: ab}",
        [
            '.sources[0].clusterTrustBundle.signerName: Invalid value: "ab": must be a fully qualified domain and path of t'
        ],
    ),
    (
        "clusterTrustBundle: {path: a, signerName: a.b/c, labelSelector: {matchLabels: {a b: c}}}",
        [
            '.sources[0].clusterTrustBundle.labelSelector.matchLabels: Invalid value: "a b": name part must consist of alph'
        ],
    ),
    (
        "clusterTrustBundle: {path: ../a, name: 'A'}",
        [
            '.sources[0].clusterTrustBundle.name: Invalid value: "A": not a valid clustertrustbundlename: a lowercase RFC 1',
            ".sources[0].clusterTrustBundle.path: Invalid value: \"../a\": must not contain '..'",
        ],
    ),
    (
        "clusterTrustBundle: {path: a, name: a, labelSelector: {}}",
        [
            '.sources[0].clusterTrustBundle.labelSelector: Invalid value: {"MatchExpressions":null,"MatchLabels":null}: lab'
        ],
    ),
    (
        "clusterTrustBundle: {path: a, name: 'a.b:c:d', signerName: a.b/c}",
        [
            '.sources[0].clusterTrustBundle: Invalid value: {"Name":"a.b:c:d","LabelSelector":null,"Optional":null,"Path":"'
        ],
    ),
    (
        "podCertificate: {}",
        [
            ".sources[0].podCertificate.signerName: Required value",
            '.sources[0].podCertificate.keyType: Unsupported value: "": supported values: "RSA3072", "RSA4096", "ECDSAP256"',
            ".sources[0].podCertificate: Required value: specify at least one of credentialBundlePath, keyPath, and certifi",
        ],
    ),
    ("podCertificate: {signerName: a.b/c, keyType: ED25519, credentialBundlePath: a}", []),
    (
        "podCertificate: {signerName: a.b/c, keyType: X, keyPath: a, certificateChainPath: a}",
        [
            '.sources[0].podCertificate.keyType: Unsupported value: "X": supported values: "RSA3072", "RSA4096", "ECDSAP256',
            ': Invalid value: "a": conflicting duplicate paths',
        ],
    ),
    (
        "podCertificate: {signerName: a.b/c, keyType: RSA3072, keyPath: ../a, certificateChainPath: b, maxExpirationSeconds: 5}",
        [
            ".sources[0].podCertificate.maxExpirationSeconds: Invalid value: 5: if provided, maxExpirationSeconds must be >",
            ".sources[0].podCertificate.keyPath: Invalid value: \"../a\": must not contain '..'",
        ],
    ),
    (
        "podCertificate: {signerName: a.b/c, keyType: RSA3072, credentialBundlePath: b, keyPath: b, maxExpirationSeconds: 99999999, userAnnotations: {a b: c}}",
        [
            '.sources[0].podCertificate.userAnnotations: Invalid value: "a b": name part must consist of alphanumeric chara',
            ".sources[0].podCertificate.maxExpirationSeconds: Invalid value: 99999999: if provided, maxExpirationSeconds mu",
            ': Invalid value: "b": conflicting duplicate paths',
        ],
    ),
    (
        "podCertificate: {signerName: kubernetes.io/c, keyType: RSA3072, credentialBundlePath: b, maxExpirationSeconds: 90000}",
        [
            ".sources[0].podCertificate.maxExpirationSeconds: Invalid value: 90000: if provided, maxExpirationSeconds must "
        ],
    ),
]


@pytest.mark.parametrize(("text", "expected"), SOURCES, ids=[row[0][:50] for row in SOURCES])
def test_of_a_projected_source(text: str, expected: list[str]) -> None:
    found = faults(pod(f"containers: [{C}], volumes: [{{name: v, projected: {{sources: [{{{text}}}]}}}}]"), PROJECTED)
    assert said(found, "spec.volumes[0].projected") == expected


WINDOWS: list[tuple[str, list[str]]] = [
    (
        "windowsOptions: {gmsaCredentialSpecName: 'A B', gmsaCredentialSpec: ''}",
        [
            'securityContext.windowsOptions.gmsaCredentialSpecName: Invalid value: "A B": a lowercase RFC 1123 subdomain mu',
            'securityContext.windowsOptions.gmsaCredentialSpec: Invalid value: "": gmsaCredentialSpec cannot be an empty st',
        ],
    ),
    (
        "windowsOptions: {runAsUserName: ''}",
        ['securityContext.windowsOptions.runAsUserName: Invalid value: "": runAsUserName cannot be an empty string'],
    ),
    (
        "windowsOptions: {runAsUserName: 'a\\b\\c'}",
        [
            'securityContext.windowsOptions.runAsUserName: Invalid value: "a\\\\b\\\\c": runAsUserName cannot contain more than'
        ],
    ),
    (
        "windowsOptions: {runAsUserName: '\\a'}",
        [
            "securityContext.windowsOptions.runAsUserName: Invalid value: \"\\\\a\": runAsUserName's Domain doesn't match the N"
        ],
    ),
    (
        "windowsOptions: {runAsUserName: 'a\\'}",
        ['securityContext.windowsOptions.runAsUserName: Invalid value: "a\\\\": runAsUserName\'s User cannot be empty'],
    ),
    (
        "windowsOptions: {runAsUserName: 'a/b'}",
        [
            'securityContext.windowsOptions.runAsUserName: Invalid value: "a/b": runAsUserName\'s User cannot contain the fo'
        ],
    ),
    (
        "windowsOptions: {runAsUserName: 'dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd\\a'}",
        [
            'securityContext.windowsOptions.runAsUserName: Invalid value: "dddddddddddddddddddddddddddddddddddddddddddddddd',
            'securityContext.windowsOptions.runAsUserName: Invalid value: "dddddddddddddddddddddddddddddddddddddddddddddddd',
        ],
    ),
    (
        "windowsOptions: {runAsUserName: '.d\\a'}",
        [
            "securityContext.windowsOptions.runAsUserName: Invalid value: \".d\\\\a\": runAsUserName's Domain doesn't match the"
        ],
    ),
    (
        "windowsOptions: {runAsUserName: 'uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu'}",
        [
            'securityContext.windowsOptions.runAsUserName: Invalid value: "uuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu'
        ],
    ),
    (
        "windowsOptions: {runAsUserName: '. .'}",
        [
            'securityContext.windowsOptions.runAsUserName: Invalid value: ". .": runAsUserName\'s User cannot contain only p'
        ],
    ),
    ("windowsOptions: {runAsUserName: 'NT AUTHORITY\\SYSTEM'}", []),
    (
        'windowsOptions: {runAsUserName: "a\\tb"}',
        [
            'securityContext.windowsOptions.runAsUserName: Invalid value: "a\\tb": runAsUserName cannot contain control char'
        ],
    ),
    (
        "windowsOptions: {hostProcess: true}",
        ["hostNetwork: Invalid value: false: hostNetwork must be true if pod contains any hostProcess containers"],
    ),
]


@pytest.mark.parametrize(("text", "expected"), WINDOWS, ids=[row[0][:50] for row in WINDOWS])
def test_of_windows(text: str, expected: list[str]) -> None:
    found = faults(pod(f"containers: [{C}], os: {{name: windows}}, securityContext: {{{text}}}"))
    assert said(found, "spec.") == expected


HOST_PROCESS = "windowsOptions: {hostProcess: true}"
HOST_PROCESSES: list[tuple[str, str, list[str]]] = [
    ("all of them", f"securityContext: {{{HOST_PROCESS}}}, containers: [{C}]", []),
    (
        "a container says otherwise",
        (
            f"securityContext: {{{HOST_PROCESS}}}, containers: [{{name: c, image: a, "
            "securityContext: {windowsOptions: {hostProcess: false}}}]"
        ),
        [
            (
                "spec.containers[0].securityContext.windowsOptions.hostProcess: Invalid value: false: pod hostProcess "
                "value must be identical if both are specified, was true"
            )
        ],
    ),
    (
        "some of them",
        f"containers: [{C}, {{name: d, image: a, securityContext: {{{HOST_PROCESS}}}}}]",
        [
            (
                'spec: Invalid value: "": If pod contains any hostProcess containers then all containers must be '
                "HostProcess containers"
            )
        ],
    ),
]


@pytest.mark.parametrize(("why", "text", "expected"), HOST_PROCESSES, ids=[row[0] for row in HOST_PROCESSES])
def test_of_host_processes(why: str, text: str, expected: list[str]) -> None:
    assert faults(pod(f"hostNetwork: true, {text}")) == expected


SCHEDULES: list[tuple[str, list[str]]] = [
    ("schedule: '* * * * *'", []),
    ("schedule: '* * * *'", ['schedule: Invalid value: "* * * *": expected exactly 5 fields, found 4: [* * * *]']),
    ("schedule: '60 * * * *'", ['schedule: Invalid value: "60 * * * *": end of range (60) above maximum (59): 60']),
    (
        "schedule: '*/0 * * * *'",
        ['schedule: Invalid value: "*/0 * * * *": step of range should be a positive number: */0'],
    ),
    (
        "schedule: '5-1 * * * *'",
        ['schedule: Invalid value: "5-1 * * * *": beginning of range (5) beyond end of range (1): 5-1'],
    ),
    (
        "schedule: 'a * * * *'",
        ['schedule: Invalid value: "a * * * *": failed to parse int from a: strconv.Atoi: parsing "a": invalid syntax'],
    ),
    ("schedule: '1-2-3 * * * *'", ['schedule: Invalid value: "1-2-3 * * * *": too many hyphens: 1-2-3']),
    ("schedule: '1/2/3 * * * *'", ['schedule: Invalid value: "1/2/3 * * * *": too many slashes: 1/2/3']),
    ("schedule: '0 0 1 jan sun'", []),
    ("schedule: '0 0 1 jan 7'", ['schedule: Invalid value: "0 0 1 jan 7": end of range (7) above maximum (6): 7']),
    ("schedule: '@yearly'", []),
    ("schedule: '@never'", ['schedule: Invalid value: "@never": unrecognized descriptor: @never']),
    ("schedule: '@every 1h'", []),
    (
        "schedule: '@every x'",
        ['schedule: Invalid value: "@every x": failed to parse duration @every x: time: invalid duration "x"'],
    ),
    (
        "schedule: 'TZ=Europe/Berlin * * * * *'",
        [
            'schedule: Invalid value: "TZ=Europe/Berlin * * * * *": cannot use TZ or CRON_TZ in schedule, use timeZone fiel'
        ],
    ),
    (
        "schedule: 'CRON_TZ=x * * * * *'",
        [
            'schedule: Invalid value: "CRON_TZ=x * * * * *": cannot use TZ or CRON_TZ in schedule, use timeZone field inste'
        ],
    ),
    ("schedule: '* * 0 * *'", ['schedule: Invalid value: "* * 0 * *": beginning of range (0) below minimum (1): 0']),
    (
        "schedule: '-1 * * * *'",
        ['schedule: Invalid value: "-1 * * * *": failed to parse int from : strconv.Atoi: parsing "": invalid syntax'],
    ),
    ("schedule: '* * * * *', timeZone: ''", ['timeZone: Too short: "": must be at least 1 byte']),
    (
        "schedule: '* * * * *', timeZone: Local",
        [
            'timeZone: Invalid value: "Local": timeZone must be an explicit time zone as defined in https://www.iana.org/ti'
        ],
    ),
    (
        "schedule: '* * * * *', timeZone: Mars/Base",
        ['timeZone: Invalid value: "Mars/Base": unknown time zone Mars/Base'],
    ),
    ("schedule: '* * * * *', timeZone: Etc/UTC", []),
    ("schedule: '* * * * *', timeZone: 'a b'", ['timeZone: Invalid value: "a b": unknown time zone a b']),
    (
        "schedule: 'TZ=UTC * * * * *', timeZone: Etc/UTC",
        [
            'schedule: Invalid value: "TZ=UTC * * * * *": cannot use TZ or CRON_TZ in schedule, use timeZone field instead'
        ],
    ),
    (
        "schedule: '* * * * *', concurrencyPolicy: X, startingDeadlineSeconds: -1, successfulJobsHistoryLimit: -1, failedJobsHistoryLimit: -1",
        [
            "startingDeadlineSeconds: Invalid value: -1: must be greater than or equal to 0",
            'concurrencyPolicy: Unsupported value: "X": supported values: "Allow", "Forbid", "Replace"',
            "successfulJobsHistoryLimit: Invalid value: -1: must be greater than or equal to 0",
            "failedJobsHistoryLimit: Invalid value: -1: must be greater than or equal to 0",
        ],
    ),
    ("schedule: '* * * * *', concurrencyPolicy: ''", []),
]


@pytest.mark.parametrize(("text", "expected"), SCHEDULES, ids=[row[0] for row in SCHEDULES])
def test_of_a_cron_job(text: str, expected: list[str]) -> None:
    template = f"{{spec: {{template: {{spec: {{restartPolicy: Never, containers: [{C}]}}}}}}}}"
    spec = f"{{{text}, jobTemplate: {template}}}"
    found = faults(read(f"{{apiVersion: batch/v1, kind: CronJob, metadata: {{name: c}}, spec: {spec}}}"))
    assert said(found, "spec.") == expected


def test_a_cron_job_leaves_its_jobs_room_for_a_name_and_their_selector() -> None:
    selector = f"manualSelector: true, selector: {{matchLabels: {{a: b}}}}, template: {{spec: {{restartPolicy: Never, containers: [{C}]}}}}"
    spec = f"{{schedule: '* * * * *', jobTemplate: {{spec: {{{selector}}}}}}}"
    found = faults(read(f"{{apiVersion: batch/v1, kind: CronJob, metadata: {{name: {'c' * 53}}}, spec: {spec}}}"))
    assert found == [
        'spec.jobTemplate.spec.selector: Invalid value: {"matchLabels":{"a":"b"}}: `selector` will be auto-generated',
        'spec.jobTemplate.spec.manualSelector: Unsupported value: true: supported values: "nil", "false"',
        f'metadata.name: Invalid value: "{"c" * 53}": must be no more than 52 characters',
    ]


UPDATES: list[tuple[str, str, str, str, str, list[str]]] = [
    (
        "containers: [{name: c, image: 'busybox:1'}]",
        "containers: [{name: c, image: 'busybox:1'}]",
        "{name: p, labels: {a: b}}",
        "{name: q, namespace: x}",
        "",
        [
            'metadata.name: Invalid value: "q": field is immutable',
            'metadata.namespace: Invalid value: "x": field is immutable',
        ],
    ),
    (
        "containers: [{name: c, image: 'busybox:1'}]",
        "containers: [{name: c, image: 'busybox:1'}]",
        "{name: p, uid: a, resourceVersion: '1', generation: 5, creationTimestamp: '2026-01-31T12:00:00Z'}",
        "{name: p, uid: b, resourceVersion: '2', generation: 4, creationTimestamp: '2026-02-01T12:00:00Z'}",
        "",
        ['metadata.uid: Invalid value: "b": field is immutable'],
    ),
    (
        "containers: [{name: c, image: 'busybox:1'}]",
        "containers: [{name: c, image: 'busybox:1'}]",
        "{name: p, annotations: {kubernetes.io/config.mirror: a}}",
        "{name: p, annotations: {kubernetes.io/config.mirror: b}}",
        "",
        [
            'metadata.annotations[kubernetes.io/config.mirror]: Invalid value: "b": must set spec.nodeName if mirror pod an',
            "metadata.annotations[kubernetes.io/config.mirror]: Forbidden: may not remove or update mirror pod annotation",
            'metadata.annotations[kubernetes.io/config.mirror]: Invalid value: "b": must set spec.nodeName if mirror pod an',
        ],
    ),
    (
        "containers: [{name: c, image: 'busybox:1'}]",
        "containers: [{name: c, image: 'busybox:1'}]",
        "{name: p, deletionTimestamp: '2026-01-31T12:00:00Z', finalizers: [a.b/c]}",
        "{name: p, deletionTimestamp: '2026-01-31T12:00:00Z', finalizers: [a.b/d]}",
        "",
        [
            "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new final"
        ],
    ),
    (
        "containers: [{name: c, image: 'busybox:1'}], terminationGracePeriodSeconds: -5",
        "containers: [{name: c, image: 'busybox:1'}], terminationGracePeriodSeconds: 1",
        "{name: p}",
        "{name: p}",
        "",
        [],
    ),
    (
        "containers: [{name: c, image: 'busybox:1'}], activeDeadlineSeconds: 5",
        "containers: [{name: c, image: 'busybox:1'}]",
        "{name: p}",
        "{name: p}",
        "",
        ["spec.activeDeadlineSeconds: Invalid value: null: must not update from a positive integer to nil value"],
    ),
    (
        "containers: [{name: c, image: 'busybox:1'}], activeDeadlineSeconds: 5",
        "containers: [{name: c, image: 'busybox:1'}], activeDeadlineSeconds: 6",
        "{name: p}",
        "{name: p}",
        "",
        ["spec.activeDeadlineSeconds: Invalid value: 6: must be less than or equal to previous value"],
    ),
    (
        "containers: [{name: c, image: 'busybox:1'}], activeDeadlineSeconds: 5",
        "containers: [{name: c, image: 'busybox:1'}], activeDeadlineSeconds: 4",
        "{name: p}",
        "{name: p}",
        "",
        [],
    ),
    (
        "containers: [{name: c, image: 'busybox:1'}]",
        "containers: [{name: c, image: 'busybox:1'}], activeDeadlineSeconds: -1",
        "{name: p}",
        "{name: p}",
        "",
        [
            "spec.activeDeadlineSeconds: Invalid value: -1: must be between 1 and 2147483647, inclusive",
            "spec.activeDeadlineSeconds: Invalid value: -1: must be between 0 and 2147483647, inclusive",
        ],
    ),
    (
        "containers: [{name: c, image: 'busybox:1'}], tolerations: [{key: a, operator: Exists}]",
        "containers: [{name: c, image: 'busybox:1'}]",
        "{name: p}",
        "{name: p}",
        "",
        ["spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds"],
    ),
    (
        "containers: [{name: c, image: 'busybox:1'}], tolerations: [{key: a, operator: Exists, effect: NoExecute, tolerationSeconds: 5}]",
        "containers: [{name: c, image: 'busybox:1'}], tolerations: [{key: a, operator: Exists, effect: NoExecute, tolerationSeconds: 6}]",
        "{name: p}",
        "{name: p}",
        "",
        [],
    ),
    (
        "containers: [{name: c, image: 'busybox:1'}]",
        "containers: [{name: c, image: ''}]",
        "{name: p}",
        "{name: p}",
        "",
        ["spec.containers[0].image: Required value", "spec.containers[0].image: Required value"],
    ),
    (
        "containers: [{name: c, image: 'busybox:1'}]",
        "containers: [{name: c, image: ' a'}]",
        "{name: p}",
        "{name: p}",
        "",
        [
            'spec.containers[0].image: Invalid value: " a": must not have leading or trailing whitespace',
            'spec.containers[0].image: Invalid value: " a": must not have leading or trailing whitespace',
        ],
    ),
    (
        "containers: [{name: c, image: 'busybox:1'}]",
        "containers: [{name: c, image: 'busybox:1', command: [a]}]",
        "{name: p}",
        "{name: p}",
        "",
        [
            "spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers["
        ],
    ),
    (
        "containers: [{name: c, image: 'busybox:1'}]",
        "containers: [{name: c, image: 'busybox:1'}], schedulingGates: [{name: a}]",
        "{name: p}",
        "{name: p}",
        "",
        ["spec.schedulingGates[0].name: Forbidden: only deletion is allowed, but found new scheduling gate 'a'"],
    ),
    (
        "containers: [{name: c, image: 'busybox:1'}], schedulingGates: [{name: a}]",
        "containers: [{name: c, image: 'busybox:1'}]",
        "{name: p}",
        "{name: p}",
        "",
        [],
    ),
    (
        "containers: [{name: c, image: 'busybox:1'}], schedulingGates: [{name: a}], nodeSelector: {a: b}",
        "containers: [{name: c, image: 'busybox:1'}], schedulingGates: [{name: a}], nodeSelector: {c: d}",
        "{name: p}",
        "{name: p}",
        "",
        [
            'spec.nodeSelector: Invalid value: {"c":"d"}: only additions to spec.nodeSelector are allowed (no mutations or '
        ],
    ),
    (
        "containers: [{name: c, image: 'busybox:1'}]",
        "containers: [{name: c, image: 'busybox:1'}], nodeSelector: {c: d}",
        "{name: p}",
        "{name: p}",
        "",
        [
            "spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers["
        ],
    ),
    (
        "containers: [{name: c, image: 'busybox:1'}]",
        "containers: [{name: c, image: 'busybox:1'}], nodeName: node1",
        "{name: p}",
        "{name: p}",
        "",
        [
            "spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers["
        ],
    ),
    (
        "containers: [{name: c, image: 'busybox:1'}]",
        "containers: [{name: c, image: 'busybox:1'}], ephemeralContainers: [{name: e, image: a}]",
        "{name: p}",
        "{name: p}",
        "ephemeralcontainers",
        [],
    ),
    (
        "containers: [{name: c, image: 'busybox:1'}], ephemeralContainers: [{name: e, image: a}]",
        "containers: [{name: c, image: 'busybox:1'}]",
        "{name: p}",
        "{name: p}",
        "ephemeralcontainers",
        ['spec.ephemeralContainers: Forbidden: existing ephemeral containers "e" may not be removed'],
    ),
    (
        "containers: [{name: c, image: 'busybox:1'}], ephemeralContainers: [{name: e, image: a}]",
        "containers: [{name: c, image: 'busybox:1'}], ephemeralContainers: [{name: e, image: b}]",
        "{name: p}",
        "{name: p}",
        "ephemeralcontainers",
        ['spec.ephemeralContainers: Forbidden: existing ephemeral containers "e" may not be changed'],
    ),
    (
        "containers: [{name: c, image: 'busybox:1'}]",
        "containers: [{name: c, image: 'busybox:1'}], ephemeralContainers: [{name: c, image: b, ports: [{containerPort: 1}]}]",
        "{name: p}",
        "{name: p}",
        "ephemeralcontainers",
        [
            'spec.ephemeralContainers[0].name: Duplicate value: "c"',
            "spec.ephemeralContainers[0].ports: Forbidden: cannot be set for an Ephemeral Container",
        ],
    ),
    (
        "containers: [{name: c, image: a, resources: {requests: {cpu: 1, memory: 1Gi}}}]",
        "containers: [{name: c, image: a, resources: {requests: {cpu: 2, memory: 2Gi}}}]",
        "{name: p}",
        "{name: p}",
        "resize",
        [],
    ),
    (
        "containers: [{name: c, image: a, resources: {requests: {cpu: 1, memory: 1Gi}}}]",
        "containers: [{name: c, image: a, resources: {requests: {cpu: 2}}}]",
        "{name: p}",
        "{name: p}",
        "resize",
        ["spec.containers[0].resources.requests: Forbidden: resource requests cannot be removed"],
    ),
    (
        "containers: [{name: c, image: a, resources: {requests: {cpu: 1, memory: 1Gi}}}]",
        "containers: [{name: c, image: a, resources: {requests: {cpu: 1, memory: 1Gi}, limits: {cpu: 2}}}]",
        "{name: p}",
        "{name: p}",
        "resize",
        [],
    ),
    (
        "containers: [{name: c, image: a, resources: {requests: {cpu: 1, memory: 1Gi}, limits: {cpu: 2, memory: 2Gi}}}]",
        "containers: [{name: c, image: a, resources: {requests: {cpu: 1, memory: 1Gi}, limits: {cpu: 2, memory: 1Gi}}}]",
        "{name: p}",
        "{name: p}",
        "resize",
        [],
    ),
    (
        "containers: [{name: c, image: a, resources: {requests: {cpu: 1, memory: 1Gi}}}]",
        "containers: [{name: c, image: a, resources: {requests: {cpu: 1, memory: 1Gi}, claims: [{name: a}]}}]",
        "{name: p}",
        "{name: p}",
        "resize",
        [
            'spec.containers[0].resources.claims[0]: Not found: "a": must be one of the names in pod.spec.resourceClaims wh'
        ],
    ),
    (
        "containers: [{name: c, image: a, resources: {requests: {cpu: 1, memory: 1Gi, ephemeral-storage: 1Gi}}}]",
        "containers: [{name: c, image: a, resources: {requests: {cpu: 1, memory: 1Gi, ephemeral-storage: 2Gi}}}]",
        "{name: p}",
        "{name: p}",
        "resize",
        ["spec: Forbidden: only cpu and memory resources are mutable"],
    ),
    (
        "containers: [{name: c, image: a, resources: {requests: {cpu: 1, memory: 1Gi}}}]",
        "containers: [{name: c, image: a, resources: {requests: {cpu: 1, memory: 1Gi}}, command: [a]}]",
        "{name: p}",
        "{name: p}",
        "resize",
        ["spec: Forbidden: only cpu and memory resources are mutable"],
    ),
    (
        "containers: [{name: c, image: a, resources: {requests: {cpu: 1, memory: 1Gi}}}]",
        "containers: [{name: c, image: 'busybox:1'}]",
        "{name: p}",
        "{name: p}",
        "resize",
        [
            'spec: Invalid value: "Burstable": Pod QOS Class may not change as a result of resizing',
            "spec.containers[0].resources.requests: Forbidden: resource requests cannot be removed",
            "spec: Forbidden: only cpu and memory resources are mutable",
        ],
    ),
    (
        "containers: [{name: c, image: a, resources: {requests: {cpu: 1, memory: 1Gi}}}], os: {name: windows}",
        "containers: [{name: c, image: a, resources: {requests: {cpu: 2, memory: 1Gi}}}], os: {name: windows}",
        "{name: p}",
        "{name: p}",
        "resize",
        ["[]: Forbidden: windows pods cannot be resized"],
    ),
    (
        "containers: [{name: c, image: a, resources: {requests: {cpu: 1, memory: 1Gi}}}], initContainers: [{name: i, image: a, resources: {requests: {cpu: 1}}}]",
        "containers: [{name: c, image: a, resources: {requests: {cpu: 1, memory: 1Gi}}}], initContainers: [{name: i, image: a, resources: {requests: {cpu: 2}}}]",
        "{name: p}",
        "{name: p}",
        "resize",
        [],
    ),
    (
        "containers: [{name: c, image: a, resources: {requests: {cpu: 1, memory: 1Gi}}}], initContainers: [{name: i, image: a, restartPolicy: Always, resources: {requests: {cpu: 1}}}]",
        "containers: [{name: c, image: a, resources: {requests: {cpu: 1, memory: 1Gi}}}], initContainers: [{name: i, image: a, restartPolicy: Always, resources: {requests: {cpu: 2}}}]",
        "{name: p}",
        "{name: p}",
        "resize",
        [],
    ),
    (
        "containers: [{name: c, image: a, resources: {requests: {cpu: 1, memory: 1Gi}}}]",
        "containers: [{name: c, image: a, resources: {requests: {cpu: 1, memory: 1Gi}}}], resources: {requests: {cpu: 4}}",
        "{name: p}",
        "{name: p}",
        "resize",
        [],
    ),
    (
        "containers: [{name: c, image: 'busybox:1'}]",
        "containers: [{name: c, image: 'busybox:1', resources: {requests: {cpu: 1}}}]",
        "{name: p}",
        "{name: p}",
        "resize",
        ['spec: Invalid value: "BestEffort": Pod QOS Class may not change as a result of resizing'],
    ),
    (
        "containers: [{name: c, image: a, resources: {requests: {cpu: 1000m, memory: 1Gi}}}]",
        "containers: [{name: c, image: a, resources: {requests: {cpu: 1, memory: 1Gi}}}]",
        "{name: p}",
        "{name: p}",
        "",
        [],
    ),
    (
        "containers: [{name: c, image: a, resources: {requests: {cpu: 1, memory: 1Gi}}}], hostNetwork: true",
        "containers: [{name: c, image: a, resources: {requests: {cpu: 2, memory: 1Gi}}}], hostNetwork: true",
        "{name: p, annotations: {kubernetes.io/config.source: file}}",
        "{name: p, annotations: {kubernetes.io/config.source: file}}",
        "resize",
        [],
    ),
]


@pytest.mark.parametrize(("old", "new", "old_meta", "new_meta", "subresource", "expected"), UPDATES)
def test_of_a_change(old: str, new: str, old_meta: str, new_meta: str, subresource: str, expected: list[str]) -> None:
    found = update_faults(pod(new, new_meta), pod(old, old_meta), GATES, subresource)  # type: ignore[arg-type]
    assert said([f"{each.path}: {each.text}" for each in found]) == expected
