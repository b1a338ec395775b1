"""Every field of KubeletConfiguration (kubelet.config.k8s.io/v1beta1), its type, and whether it has an effect here.

Source: the v1beta1 type of Kubernetes v1.36.
"""

from __future__ import annotations

from enum import Enum


class Kind(Enum):
    """What a field of the configuration takes; the value is how a message calls it."""

    BOOL = "true or false"
    INT = "a whole number"
    NUMBER = "a number"
    TEXT = "text"
    DURATION = "a duration such as 1m30s"
    LIST = "a list"
    MAP = "a mapping"


_BY_KIND = {
    Kind.BOOL: """authentication.anonymous.enabled authentication.webhook.enabled cgroupsPerQOS cpuCFSQuota
        enableContentionProfiling enableControllerAttachDetach enableDebugFlagsHandler enableDebuggingHandlers
        enableProfilingHandler enableServer enableSystemLogHandler enableSystemLogQuery failCgroupV1 failSwapOn
        kernelMemcgNotification localStorageCapacityIsolation logging.options.json.splitStream
        logging.options.text.splitStream makeIPTablesUtilChains mergeDefaultEvictionSettings protectKernelDefaults
        registerNode rotateCertificates runOnce seccompDefault serializeImagePulls serverTLSBootstrap
        singleProcessOOMKill""",
    Kind.INT: """containerLogMaxFiles containerLogMaxWorkers eventBurst eventRecordQPS evictionMaxPodGracePeriod
        healthzPort imageGCHighThresholdPercent imageGCLowThresholdPercent iptablesDropBit iptablesMasqueradeBit
        kubeAPIBurst kubeAPIQPS logging.verbosity maxOpenFiles maxParallelImagePulls maxPods nodeLeaseDurationSeconds
        nodeStatusMaxImages oomScoreAdj podPidsLimit podsPerCore port readOnlyPort registryBurst registryPullQPS
        tracing.samplingRatePerMillion userNamespaces.idsPerPod""",
    Kind.NUMBER: "memoryThrottlingFactor",
    Kind.TEXT: """address authentication.x509.clientCAFile authorization.mode cgroupDriver cgroupRoot clusterDomain
        configMapAndSecretChangeDetectionStrategy containerLogMaxSize containerRuntimeEndpoint contentType
        cpuManagerPolicy hairpinMode healthzBindAddress imagePullCredentialsVerificationPolicy imageServiceEndpoint
        kubeReservedCgroup kubeletCgroups logging.format logging.options.json.infoBufferSize
        logging.options.text.infoBufferSize memoryManagerPolicy memoryReservationPolicy memorySwap.swapBehavior
        podCIDR podLogsDir providerID reservedSystemCPUs resolvConf showHiddenMetricsForVersion staticPodPath
        staticPodURL systemCgroups systemReservedCgroup tlsCertFile tlsMinVersion tlsPrivateKeyFile
        topologyManagerPolicy topologyManagerScope tracing.endpoint volumePluginDir""",
    Kind.DURATION: """authentication.webhook.cacheTTL authorization.webhook.cacheAuthorizedTTL
        authorization.webhook.cacheUnauthorizedTTL containerLogMonitorInterval cpuCFSQuotaPeriod
        cpuManagerReconcilePeriod crashLoopBackOff.maxContainerRestartPeriod evictionPressureTransitionPeriod
        fileCheckFrequency httpCheckFrequency imageMaximumGCAge imageMinimumGCAge logging.flushFrequency
        nodeStatusReportFrequency nodeStatusUpdateFrequency runtimeRequestTimeout shutdownGracePeriod
        shutdownGracePeriodCriticalPods streamingConnectionIdleTimeout syncFrequency volumeStatsAggPeriod""",
    Kind.LIST: """allowedUnsafeSysctls clusterDNS enforceNodeAllocatable logging.vmodule
        preloadedImagesVerificationAllowlist registerWithTaints reservedMemory shutdownGracePeriodByPodPriority
        tlsCipherSuites tlsCurvePreferences""",
    Kind.MAP: """cpuManagerPolicyOptions evictionHard evictionMinimumReclaim evictionSoft evictionSoftGracePeriod
        featureGates kubeReserved qosReserved staticPodURLHeader systemReserved topologyManagerPolicyOptions""",
}

FIELDS: dict[str, Kind] = {name: kind for kind, names in _BY_KIND.items() for name in names.split()}
"""Dotted field name to what it takes."""

SECTIONS = frozenset(name[:end] for name in FIELDS for end, letter in enumerate(name) if letter == ".")
"""Dotted names of the mappings that hold fields."""

_USED_NAMES = """allowedUnsafeSysctls clusterDNS clusterDomain cpuCFSQuota
    crashLoopBackOff.maxContainerRestartPeriod evictionHard featureGates
    imagePullCredentialsVerificationPolicy kubeReserved maxParallelImagePulls maxPods podPidsLimit
    preloadedImagesVerificationAllowlist registryBurst registryPullQPS seccompDefault
    serializeImagePulls shutdownGracePeriod shutdownGracePeriodByPodPriority shutdownGracePeriodCriticalPods
    systemReserved"""

USED = frozenset(_USED_NAMES.split())
"""Fields that change what is emulated."""
