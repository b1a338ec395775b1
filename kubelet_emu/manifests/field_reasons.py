"""Why a field of a pod has no effect here, or only a part of one: said in warnings and on the page of fields.

Names are `Type.field`. The warnings of not_emulated and its neighbours take their reasons from here, and so does
docs/FIELDS.md; a test holds that each has its warning.
"""

from __future__ import annotations

IGNORED = {
    "PodSpec.hostUsers": "user namespaces are the engine's matter",
    "PodSpec.resourceClaims": "no device is prepared for a claim",
    "PodSpec.runtimeClassName": "the engine's default runtime is used",
}
"""Fields of the spec that are ignored whenever they are set."""

PLACED = "there is one node, and its scheduler looks at no such field"
SCHEDULING = {
    "PodSpec.schedulerName": PLACED,
    "PodSpec.schedulingGates": PLACED,
    "PodSpec.schedulingGroup": PLACED,
    "PodSpec.topologySpreadConstraints": PLACED,
    "Affinity.podAffinity": PLACED,
    "Affinity.podAntiAffinity": PLACED,
    "NodeAffinity.preferredDuringSchedulingIgnoredDuringExecution": PLACED,
}
"""Fields that would choose a node."""

WINDOWS = "windowsOptions are ignored: the node is a Linux one"
SE_LINUX = "seLinuxOptions are ignored: the engine's own label is used"
SECURITY = {
    "PodSecurityContext.seLinuxChangePolicy": "seLinuxChangePolicy is ignored: no volume is labelled",
    "PodSecurityContext.seLinuxOptions": SE_LINUX,
    "PodSecurityContext.windowsOptions": WINDOWS,
    "SecurityContext.procMount": "procMount is ignored: it needs a user namespace, which is the engine's matter",
    "SecurityContext.seLinuxOptions": SE_LINUX,
    "SecurityContext.windowsOptions": WINDOWS,
}
"""Fields of security contexts that an engine can't do, or that nothing here hands on to it."""

CLAIMED = "nothing is provisioned here, each pod has an empty folder that goes with it"
UNMOUNTABLE = "can't be mounted here, so the pod waits for it"
PROJECTED = {
    "VolumeProjection.clusterTrustBundle": "nobody keeps trust bundles here, so nothing is written",
    "VolumeProjection.podCertificate": "nobody signs certificates here, so nothing is written",
    "VolumeProjection.serviceAccountToken": "a stand-in is written, which no server accepts",
}
"""Sources of projected volumes whose content somebody else would have to make."""

MOUNTS = {
    "Container.volumeDevices": "volumeDevices are ignored: no block device is attached here",
    "VolumeMount.mountPropagation": "mountPropagation works only where the engine's machine shares the folder's mount:"
    " elsewhere the engine refuses the container",
    "VolumeMount.recursiveReadOnly": "recursiveReadOnly Enabled is refused, as on a node whose runtime doesn't have it",
}
"""Fields that say how a container gets at a volume."""

NO_CAPABILITY = "has no effect, as on a node with containerd"
LOCALHOST = (
    "Localhost is read below /var/lib/kubelet/seccomp of this machine, or below the folder that --seccomp-profile-root"
    " names; in virtual time there is that folder alone"
)
APP_ARMOR = (
    "a node without AppArmor refuses a pod that asks for it: the engine's machine has it or not, in virtual time"
    " `node: {appArmor: true}` in simulate.yaml says that it has"
)
LEAST_MEMORY = "an engine makes no container with less than 6Mi of memory"
NODE_NAME = "there is one node, and the pod is scheduled to it, whatever it is called"
OWNERS = "those of controllers here count, a manifest's are dropped: the owners aren't here"
OVERHEAD = "counts when the node looks for room; a cluster refuses it unless the pod's runtime class has the same"
PARTS = {
    "Capabilities.add": f"a name with CAP_, or that no kernel has, {NO_CAPABILITY}",
    "Capabilities.drop": f"a name with CAP_, or that no kernel has, {NO_CAPABILITY}",
    "ContainerPort.hostIP": "an address that is no loopback one counts only with `--publish-address`",
    "ContainerPort.hostPort": "not opened for an init container, nor is it on a node",
    "EmptyDirVolumeSource.medium": "HugePages: there are none here, so the pod waits",
    "Lifecycle.stopSignal": "behind the gate ContainerStopSignals, as in a cluster; off, the field is dropped",
    "ObjectMeta.annotations": "those of AppArmor are as the field appArmorProfile, the others are kept and can be read",
    "ObjectMeta.ownerReferences": OWNERS,
    "PodSecurityContext.appArmorProfile": APP_ARMOR,
    "PodSecurityContext.seccompProfile": LOCALHOST,
    "PodSpec.affinity": "what a node's own admission looks at is kept to; nothing chooses among nodes",
    "PodSpec.automountServiceAccountToken": "true mounts nothing by itself; a token that the pod's volumes name has a"
    " stand-in",
    "PodSpec.nodeName": NODE_NAME,
    "PodSpec.nodeSelector": "the node has the labels that `--node-label` gives it, the pod waits for others",
    "PodSpec.overhead": OVERHEAD,
    "PodSpec.preemptionPolicy": "only a pod with a system priority has others end for it, as on a node",
    "PodSpec.priority": "counts for a system priority alone, when the node makes room or shuts down",
    "PodSpec.priorityClassName": "counts for a system priority alone: nobody keeps other classes here",
    "PodSpec.tolerations": "kept, and looked at by the node's admission; nothing taints the node",
    "ResourceRequirements.claims": "no device is prepared for a claim",
    "ResourceRequirements.limits": f"cpu, memory and ephemeral-storage count; {LEAST_MEMORY}; devices aren't passed to"
    " the container",
    "ResourceRequirements.requests": "cpu, memory and ephemeral-storage count; devices aren't passed to the container",
    "SecurityContext.appArmorProfile": APP_ARMOR,
    "SecurityContext.seccompProfile": LOCALHOST,
}
"""What works in part: which part doesn't."""
