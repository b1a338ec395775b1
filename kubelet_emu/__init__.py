"""Run Kubernetes Pod and Job manifests on one machine with the kubelet's lifecycle rules."""

__version__ = "0.1.0"
